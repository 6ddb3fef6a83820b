// SPDX-License-Identifier: Apache-2.0
// The three parties of a lane in one thread, round by round, by seed: what
// protocol tests run on. Packets are handed over as they are; hooks may change
// or record them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <random>

#include "rep3/rep3.h"

namespace tkdc::test {

inline SecretVector random_bytes(std::mt19937_64& rng, std::size_t bytes) {
  SecretVector out(bytes);
  for (auto& octet : out) octet = static_cast<std::uint8_t>(rng());
  return out;
}

// A lane at each party, whichever protocol computes in it.
class ThreeLanes {
 public:
  explicit ThreeLanes(std::uint64_t seed = 1, Security security = Security::kSemiHonest)
      : rng_(seed) {
    if (sodium_init() < 0) std::abort();
    for (auto& c : components_) c = random_bytes(rng_, 32);
    for (int p = 0; p < 3; ++p) lane[p] = std::make_unique<Lane>(p, security);
  }

  PairwiseKeys keys_of(int p, ZeroGenerator generator = ZeroGenerator::kAesCtr) const {
    PairwiseKeys keys;
    std::ranges::copy(components_[p], keys.mine.data());
    std::ranges::copy(components_[(p + 1) % 3], keys.next.data());
    keys.zero_generator = generator;
    return keys;
  }

  // Party p's shares of the value, for p = 0..2.
  std::array<SharedBytes, 3> share(ByteSpan x) {
    SecretVector c[3] = {random_bytes(rng_, x.size()), random_bytes(rng_, x.size()),
                         SecretVector(x.begin(), x.end())};
    xor_bytes(c[2].data(), c[0].data(), x.size());
    xor_bytes(c[2].data(), c[1].data(), x.size());
    std::array<SharedBytes, 3> shares;
    for (int p = 0; p < 3; ++p) {
      shares[p].component[0] = c[p];
      shares[p].component[1] = c[(p + 1) % 3];
    }
    return shares;
  }

  static Bytes rebuild(const std::array<SharedBytes, 3>& shares) {
    Bytes x(shares[0].size());
    for (const SharedBytes& share : shares)
      xor_bytes(x.data(), share.component[0].data(), x.size());
    return x;
  }

  // The components that two parties hold must agree.
  static bool consistent(const std::array<SharedBytes, 3>& shares) {
    for (int p = 0; p < 3; ++p)
      if (shares[p].component[1] != shares[(p + 1) % 3].component[0]) return false;
    return true;
  }

  // Spawns make(party) at each party and runs until all are done.
  Result<void> run(const std::function<Task<void>(int)>& make) {
    for (int p = 0; p < 3; ++p) lane[p]->spawn(make(p));
    SecretVector to_prev[3], to_next[3];  // read until the next round's
    for (;;) {
      int waiting = 0;
      for (auto& one : lane) waiting += one->advance() ? 1 : 0;
      // As a lane does: after a deviation nothing more leaves.
      for (auto& one : lane)
        if (one->deviation()) return fail(*one->deviation());
      if (waiting == 0) return {};
      if (waiting != 3) return fail("the parties' courses differ");
      for (int p = 0; p < 3; ++p) {
        to_prev[p].clear();
        to_next[p].clear();
        lane[p]->append_to_prev(to_prev[p]);
        lane[p]->append_to_next(to_next[p]);
        if (tamper) tamper(p, to_prev[p], to_next[p]);
        if (record) record(p, to_prev[p], to_next[p]);
      }
      for (int p = 0; p < 3; ++p)
        if (auto r = lane[p]->consume(to_prev[(p + 1) % 3], to_next[(p + 2) % 3]); !r) return r;
    }
  }

  // Runs make(party) at each party and gathers the three parties' results.
  Result<std::array<SharedBytes, 3>> shares_of(const std::function<Task<SharedBytes>(int)>& make) {
    std::array<SharedBytes, 3> out;
    auto ran = run([&](int p) -> Task<void> { return keep(make, p, out[p]); });
    if (!ran) return ran.error();
    return out;
  }

  std::unique_ptr<Lane> lane[3];
  std::function<void(int party, SecretVector& to_prev, SecretVector& to_next)> tamper;
  std::function<void(int party, const SecretVector& to_prev, const SecretVector& to_next)> record;
  std::mt19937_64& rng() { return rng_; }

 private:
  static Task<void> keep(const std::function<Task<SharedBytes>(int)>& make, int p,
                         SharedBytes& out) {
    out = co_await make(p);
  }
  std::mt19937_64 rng_;
  SecretVector components_[3];  // of the pairwise keys
};

// With replicated sharing.
class ThreeParties : public ThreeLanes {
 public:
  explicit ThreeParties(Representation representation, std::uint64_t seed = 1,
                        Security security = Security::kSemiHonest,
                        ZeroGenerator generator = ZeroGenerator::kAesCtr)
      : ThreeLanes(seed, security) {
    for (int p = 0; p < 3; ++p)
      party[p] = std::make_unique<Rep3>(*lane[p], representation, keys_of(p, generator));
  }

  std::unique_ptr<Rep3> party[3];
};

}  // namespace tkdc::test
