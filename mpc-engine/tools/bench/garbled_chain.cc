// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/garbled_chain.h"

#include "circuits/catalogue.h"
#include "tools/bench/reference.h"

namespace tkdc::bench {
namespace {

circuit::Schedule schedule_named(std::string_view name) {
  const auto named = circuits::find_named(name);
  assert(named.ok());
  return circuit::schedule_of(circuits::record(*named));
}

Bytes random_octets(std::size_t bytes) {
  Bytes out(bytes);
  randombytes_buf(out.data(), out.size());
  return out;
}

std::vector<SecretBuffer> draw_seeds(std::size_t instances) {
  std::vector<SecretBuffer> seeds;
  for (std::size_t s = 0; s < instances; ++s)
    randombytes_buf(seeds.emplace_back(garble::kSeedBytes).data(), garble::kSeedBytes);
  return seeds;
}

garble::Garbler garbler_of(const std::vector<SecretBuffer>& seeds, const garble::Kernel& kernel) {
  std::vector<ByteSpan> spans;
  for (const SecretBuffer& seed : seeds) spans.push_back(seed.span());
  return garble::Garbler(spans, kernel);
}

}  // namespace

std::vector<Chain> make_chains() {
  std::vector<Chain> chains;
  chains.push_back({"aes128", schedule_named("aes128"), 0, 16, 16, 16,
                    [](const Bytes& key, const Bytes& block, std::uint64_t links) {
                      return openssl_encrypt(key, block, links);
                    }});
  chains.push_back({"sha256", schedule_named("sha256"), 0, 64, 32, 0,
                    [](const Bytes& block, const Bytes& state, std::uint64_t links) {
                      return Result(openssl_sha256_blocks(state, block, links));
                    }});
  for (Chain& chain : chains) chain.ands = garble::ands_of(chain.schedule);
  return chains;
}

ChainValues::ChainValues(const Chain& chain, std::size_t instances) : chain_(chain) {
  for (std::size_t s = 0; s < instances; ++s) {
    held_.push_back(random_octets(chain.held_bytes));
    chained_.push_back(random_octets(chain.chained_bytes));
  }
}

std::uint64_t ChainValues::bit(std::size_t k, std::size_t s) const {
  const std::size_t octet = k / 8, from = chain_.chained_at, end = from + chain_.chained_bytes;
  const std::uint8_t value = octet >= from && octet < end
                                 ? chained_[s][octet - from]
                                 : held_[s][octet < from ? octet : octet - end];
  return value >> (k % 8) & 1;
}

Result<void> ChainValues::check(std::uint64_t links, ByteSpan zero_colours,
                                ByteSpan colours) const {
  const std::size_t count = held_.size(), bits = 8 * chain_.chained_bytes;
  if (zero_colours.size() != bits * count || colours.size() != bits * count)
    return fail("bench: " + chain_.name + ": outputs of another length");
  for (std::size_t s = 0; s < count; ++s) {
    auto expected = chain_.after(held_[s], chained_[s], links);
    if (!expected) return expected.error();
    for (std::size_t k = 0; k < bits; ++k)
      if ((zero_colours[k * count + s] ^ colours[k * count + s]) !=
          ((*expected)[k / 8] >> (k % 8) & 1))
        return fail("bench: " + chain_.name + ": the garbled result is not OpenSSL's");
  }
  return {};
}

Bytes ChainLabels::colours() const {
  const std::size_t bits = 8 * chain_.chained_bytes;
  const std::size_t count = inputs_.size() / chain_.input_bits();
  Bytes out;
  for (std::size_t k = 0; k < bits * count; ++k)
    out.push_back(static_cast<std::uint8_t>(span()[8 * chain_.chained_at * count + k].colour()));
  return out;
}

ChainGarbler::ChainGarbler(const Chain& of, std::size_t instances, const garble::Kernel& kernel)
    : chain(of), garbler(garbler_of(draw_seeds(instances), kernel)),
      zero(of, garbler.draw_inputs(of.input_bits())) {}

ChainLabels ChainGarbler::labels_of(const ChainValues& values) const {
  const std::size_t count = garbler.count();
  garble::SecretLabels labels(zero.span().size());
  for (std::size_t at = 0; at < labels.size(); ++at) {
    const std::uint64_t bit = values.bit(at / count, at % count);
    labels.span()[at] = zero.span()[at] ^ garbler.delta(at % count).where(bit);
  }
  return {chain, std::move(labels)};
}

}  // namespace tkdc::bench
