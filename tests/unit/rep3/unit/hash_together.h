// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "support/hash_input.h"
#include "support/three_parties.h"

namespace tkdc::test {

// Of several jobs, at once: 0, 10, 20 ... octets, a block each.
inline std::vector<SecretVector> short_messages(std::mt19937_64& rng) {
  std::vector<SecretVector> out;
  for (std::size_t k = 0; k < 5; ++k) out.push_back(random_bytes(rng, 10 * k));
  return out;
}

// What the three parties' units make of these messages, each a job of its own.
template <class Unit>
std::vector<Bytes> hash_together(ThreeParties& net, const std::unique_ptr<Unit> (&unit)[3],
                                 const HashFunction& hash,
                                 const std::vector<SecretVector>& messages) {
  std::vector<std::array<SharedBytes, 3>> in, out(messages.size());
  for (const SecretVector& message : messages) in.push_back(net.share(message));
  auto one = [&](int p, std::size_t k) -> Task<void> {
    out[k][p] = co_await unit[p]->compress(initial_of(hash, p), padded(hash, p, in[k][p]));
  };
  auto ran = net.run([&](int p) {
    std::vector<Task<void>> jobs;
    for (std::size_t k = 0; k < messages.size(); ++k) jobs.push_back(one(p, k));
    return all(net.party[p]->lane, std::move(jobs));
  });
  EXPECT_TRUE(ran.ok());
  std::vector<Bytes> digests;
  for (const auto& state : out) {
    digests.push_back(ThreeParties::rebuild(state));
    digests.back().resize(hash.digest_bytes);
  }
  return digests;
}

}  // namespace tkdc::test
