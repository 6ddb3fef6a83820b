// SPDX-License-Identifier: Apache-2.0
// Three parties that hold values in shares, and MAC keys of which each two share one: what tests of
// MACs deal and check. Hooks change what a party sends (support/three_parties.h).
#pragma once

#include <gtest/gtest.h>

#include "mac/dealing.h"
#include "mac/mac_check.h"
#include "support/three_parties.h"

namespace tkdc::test {

struct ThreeProvers : ThreeLanes {
  explicit ThreeProvers(Security security = Security::kSemiHonest, std::uint8_t key_id = 1)
      : ThreeLanes(1, security) {
    for (auto& key : pair_keys) key = random_bytes(rng(), MacKeys::kPairBytes);
    for (int p = 0; p < 3; ++p) keys[p] = make_keys(p, key_id);
  }

  // Pair p is that of party p and the one before it.
  std::unique_ptr<MacKeys> make_keys(int p, std::uint8_t id, std::uint32_t refresh_epoch = 0) {
    MacKeys::Where where;
    where.installation.fill(7);
    where.refresh_epoch = refresh_epoch;
    where.id.fill(id);
    where.party = p;
    return std::make_unique<MacKeys>(where, pair_keys[p], pair_keys[(p + 1) % 3]);
  }

  // A value of so many blocks.
  void add(const std::string& name, std::size_t blocks) {
    const auto shares = share(random_bytes(rng(), blocks * kMacBlockBytes));
    for (int p = 0; p < 3; ++p) {
      MacSubject subject;
      subject.name.assign(name.begin(), name.end());
      for (int c = 0; c < 2; ++c) subject.component[c] = shares[p].component[c];
      subjects[p].push_back(std::move(subject));
    }
  }

  Dealing next() {
    Dealing dealing;
    dealing.session.fill(3);
    dealing.number = ++number;
    return dealing;
  }

  bool deal(Dealing dealing) {
    bool good[3] = {};
    auto one = [&](int p) -> Task<void> {
      good[p] = co_await deal_macs(*lane[p], *keys[p], dealing, subjects[p]);
    };
    EXPECT_TRUE(run(one).ok());
    return good[0] && good[1] && good[2];
  }

  Result<MacFindings> check() {
    const Dealing attempt = next();
    MacFindings found[3];
    auto one = [&](int p) -> Task<void> {
      found[p] = co_await check_macs(*lane[p], *keys[p], attempt, subjects[p]);
    };
    auto ran = run(one);
    if (!ran.ok()) return ran.error();
    for (int p = 1; p < 3; ++p) EXPECT_EQ(found[p].failed, found[0].failed);
    return found[0];
  }
  // The only findings are these.
  void expect_failed(std::vector<MacRole> roles) {
    auto found = check();
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_FALSE(found->lists_differ);
    auto order = [](const MacRole& a, const MacRole& b) {
      return 3 * a.prover + a.verifier < 3 * b.prover + b.verifier;
    };
    std::ranges::sort(found->failed, order);
    std::ranges::sort(roles, order);
    EXPECT_EQ(found->failed, roles);
  }
  void expect_good() { expect_failed({}); }

  SecretVector pair_keys[3];
  std::unique_ptr<MacKeys> keys[3];
  std::vector<MacSubject> subjects[3];
  std::uint64_t number = 0;
};

}  // namespace tkdc::test
