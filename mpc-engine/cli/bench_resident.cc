// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_resident.h"

#include <algorithm>
#include <chrono>

#include "cipher/aes/aes.h"
#include "cli/bench_reference.h"
#include "cuda/device/resident.h"

namespace tkdc::cli {
namespace {

using cuda::ResidentInput;
using cuda::ResidentParties;

constexpr std::size_t kBlocksPerKey = 16;

// The three components of random octets.
using Components = std::array<SecretVector, 3>;

Components draw(std::size_t octets) {
  Components out;
  for (SecretVector& component : out) {
    component.resize(octets);
    randombytes_buf(component.data(), octets);
  }
  return out;
}

SharedBytes share_of(const Components& of, std::size_t party) {
  SharedBytes out;
  out.component[0] = of[party];
  out.component[1] = of[(party + 1) % 3];
  return out;
}

Bytes opened(const Components& of, std::size_t from, std::size_t octets) {
  Bytes out(octets);
  for (const SecretVector& component : of) xor_bytes(out.data(), component.data() + from, octets);
  return out;
}

// What the parties start from, and what it is in the clear.
struct Start {
  Components blocks;
  std::vector<Components> keys;
  std::vector<ResidentInput> inputs;  // of three parties
};

Task<void> expand_at(Rep3& rep3, std::vector<SharedBytes> keys, std::vector<SharedBytes>& out) {
  out = co_await aes_expand_keys(rep3, std::move(keys));
}

PairwiseKeys keys_of(const Components& of, std::size_t party) {
  PairwiseKeys keys;
  std::copy_n(of[party].data(), 32, keys.mine.data());
  std::copy_n(of[(party + 1) % 3].data(), 32, keys.next.data());
  return keys;
}

// All keys' round keys, by three parties in this thread.
Result<void> expand(Start& start) {
  const Components component_keys = draw(32);
  std::unique_ptr<Rep3> party[3];
  for (std::size_t p = 0; p < 3; ++p) {
    party[p] = std::make_unique<Rep3>(static_cast<int>(p), Representation::kBytes,
                                      keys_of(component_keys, p));
    std::vector<SharedBytes> keys;
    for (const Components& key : start.keys) keys.push_back(share_of(key, p));
    party[p]->spawn(expand_at(*party[p], std::move(keys), start.inputs[p].round_keys));
  }
  SecretVector to_prev[3];  // read until the next round's
  for (;;) {
    int waiting = 0;
    for (auto& one : party) waiting += one->advance() ? 1 : 0;
    if (waiting == 0) return {};
    for (std::size_t p = 0; p < 3; ++p) {
      to_prev[p].clear();
      party[p]->append_to_prev(to_prev[p]);
    }
    for (std::size_t p = 0; p < 3; ++p)
      if (auto done = party[p]->consume(to_prev[(p + 1) % 3], {}); !done) return done;
  }
}

Result<Start> make_start(const ResidentBench& bench) {
  Start start;
  start.blocks = draw(16 * bench.cohort_blocks);
  const std::size_t keys = (bench.cohort_blocks + kBlocksPerKey - 1) / kBlocksPerKey;
  for (std::size_t k = 0; k < keys; ++k)
    start.keys.push_back(draw(static_cast<std::size_t>(bench.aes) / 8));
  start.inputs.resize(3);
  const Components component_keys = draw(32);
  for (std::size_t p = 0; p < 3; ++p) {
    start.inputs[p].blocks = share_of(start.blocks, p);
    PairwiseKeys pair = keys_of(component_keys, p);
    start.inputs[p].mine = std::move(pair.mine);
    start.inputs[p].next = std::move(pair.next);
  }
  if (auto done = expand(start); !done) return done.error();
  return start;
}

// The first and the last key's blocks against OpenSSL, all others' components against each other.
Result<void> check_three(ResidentParties& parties, const Start& start, std::size_t cohorts) {
  Components result;
  SecretVector second[3];
  for (std::size_t p = 0; p < 3; ++p) {
    auto share = parties.read(p);
    if (!share) return share.error();
    result[p] = std::move(share->component[0]);
    second[p] = std::move(share->component[1]);
  }
  for (std::size_t p = 0; p < 3; ++p)
    if (second[p] != result[(p + 1) % 3]) return fail("bench: the parties' components differ");
  const std::size_t total = result[0].size(), key_octets = start.keys[0][0].size();
  for (std::size_t k : {std::size_t{0}, start.keys.size() - 1}) {
    const std::size_t at = 16 * kBlocksPerKey * k;
    const std::size_t octets = std::min(16 * kBlocksPerKey, total - at);
    auto expected = openssl_encrypt(opened(start.keys[k], 0, key_octets),
                                    opened(start.blocks, at, octets), cohorts);
    if (!expected) return expected.error();
    if (*expected != opened(result, at, octets))
      return fail("bench: the parties' result differs from OpenSSL's AES");
  }
  return {};
}

// One cohort of party 0 on the CPU: FIPS 197, section 5.1, hearing what the device's party hears.
SharedBytes on_cpu(const AesBackend& cpu, const ResidentParties& device, const Start& start,
                   ZeroGenerator generator) {
  const ResidentInput& input = start.inputs[0];
  const std::size_t blocks = input.blocks.size() / 16;
  SharedBytes out(16 * blocks);
  std::vector<AesBlockRef> refs(blocks);
  for (std::size_t b = 0; b < blocks; ++b)
    for (int c = 0; c < 2; ++c) {
      refs[b].in[c] = input.blocks.component[c].data() + 16 * b;
      refs[b].out[c] = out.component[c].data() + 16 * b;
      refs[b].round_keys[c] = input.round_keys[b / kBlocksPerKey].component[c].data();
    }
  PairwiseKeys keys;
  std::copy_n(input.mine.data(), 32, keys.mine.data());
  std::copy_n(input.next.data(), 32, keys.next.data());
  keys.zero_generator = generator;
  Prss prss(keys);
  auto cohort = cpu.make_cohort(0, blocks);
  SecretVector message[AesCohort::kLayers];
  cohort->load(refs);
  cohort->add_round_key(refs, 0);
  for (int round = 1; round <= device.rounds(); ++round) {
    for (int layer = 0; layer < AesCohort::kLayers; ++layer) {
      message[layer].assign(cohort->message_bytes(layer), 0);
      cohort->terms(layer, message[layer].data());
      prss.mask(message[layer].data(), message[layer].size());
      cohort->absorb(layer, message[layer].data(), device.neighbours_message(layer).data());
    }
    cohort->sub_shift_mix(round == device.rounds());
    cohort->add_round_key(refs, round);
  }
  cohort->store(refs);
  return out;
}

Result<void> check_one(ResidentParties& parties, const Start& start, ZeroGenerator generator) {
  auto cpu = choose_aes_backend("cpu", Representation::kBytes);
  if (!cpu) return cpu.error();
  auto got = parties.read(0);
  if (!got) return got.error();
  const SharedBytes expected = on_cpu(**cpu, parties, start, generator);
  if (got->component[0] != expected.component[0] || got->component[1] != expected.component[1])
    return fail("bench: the device's cohort differs from the CPU's");
  return {};
}

}  // namespace

Result<nlohmann::json> measure_resident(cuda::Driver& driver, const ResidentBench& bench) {
  using Clock = std::chrono::steady_clock;
  auto start = make_start(bench);
  if (!start) return start.error();
  cuda::ResidentOptions options;
  options.zero_shares = bench.zero_shares;
  options.blocks = bench.cohort_blocks;
  options.blocks_per_key = kBlocksPerKey;
  options.exchange = bench.exchange;
  std::vector<ResidentInput>& inputs = start->inputs;
  if (!bench.exchange) inputs.resize(1);
  auto parties = ResidentParties::make(driver, options, inputs);
  if (!parties) return parties.error();

  // The first cohort is not timed: the graph is made in it.
  if (auto done = (*parties)->encrypt(); !done) return done.error();
  if (!bench.exchange)
    if (auto done = check_one(**parties, *start, bench.zero_shares); !done) return done.error();
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(bench.seconds);
  std::size_t cohorts = 0;
  do {
    if (auto done = (*parties)->encrypt(); !done) return done.error();
    ++cohorts;
  } while (Clock::now() < end);
  const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
  if (bench.exchange)
    if (auto done = check_three(**parties, *start, cohorts + 1); !done) return done.error();

  const std::size_t blocks = cohorts * bench.cohort_blocks;
  return nlohmann::json{
      {"aes", bench.aes},
      {"mode", bench.exchange ? "device" : "none"},
      {"parties", bench.exchange ? 3 : 1},
      {"blocks_per_s", static_cast<double>(blocks) / wall},
      {"blocks", blocks},
      {"seconds", wall},
      {"cohort_blocks", bench.cohort_blocks},
      {"backend", "cuda"},
      {"driver", driver.name()},
      {"zero_shares", zero_generator_name(bench.zero_shares)},
      {"security", security_name(Security::kSemiHonest)},
      {"bytes_per_block_per_party", static_cast<double>((*parties)->message_octets()) /
                                        static_cast<double>(bench.cohort_blocks)},
      {"rounds", AesCohort::kLayers * (*parties)->rounds()},
      {"checked", true}};
}

}  // namespace tkdc::cli
