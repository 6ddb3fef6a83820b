// SPDX-License-Identifier: Apache-2.0
// Three parties that each have a lane's primitives, for tests of modes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/hex.h"
#include "cipher/aes_keys.h"
#include "cipher/hash.h"
#include "rep3/unit/aes/byte_cohort.h"
#include "rep3/unit/rep3_protocol.h"
#include "support/three_parties.h"

namespace tkdc::test {

struct PartiesWithCiphers {
  explicit PartiesWithCiphers(std::uint64_t seed,
                              const Rep3Backend& backend = rep3_backend_scalar(),
                              Security security = Security::kSemiHonest,
                              ZeroGenerator generator = ZeroGenerator::kAesCtr)
      : PartiesWithCiphers(seed, {&backend, &backend, &backend}, security, generator) {}
  // Each party has a backend of its own, of one representation.
  PartiesWithCiphers(std::uint64_t seed, std::array<const Rep3Backend*, 3> backends,
                     Security security, ZeroGenerator generator = ZeroGenerator::kAesCtr)
      : net(backends[0]->representation(), seed, security, generator) {
    for (std::size_t p = 0; p < 3; ++p)
      ciphers[p] = std::make_unique<Rep3Protocol>(*net.party[p], *backends[p]);
  }

  using Shares = std::array<SharedBytes, 3>;

  // Runs make(ciphers, party) at each party.
  Shares shares_of(const std::function<Task<SharedBytes>(Rep3Protocol&, int)>& make) {
    auto out = net.shares_of([&](int p) { return make(*ciphers[p], p); });
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
    EXPECT_TRUE(ThreeParties::consistent(*out));
    return *out;
  }
  Bytes value_of(const std::function<Task<SharedBytes>(Rep3Protocol&, int)>& make) {
    return ThreeParties::rebuild(shares_of(make));
  }
  // Runs many jobs at each party side by side.
  void run_all(std::size_t jobs,
               const std::function<Task<void>(Rep3Protocol&, int, std::size_t)>& make) {
    auto ran = net.run([&](int p) {
      std::vector<Task<void>> tasks;
      for (std::size_t k = 0; k < jobs; ++k) tasks.push_back(make(*ciphers[p], p, k));
      return all(net.party[p]->lane, std::move(tasks));
    });
    ASSERT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
  }
  Shares expand(ByteSpan key) {
    Shares shares = net.share(key);
    return shares_of([&](Rep3Protocol& c, int p) { return aes_expand_key(c, shares[p]); });
  }

  ThreeParties net;
  std::unique_ptr<Rep3Protocol> ciphers[3];
};

// Tests of modes go through all lengths up to this; tests/sanitize asks for fewer.
inline std::size_t longest_message() {
  const char* set = std::getenv("TKDC_LONGEST");
  return set != nullptr ? std::strtoul(set, nullptr, 10) : 600;
}

inline Bytes from_hex(std::string_view hex) {
  Bytes out(hex.size() / 2);
  EXPECT_TRUE(tkdc::from_hex(hex, out)) << hex;
  return out;
}

}  // namespace tkdc::test
