// SPDX-License-Identifier: Apache-2.0
// Parties whose cohorts stay in a device's memory, by the host's loops over the same kernel
// bodies: against OpenSSL, and share by share against a session of CPUs with the same keys.
#include "cuda/device/resident.h"

#include "cuda/device/bandwidth.h"
#include "cuda/device/host_driver.h"
#include "cuda/device/zero_rate.h"
#include "cuda/device/zero_tick.h"
#include "support/openssl_ecb.h"
#include "unit/cuda/cohort_runs.h"
#include "unit/cuda/lying_driver.h"

namespace tkdc::cuda {
namespace {

constexpr std::uint64_t kSeed = 77;

struct ResidentSetting {
  ResidentOptions options;
  std::size_t key_octets = 16;
};

// What three parties start from, and what it is in the clear. Component keys are those that
// ThreeParties(kSeed) has, at the start of their streams.
struct Start {
  explicit Start(const ResidentSetting& setting)
      : s(11, cpu_backend(setting.options.representation)) {
    const ResidentOptions& o = setting.options;
    std::mt19937_64 rng(kSeed);
    SecretVector component[3];
    for (SecretVector& key : component) key = test::random_bytes(rng, 32);
    clear = test::random_bytes(s.net.rng(), 16 * o.blocks);
    const auto shares = s.net.share(clear);
    inputs.resize(3);
    for (std::size_t p = 0; p < 3; ++p) {
      inputs[p].blocks = shares[p];
      std::copy_n(component[p].data(), 32, inputs[p].mine.data());
      std::copy_n(component[(p + 1) % 3].data(), 32, inputs[p].next.data());
    }
    for (std::size_t first = 0; first < o.blocks; first += o.blocks_per_key) {
      keys.push_back(test::random_bytes(s.net.rng(), setting.key_octets));
      const auto expanded = s.expand(keys.back());
      for (std::size_t p = 0; p < 3; ++p) inputs[p].round_keys.push_back(expanded[p]);
    }
  }
  // By OpenSSL.
  Bytes encrypted(const ResidentOptions& o, int times) const {
    Bytes all(clear.begin(), clear.end());
    for (int time = 0; time < times; ++time)
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const std::size_t at = 16 * o.blocks_per_key * k;
        const ByteSpan part =
            ByteSpan(all).subspan(at, std::min(16 * o.blocks_per_key, all.size() - at));
        const Bytes out = test::openssl_ecb(keys[k], part, true);
        std::copy(out.begin(), out.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
      }
    return all;
  }

  PartiesWithCiphers s;
  SecretVector clear;
  std::vector<SecretVector> keys;
  std::vector<ResidentInput> inputs;
};

// Party 0's cohorts on the CPU (FIPS 197, section 5.1), hearing in each round what the device does.
struct HeardByCpu {
  HeardByCpu(const ResidentInput& input, const ResidentOptions& o, const ResidentParties& parties)
      : device(parties), backend(cpu_backend(o.representation)),
        zero(
            make_zero_stream({input.mine.span(), input.next.span(), kRatchetBytes, o.zero_shares})),
        out(input.blocks), refs(o.blocks) {
    for (std::size_t b = 0; b < refs.size(); ++b)
      for (int c = 0; c < 2; ++c) {
        refs[b].in[c] = refs[b].out[c] = out.component[c].data() + 16 * b;
        refs[b].round_keys[c] = input.round_keys[b / o.blocks_per_key].component[c].data();
      }
    // What two cohorts take, in whole pieces.
    masks.resize((2 * parties.message_octets() + 1023) / 1024 * 1024);
    zero->next(masks.data(), masks.size());
  }
  void encrypt() {
    auto cohort = backend.make_cohort(0, refs.size());
    cohort->load(refs);
    cohort->add_round_key(refs, 0);
    for (int round = 1; round <= device.rounds(); ++round) {
      for (int layer = 0; layer < kLayers; ++layer) {
        SecretVector& message = sent[round % 2][layer];
        message.assign(cohort->message_bytes(layer), 0);
        cohort->terms(layer, message.data());
        xor_bytes(message.data(), masks.data() + used, message.size());
        used += message.size();
        cohort->absorb(layer, message.data(), device.neighbours_message(layer).data());
      }
      cohort->sub_shift_mix(round == device.rounds());
      cohort->add_round_key(refs, round);
    }
    cohort->store(refs);
  }

  const ResidentParties& device;
  const Rep3Backend& backend;
  std::unique_ptr<ZeroStream> zero;
  SharedBytes out;
  std::vector<AesBlockRef> refs;
  SecretVector masks, sent[2][kLayers];
  std::size_t used = 0;
};

std::array<SharedBytes, 3> read_all(ResidentParties& parties) {
  std::array<SharedBytes, 3> shares;
  for (std::size_t p = 0; p < 3; ++p) {
    auto share = parties.read(p);
    EXPECT_TRUE(share.ok());
    if (share.ok()) shares[p] = std::move(*share);
  }
  return shares;
}

// The same cohorts in a session of CPUs: blocks of one key after the other's in one cohort.
std::array<SharedBytes, 3> in_session(const Start& start, const ResidentOptions& o, int times) {
  PartiesWithCiphers s(kSeed, cpu_backend(o.representation), Security::kSemiHonest, o.zero_shares);
  std::array<SharedBytes, 3> shares;
  for (std::size_t p = 0; p < 3; ++p) shares[p] = start.inputs[p].blocks;
  for (int time = 0; time < times; ++time) {
    auto job = [&](Rep3Protocol& c, int p, std::size_t k) -> Task<void> {
      const auto party = static_cast<std::size_t>(p);
      const std::size_t at = 16 * o.blocks_per_key * k;
      const std::size_t octets = std::min(16 * o.blocks_per_key, shares[party].size() - at);
      SharedBytes out = co_await c.aes.encrypt(start.inputs[party].round_keys[k],
                                               shares[party].slice(at, octets));
      for (std::size_t x = 0; x < 2; ++x)
        std::copy_n(out.component[x].begin(), octets,
                    shares[party].component[x].begin() + static_cast<std::ptrdiff_t>(at));
    };
    s.run_all(start.keys.size(), job);
  }
  return shares;
}

std::vector<ResidentSetting> resident_settings() {
  std::vector<ResidentSetting> all;
  for (Representation representation : {Representation::kBytes, Representation::kPlanes})
    for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20}) {
      all.push_back({{representation, generator, 1}});
      all.push_back({{representation, generator, 77}});
      all.push_back({{representation, generator, 160, 32}, 32});
    }
  return all;
}

class Resident : public testing::TestWithParam<ResidentSetting> {};

TEST_P(Resident, EncryptsAsOpensslAndWithTheSharesOfASession) {
  const ResidentOptions& o = GetParam().options;
  const Start start(GetParam());
  HostDriver driver;
  {
    auto parties = ResidentParties::make(driver, o, start.inputs);
    ASSERT_TRUE(parties.ok()) << parties.error().message;
    EXPECT_EQ(ThreeParties::rebuild(read_all(**parties)),
              Bytes(start.clear.begin(), start.clear.end()));
    for (int times = 1; times <= 3; ++times) {
      ASSERT_TRUE((*parties)->encrypt().ok());
      const auto shares = read_all(**parties);
      EXPECT_TRUE(ThreeParties::consistent(shares));
      EXPECT_EQ(ThreeParties::rebuild(shares), start.encrypted(o, times));
      const auto expected = in_session(start, o, times);
      for (std::size_t p = 0; p < 3; ++p)
        EXPECT_EQ(shares[p].component[0], expected[p].component[0]) << p << " " << times;
    }
    EXPECT_FALSE(driver.misuse()) << *driver.misuse();
  }
  EXPECT_EQ(driver.octets_held(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Settings, Resident, testing::ValuesIn(resident_settings()));

// Keys are replaced before they have made too much; the result stays right.
TEST(ResidentParties, ReplaceTheirKeys) {
  for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20}) {
    ResidentSetting setting{{Representation::kBytes, generator, 20}};
    Start start(setting);
    setting.options.ratchet_bytes = 16 * 1024;  // a cohort takes 7,200
    HostDriver driver;
    auto parties = ResidentParties::make(driver, setting.options, start.inputs);
    ASSERT_TRUE(parties.ok());
    EXPECT_EQ((*parties)->message_octets(), 7'200u);
    std::array<SharedBytes, 3> shares, sixth;
    for (int times = 1; times <= 7; ++times) {
      if (times == 7) sixth = shares;
      ASSERT_TRUE((*parties)->encrypt().ok());
      shares = read_all(**parties);
      EXPECT_TRUE(ThreeParties::consistent(shares));
      EXPECT_EQ(ThreeParties::rebuild(shares), start.encrypted(setting.options, times));
    }
    // The third, fifth and seventh cohort began with a new key, at its start.
    // One that starts with the first key from the sixth's shares comes to others: no mask is used
    // twice.
    ASSERT_TRUE(sixth[0].size() > 0);
    for (std::size_t p = 0; p < 3; ++p) start.inputs[p].blocks = sixth[p];
    auto first_key = ResidentParties::make(driver, setting.options, start.inputs);
    ASSERT_TRUE(first_key.ok());
    ASSERT_TRUE((*first_key)->encrypt().ok());
    const auto others = read_all(**first_key);
    EXPECT_EQ(ThreeParties::rebuild(others), ThreeParties::rebuild(shares));
    EXPECT_NE(others[0].component[0], shares[0].component[0]);
    setting.options.ratchet_bytes = 7 * 1024;
    auto refused = ResidentParties::make(driver, setting.options, start.inputs);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("20 blocks"), std::string::npos);
  }
}

// With transfers: party 0 beside a CPU's cohort that hears the same, its messages too; in steps,
// while another lane has work in a queue of its own.
TEST(ResidentParties, SendAndHearAsACpuDoes) {
  for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20})
    for (Representation representation : {Representation::kBytes, Representation::kPlanes}) {
      ResidentSetting setting{{representation, generator, 80}};  // no bits to spare in planes
      setting.options.exchange = ResidentExchange::kHost;
      Start start(setting);
      start.inputs.resize(1);
      HostDriver driver;
      auto parties = ResidentParties::make(driver, setting.options, start.inputs);
      auto other = ResidentParties::make(driver, setting.options, start.inputs);
      ASSERT_TRUE(parties.ok() && other.ok());
      (*other)->begin();
      for (int times = 1; times <= 2; ++times) {
        (*parties)->begin();
        int steps = 0;
        for (bool more = true; more; ++steps) {
          auto advanced = (*parties)->advance();
          ASSERT_TRUE(advanced.ok() && (*other)->advance().ok());
          more = *advanced;
        }
        EXPECT_EQ(steps, 42);  // 40 layers, the end, and that there is no more
        if (times == 2) break;
        (*other)->begin();
      }
      HeardByCpu cpu(start.inputs[0], setting.options, **parties);
      for (int times = 1; times <= 2; ++times) cpu.encrypt();
      auto got = (*parties)->read(0);
      ASSERT_TRUE(got.ok());
      for (int c = 0; c < 2; ++c) EXPECT_EQ(got->component[c], cpu.out.component[c]);
      for (int layer = 0; layer < kLayers; ++layer)
        for (bool odd : {false, true})
          EXPECT_TRUE(std::ranges::equal((*parties)->sent_message(odd, layer),
                                         cpu.sent[odd ? 1 : 0][layer]))
              << layer << odd;
      EXPECT_EQ((*parties)->transfers().from_device, (*parties)->message_octets());
      EXPECT_FALSE(driver.misuse()) << *driver.misuse();
    }
}

// 2^22 blocks, of AES-256: nothing is computed, but every length and position holds.
TEST(ResidentParties, TakeLargeCohortsInOneKey) {
  constexpr std::uint64_t kMessages = std::uint64_t{504} << 22;
  static_assert(kMessages < kRatchetBytes);
  Tick tick{};
  set_position(tick, ZeroGenerator::kAesCtr, kRatchetBytes - 128);
  EXPECT_EQ(tick.first_counter, 0xfffffff8);
  set_position(tick, ZeroGenerator::kChaCha20, kRatchetBytes - 64);
  EXPECT_EQ(tick.first_counter, (std::uint64_t{1} << 30) - 1);
}

// Copies in each direction are made, and timed.
TEST(Bandwidth, CopiesWhatItSays) {
  HostDriver driver;
  auto found = measure_bandwidth(driver, {1 << 16, 0.01});
  ASSERT_TRUE(found.ok()) << found.error().message;
  for (double rate : {found->to_device, found->from_device, found->both_each_way})
    EXPECT_GT(rate, 1e6);
  EXPECT_EQ(driver.octets_held(), 0u);
  for (std::uint64_t at : {0u, 3u, 5u, 6u, 20u}) {
    HostDriver failing(at);
    EXPECT_FALSE(measure_bandwidth(failing, {1 << 16, 0.01}).ok()) << at;
  }
}

TEST(ZeroRate, IsOfTheGeneratorsOctets) {
  for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20}) {
    HostDriver driver;
    auto rate = measure_zero_shares(driver, generator, {4096, 0.01});
    ASSERT_TRUE(rate.ok()) << rate.error().message;
    EXPECT_GT(*rate, 1e4);
    EXPECT_FALSE(driver.misuse()) << *driver.misuse();
    EXPECT_EQ(driver.octets_held(), 0u);
    LyingDriver liar(mask_kernel(generator));
    auto wrong = measure_zero_shares(liar, generator, {4096, 0.01});
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.error().message.find("differ"), std::string::npos);
  }
}

TEST(ResidentParties, SayHowTheDeviceFailed) {
  const ResidentSetting setting{{Representation::kBytes, ZeroGenerator::kChaCha20, 9}};
  const Start start(setting);
  std::uint64_t operations = 0;
  for (std::uint64_t at = HostDriver::kNever;; at = at == HostDriver::kNever ? 0 : at + 1) {
    HostDriver driver(at);
    auto parties = ResidentParties::make(driver, setting.options, start.inputs);
    std::string why = parties.ok() ? "" : parties.error().message;
    if (why.empty())
      if (auto done = (*parties)->encrypt(); !done) why = done.error().message;
    if (why.empty())
      if (auto share = (*parties)->read(2); !share) why = share.error().message;
    if (at == HostDriver::kNever) {
      EXPECT_EQ(why, "");
      operations = driver.operations();
      continue;
    }
    EXPECT_NE(why.find("told to"), std::string::npos) << at;
    if (at + 1 == operations) break;
  }
}

}  // namespace
}  // namespace tkdc::cuda
