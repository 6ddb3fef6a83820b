// SPDX-License-Identifier: Apache-2.0
// Kernels against AES by OpenSSL, and against each other bit by bit.
#include "garble/kernel.h"

#include <openssl/evp.h>

#include <cstring>
#include <random>

#include "garbled.h"

namespace tkdc::garble {
namespace {

using circuit::ScheduledGate;

Label random_label(std::mt19937_64& generator) { return {generator(), generator()}; }

// π by OpenSSL, which shares no code with any kernel, key expansion included.
Label by_openssl(const Label& key, const Label& block) {
  std::uint8_t octets[16], out[32];
  std::memcpy(octets, &key, 16);
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                          EVP_CIPHER_CTX_free);
  int bytes = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, octets, nullptr), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context.get(), out, &bytes,
                              reinterpret_cast<const std::uint8_t*>(&block), 16),
            1);
  Label result;
  std::memcpy(&result, out, 16);
  return result;
}

Label hash_by_openssl(const Label& key, const Label& x, std::uint64_t tweak) {
  const Label sigma = {x.high, x.high ^ x.low};
  return by_openssl(key, sigma ^ Label{tweak, 0}) ^ sigma;
}

Label chosen_by_openssl(const Label& key, const Label& x, std::uint64_t tweak) {
  const Label inner = by_openssl(key, x);
  return by_openssl(key, inner ^ Label{tweak, 0}) ^ inner;
}

class EachKernel : public testing::TestWithParam<const Kernel*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, EachKernel, testing::ValuesIn(kernels()),
                         [](const auto& one) { return std::string(one.param->name); });

TEST_P(EachKernel, PermutesAsFips197Says) {
  // Appendix C.1: key 00 01 .. 0f, plaintext 00 11 .. ff.
  const Label key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  Label block{0x7766554433221100, 0xffeeddccbbaa9988};
  RoundKeys keys;
  expand_keys(std::span(&key, 1), keys);
  GetParam()->permute(keys, std::span(&block, 1));
  EXPECT_EQ(block, (Label{0x30047b6ad8e0c469, 0x5ac5b47080b7cdd8}));
}

TEST_P(EachKernel, PermutesAndHashesAsOpenSslDoes) {
  std::mt19937_64 generator(1);
  for (std::size_t count = 0; count < 70; ++count) {
    const Label key = random_label(generator);
    RoundKeys keys;
    expand_keys(std::span(&key, 1), keys);
    std::vector<Label> in, out(count);
    for (std::size_t k = 0; k < count; ++k) in.push_back(random_label(generator));
    const std::uint64_t tweak = generator();
    GetParam()->hash(keys, tweak, in, out.data());
    for (std::size_t k = 0; k < count; ++k)
      ASSERT_EQ(out[k], hash_by_openssl(key, in[k], tweak + k)) << count << " " << k;
    out = in;
    GetParam()->permute(keys, out);
    for (std::size_t k = 0; k < count; ++k) ASSERT_EQ(out[k], by_openssl(key, in[k]));
    GetParam()->hash(keys, tweak, in, in.data());  // in place
    for (std::size_t k = 0; k < count; ++k) EXPECT_NE(in[k], out[k]);
    std::vector<Label> chosen(count);
    GetParam()->hash_chosen(keys, tweak, in, chosen.data());
    for (std::size_t k = 0; k < count; ++k)
      ASSERT_EQ(chosen[k], chosen_by_openssl(key, in[k], tweak + k)) << count << " " << k;
    GetParam()->hash_chosen(keys, tweak, in, in.data());
    EXPECT_EQ(in, chosen);
  }
}

// Rows M and M' of which a party chose the difference: with σ(M ⊕ M') = i ⊕ i' the hidden hashes
// under H differ by that for every Δ and key, so H is not for chosen inputs. Under H2 they do not.
TEST_P(EachKernel, HashesOfChosenRowsHaveNoKnownSum) {
  std::mt19937_64 generator(4);
  const auto sigma = [](const Label& x) { return Label{x.high, x.high ^ x.low}; };
  for (int run = 0; run < 64; ++run) {
    const Label key = random_label(generator), delta = random_label(generator),
                row = random_label(generator);
    const std::uint64_t i = generator(), j = i + 1;
    const Label differ{i ^ j, 0};  // σ of what the rows differ by
    const Label other = row ^ Label { differ.high ^ differ.low, differ.low };
    ASSERT_EQ(sigma(row ^ other), differ);
    RoundKeys keys;
    expand_keys(std::span(&key, 1), keys);
    const auto sum_of = [&](auto hash) {
      Label hidden[2] = {row ^ delta, other ^ delta};
      for (std::size_t k = 0; k < 2; ++k) hash(keys, i + k, std::span(hidden + k, 1), hidden + k);
      return hidden[0] ^ hidden[1];
    };
    EXPECT_EQ(sum_of(GetParam()->hash), differ);  // the control
    EXPECT_NE(sum_of(GetParam()->hash_chosen), differ);
  }
}

// Slots of `instances`, on a border of 64 octets.
struct Slots {
  explicit Slots(std::size_t labels) : octets(labels * kLabelBytes + 64) {}
  Label* data() {
    auto at = reinterpret_cast<std::uintptr_t>(octets.data());
    return reinterpret_cast<Label*>((at + 63) / 64 * 64);
  }
  std::vector<std::uint8_t> octets;
};

// Random ANDs that read slots below `inputs` and write those above.
std::vector<ScheduledGate> random_ands(std::mt19937_64& generator, std::size_t count,
                                       std::uint32_t inputs) {
  std::vector<ScheduledGate> gates;
  const auto operand = [&] {
    return static_cast<std::uint32_t>(generator() % inputs) |
           (generator() % 3 == 0 ? ScheduledGate::kComplement : 0);
  };
  for (std::size_t k = 0; k < count; ++k)
    gates.push_back({operand(), operand(), static_cast<std::uint32_t>(inputs + k)});
  return gates;
}

constexpr std::uint32_t kInputSlots = 40;

struct Batch {
  Batch(std::mt19937_64& generator, std::size_t ands, std::size_t count)
      : instances(count), gates(random_ands(generator, ands, kInputSlots)),
        tweak(generator() & ~std::uint64_t{1}) {
    for (std::size_t k = 0; k < kInputSlots * instances; ++k)
      labels.push_back(random_label(generator));
    std::vector<Label> of(instances);
    for (std::size_t s = 0; s < instances; ++s) {
      keys_of.push_back(random_label(generator));
      of[s] = random_label(generator);
      of[s].low |= 1;
    }
    for (std::size_t s = 0; s < kSideBySide; ++s) deltas.of[s] = of[s % instances];
    expand_keys(keys_of, keys);
  }

  struct Made {
    std::vector<Label> slots;
    std::vector<Bytes> tables;
    bool operator==(const Made&) const = default;
  };
  Made garbled(const Kernel& kernel) {
    Slots slots((kInputSlots + gates.size()) * instances);
    std::copy(labels.begin(), labels.end(), slots.data());
    // A place more than there has to be: what stands behind the tables is not to change.
    std::vector<Bytes> tables(instances, Bytes(gates.size() * kTableBytes + 3, 0xee));
    std::vector<std::uint8_t*> places;
    for (Bytes& one : tables) places.push_back(one.data() + 1);
    kernel.garble({gates, slots.data(), instances, &keys, tweak}, deltas, places.data());
    return {{slots.data(), slots.data() + (kInputSlots + gates.size()) * instances}, tables};
  }
  std::vector<Label> evaluated(const Kernel& kernel, const std::vector<Bytes>& tables,
                               std::span<const Label> inputs) {
    Slots slots((kInputSlots + gates.size()) * instances);
    std::copy(inputs.begin(), inputs.end(), slots.data());
    std::vector<const std::uint8_t*> places;
    for (const Bytes& one : tables) places.push_back(one.data() + 1);
    kernel.evaluate({gates, slots.data(), instances, &keys, tweak}, places.data());
    return {slots.data(), slots.data() + (kInputSlots + gates.size()) * instances};
  }

  std::size_t instances;
  std::vector<ScheduledGate> gates;
  std::uint64_t tweak;
  std::vector<Label> labels, keys_of;
  RoundKeys keys;
  Deltas deltas;
};

TEST_P(EachKernel, GarblesEachBatchAsTheReferenceDoes) {
  std::mt19937_64 generator(2);
  for (const std::size_t instances : {std::size_t{1}, kSideBySide})
    for (std::size_t ands = 0; ands < 40; ++ands) {
      Batch batch(generator, ands, instances);
      const Batch::Made expected = batch.garbled(*kernel_reference());
      ASSERT_EQ(batch.garbled(*GetParam()), expected) << instances << " " << ands;
      const auto evaluated = batch.evaluated(*GetParam(), expected.tables, batch.labels);
      ASSERT_EQ(evaluated, batch.evaluated(*kernel_reference(), expected.tables, batch.labels));
    }
}

TEST_P(EachKernel, AddsAsTheReferenceDoes) {
  std::mt19937_64 generator(3);
  for (const std::size_t instances : {std::size_t{1}, kSideBySide}) {
    std::vector<ScheduledGate> gates;
    const auto slot = [&] { return static_cast<std::uint32_t>(generator() % kInputSlots); };
    for (int k = 0; k < 300; ++k) gates.push_back({slot(), slot(), slot()});
    Slots here(kInputSlots * instances), there(kInputSlots * instances);
    for (std::size_t k = 0; k < kInputSlots * instances; ++k)
      here.data()[k] = there.data()[k] = random_label(generator);
    GetParam()->add(gates, here.data(), instances);
    kernel_reference()->add(gates, there.data(), instances);
    EXPECT_TRUE(std::equal(here.data(), here.data() + kInputSlots * instances, there.data()));
  }
}

// Figure 2 of the paper, from OpenSSL's AES, for one gate with known numbers.
TEST_P(EachKernel, MakesTheTableOfThePaper) {
  std::mt19937_64 generator(4);
  for (int round = 0; round < 40; ++round) {
    Batch batch(generator, 1, 1);
    const ScheduledGate gate = batch.gates[0];
    const Label key = batch.keys_of[0], delta = batch.deltas.of[0];
    const auto zero = [&](std::uint32_t operand) {
      const Label label = batch.labels[operand & ~ScheduledGate::kComplement];
      return operand >> 31 != 0 ? label ^ delta : label;
    };
    const Label a = zero(gate.a), b = zero(gate.b);
    const auto h = [&](const Label& x, std::uint64_t j) { return hash_by_openssl(key, x, j); };
    const std::uint64_t j = batch.tweak;
    const Label table_g = h(a, j) ^ h(a ^ delta, j) ^ (b.colour() == 1 ? delta : Label());
    const Label table_e = h(b, j + 1) ^ h(b ^ delta, j + 1) ^ a;
    const Label half_g = h(a, j) ^ (a.colour() == 1 ? table_g : Label());
    const Label half_e = h(b, j + 1) ^ (b.colour() == 1 ? table_e ^ a : Label());
    const Batch::Made made = batch.garbled(*GetParam());
    Label got[2];
    std::memcpy(got, made.tables[0].data() + 1, kTableBytes);
    EXPECT_EQ(got[0], table_g);
    EXPECT_EQ(got[1], table_e);
    EXPECT_EQ(made.slots[gate.out], half_g ^ half_e);
  }
}

// All four values of the operands, complements too.
TEST_P(EachKernel, EvaluatesToTheProduct) {
  std::mt19937_64 generator(5);
  for (const std::size_t instances : {std::size_t{1}, kSideBySide})
    for (int values = 0; values < 20; ++values) {
      Batch batch(generator, 13, instances);
      const Batch::Made made = batch.garbled(*GetParam());
      std::vector<Label> labels = batch.labels;
      std::vector<std::uint64_t> bits;
      for (std::size_t k = 0; k < labels.size(); ++k) {
        bits.push_back(generator() & 1);
        labels[k] = labels[k] ^ batch.deltas.of[k % instances].where(bits.back());
      }
      const auto out = batch.evaluated(*GetParam(), made.tables, labels);
      for (const ScheduledGate& gate : batch.gates)
        for (std::size_t s = 0; s < instances; ++s) {
          const auto bit = [&](std::uint32_t operand) {
            const std::size_t slot = operand & ~ScheduledGate::kComplement;
            return bits[slot * instances + s] ^ (operand >> 31);
          };
          const std::size_t at = gate.out * instances + s;
          const Label one = batch.deltas.of[s].where(bit(gate.a) & bit(gate.b));
          ASSERT_EQ(out[at], made.slots[at] ^ one);
        }
    }
}

TEST(Kernels, TheReferenceIsAlwaysThereAndNamesAreKnown) {
  EXPECT_EQ(kernels().back(), kernel_reference());
  for (const Kernel* kernel : kernels()) {
    auto found = find_kernel(kernel->name);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, kernel);
  }
  auto fastest = find_kernel("auto");
  ASSERT_TRUE(fastest.ok());
  EXPECT_EQ(*fastest, kernels().front());
  auto none = find_kernel("mmx");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("reference"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::garble
