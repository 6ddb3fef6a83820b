// SPDX-License-Identifier: Apache-2.0
// Attacks on MACs of components, each with a control that shows what the rule prevents: a number
// that serves twice, two Deltas under one V, coins that are known too early, an R that serves
// twice.
#include <gtest/gtest.h>

#include "three_provers.h"

namespace tkdc {
namespace {

using test::random_bytes;
using test::ThreeProvers;

SecretVector times(ByteSpan a, ByteSpan b) {
  SecretVector out(16);
  gf128_multiply_add(out.data(), a.data(), b.data());
  return out;
}

SecretVector plus(SecretVector a, ByteSpan b) {
  xor_bytes(a.data(), b.data(), a.size());
  return a;
}

// a to the power 2^128 - 2.
SecretVector inverse(SecretVector a) {
  SecretVector out(16);
  out[0] = 0x80;
  for (int k = 1; k < 128; ++k) {
    a = times(a, a);
    out = times(out, a);
  }
  return out;
}

// The prover sees two tags of one block under one q and has Delta. With it, it proves what it
// never held.
TEST(MacAttacks, ADealingThatIsRepeatedGivesDeltaAway) {
  const MacRole role{0, 1};
  for (const bool same_number : {true, false}) {
    ThreeProvers three;
    three.add("a", 1);
    const Dealing first = three.next();
    ASSERT_TRUE(three.deal(first));
    const MacSubject before = three.subjects[0][0];
    // The dealing is aborted and repeated, of a value that is another one meanwhile.
    const SecretVector change = random_bytes(three.rng(), 16);
    for (int p : {0, role.dealer()}) {
      MacSubject& mine = three.subjects[p][0];
      const MacRole as{p, role.verifier};
      mine.component[as.place()] = plus(mine.component[as.place()], change);
    }
    ASSERT_TRUE(three.deal(same_number ? first : three.next()));
    MacSubject& mine = three.subjects[0][0];
    const std::size_t c = role.place();
    const SecretVector guess = times(plus(mine.tag[c], before.tag[c]), inverse(change));
    const ByteSpan delta = three.keys[role.verifier]->delta(role);
    EXPECT_EQ(std::ranges::equal(guess, delta), same_number);
    // A forged component with the tag that it needs.
    const SecretVector forged = random_bytes(three.rng(), 16);
    mine.component[c] = plus(mine.component[c], forged);
    mine.tag[c] = plus(mine.tag[c], times(forged, guess));
    if (same_number)
      three.expect_good();
    else
      three.expect_failed({role});
  }
}

// V = S + R and W = Q + S Delta1 + R Delta2: the verifier solves for S, the sum of the X.
TEST(MacAttacks, TwoDeltasUnderOneVGiveTheSumAway) {
  std::mt19937_64 rng(5);
  const SecretVector sum = random_bytes(rng, 16), mask = random_bytes(rng, 16),
                     q = random_bytes(rng, 16), delta1 = random_bytes(rng, 16),
                     delta2 = random_bytes(rng, 16);
  const SecretVector v = plus(sum, mask);
  const SecretVector w = plus(plus(q, times(sum, delta1)), times(mask, delta2));
  const SecretVector solved =
      times(plus(plus(w, q), times(v, delta2)), inverse(plus(delta1, delta2)));
  EXPECT_EQ(solved, sum);
}

// So a prover whose dealer names another key sends no V; nor one whose tags are of another.
TEST(MacAttacks, AProverProvesUnderOneDeltaOnly) {
  for (const int odd : {0, 1, 2}) {
    ThreeProvers three;
    three.add("a", 1);
    ASSERT_TRUE(three.deal(three.next()));
    three.keys[odd] = three.make_keys(odd, 2);
    std::vector<SecretVector> sent;
    three.record = [&](int p, const SecretVector& to_prev, const SecretVector& to_next) {
      if (p != (odd + 1) % 3) return;
      sent.push_back(to_prev);
      sent.push_back(to_next);
    };
    auto found = three.check();
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->lists_differ);  // the ids are in what is compared
    for (const SecretVector& one : sent) EXPECT_NE(one.size(), 33u);  // no proof left
  }
  // All three say the new key; the tags are of the old one.
  ThreeProvers three;
  three.add("a", 1);
  ASSERT_TRUE(three.deal(three.next()));
  for (int p = 0; p < 3; ++p) three.keys[p] = three.make_keys(p, 2);
  int proofs = 0;
  three.record = [&](int, const SecretVector& to_prev, const SecretVector& to_next) {
    for (const SecretVector* one : {&to_prev, &to_next})
      if (one->size() == 33) {
        ++proofs;
        EXPECT_EQ(*one, SecretVector(33));
      }
  };
  auto found = three.check();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->failed.size(), 6u);
  EXPECT_EQ(proofs, 6);  // the control: that is where they would have been
}

// libsodium's generator by seed, so that a test can foretell what a party will draw.
class Foretold {
 public:
  explicit Foretold(std::uint64_t seed) {
    engine().seed(seed);
    static randombytes_implementation ours = implementation();
    randombytes_set_implementation(&ours);
  }
  ~Foretold() { randombytes_set_implementation(&randombytes_sysrandom_implementation); }

 private:
  static std::mt19937_64& engine() {
    static std::mt19937_64 rng;
    return rng;
  }
  static randombytes_implementation implementation() {
    randombytes_implementation out{};
    out.implementation_name = [] { return "foretold"; };
    out.random = [] { return static_cast<std::uint32_t>(engine()()); };
    out.buf = [](void* const buffer, const std::size_t bytes) {
      for (std::size_t k = 0; k < bytes; ++k)
        static_cast<std::uint8_t*>(buffer)[k] = static_cast<std::uint8_t>(engine()());
    };
    return out;
  }
};

// A dealer deals a tag that is wrong by e, and hides it in the tag of R, wrong by c e. It needs
// the coin c before it deals R. The coins leave when all masks are there, so it has to guess.
TEST(MacAttacks, ADealerThatKnowsTheCoinsHidesAWrongTag) {
  const MacRole role{1, 2};  // party 0 deals, to its next
  const SecretVector error(16, 0x5a);
  auto run = [&](bool foretells, const SecretVector& coin, SecretVector* seed) {
    const Foretold foretold(9);
    ThreeProvers three;
    three.add("a", 1);
    const std::uint64_t dealt_at = three.lane[0]->rounds();
    three.tamper = [&](int p, SecretVector&, SecretVector& to_next) {
      const std::uint64_t tick = three.lane[p]->rounds() - dealt_at;
      if (p == 0 && tick == 0) xor_bytes(&to_next[32], error.data(), 16);
      if (p == 0 && tick == 1 && foretells)
        xor_bytes(&to_next[32 + 16], times(coin, error).data(), 16);
      // Party 2's coins, to the prover, which is before it; the control overhears them.
      if (p == 2 && tick == 3 && seed != nullptr) *seed = to_next;
    };
    EXPECT_TRUE(three.deal(three.next()));
    three.expect_failed(foretells ? std::vector<MacRole>{} : std::vector<MacRole>{role});
  };
  SecretVector seed;
  run(false, {}, nullptr);  // what is drawn once in a process has been drawn
  run(false, {}, &seed);
  ASSERT_EQ(seed.size(), 32u);
  SecretVector coin(16);
  SecretStream stream;
  stream.begin(seed);
  stream.take(coin);
  run(true, coin, nullptr);
}

// One R in two checks: the verifier adds the two V and has a sum of X without a mask.
TEST(MacAttacks, EachCheckHasAMaskOfItsOwn) {
  auto proofs_of = [](bool same_masks) {
    ThreeProvers three;
    three.add("a", 1);
    EXPECT_TRUE(three.deal(three.next()));
    const SecretVector x = three.subjects[0][0].component[MacRole{0, 1}.place()];
    SecretVector v[2], c[2];
    for (int k = 0; k < 2; ++k) {
      std::unique_ptr<Foretold> foretold;
      const std::uint64_t from = three.lane[0]->rounds();
      if (same_masks) foretold = std::make_unique<Foretold>(9);
      three.record = [&](int p, const SecretVector& to_prev, const SecretVector& to_next) {
        const std::uint64_t tick = three.lane[p]->rounds() - from;
        // Only the masks are repeated: the coins differ.
        if (tick == 1) foretold.reset();
        if (p == 1 && tick == 2) {
          SecretStream stream;
          stream.begin(to_prev);
          SecretVector coin(16);
          stream.take(coin);
          c[k] = coin;
        }
        if (p == 0 && tick == 3) v[k] = {to_next.begin() + 1, to_next.begin() + 17};
      };
      three.expect_good();
    }
    return times(plus(v[0], v[1]), inverse(plus(c[0], c[1]))) == x;
  };
  EXPECT_TRUE(proofs_of(true));
  EXPECT_FALSE(proofs_of(false));
}

// Every octet that a party sends in a check counts, and a change of it stays in its role.
TEST(MacAttacks, EachOctetOfEachMessageCounts) {
  for (int tick = 0; tick < 5; ++tick)
    for (int changed = 0; changed < 64; ++changed) {
      ThreeProvers three;
      three.add("a", 1);
      ASSERT_TRUE(three.deal(three.next()));
      const std::uint64_t from = three.lane[0]->rounds();
      bool done = false;
      three.tamper = [&](int p, SecretVector& to_prev, SecretVector&) {
        if (p != 0 || three.lane[0]->rounds() - from != static_cast<std::uint64_t>(tick)) return;
        if (changed >= static_cast<int>(to_prev.size())) return;
        to_prev[static_cast<std::size_t>(changed)] ^= 1;
        done = true;
      };
      const Dealing attempt = three.next();
      MacFindings found[3];
      auto one = [&](int p) -> Task<void> {
        found[p] = co_await check_macs(*three.lane[p], *three.keys[p], attempt, three.subjects[p]);
      };
      auto ran = three.run(one);
      if (!done) continue;
      const bool all_good = ran.ok() && found[0].good() && found[1].good() && found[2].good();
      EXPECT_FALSE(all_good) << "tick " << tick << ", octet " << changed;
    }
}

}  // namespace
}  // namespace tkdc
