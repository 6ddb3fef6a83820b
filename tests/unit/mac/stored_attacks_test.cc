// SPDX-License-Identifier: Apache-2.0
// Attacks on what servers store, each beside a control without the rule that stops it: names that
// are not bound, an epoch that brings nothing new, a Delta that its prover knows, shares that
// nobody checks.
#include <gtest/gtest.h>

#include "three_provers.h"

namespace tkdc {
namespace {

using test::random_bytes;
using test::ThreeProvers;

// Two records' components, each with its tag, at the prover.
void swap_proofs(MacSubject& a, MacSubject& b, const MacRole& role) {
  std::swap(a.component[role.place()], b.component[role.place()]);
  std::swap(a.tag[role.place()], b.tag[role.place()]);
}

// Of another's key a prover would make its own account's.
TEST(StoredAttacks, RecordsThatShareANameCanBeSwapped) {
  const MacRole role{2, 0};
  for (const bool name_is_bound : {true, false}) {
    ThreeProvers three;
    three.add("a", 2);
    three.add(name_is_bound ? "b" : "a", 2);
    ASSERT_TRUE(three.deal(three.next()));
    swap_proofs(three.subjects[2][0], three.subjects[2][1], role);
    three.expect_failed(name_is_bound ? std::vector<MacRole>{role} : std::vector<MacRole>{});
  }
}

// A refresh gives the value new shares, under another key of MACs and by another dealing. A prover
// that goes back to its share of before, with its tag, proves it where neither is new.
TEST(StoredAttacks, AShareOfBeforePassesWhereARefreshBringsNoNewKey) {
  const MacRole role{0, 1};
  for (const bool new_key : {true, false})
    for (const bool new_dealing : {true, false}) {
      ThreeProvers three;
      three.add("a", 1);
      const Dealing first = three.next();
      ASSERT_TRUE(three.deal(first));
      const MacSubject before = three.subjects[0][0];
      const auto delta = three.share(SecretVector(kMacBlockBytes));
      for (int p = 0; p < 3; ++p) {
        if (new_key) three.keys[p] = three.make_keys(p, 2, 1);
        for (int c = 0; c < 2; ++c)
          xor_bytes(three.subjects[p][0].component[c].data(), delta[p].component[c].data(),
                    kMacBlockBytes);
      }
      ASSERT_TRUE(three.deal(new_dealing ? three.next() : first));
      MacSubject& mine = three.subjects[0][0];
      EXPECT_NE(mine.component[role.place()], before.component[role.place()]);
      mine.component[role.place()] = before.component[role.place()];
      mine.tag[role.place()] = before.tag[role.place()];
      const bool caught = new_key || new_dealing;
      three.expect_failed(caught ? std::vector<MacRole>{role} : std::vector<MacRole>{});
    }
}

// Which bit it turns is the prover's choice, and none passes but to who has Delta: a disk of the
// verifier's, stolen under the same key of MACs.
TEST(StoredAttacks, AProverThatKnowsDeltaTurnsABit) {
  const MacRole role{1, 0};
  for (const int bit : {0, 7, 64, 127})
    for (const bool knows_delta : {false, true}) {
      ThreeProvers three;
      three.add("a", 1);
      ASSERT_TRUE(three.deal(three.next()));
      MacSubject& mine = three.subjects[1][0];
      SecretVector turned(kMacBlockBytes);
      turned[static_cast<std::size_t>(bit / 8)] = static_cast<std::uint8_t>(1 << bit % 8);
      xor_bytes(mine.component[role.place()].data(), turned.data(), kMacBlockBytes);
      if (knows_delta)
        gf128_multiply_add(mine.tag[role.place()].data(), turned.data(),
                           three.keys[role.verifier]->delta(role).data());
      three.expect_failed(knows_delta ? std::vector<MacRole>{} : std::vector<MacRole>{role});
    }
}

// A key as two servers have it: the component that both hold, from the first.
SecretVector key_of(const ThreeProvers& three, int party) {
  const MacSubject& a = three.subjects[party][0];
  const MacSubject& b = three.subjects[(party + 1) % 3][0];
  SecretVector out = a.component[0];
  xor_bytes(out.data(), a.component[1].data(), out.size());
  xor_bytes(out.data(), b.component[1].data(), out.size());
  return out;
}

// A server that adds another delta than the two others: the check of the new shares, which comes
// before they take the old ones' place, names it. Without it the store has two keys of one name,
// and what they differ by is the liar's choice: a fault in each job with that key.
TEST(StoredAttacks, AWrongDeltaThatNobodyChecksIsAFaultOfItsChoice) {
  SecretVector wrong(kMacBlockBytes);
  wrong[3] = 0x20;
  for (const bool lies : {false, true}) {
    ThreeProvers three;
    three.add("a", 1);
    const auto delta = three.share(SecretVector(kMacBlockBytes));
    for (int p = 0; p < 3; ++p)
      for (int c = 0; c < 2; ++c)
        xor_bytes(three.subjects[p][0].component[c].data(), delta[p].component[c].data(),
                  kMacBlockBytes);
    if (lies) xor_bytes(three.subjects[1][0].component[1].data(), wrong.data(), kMacBlockBytes);
    SecretVector differ = key_of(three, 0);
    xor_bytes(differ.data(), key_of(three, 2).data(), differ.size());
    EXPECT_EQ(differ, lies ? wrong : SecretVector(kMacBlockBytes));
    ASSERT_TRUE(three.deal(three.next()));
    auto found = three.check();
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->failed.empty(), !lies);
  }
}

}  // namespace
}  // namespace tkdc
