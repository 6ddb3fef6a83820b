// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/start.h"

#include <algorithm>
#include <array>
#include <thread>

#include "lane/ticker.h"
#include "link/memory_ring.h"
#include "rep3/unit/aes/aes.h"

namespace tkdc::bench {
namespace {

constexpr int kStartPatienceMs = 60'000;  // keys of a million blocks are many

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

PairwiseKeys keys_of(const Components& of, std::size_t party) {
  PairwiseKeys keys;
  std::copy_n(of[party].data(), 32, keys.mine.data());
  std::copy_n(of[(party + 1) % 3].data(), 32, keys.next.data());
  return keys;
}

Task<void> round_keys(Rep3& rep3, std::vector<SharedBytes> keys, std::vector<SharedBytes>& out) {
  out = co_await aes_round_keys(rep3, std::move(keys));
}

Result<void> expand_at(std::size_t p, Link& link, const Components& component_keys,
                       BenchStart& start) {
  Lane lane(static_cast<int>(p), Security::kSemiHonest);
  Rep3 rep3(lane, Representation::kBytes, keys_of(component_keys, p));
  std::vector<SharedBytes> keys;
  for (const Components& key : start.keys) keys.push_back(share_of(key, p));
  lane.spawn(round_keys(rep3, std::move(keys), start.inputs[p].round_keys));
  return Ticker(lane, link).run(kStartPatienceMs);
}

// All keys' round keys, by three parties, a thread each.
Result<void> expand(BenchStart& start) {
  const Components component_keys = draw(32);
  auto ring = MemoryRing::create();
  const std::array<std::unique_ptr<Link>, 3> links{ring->link(0), ring->link(1), ring->link(2)};
  std::array<Result<void>, 3> done;
  {
    std::vector<std::jthread> threads;
    for (std::size_t p = 0; p < 3; ++p)
      threads.emplace_back([&, p] { done[p] = expand_at(p, *links[p], component_keys, start); });
  }
  for (const Result<void>& one : done)
    if (!one) return one;
  return {};
}

}  // namespace

Bytes opened(const Components& of, std::size_t from, std::size_t octets) {
  Bytes out(octets);
  for (const SecretVector& component : of) xor_bytes(out.data(), component.data() + from, octets);
  return out;
}

void draw_component_keys(BenchStart& start) {
  const Components component_keys = draw(32);
  for (std::size_t p = 0; p < start.inputs.size(); ++p) {
    PairwiseKeys pair = keys_of(component_keys, p);
    start.inputs[p].mine = std::move(pair.mine);
    start.inputs[p].next = std::move(pair.next);
  }
}

Result<BenchStart> make_start(int aes, std::size_t blocks) {
  BenchStart start;
  start.blocks = draw(16 * blocks);
  const std::size_t keys = (blocks + kBlocksPerKey - 1) / kBlocksPerKey;
  for (std::size_t k = 0; k < keys; ++k)
    start.keys.push_back(draw(static_cast<std::size_t>(aes) / 8));
  start.inputs.resize(3);
  for (std::size_t p = 0; p < 3; ++p) start.inputs[p].blocks = share_of(start.blocks, p);
  draw_component_keys(start);
  if (auto done = expand(start); !done) return done.error();
  return start;
}

}  // namespace tkdc::bench
