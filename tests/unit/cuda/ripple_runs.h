// SPDX-License-Identifier: Apache-2.0
// Bulk work of SHA-1 at three parties of which some have a device: what the tests on the host and
// those on a GPU have in common.
#pragma once

#include <openssl/sha.h>

#include "unit/cuda/cohort_runs.h"

namespace tkdc::cuda {

struct HashSetting {
  std::size_t messages;
  std::size_t longest;  // octets; the n-th has 13 n modulo this and one
  Security security;
  ZeroGenerator zero_shares = ZeroGenerator::kAesCtr;
};

inline std::vector<HashSetting> hash_settings() {
  constexpr auto kMalicious = Security::kMalicious, kSemiHonest = Security::kSemiHonest;
  std::vector<HashSetting> all;
  for (std::size_t messages : {1u, 2u, 7u, 31u, 32u, 33u, 64u, 77u, 200u})
    all.push_back({messages, 55, kSemiHonest});
  for (std::size_t messages : {1u, 33u, 130u}) all.push_back({messages, 55, kMalicious});
  all.push_back({70, 180, kMalicious});  // of one to three blocks
  for (std::size_t k = 0, count = all.size(); k < count; k += 3) {
    all.push_back(all[k]);
    all.back().zero_shares = ZeroGenerator::kChaCha20;
  }
  return all;
}

inline Task<void> hash_in_bulk(Rep3Protocol& c, SharedBytes data, SharedBytes& out) {
  out = co_await hash_rest(c, kSha1, c.share_public(kSha1.initial()), std::move(data), 0,
                           tkdc::Work::kBulk);
  co_await c.rep3.verified();
}

// `device_parties`: bit p says that party p has the device.
inline Outcome run_hashes(const HashSetting& setting, const Rep3Backend* device,
                          unsigned device_parties) {
  const Rep3Backend& cpu = cpu_backend(Representation::kBytes);
  std::array<const Rep3Backend*, 3> backends;
  for (std::size_t p = 0; p < 3; ++p) backends[p] = device_parties >> p & 1 ? device : &cpu;
  PartiesWithCiphers s(6, backends, setting.security, setting.zero_shares);
  for (auto& ciphers : s.ciphers) ciphers->sha1.set_ripple_from(1);
  Outcome outcome;
  s.net.record = [&](int, const SecretVector& to_prev, const SecretVector& to_next) {
    for (const SecretVector* packet : {&to_prev, &to_next})
      outcome.wire.insert(outcome.wire.end(), packet->begin(), packet->end());
  };
  std::vector<SecretVector> messages;
  std::vector<PartiesWithCiphers::Shares> in, out(setting.messages);
  for (std::size_t n = 0; n < setting.messages; ++n) {
    messages.push_back(test::random_bytes(s.net.rng(), 13 * n % (setting.longest + 1)));
    in.push_back(s.net.share(messages.back()));
  }
  s.run_all(setting.messages, [&](Rep3Protocol& c, int p, std::size_t n) {
    const auto party = static_cast<std::size_t>(p);
    return hash_in_bulk(c, in[n][party], out[n][party]);
  });
  EXPECT_EQ(s.ciphers[0]->sha1.ripple_blocks(), s.ciphers[0]->sha1.blocks());
  for (std::size_t n = 0; n < setting.messages; ++n) {
    EXPECT_TRUE(ThreeParties::consistent(out[n]));
    const Bytes digest = ThreeParties::rebuild(out[n]);
    Bytes expected(SHA_DIGEST_LENGTH);
    ::SHA1(messages[n].data(), messages[n].size(), expected.data());
    EXPECT_EQ(digest, expected) << n << " of " << setting.messages;
    outcome.result.insert(outcome.result.end(), digest.begin(), digest.end());
  }
  for (auto& p : s.net.lane) EXPECT_FALSE(p->deviation()) << *p->deviation();
  return outcome;
}

}  // namespace tkdc::cuda
