// SPDX-License-Identifier: Apache-2.0
// MACs on components: what is dealt is q + X Delta, a MAC check passes for honest servers, and
// every single difference fails in the role that it belongs to.
#include <gtest/gtest.h>

#include "three_provers.h"

namespace tkdc {
namespace {

using test::ThreeProvers;

std::vector<MacRole> all_roles() {
  std::vector<MacRole> roles;
  for (int prover = 0; prover < 3; ++prover)
    for (int verifier = 0; verifier < 3; ++verifier)
      if (prover != verifier) roles.push_back({prover, verifier});
  return roles;
}

TEST(Field, ASumOfProductsIsTheSumOfTheProducts) {
  std::mt19937_64 rng(4);
  for (std::size_t n : {0u, 1u, 2u, 7u, 64u}) {
    const SecretVector a = test::random_bytes(rng, 16 * n), b = test::random_bytes(rng, 16 * n);
    SecretVector expected = test::random_bytes(rng, 16), fast = expected, slow = expected;
    for (std::size_t k = 0; k < n; ++k)
      gf128_multiply_add_scalar(expected.data(), &a[16 * k], &b[16 * k]);
    gf128_dot_add(fast.data(), n, a.data(), b.data());
    gf128_dot_add_scalar(slow.data(), n, a.data(), b.data());
    EXPECT_EQ(fast, expected) << n;
    EXPECT_EQ(slow, expected) << n;
  }
}

// Proved by whoever holds it to whoever lacks it.
TEST(MacRole, EachComponentHasTwoProversAndTheOneThatLacksIt) {
  for (const MacRole& role : all_roles()) {
    const auto holds = [&](int p) {
      return role.component() == p || role.component() == (p + 1) % 3;
    };
    EXPECT_TRUE(holds(role.prover));
    EXPECT_TRUE(holds(role.dealer()));
    EXPECT_FALSE(holds(role.verifier));
  }
}

// Who was dealt them does not know Delta, and proves with them what it was dealt them for and
// nothing else. The control: with Delta it proves what it likes.
TEST(Dealing, WhoeverDealtKnowsItsTags) {
  ThreeProvers three;
  three.add("a", 3);
  const Dealing dealing = three.next();
  ASSERT_TRUE(three.deal(dealing));
  for (const MacRole& role : all_roles()) {
    MacKeys& dealer = *three.keys[role.dealer()];
    const MacSubject& one = three.subjects[role.prover][0];
    const Bytes name = mac_name(one.name, dealing);
    SecretVector x = one.component[role.place()], tags = one.tag[role.place()];
    EXPECT_TRUE(are_tags_of(dealer, role, name, x, tags));
    EXPECT_TRUE(are_tags_of(*three.keys[role.verifier], role, name, x, tags));
    EXPECT_FALSE(are_tags_of(dealer, role, mac_name(one.name, three.next()), x, tags));
    SecretVector shorter(tags.begin(), tags.end() - 16);
    EXPECT_FALSE(are_tags_of(dealer, role, name, x, shorter));
    tags[20] ^= 1;
    EXPECT_FALSE(are_tags_of(dealer, role, name, x, tags));
    tags[20] ^= 1;
    SecretVector difference(16);
    difference[4] = x[20] ^ 0x77;
    x[20] = 0x77;
    EXPECT_EQ(are_tags_of(dealer, role, name, x, tags), difference[4] == 0);
    gf128_multiply_add(&tags[16], difference.data(), dealer.delta(role).data());
    EXPECT_TRUE(are_tags_of(dealer, role, name, x, tags));
  }
}

TEST(Dealing, ATagIsQPlusXDelta) {
  ThreeProvers three;
  three.add("a", 3);
  three.add("b", 1);
  const Dealing dealing = three.next();
  ASSERT_TRUE(three.deal(dealing));
  for (const MacRole& role : all_roles()) {
    MacKeys& verifier = *three.keys[role.verifier];
    for (const MacSubject& one : three.subjects[role.prover]) {
      SecretVector expected(one.bytes());
      verifier.q(role, mac_name(one.name, dealing), expected);
      EXPECT_NE(expected, one.tag[role.place()]);
      for (std::size_t k = 0; k < one.bytes(); k += 16)
        gf128_multiply_add(&expected[k], &one.component[role.place()][k],
                           verifier.delta(role).data());
      EXPECT_EQ(expected, one.tag[role.place()]);
    }
  }
}

TEST(Dealing, EveryRoleHasAKeyOfItsOwn) {
  ThreeProvers three;
  std::vector<SecretVector> deltas, streams;
  for (const MacRole& role : all_roles()) {
    MacKeys& dealer = *three.keys[role.dealer()];
    MacKeys& verifier = *three.keys[role.verifier];
    const ByteSpan delta = dealer.delta(role);
    EXPECT_TRUE(std::ranges::equal(delta, verifier.delta(role)));
    for (const SecretVector& other : deltas) EXPECT_FALSE(std::ranges::equal(other, delta));
    deltas.emplace_back(delta.begin(), delta.end());
    SecretVector one(16), other(16);
    dealer.q(role, Bytes{1}, one);
    verifier.q(role, Bytes{1}, other);
    EXPECT_EQ(one, other);
    EXPECT_EQ(std::ranges::count(streams, one), 0);
    streams.push_back(one);
  }
}

TEST(MacCheck, HonestServersPass) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    ThreeProvers three(security);
    three.add("a", 3);
    three.add("b", 1);
    three.add("empty", 0);
    ASSERT_TRUE(three.deal(three.next()));
    three.add("c", 90);
    ASSERT_TRUE(three.deal(three.next()));
    three.expect_good();
    three.expect_good();
  }
}

TEST(MacCheck, SubjectsOfSeveralDealingsPassTogether) {
  ThreeProvers three;
  three.add("a", 2);
  ASSERT_TRUE(three.deal(three.next()));
  ThreeProvers more;
  more.add("b", 5);
  for (int p = 0; p < 3; ++p) more.pair_keys[p] = three.pair_keys[p];
  for (int p = 0; p < 3; ++p) more.keys[p] = more.make_keys(p, 1);
  more.number = 5;
  ASSERT_TRUE(more.deal(more.next()));
  for (int p = 0; p < 3; ++p) three.subjects[p].push_back(more.subjects[p][0]);
  three.number = 10;
  three.expect_good();
}

// A prover that is a bit off is found by the verifier of that component, and by nobody else.
TEST(MacCheck, EachBitOfAComponentCounts) {
  for (const MacRole& role : all_roles())
    for (std::size_t octet : {0u, 15u, 16u, 47u}) {
      ThreeProvers three;
      three.add("a", 2);
      three.add("b", 1);
      ASSERT_TRUE(three.deal(three.next()));
      auto& mine = three.subjects[role.prover];
      MacSubject& one = octet < 32 ? mine[0] : mine[1];
      one.component[role.place()][octet % 32 % one.bytes()] ^= 1;
      three.expect_failed({role});
    }
}

TEST(MacCheck, EachBitOfATagCounts) {
  for (const MacRole& role : all_roles()) {
    ThreeProvers three;
    three.add("a", 2);
    ASSERT_TRUE(three.deal(three.next()));
    three.subjects[role.prover][0].tag[role.place()][17] ^= 0x80;
    three.expect_failed({role});
  }
}

// What the dealer holds, and what it deals: found, and not told from a prover's fault.
TEST(MacCheck, ADealerThatHoldsAnotherComponentIsFound) {
  for (const MacRole& role : all_roles()) {
    ThreeProvers three;
    three.add("a", 2);
    const MacRole dealers{role.dealer(), role.verifier};
    three.subjects[role.dealer()][0].component[dealers.place()][3] ^= 4;
    ASSERT_TRUE(three.deal(three.next()));
    // The other holder dealt of the right one, which the faulty one cannot prove.
    three.expect_failed({role, dealers});
  }
}

TEST(MacCheck, NamesDealingsAndEpochsAreBound) {
  const auto failed_all = [](ThreeProvers& three) { three.expect_failed(all_roles()); };
  auto fresh = [] {
    auto three = std::make_unique<ThreeProvers>();
    three->add("a", 2);
    three->add("b", 2);
    EXPECT_TRUE(three->deal(three->next()));
    return three;
  };
  auto three = fresh();
  three->expect_good();
  // A record in another's place; at all three alike, so that no list differs.
  for (auto& mine : three->subjects) std::swap(mine[0].name, mine[1].name);
  failed_all(*three);
  three = fresh();
  for (auto& mine : three->subjects) mine[0].name.push_back('2');  // another version
  failed_all(*three);
  three = fresh();
  for (auto& mine : three->subjects) mine[1].dealing.number ^= 1;
  failed_all(*three);
  three = fresh();
  for (int p = 0; p < 3; ++p) three->keys[p] = three->make_keys(p, 1, 1);  // another epoch
  failed_all(*three);
}

// Before anything is proved.
TEST(MacCheck, ListsThatDifferProveNothing) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    ThreeProvers three(security);
    three.add("a", 2);
    ASSERT_TRUE(three.deal(three.next()));
    three.subjects[1][0].dealing.number ^= 1;
    auto found = three.check();
    if (security == Security::kMalicious) {
      EXPECT_FALSE(found.ok());
    } else {
      ASSERT_TRUE(found.ok());
      EXPECT_TRUE(found->lists_differ);
      EXPECT_FALSE(found->good());
    }
  }
}

}  // namespace
}  // namespace tkdc
