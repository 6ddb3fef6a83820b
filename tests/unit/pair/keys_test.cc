// SPDX-License-Identifier: Apache-2.0
// Keys that two servers have stored: pools, bridges into sessions, what is stored anew, and what a
// server gets that changes any of it.
#include <set>

#include "ot/fixed_random.h"
#include "pair/dealt_parties.h"
#include "pair/file_position.h"

namespace tkdc::pair {
namespace {

void expect_authenticated(const AuthBlock& own, const AuthBlock& peers, const Label& peers_delta) {
  EXPECT_EQ(own.mac, peers.key ^ ot::field_reference()->product(own.own, peers_delta));
}

TEST(PairKeys, BlocksOfAPoolAreAuthenticatedAndRandom) {
  std::set<std::uint64_t> seen;
  EXPECT_EQ(pools()[0].id, pools()[1].id);
  for (const std::size_t p : {0, 1}) {
    ASSERT_EQ(pools()[p].blocks.size(), kPoolBlocks);
    for (std::size_t k = 0; k < kPoolBlocks; ++k) {
      expect_authenticated(pools()[p].blocks[k], pools()[1 - p].blocks[k],
                           pools()[1 - p].deltas.delta);
      seen.insert(pools()[p].blocks[k].own.low);
    }
  }
  EXPECT_EQ(seen.size(), 2 * kPoolBlocks);
}

TEST(PairKeys, ARecordIsBridgedIntoASessionAndServesInManyJobs) {
  const BothStored stored = record_of(pools(), 0, 2);
  const PairCircuit circuit = circuit_named("aes-sbox");
  Bits outputs[2][2];
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      MemoryPosition position;
      auto reserved = reserve(session, pools()[p], position, 3);
      if (!reserved) return reserved.error();
      auto held = bridge(session, *reserved, stored[p], kKeyName);
      if (!held) return held.error();
      EXPECT_EQ(reserved->left(), 2u);
      for (std::size_t turn = 0; turn < 2; ++turn) {
        auto prepared = prepared_for(session, circuit);
        if (!prepared) return prepared.error();
        auto octet = part_of(*held, 120 + 8 * turn, 8);  // over the border of two blocks
        if (!octet) return octet.error();
        Inputs inputs;
        auto done = compute(session, *prepared, inputs.held(*octet));
        if (!done) return done.error();
        outputs[turn][p] = *done;
      }
      return {};
    };
  };
  const Outcome outcome = with_sessions(body(0), body(1));
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  const Bits value = value_of(stored);
  for (const std::size_t turn : {0, 1})
    for (const std::size_t p : {0, 1})
      EXPECT_EQ(outputs[turn][p],
                in_the_clear(circuit, Bits(value.begin() + 120 + 8 * static_cast<int>(turn),
                                           value.begin() + 128 + 8 * static_cast<int>(turn))));
}

// A bit, a MAC, another record or version in the place of this one: whichever server it is, the
// other one ends the session as a check that failed.
TEST(PairKeys, WhatOneServerHasChangedInItsStoreEndsTheSession) {
  const BothStored other = record_of(pools(), 1);
  const std::vector<std::function<void(BothStored&, std::size_t)>> changes = {
      [](BothStored& s, std::size_t p) { s[p].blocks[0].own.high ^= 1; },
      [](BothStored& s, std::size_t p) { s[p].blocks[0].mac.low ^= 1; },
      [&](BothStored& s, std::size_t p) {
        s[p].blocks[0].own = other[p].blocks[0].own;
        s[p].blocks[0].mac = other[p].blocks[0].mac;
      },
  };
  for (std::size_t k = 0; k < changes.size(); ++k)
    for (const std::size_t p : {0, 1}) {
      BothStored stored = record_of(pools(), 0);
      changes[k](stored, p);
      const Bridged bridged = bridge_both(stored);
      EXPECT_EQ(bridged.ended[1 - p], EndedBy::kCheck)
          << k << " " << p << bridged.outcome.error[1 - p].value_or("none");
      EXPECT_NE(bridged.outcome.error[1 - p].value_or("").find("stored"), std::string::npos);
    }
  // Its key of the other one's: it finds a fault in what is right.
  BothStored stored = record_of(pools(), 0);
  stored[0].blocks[0].key.low ^= 1;
  EXPECT_EQ(bridge_both(stored).ended[0], EndedBy::kCheck);
  EXPECT_TRUE(bridge_both(record_of(pools(), 0)).outcome.ok()) << "the control";
}

TEST(PairKeys, AFlippedBitIsNotTaken) {
  for (const std::size_t cheat : {0, 1}) EXPECT_FALSE(a_flipped_bit_is_taken(cheat));
}

// Every message of a reservation and of a bridge, a bit of each field, by either server.
TEST(PairKeys, EachFieldOfEachMessageChangedIsFound) {
  const Bridged honest = bridge_both(record_of(pools(), 0));
  ASSERT_TRUE(honest.outcome.ok());
  // From the begin: the wish's pool, number and count; the word that it is taken; the digest of
  // what is bridged. Where servers that differ come to the same, it is no check that failed: they
  // refuse another digest, and a number of which the digest tells.
  constexpr std::pair<std::uint64_t, EndedBy> kBegin[] = {{0, EndedBy::kState},
                                                          {16, EndedBy::kNothing},
                                                          {24, EndedBy::kState},
                                                          {32, EndedBy::kCheck},
                                                          {33, EndedBy::kNothing}};
  // From the end: proof (3), coin, masks (2); before them what draws bits.
  constexpr std::uint64_t kEnd[] = {16, 32, 48, 64, 80, 96};
  for (const int cheat : {0, 1}) {
    for (const auto& [at, by] : kBegin) {
      const Bridged bridged =
          bridge_both(record_of(pools(), 0), cheat, {honest.begun_at[cheat] + at, 2});
      // Where both refuse, the first one to do so may have closed the test's link.
      const EndedBy ended = bridged.ended[1 - cheat];
      EXPECT_TRUE(ended == by || (by == EndedBy::kNothing && ended == EndedBy::kLink)) << at;
      EXPECT_TRUE(bridged.outcome.error[1 - cheat]) << at;
    }
    for (const std::uint64_t at : kEnd) {
      const Bridged bridged =
          bridge_both(record_of(pools(), 0), cheat, {honest.outcome.sent[cheat] - at, 2});
      // A coin that was changed is found by who drew it, all else by the other one.
      EXPECT_EQ(bridged.ended[at == 64 ? cheat : 1 - cheat], EndedBy::kCheck) << at;
    }
  }
}

// A changed agent that names one key to one server and another to the other, and servers whose
// reservations are not at the same block: refused by both, with no block used, and the session
// serves on.
TEST(PairKeys, ServersThatAreAskedForDifferentKeysRefuseAndLatchNobody) {
  const BothStored records[2] = {record_of(pools(), 0), record_of(pools(), 1)};
  const Bytes names[2] = {{'o', 'n', 'e'}, {'t', 'w', 'o'}};
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      MemoryPosition position;
      const auto refused = [&](Reserved& reserved, const StoredBlocks& stored, ByteSpan name) {
        const std::size_t left = reserved.left();
        auto held = bridge(session, reserved, stored, name);
        EXPECT_FALSE(held.ok());
        EXPECT_TRUE(session.stands().ok());
        EXPECT_EQ(reserved.left(), left);
        if (!held) {
          EXPECT_NE(held.error().message.find("another key"), std::string::npos);
        }
      };
      auto reserved = reserve(session, pools()[p], position, 3);
      if (!reserved) return reserved.error();
      refused(*reserved, records[p][p], names[p]);
      const BothStored longer = record_of(pools(), 0, 1 + p);
      refused(*reserved, longer[p], names[0]);
      if (p == 0 && !reserved->take(session, 1)) return fail("it has no block");
      refused(*reserved, records[0][p], names[0]);
      auto anew = reserve(session, pools()[p], position, 1);
      auto held = anew ? bridge(session, *anew, records[0][p], names[0]) : anew.error();
      return held ? Result<void>() : held.error();
    };
  };
  const Outcome outcome = with_sessions(body(0), body(1));
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

// A proof of two blocks and R: what a prover has entered, and what it has other MACs of.
struct Entering {
  Label delta = random_label(), other_delta = random_label();
  Proved prover, verifier;

  static Label random_label() {
    Label out;
    randombytes_buf(&out, sizeof out);
    return out;
  }
  explicit Entering(const std::array<Label, 3>& errors) {
    verifier.other_delta = other_delta;
    for (const Label& error : errors) {
      const Label stored = random_label(), key = random_label(), other = random_label();
      const Label entered = stored ^ error;
      prover.in_session.push_back({entered, key ^ ot::field().product(entered, delta), {}});
      prover.other_macs.push_back(other ^ ot::field().product(stored, other_delta));
      verifier.in_session.push_back({{}, {}, key});
      verifier.other_keys.push_back(other);
    }
  }
  bool passes(const Label& coin) const {
    const Found found = verify(verifier, {Side::kEvaluator, delta}, coin, prove(prover, coin));
    return found.session && found.other;
  }
};

// Errors e and c e in two blocks cancel if the coin is c: so it is drawn once they are fixed.
TEST(PairKeys, ErrorsCancelOnlyUnderACoinThatIsKnownBefore) {
  const Label coin = draw_coin(), e{1, 0};
  const Entering honest({}), cheat({e, ot::field().product(e, coin), Label{}});
  EXPECT_TRUE(honest.passes(coin));
  EXPECT_TRUE(cheat.passes(coin)) << "the control";
  for (int turn = 0; turn < 100; ++turn) EXPECT_FALSE(cheat.passes(draw_coin()));
}

TEST(PairKeys, NoCoinIsToldBeforeTheOtherOnesMasksAreThere) {
  const Bridged honest = bridge_both(record_of(pools(), 0));
  for (const std::size_t p : {0, 1}) {
    std::uint64_t sent = 0;
    const SessionBody waits = [&](Session& session) -> Result<void> {
      MemoryPosition position;
      auto reserved = reserve(session, pools()[p], position, 1);
      auto held = reserved ? bridge(session, *reserved, record_of(pools(), 0)[p], kKeyName)
                           : reserved.error();
      sent = session.channel().sent();
      EXPECT_EQ(session.ended_by(), EndedBy::kLink);
      return held ? Result<void>() : held.error();
    };
    const SessionBody leaves = [&](Session& session) -> Result<void> {
      MemoryPosition position;
      auto reserved = reserve(session, pools()[1 - p], position, 1);
      if (auto said = says_the_same(session.channel()); !said) return said;
      auto drawn = session.draw(2 * kBlockBits);
      Label masks[2];
      auto got = drawn ? session.channel().read_all(std::span<Label>(masks)) : drawn.error();
      return got ? fail("it has heard masks, and wants a coin first") : got;
    };
    (void)(p == 0 ? with_sessions(waits, leaves) : with_sessions(leaves, waits));
    EXPECT_EQ(sent, honest.outcome.sent[p] - sizeof(Label) - sizeof(Proof));
  }
}

TEST(PairKeys, ABlockIsNotUsedTwice) {
  EXPECT_FALSE(read_by_two_proofs({.names_an_old_number = true, .crossed = true}));
  EXPECT_TRUE(read_by_two_proofs({.names_an_old_number = true, .crossed = true, .careless = true}))
      << "the control: a counter that is not asked again";
  EXPECT_FALSE(read_by_two_proofs({.names_an_old_number = true, .careless = true}))
      << "none is taken from the peer";
  EXPECT_FALSE(read_by_two_proofs({.restored = true})) << "an honest peer's is higher";
}

// What no number can do: both are old. Who restores a disk says so, and the counter is raised.
TEST(PairKeys, ARestoredServerHasToBeToldSo) {
  EXPECT_TRUE(read_by_two_proofs({.restored = true, .names_an_old_number = true}));
  EXPECT_FALSE(read_by_two_proofs({.restored = true, .names_an_old_number = true, .told = true}));
}

TEST(PairKeys, TwoDeltasAreNotProvedTogether) {
  const TwoDeltas proved = prove_under_two_deltas();
  EXPECT_FALSE(proved.read);
  EXPECT_EQ(proved.said, 0u);
  EXPECT_NE(proved.refusal.find("of another"), std::string::npos);
}

static_assert(!std::is_copy_constructible_v<HeldOnce> && !std::is_copy_constructible_v<Inputs>);

// An agent imports a key of one block: both store it under a fresh block, without seeing it.
const PairCircuit& padded_block() {
  static const PairCircuit circuit = [] {
    circuit::Recorder recorder;
    const auto x = recorder.input("key", kBlockBits);
    recorder.output("key", circuit::BitSpan<circuit::Recorder>(x));
    return PairCircuit(circuit::schedule_of(with_pad(recorder.finish())));
  }();
  return circuit;
}
Result<StoredBlocks> import_key(Session& session, std::size_t p, PoolPosition& position,
                                Dealt dealt) {
  auto reserved = reserve(session, pools()[p], position, 2);
  auto fresh = reserved ? draw_fresh(session, *reserved, 1) : Result<Fresh>(reserved.error());
  if (!fresh) return fresh.error();
  auto masks = session.draw(masks_of(padded_block()));
  auto prepared = masks ? prepare(session, padded_block(), {}, *masks) : masks.error();
  if (!prepared) return prepared.error();
  dealt.session = session.id();
  Inputs inputs(std::move(dealt));
  auto d = compute(session, *prepared, inputs.dealt(kBlockBits).held(fresh->take()));
  // Dropped or not, no second value is opened under these blocks.
  EXPECT_EQ(fresh->take().size(), 0u);
  if (!d) return d.error();
  EXPECT_FALSE(fresh->moved_by(pools()[p], std::span(*d).first(100)).ok());
  return fresh->moved_by(pools()[p], *d);
}

// A server that enters another share of an imported key has it dropped; one that stores another is
// found when the key is used.
TEST(PairKeys, AnImportWhoseServerNamesAnotherShareIsFound) {
  std::mt19937_64 generator(5);
  for (const std::size_t cheat : {0, 1}) {
    BothStored stored;
    std::array<Dealt, 2> changed =
                             deal_input(random_bits(generator, kBlockBits), Label{}, draw_coin()),
                         dealt =
                             deal_input(random_bits(generator, kBlockBits), Label{}, draw_coin());
    changed[cheat].share[9] ^= 1;
    with_positions([&](Session& session, std::size_t p, FilePosition& position) -> Result<void> {
      auto refused = import_key(session, p, position, std::move(changed[p]));
      EXPECT_FALSE(refused.ok());
      EXPECT_TRUE(session.stands().ok());
      auto good = import_key(session, p, position, std::move(dealt[p]));
      if (!good) return good.error();
      stored[p] = std::move(*good);
      return {};
    });
    EXPECT_TRUE(bridge_both(stored).outcome.ok()) << "the control";
    Bits flipped(kBlockBits);
    flipped[9] = 1;
    stored[cheat].blocks[0].own = stored[cheat].blocks[0].own ^ elements_of(flipped)[0];
    EXPECT_EQ(bridge_both(stored).ended[1 - cheat], EndedBy::kCheck);
  }
}

// In a later session it moves into another pool; what comes out in the end is what went in.
TEST(PairKeys, AnImportedKeyIsStoredAndMovesToAnotherPool) {
  static const BothPools others = new_pools(8);
  std::mt19937_64 generator(4);
  const Bits key = random_bits(generator, kBlockBits);
  std::array<Dealt, 2> dealt = deal_input(key, Label{}, draw_coin());
  BothStored stored;
  with_positions([&](Session& session, std::size_t p, FilePosition& position) -> Result<void> {
    auto imported = import_key(session, p, position, std::move(dealt[p]));
    if (!imported) return imported.error();
    stored[p] = std::move(*imported);
    return {};
  });
  EXPECT_EQ(value_of(stored), key);
  for (const std::size_t p : {0, 1}) {
    EXPECT_NE(stored[p].blocks[0].own, elements_of(key)[0]);
    expect_authenticated(stored[p].blocks[0], stored[1 - p].blocks[0], pools()[1 - p].deltas.delta);
  }
  BothStored anew;
  with_positions([&](Session& session, std::size_t p, FilePosition& position) -> Result<void> {
    auto reserved = reserve(session, pools()[p], position, 1);
    if (!reserved) return reserved.error();
    auto held = bridge(session, *reserved, stored[p], kKeyName);
    if (!held) return held.error();
    MemoryPosition others_position;
    auto from_others = reserve(session, others[p], others_position, 6);
    if (!from_others) return from_others.error();
    auto octet = part_of(*held, 0, 8);
    EXPECT_FALSE(part_of(*held, 121, 8).ok());
    EXPECT_FALSE(part_of(*held, ~std::size_t{0}, 8).ok());
    for (const Pool* wrong : {&others[p], &pools()[p]}) {
      auto unused = draw_fresh(session, *from_others, 1);
      if (!unused || !octet) return fail("no fresh blocks");
      const std::uint64_t before = session.channel().sent();
      const Held& what = wrong == &others[p] ? *octet : *held;  // a length, then a pool
      EXPECT_FALSE(store(session, what, *wrong, std::move(*unused)).ok());
      EXPECT_EQ(session.channel().sent(), before);
    }
    auto fresh = draw_fresh(session, *from_others, 1);
    if (!fresh) return fresh.error();
    auto moved_key = store(session, *held, others[p], std::move(*fresh));
    if (!moved_key) return moved_key.error();
    anew[p] = std::move(*moved_key);
    return {};
  });
  EXPECT_EQ(value_of(anew), key);
  EXPECT_EQ(anew[0].pool, others[0].id);
  for (const std::size_t p : {0, 1}) {
    EXPECT_NE(anew[p].blocks[0].own, stored[p].blocks[0].own);
    expect_authenticated(anew[p].blocks[0], anew[1 - p].blocks[0], others[1 - p].deltas.delta);
  }
}

// What both send from fixed random numbers: a pool, a reservation, a bridge, a job with dealt
// inputs, a bridge in a circuit.
TEST(PairGolden, WhatBothSendIsAsCommitted) {
  const ot::FixedRandom fixed;
  ot::begin_fixed(2);
  std::array<Dealt, 2> dealt = deal_input(Bits(16), Label{}, draw_coin());
  ot::Hashes hashes;
  for (const std::size_t p : {0, 1}) {
    std::uint8_t hash[32];
    const SecretVector octets = put_dealt(dealt[p]);
    crypto_generichash(hash, sizeof hash, octets.data(), octets.size(), nullptr, 0);
    hashes["deal " + std::to_string(p)] = to_hex(hash);
  }
  const auto party = [&](std::size_t p) {
    return [&, p](ot::Channel& channel) -> Result<void> {
      ot::begin_fixed(static_cast<std::uint8_t>(p));
      const Side side = p == 0 ? Side::kGarbler : Side::kEvaluator;
      auto first = Session::create(channel, side, kContext, small_batches());
      auto pool = first ? make_pool(*first, 4) : first.error();
      auto session = pool ? Session::create(channel, side, kContext, small_batches())
                          : Result<std::unique_ptr<Session>>(pool.error());
      if (!session) return session.error();
      MemoryPosition position;
      auto reserved = reserve(**session, *pool, position, 2);
      auto key = reserved ? reserved->take(**session, 1) : reserved.error();
      auto held = key ? bridge(**session, *reserved, *key, kKeyName) : key.error();
      auto prepared = held ? prepared_for(**session, padded_sbox()) : held.error();
      if (!prepared) return prepared.error();
      dealt[p].session = (*session)->id();
      Inputs inputs(std::move(dealt[p]));
      auto done = compute(**session, *prepared, inputs.dealt(16));
      if (!done) return done.error();
      auto again = bridge_in_circuit(**session, *pool, *key, kKeyName);
      return again ? Result<void>() : again.error();
    };
  };
  const Outcome outcome = ot::run_parties(party(0), party(1));
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  for (const std::size_t p : {0, 1}) hashes["session " + std::to_string(p)] = outcome.hash[p];
  ot::compare_golden(TKDC_PAIR_WIRE_FORMAT_FILE, hashes);
}

}  // namespace
}  // namespace tkdc::pair
