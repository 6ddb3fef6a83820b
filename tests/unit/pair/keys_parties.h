// SPDX-License-Identifier: Apache-2.0
// Two servers with a pool and what they have stored out of it; and what a server may try with it:
// keys_test.cc has it refused, unchecked_test.cc done.
#pragma once

#include "pair/circuit_bridge.h"
#include "pair/input_check.h"
#include "pair/pair_parties.h"

namespace tkdc::pair {

inline constexpr std::size_t kPoolBlocks = 256;
inline const Bytes kKeyName = {'k', 'e', 'y'};

// What both have of the same thing, by party.
using BothPools = std::array<Pool, 2>;
using BothStored = std::array<StoredBlocks, 2>;

inline BothPools new_pools(std::size_t blocks = kPoolBlocks) {
  BothPools out;
  const auto party = [&](std::size_t p) {
    return [&, p](ot::Channel& channel) -> Result<void> {
      auto session = Session::create(channel, p == 0 ? Side::kGarbler : Side::kEvaluator, kContext,
                                     small_batches());
      if (!session) return session.error();
      auto pool = make_pool(*session, blocks);
      if (!pool) return pool.error();
      out[p] = std::move(*pool);
      return {};
    };
  };
  const Outcome outcome = ot::run_parties(party(0), party(1));
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  return out;
}
inline const BothPools& pools() {
  static const BothPools both = new_pools();
  return both;
}
// Its last blocks are records of these tests; positions are far before them.
inline BothStored record_of(const BothPools& of, std::size_t number, std::size_t blocks = 1) {
  BothStored out;
  for (const std::size_t p : {0, 1}) {
    const auto* first = of[p].blocks.data() + of[p].blocks.size() - 8 * (number + 1);
    out[p] = {of[p].id, AuthBlocks(first, first + blocks)};
  }
  return out;
}

class MemoryPosition : public PoolPosition {
 public:
  explicit MemoryPosition(std::uint64_t first = 0) : number(first) {}
  Result<std::uint64_t> next(const Label&) override { return stale ? 0 : number; }
  Result<bool> take(const Label&, std::uint64_t first, std::uint64_t blocks) override {
    if (first < number && !careless) return false;
    number = first + blocks;
    return true;
  }
  std::uint64_t number;
  // It is asked before another session takes; and a counter that does not look.
  bool stale = false, careless = false;
};

// Of a message that a test sends in a server's place.
struct RawWish {
  Label pool;
  std::uint64_t next, blocks;
};

// Of what both are about to do a rogue says whatever the honest one has said.
inline Result<void> says_the_same(ot::Channel& channel) {
  Digest said;
  if (auto got = channel.read(said); !got) return got;
  return channel.write(said);
}

// bridge() of the evaluator's side, by hand, with a random block of its choice.
struct Spied {
  Label coin;
  Proof proof;
};
inline Result<Spied> spied_bridge(Session& session, const AuthBlock& random, const Label& delta,
                                  const AuthBlock& stored) {
  const AuthBlock blocks[2] = {stored, random};
  if (auto said = says_the_same(session.channel()); !said) return said.error();
  auto drawn = session.draw(2 * kBlockBits);
  if (!drawn) return drawn.error();
  Label own[2], peers[2];
  Proved proved;
  proved.other_delta = delta;
  for (const std::size_t k : {0, 1}) {
    own[k] = blocks[k].own ^ block_of(std::span(*drawn).subspan(k * kBlockBits, kBlockBits)).own;
    proved.other_macs.push_back(blocks[k].mac);
    proved.other_keys.push_back(blocks[k].key);
  }
  ot::Channel& channel = session.channel();
  Spied out{draw_coin(), {}};
  Label peers_coin;
  auto done = channel.write_all(std::span<const Label>(own));
  if (done) done = channel.read_all(std::span<Label>(peers));
  if (done) done = channel.write_all(std::span<const Label>(&out.coin, 1));
  if (done) done = channel.read_all(std::span(&peers_coin, 1));
  if (!done) return done.error();
  for (std::size_t k = 0; k < drawn->size(); ++k)
    (*drawn)[k] = session.deltas().moved((*drawn)[k], bit_of(own[k / kBlockBits], k % kBlockBits),
                                         bit_of(peers[k / kBlockBits], k % kBlockBits));
  proved.in_session = blocks_of(*drawn);
  const Proof proof = prove(proved, peers_coin);
  done = channel.write_all(std::span<const Proof>(&proof, 1));
  if (done) done = channel.read_all(std::span(&out.proof, 1));
  if (!done) return done.error();
  return out;
}

inline Label inverse_of(const Label& x) {  // x^(2^128 − 2)
  Label out{1, 0}, power = x;
  for (int k = 1; k < 128; ++k) {
    power = ot::field().product(power, power);
    out = ot::field().product(out, power);
  }
  return out;
}

// The garbler proves one record twice. Its counter is set back between, as by a restored disk, or
// the evaluator names a number that has been used; `told`: the operator has raised the counter.
// `crossed`: both reservations ask for the number before either takes, as in two sessions.
struct TwoProofs {
  bool restored = false, names_an_old_number = false, told = false;
  bool crossed = false, careless = false;
};
// Whether the evaluator has the garbler's share of the record then.
inline bool read_by_two_proofs(const TwoProofs& how) {
  bool read = false;
  const BothStored record = record_of(pools(), 0);
  const SessionBody prover = [&](Session& session) -> Result<void> {
    MemoryPosition position;
    position.stale = how.crossed;
    position.careless = how.careless;
    for (int turn = 0; turn < 2; ++turn) {
      auto reserved = reserve(session, pools()[0], position, 1);
      if (!reserved && session.stands()) return {};
      if (!reserved) return reserved.error();
      auto held = bridge(session, *reserved, record[0], kKeyName);
      if (!held) return held.error();
      if (how.restored) position.number = 0;
      if (how.told) position.number = 100;
    }
    return {};
  };
  const SessionBody rogue = [&](Session& session) -> Result<void> {
    std::uint64_t next = 0;
    Spied spied[2];
    for (Spied& one : spied) {
      const RawWish own{pools()[1].id, how.names_an_old_number ? 0 : next, 1};
      RawWish peers;
      auto done = session.channel().write_all(std::span<const RawWish>(&own, 1));
      if (done) done = session.channel().read_all(std::span(&peers, 1));
      if (!done) return done;
      const std::uint64_t first = first_of(own.next, peers.next);
      next = first + 1;
      std::uint8_t taken = 1;
      done = session.channel().write({&taken, 1});
      if (done) done = session.channel().read({&taken, 1});
      if (!done) return done;
      if (taken != 1) return {};
      auto spy = spied_bridge(session, pools()[1].blocks[first], pools()[1].deltas.delta,
                              record[1].blocks[0]);
      if (!spy) return spy.error();
      one = *spy;
    }
    const Label share = ot::field().product(spied[0].proof.value ^ spied[1].proof.value,
                                            inverse_of(spied[0].coin ^ spied[1].coin));
    read = share == record[0].blocks[0].own;
    return {};
  };
  const Outcome outcome = with_sessions(prover, rogue);
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  return read;
}

// The garbler is brought to prove a record of one pool with a block of another.
struct TwoDeltas {
  bool read = false;    // the evaluator has its share
  std::string refusal;  // the garbler's
  std::uint64_t said = 0;
};
inline TwoDeltas prove_under_two_deltas() {
  static const BothPools others = new_pools(8);
  TwoDeltas out;
  const BothStored record = record_of(pools(), 0);
  const SessionBody prover = [&](Session& session) -> Result<void> {
    MemoryPosition position;
    auto reserved = reserve(session, others[0], position, 1);
    if (!reserved) return reserved.error();
    const std::uint64_t before = session.channel().sent();
    auto held = bridge(session, *reserved, record[0], kKeyName);
    if (!held) out.refusal = held.error().message;
    out.said = session.channel().sent() - before;
    return held ? Result<void>() : held.error();
  };
  const SessionBody rogue = [&](Session& session) -> Result<void> {
    MemoryPosition position;
    auto reserved = reserve(session, others[1], position, 1);
    if (!reserved) return reserved.error();
    const AuthBlock &stored = record[1].blocks[0], &random = others[1].blocks[0];
    auto spied = spied_bridge(session, random, others[1].deltas.delta, stored);
    if (!spied) return spied.error();
    // W' ⊕ c q ⊕ q_R = S Δ_1 ⊕ R Δ_2 and V = S ⊕ R, where S = c X.
    const auto times = ot::field().product;
    const Label one = pools()[1].deltas.delta, two = others[1].deltas.delta;
    const Label sum = spied->proof.other_mac ^ times(spied->coin, stored.key) ^ random.key ^
                      times(spied->proof.value, two);
    out.read = times(times(sum, inverse_of(one ^ two)), inverse_of(spied->coin)) ==
               record[0].blocks[0].own;
    return {};
  };
  (void)with_sessions(prover, rogue);
  return out;
}

// Both bridge a record, of which `change` is done at one: what both got, and how it ended there.
struct Bridged {
  Outcome outcome;
  Held held[2];
  EndedBy ended[2] = {EndedBy::kNothing, EndedBy::kNothing};
  std::uint64_t begun_at[2] = {0, 0}, masks_at[2] = {0, 0};
  // The record's value, in this session.
  Bits value() const {
    Bits out;
    for (std::size_t k = 0; k < held[0].bits.size(); ++k)
      out.push_back(static_cast<std::uint8_t>(held[0].bits[k].own() ^ held[1].bits[k].own()));
    return out;
  }
};
using HeldBy = std::function<Result<Held>(Session&, std::size_t)>;
inline Bridged bridge_by(const HeldBy& bridges, int cheat, Change change) {
  Bridged out;
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      out.begun_at[p] = session.channel().sent();
      auto held = bridges(session, p);
      out.ended[p] = session.ended_by();
      if (!held) return held.error();
      out.held[p] = std::move(*held);
      return {};
    };
  };
  out.outcome = with_sessions(body(0), body(1), cheat, change);
  return out;
}
inline Bridged bridge_both(const BothStored& stored, int cheat = 0, Change change = {}) {
  const auto bridges = [&](Session& session, std::size_t p) -> Result<Held> {
    MemoryPosition position;
    auto reserved = reserve(session, pools()[p], position, 1);
    return reserved ? bridge(session, *reserved, stored[p], kKeyName) : reserved.error();
  };
  return bridge_by(bridges, cheat, change);
}
// The same in a circuit, without a block.
inline Bridged bridge_both_in_circuit(const BothStored& stored, int cheat = 0, Change change = {},
                                      const BothPools& of = pools()) {
  const auto bridges = [&](Session& session, std::size_t p) {
    return bridge_in_circuit(session, of[p], stored[p], kKeyName);
  };
  return bridge_by(bridges, cheat, change);
}

// The clear value of what is stored.
inline Bits value_of(const BothStored& stored) {
  Bits out;
  for (std::size_t k = 0; k < stored[0].blocks.size(); ++k)
    for (std::size_t j = 0; j < kBlockBits; ++j)
      out.push_back(bit_of(stored[0].blocks[k].own ^ stored[1].blocks[k].own, j));
  return out;
}

// What is stored, with another value: what an import comes to, without one.
inline void set_value(BothStored& stored, const Bits& value) {
  const Bits old = value_of(stored);
  Bits d(value.size());
  for (std::size_t k = 0; k < d.size(); ++k) d[k] = value[k] ^ old[k];
  const Labels by = elements_of(d);
  for (std::size_t k = 0; k < by.size(); ++k) {
    Label &own = stored[0].blocks[k].own, &key = stored[1].blocks[k].key;
    own = own ^ by[k];
    key = key ^ ot::field().product(by[k], pools()[1].deltas.delta);
  }
}

inline bool a_flipped_bit_is_taken_in_circuit(std::size_t cheat) {
  BothStored stored = record_of(pools(), 0);
  stored[cheat].blocks[0].own.low ^= 2;
  const Bridged bridged = bridge_both_in_circuit(stored);
  return bridged.outcome.ok() && bridged.value() == value_of(stored);
}

// A server flips a bit of what it has stored. Whether both then compute with the other key.
inline bool a_flipped_bit_is_taken(std::size_t cheat) {
  BothStored stored = record_of(pools(), 0);
  stored[cheat].blocks[0].own.low ^= 2;
  const Bridged bridged = bridge_both(stored);
  return bridged.outcome.ok() && bridged.value() == value_of(stored);
}

}  // namespace tkdc::pair
