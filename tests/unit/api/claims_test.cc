// SPDX-License-Identifier: Apache-2.0
// Quadratic layers and inputs in malicious mode: a changed bit of any message is
// always found, whatever the secrets.
#include <gtest/gtest.h>

#include "api/quadratic.h"
#include "rep3/verify/verifier.h"
#include "support/setting.h"
#include "support/three_parties.h"

namespace tkdc::mpc {
namespace {

using test::ThreeParties;

struct Flip {
  int party;
  bool to_prev;
  std::size_t tick, bit;
};

struct Ended {
  bool released[3] = {};
  std::size_t bytes_to_prev = 0, bytes_to_next = 0;  // of the tick that is flipped
};

Task<void> sums(Rep3& rep3, Ring ring, SharedBytes x, SharedBytes y, bool& released) {
  std::vector<Term> terms;
  for (std::uint32_t k = 0; k < 20; ++k) terms.push_back({k % 3, k % 5, k % 4});
  SharedBytes z = co_await quadratic(rep3, ring, std::move(x), std::move(y), 3, std::move(terms));
  co_await rep3.verified();
  released = true;
}

Ended run(Ring ring, std::uint64_t seed, const Flip& flip) {
  ThreeParties net(Representation::kBytes, seed, tkdc::Security::kMalicious);
  std::unique_ptr<Verifier> verifier[3];
  for (int p = 0; p < 3; ++p) verifier[p] = std::make_unique<Verifier>(*net.party[p]);
  auto xs = net.share(test::random_bytes(net.rng(), 5 * element_bytes(ring)));
  auto ys = net.share(test::random_bytes(net.rng(), 5 * element_bytes(ring)));
  Ended result;
  std::size_t tick = 0;
  net.tamper = [&](int p, SecretVector& to_prev, SecretVector& to_next) {
    if (tick == flip.tick && p == flip.party) {
      result.bytes_to_prev = to_prev.size();
      result.bytes_to_next = to_next.size();
      SecretVector& packet = flip.to_prev ? to_prev : to_next;
      if (flip.bit / 8 < packet.size())
        packet[flip.bit / 8] ^= static_cast<std::uint8_t>(1u << flip.bit % 8);
    }
    tick += p == 2 ? 1 : 0;
  };
  (void)net.run([&](int p) { return sums(*net.party[p], ring, xs[p], ys[p], result.released[p]); })
      .ok();
  return result;
}

class ClaimsOfRings : public testing::TestWithParam<Ring> {};

TEST_P(ClaimsOfRings, EveryLayerBitIsFoundWhateverTheSecrets) {
  constexpr std::size_t kNoBit = ~std::size_t{0};
  const Ended honest = run(GetParam(), 1, {0, true, 0, kNoBit});
  for (bool released : honest.released) EXPECT_TRUE(released);
  ASSERT_GT(honest.bytes_to_prev, 0u);
  for (int cheat = 0; cheat < 3; ++cheat)
    for (std::size_t bit = 0; bit < 8 * honest.bytes_to_prev; bit += 1 + bit / 24)
      for (std::uint64_t seed = 1; seed <= test::setting("TKDC_SECRETS", 3); ++seed) {
        const Ended cheated = run(GetParam(), seed, {cheat, true, 0, bit});
        EXPECT_FALSE(cheated.released[(cheat + 1) % 3]) << bit;
        EXPECT_FALSE(cheated.released[(cheat + 2) % 3]) << bit;
      }
}

INSTANTIATE_TEST_SUITE_P(Binary, ClaimsOfRings,
                         testing::Values(Ring::kBits, Ring::kGf256, Ring::kGf128),
                         [](const auto& one) {
                           return "Ring" + std::to_string(static_cast<int>(one.param));
                         });

Task<void> input(Task<std::optional<SharedBytes>> task, std::optional<SharedBytes>& out) {
  out = co_await task;
}

// An owner that tells the two others different values is found by both.
TEST(Inputs, ToldDifferentlyAreRefused) {
  for (int owner = 0; owner < 3; ++owner) {
    ThreeParties net(Representation::kBytes, 3, tkdc::Security::kMalicious);
    std::size_t tick = 0;
    net.tamper = [&](int p, SecretVector&, SecretVector& to_next) {
      if (p == owner && tick == 0) to_next[2] ^= 4;
      tick += p == 2 ? 1 : 0;
    };
    std::optional<SharedBytes> shared[3];
    auto ran = net.run([&](int p) {
      return input(share_input(*net.party[p], owner, Ring::kZ2_32, 8, SecretVector(8, 7)),
                   shared[p]);
    });
    EXPECT_TRUE(ran.ok());
    EXPECT_FALSE(shared[(owner + 1) % 3]);
    EXPECT_FALSE(shared[(owner + 2) % 3]);
  }
}

// What each of the two others hears must not depend on the value: each lacks one
// half of the mask.
TEST(Inputs, ShowNothingToTheOthers) {
  constexpr int kRuns = 400, kBytes = 8;
  for (std::uint8_t secret : {0x00, 0xff}) {
    std::vector<int> ones(8 * kBytes);
    for (int k = 0; k < kRuns; ++k) {
      ThreeParties net(Representation::kBytes, 1000 + static_cast<std::uint64_t>(k));
      net.record = [&](int p, const SecretVector& to_prev, const SecretVector& to_next) {
        if (p != 1) return;
        EXPECT_EQ(to_prev, to_next);
        for (std::size_t bit = 0; bit < ones.size(); ++bit)
          ones[bit] += to_next[bit / 8] >> bit % 8 & 1;
      };
      std::optional<SharedBytes> shared[3];
      ASSERT_TRUE(net.run([&](int p) {
                       return input(share_input(*net.party[p], 1, Ring::kBits, kBytes,
                                                SecretVector(kBytes, secret)),
                                    shared[p]);
                     })
                      .ok());
    }
    for (int count : ones) EXPECT_NEAR(count, kRuns / 2, 60) << int{secret};
  }
}

}  // namespace
}  // namespace tkdc::mpc
