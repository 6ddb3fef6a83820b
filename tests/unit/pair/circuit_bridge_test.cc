// SPDX-License-Identifier: Apache-2.0
// Keys of a pool of which no block is left come into a session by a circuit: what both get, what a
// server gets that changes any of it, and what one learns that guesses. Controls:
// unchecked_test.cc.
#include "pair/keys_parties.h"

namespace tkdc::pair {
namespace {

TEST(PairCircuitBridge, ARecordIsBridgedAsOftenAsThereAreSessions) {
  for (const std::size_t blocks : {1, 2, 5}) {
    const BothStored stored = record_of(pools(), 0, blocks);
    for (int session = 0; session < 2; ++session) {
      const Bridged bridged = bridge_both_in_circuit(stored);
      ASSERT_TRUE(bridged.outcome.ok()) << *bridged.outcome.error[0];
      EXPECT_EQ(bridged.value(), value_of(stored));
    }
  }
  EXPECT_EQ(bridge_circuit_ands(), 2 * (2187 + 127));
}

// By the definition, one element after the other.
TEST(PairCircuitBridge, TheSumOfBitsIsTheSumOfElements) {
  const Label coin = draw_coin();
  Labels bits(3 * kBlockBits), elements(3);
  Label wanted;
  for (std::size_t k = 0; k < bits.size(); ++k) {
    bits[k].low = randombytes_uniform(2);
    elements[k / kBlockBits].low |= k % kBlockBits < 64 ? bits[k].low << (k % 64) : 0;
    elements[k / kBlockBits].high |= k % kBlockBits < 64 ? 0 : bits[k].low << (k % 64);
  }
  for (const Label& one : elements) wanted = ot::field_reference()->product(wanted ^ one, coin);
  const Labels sum = labels_of_sum(bits, coin);
  ASSERT_EQ(sum.size(), kBlockBits);
  for (std::size_t j = 0; j < kBlockBits; ++j) EXPECT_EQ(sum[j].low, bit_of(wanted, j)) << j;
}

// A bit, a MAC, a key, another record, another pool's Δ in the place of this one: it ends as a
// check that failed. Whoever sees it first closes the test's link to the other one.
TEST(PairCircuitBridge, WhatOneServerHasChangedInItsStoreEndsTheSession) {
  const BothStored other = record_of(pools(), 1);
  const std::vector<std::function<void(BothStored&, std::size_t)>> changes = {
      [](BothStored& s, std::size_t p) { s[p].blocks[0].own.high ^= 1; },
      [](BothStored& s, std::size_t p) { s[p].blocks[1].mac.low ^= 1; },
      [](BothStored& s, std::size_t p) { s[p].blocks[1].key.high ^= 4; },
      [&](BothStored& s, std::size_t p) {
        s[p].blocks[0].own = other[p].blocks[0].own;
        s[p].blocks[0].mac = other[p].blocks[0].mac;
      },
      [](BothStored& s, std::size_t p) { std::swap(s[p].blocks[0], s[p].blocks[1]); }};
  for (const std::size_t cheat : {0, 1})
    for (std::size_t k = 0; k < changes.size(); ++k) {
      BothStored stored = record_of(pools(), 0, 2);
      changes[k](stored, cheat);
      const Bridged bridged = bridge_both_in_circuit(stored);
      EXPECT_TRUE(bridged.ended[0] == EndedBy::kCheck || bridged.ended[1] == EndedBy::kCheck)
          << cheat << " " << k;
      for (const std::size_t p : {0, 1})
        EXPECT_NE(bridged.ended[p], EndedBy::kNothing) << cheat << " " << k;
    }
  for (const std::size_t cheat : {0, 1}) {
    EXPECT_FALSE(a_flipped_bit_is_taken_in_circuit(cheat));
    BothPools changed = pools();
    changed[cheat].deltas.delta.high ^= 8;
    const Bridged bridged = bridge_both_in_circuit(record_of(pools(), 0), 0, {}, changed);
    EXPECT_TRUE(bridged.ended[0] == EndedBy::kCheck || bridged.ended[1] == EndedBy::kCheck);
  }
}

TEST(PairCircuitBridge, ServersThatAreAskedForDifferentKeysRefuseAndLatchNobody) {
  static const BothPools others = new_pools(8);
  const BothStored records[2] = {record_of(pools(), 0), record_of(pools(), 0, 2)};
  const Bytes names[2] = {kKeyName, Bytes{'o', 't', 'h', 'e', 'r'}};
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      const auto refused = [&](const Pool& pool, const StoredBlocks& stored, ByteSpan name,
                               const char* why) {
        auto held = bridge_in_circuit(session, pool, stored, name);
        EXPECT_TRUE(session.stands().ok());
        EXPECT_TRUE(!held && held.error().message.find(why) != std::string::npos) << why;
      };
      refused(pools()[p], records[0][p], names[p], "another key");
      refused(pools()[p], records[p][p], names[0], "another key");
      const std::uint64_t before = session.channel().sent();
      refused(others[p], records[0][p], names[0], "of one pool");
      refused(pools()[p], {pools()[p].id, {}}, names[0], "at once");
      EXPECT_EQ(session.channel().sent(), before);
      auto held = bridge_in_circuit(session, pools()[p], records[0][p], names[0]);
      return held ? Result<void>() : held.error();
    };
  };
  const Outcome outcome = with_sessions(body(0), body(1));
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

// Every so many octets of what each sends from the bridge on. A change in the tables of a gate, or
// of what no gate uses, may go unseen: then both have the right value.
TEST(PairCircuitBridge, AChangedOctetEndsItOrWasNotUsed) {
  const BothStored stored = record_of(pools(), 0, 2);
  const Bridged honest = bridge_both_in_circuit(stored);
  ASSERT_TRUE(honest.outcome.ok());
  int ended = 0;
  for (const int cheat : {0, 1}) {
    const std::uint64_t from = honest.begun_at[cheat], to = honest.outcome.sent[cheat];
    std::vector<std::uint64_t> places;
    for (std::uint64_t at = from; at < to; at += (to - from) / 24) places.push_back(at);
    for (const std::uint64_t back : {1, 16, 17}) places.push_back(to - back);
    for (const std::uint64_t at : places) {
      const Bridged bridged = bridge_both_in_circuit(stored, cheat, {at, 2});
      if (bridged.outcome.ok())
        EXPECT_EQ(bridged.value(), value_of(stored)) << cheat << " " << at - from;
      else
        ++ended;
    }
  }
  EXPECT_GT(ended, 30);
}

// An evaluator that tests a guess of the garbler's blocks, by another key of them and another Δ,
// learns nothing before the garbler has latched it: it goes when it has heard both outputs, with
// the guess wrong or right, and the garbler tells ρ only where it was right.
TEST(PairCircuitBridge, AnEvaluatorThatGuessesWrongIsFoundBeforeItKnows) {
  for (const bool right : {false, true}) {
    const BothStored stored = record_of(pools(), 0);
    BothStored guessed = stored;
    BothPools entered = pools();
    // W = Q ⊕ V Δ = (Q ⊕ V D) ⊕ V (Δ ⊕ D), if V is what it is taken for. One block: V = c X, and
    // with Q ⊕ V D = c (K ⊕ X D) the same key serves for each coin.
    const Label difference{6, 1};
    const Label x = right ? stored[0].blocks[0].own : stored[0].blocks[0].own ^ Label { 1, 0 };
    entered[1].deltas.delta = entered[1].deltas.delta ^ difference;
    guessed[1].blocks[0].key =
        stored[1].blocks[0].key ^ ot::field_reference()->product(x, difference);
    const Bridged honest = bridge_both_in_circuit(stored);
    const Bridged bridged = bridge_both_in_circuit(guessed, 0, {}, entered);
    EXPECT_EQ(bridged.outcome.ok(), right);
    EXPECT_EQ(bridged.ended[0], right ? EndedBy::kNothing : EndedBy::kCheck);
    const std::uint64_t short_of = right ? 0 : 17;  // ρ and its MAC
    EXPECT_EQ(bridged.outcome.sent[0], honest.outcome.sent[0] - short_of);
  }
}

// A garbler that does as it should up to the circuit's outputs, and then tells ρ whatever they are.
// How the evaluator, whose program and store are honest, ended.
EndedBy against_a_rogue_garbler(const Pool& entered, const StoredBlocks& rogues,
                                const BothStored& stored) {
  EndedBy ended = EndedBy::kNothing;
  const Outcome outcome = with_sessions(
      [&](Session& session) -> Result<void> {
        auto compared = compare_in_circuit(session, entered, rogues, kKeyName);
        if (!compared) return compared.error();
        return session.tell(std::span<const AuthBit>(&compared->mask, 1));
      },
      [&](Session& session) -> Result<void> {
        auto held = bridge_in_circuit(session, pools()[1], stored[1], kKeyName);
        ended = session.ended_by();
        return held ? Result<void>() : held.error();
      });
  // One that latches closes the link, at which the rogue may still be telling.
  EXPECT_TRUE(outcome.ok() || ended != EndedBy::kNothing);
  EXPECT_EQ(outcome.error[1].has_value(), ended != EndedBy::kNothing);
  return ended;
}

// The evaluator looks at the garbler's blocks by itself: what the garbler finds of them ends
// nothing where the garbler does not want it.
TEST(PairCircuitBridge, TheEvaluatorLatchesAGarblerWhoseBlocksDoNotFit) {
  const BothStored stored = record_of(pools(), 0, 2), other = record_of(pools(), 1, 2);
  EXPECT_EQ(against_a_rogue_garbler(pools()[0], stored[0], stored), EndedBy::kNothing);
  const std::vector<std::function<void(StoredBlocks&)>> changes = {
      [](StoredBlocks& s) { s.blocks[0].own.high ^= 1; },
      [](StoredBlocks& s) { s.blocks[1].mac.low ^= 1; },
      [&](StoredBlocks& s) {
        s.blocks[0].own = other[0].blocks[0].own;
        s.blocks[0].mac = other[0].blocks[0].mac;
      }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    StoredBlocks rogues = stored[0];
    changes[k](rogues);
    EXPECT_EQ(against_a_rogue_garbler(pools()[0], rogues, stored), EndedBy::kCheck) << k;
  }
}

// A garbler that tests a guess of the evaluator's blocks, by another key of them and another Δ, and
// does not mind what it hears: the evaluator has latched it where the guess was wrong.
TEST(PairCircuitBridge, TheEvaluatorLatchesAGarblerThatGuessesWrong) {
  for (const bool right : {false, true}) {
    const BothStored stored = record_of(pools(), 0);
    StoredBlocks guessed = stored[0];
    Pool entered = pools()[0];
    // As with an evaluator that guesses, above.
    const Label difference{6, 1};
    const Label x = right ? stored[1].blocks[0].own : stored[1].blocks[0].own ^ Label { 1, 0 };
    entered.deltas.delta = entered.deltas.delta ^ difference;
    guessed.blocks[0].key = stored[0].blocks[0].key ^ ot::field_reference()->product(x, difference);
    EXPECT_EQ(against_a_rogue_garbler(entered, guessed, stored),
              right ? EndedBy::kNothing : EndedBy::kCheck);
  }
}

}  // namespace
}  // namespace tkdc::pair
