// SPDX-License-Identifier: Apache-2.0
// Reservations: which blocks of a pool a session has, when its number is on disk, and what happens
// where two servers or two sessions do not agree.
#include <barrier>

#include "pair/file_position.h"

namespace tkdc::pair {
namespace {

TEST(PairPool, APositionIsOnDiskBeforeABlockIsUsedAndACrashLosesTheBlocks) {
  with_positions([](Session& session, std::size_t p, FilePosition& position) -> Result<void> {
    const std::uint64_t before = session.channel().sent();
    position.at_claim = [&] { EXPECT_EQ(session.channel().sent(), before + 32); };
    auto first = reserve(session, pools()[p], position, 2);
    if (!first) return first.error();
    position.at_claim = nullptr;
    EXPECT_EQ(*position.number(), 2u);
    auto key = first->take(session, 1);
    if (!key) return key.error();
    EXPECT_EQ(key->blocks[0].own, pools()[p].blocks[0].own);
    EXPECT_NE(first->take(session, 2).error().message.find("1 blocks are reserved"),
              std::string::npos);
    // What was reserved is forgotten, as by a crash: nobody gives these blocks out again.
    auto second = reserve(session, pools()[p], position, 1);
    if (!second) return second.error();
    auto next = second->take(session, 1);
    EXPECT_TRUE(next && next->blocks[0].own == pools()[p].blocks[2].own);
    const Reserved moved = std::move(*first);
    EXPECT_EQ(moved.left(), 1u);
    EXPECT_EQ(first->left(), 0u);
    return {};
  });
}

// Neither uses blocks that the other one could not take: both are told, and reserve again.
TEST(PairPool, AServerThatCannotWriteItsPositionUsesNothing) {
  with_positions([](Session& session, std::size_t p, FilePosition& position) -> Result<void> {
    position.full = p == 0;
    auto reserved = reserve(session, pools()[p], position, 5);
    EXPECT_FALSE(reserved.ok());
    EXPECT_TRUE(session.stands().ok());
    EXPECT_EQ(*position.number(), p == 0 ? 0u : 5u);
    position.full = false;
    auto again = reserve(session, pools()[p], position, 1);
    if (!again) return again.error();
    EXPECT_EQ(*position.number(), 6u) << "both go on behind the one that is ahead";
    return {};
  });
}

// Two sessions of the same two servers ask for a number before either takes.
TEST(PairPool, TwoSessionsAtOnceDoNotReserveTheSameBlocks) {
  class Crossed : public MemoryPosition {
   public:
    Result<std::uint64_t> next(const Label& pool) override {
      const std::uint64_t read = [&] {
        const std::lock_guard lock(mutex_);
        return number;
      }();
      if (read == 0) both_.arrive_and_wait();
      (void)pool;
      return read;
    }
    Result<bool> take(const Label& pool, std::uint64_t first, std::uint64_t blocks) override {
      const std::lock_guard lock(mutex_);
      return MemoryPosition::take(pool, first, blocks);
    }

   private:
    std::mutex mutex_;
    std::barrier<> both_{2};
  };
  Crossed positions[2];
  int reserved[2] = {0, 0};
  const auto run = [&](int which) {
    const auto party = [&](std::size_t p) {
      return [&, p](Session& session) -> Result<void> {
        auto got = reserve(session, pools()[p], positions[p], 4);
        EXPECT_TRUE(session.stands().ok());
        if (got && p == 0) ++reserved[which];
        for (int turn = 0; !got && session.stands() && turn < 100; ++turn) {
          auto again = reserve(session, pools()[p], positions[p], 4);
          if (again) return {};
        }
        return got ? Result<void>() : got.error();
      };
    };
    const Outcome outcome = with_sessions(party(0), party(1));
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  EXPECT_LE(reserved[0] + reserved[1], 1) << "the same four blocks";
  EXPECT_GE(positions[0].number, 8u);
}

TEST(PairPool, PositionsThatAreFarApartAreForPeople) {
  const auto ends = [](std::uint64_t first, std::uint64_t second, std::size_t blocks,
                       const char* words) {
    std::string why[2];
    EndedBy ended[2] = {EndedBy::kNothing, EndedBy::kNothing};
    const auto party = [&](std::size_t p) {
      return [&, p](Session& session) -> Result<void> {
        MemoryPosition position(p == 0 ? first : second);
        auto reserved = reserve(session, pools()[p], position, blocks);
        if (!reserved) why[p] = reserved.error().message;
        ended[p] = session.ended_by();
        EXPECT_EQ(position.number, p == 0 ? first : second);
        return reserved ? Result<void>() : reserved.error();
      };
    };
    (void)with_sessions(party(0), party(1));
    EXPECT_NE((why[0] + why[1]).find(words), std::string::npos) << why[0] << why[1];
    for (const EndedBy by : ended) EXPECT_NE(by, EndedBy::kCheck) << "nobody has lied";
    if (blocks <= kMostReserved) {
      EXPECT_TRUE(ended[0] == EndedBy::kState || ended[1] == EndedBy::kState);
    }
  };
  ends(5, 6 + kMostApart, 1, "was restored has to be told so at");
  ends(6 + kMostApart, 5, 1, "was restored has to be told so at");
  ends(0, ~std::uint64_t{0}, 1, "restored");
  ends(0, 0, kMostReserved + 1, "more than are reserved");
}

// The last blocks are kept: a key can be moved when none can be used any more. Both see it, and the
// session stands.
TEST(PairPool, OrdinaryReservationsStopWhereBlocksAreKeptForMovingKeys) {
  constexpr std::size_t kEnd = kPoolBlocks - kept_for_moving(kPoolBlocks);
  static_assert(kEnd == 240);
  const auto party = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      const auto refused = [&](std::uint64_t first, std::size_t blocks, For what,
                               const char* words) {
        MemoryPosition position(p == 0 ? first : 0);
        auto reserved = reserve(session, pools()[p], position, blocks, what);
        EXPECT_NE((reserved ? "none" : reserved.error().message).find(words), std::string::npos);
        EXPECT_TRUE(session.stands().ok());
        EXPECT_EQ(position.number, p == 0 ? first : 0);
      };
      const auto given = [&](std::uint64_t first, std::size_t blocks, For what) {
        MemoryPosition position(first);
        EXPECT_TRUE(reserve(session, pools()[p], position, blocks, what).ok()) << first;
      };
      given(kEnd - 2, 2, For::kUse);
      refused(kEnd - 1, 2, For::kUse, "its last 16 are for keys that move. Make another pool");
      refused(kEnd + 1, 0, For::kUse, "Make another pool");
      given(kPoolBlocks - 1, 1, For::kMoving);
      refused(kPoolBlocks - 1, 2, For::kMoving, "all are used");
      refused(kPoolBlocks + 1, 1, For::kMoving, "all are used");
      return {};
    };
  };
  const Outcome outcome = with_sessions(party(0), party(1));
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

// A disk that does not tell the number is no lie either; nor is a pool that one of both has not
// got.
TEST(PairPool, WhatCannotBeReadOrWasMadeByOneIsNoCheckThatFailed) {
  static const BothPools others = new_pools(8);
  class Unreadable : public MemoryPosition {
    Result<std::uint64_t> next(const Label&) override { return fail("disk: no position"); }
  };
  EndedBy ended[2] = {EndedBy::kNothing, EndedBy::kNothing};
  const auto party = [&](std::size_t p, const Pool& pool, PoolPosition& position) {
    return [&, p](Session& session) -> Result<void> {
      auto reserved = reserve(session, pool, position, 1);
      ended[p] = session.ended_by();
      return reserved ? Result<void>() : reserved.error();
    };
  };
  Unreadable unreadable;
  MemoryPosition good, good_too;
  (void)with_sessions(party(0, pools()[0], unreadable), party(1, pools()[1], good));
  EXPECT_EQ(ended[0], EndedBy::kState);
  EXPECT_NE(ended[1], EndedBy::kCheck);
  (void)with_sessions(party(0, pools()[0], good), party(1, others[1], good_too));
  EXPECT_TRUE(ended[0] == EndedBy::kState || ended[1] == EndedBy::kState);
  for (const EndedBy by : ended) EXPECT_NE(by, EndedBy::kCheck);
}

// Whoever opens a session learns what ended its setup.
TEST(PairPool, WhatEndedASetupIsTold) {
  const Outcome honest = with_sessions([](Session&) -> Result<void> { return {}; },
                                       [](Session&) -> Result<void> { return {}; });
  EndedBy by[2];
  const auto setup = [&](std::size_t p) {
    return [&, p](ot::Channel& channel) -> Result<void> {
      auto session = Session::create(channel, p == 0 ? Side::kGarbler : Side::kEvaluator, kContext,
                                     small_batches(), &by[p]);
      return session ? Result<void>() : session.error();
    };
  };
  // An octet in the middle of what the evaluator sends: rows of its extension, which are checked.
  EXPECT_TRUE(ot::run_parties(setup(0), setup(1)).ok());
  for (const EndedBy one : by) EXPECT_EQ(one, EndedBy::kNothing);
  (void)ot::run_parties(setup(0), setup(1), 1, {honest.sent[1] / 2, 2});
  EXPECT_TRUE(by[0] == EndedBy::kCheck || by[1] == EndedBy::kCheck);
  const auto leaves = [](ot::Channel&) -> Result<void> { return fail("broken"); };
  (void)ot::run_parties(setup(0), leaves);
  EXPECT_EQ(by[0], EndedBy::kLink);
}

// The session is still there to be asked; and none that has made something else gets a pool.
TEST(PairPool, WhatEndedAPoolIsToldAndItsSessionHasMadeNothingElse) {
  EndedBy by[2];
  const auto party = [&](std::size_t p, bool drew) {
    return [&, p, drew](ot::Channel& channel) -> Result<void> {
      auto session = Session::create(channel, p == 0 ? Side::kGarbler : Side::kEvaluator, kContext,
                                     small_batches());
      if (!session) return session.error();
      if (drew) {
        EXPECT_TRUE((*session)->draw(1).ok());
        const std::uint64_t before = channel.sent();
        auto refused = make_pool(*session, 4);
        if (refused) return fail("a pool of a session that has drawn");
        EXPECT_NE(refused.error().message.find("has drawn 1 bits"), std::string::npos);
        EXPECT_EQ(channel.sent(), before);
        return (*session)->stands();
      }
      auto pool = make_pool(*session, 4);
      EXPECT_EQ(pool.ok(), *session == nullptr);
      if (!pool) by[p] = (*session)->ended_by();
      return pool ? Result<void>() : pool.error();
    };
  };
  EXPECT_TRUE(ot::run_parties(party(0, true), party(1, true)).ok());
  const Outcome honest = ot::run_parties(party(0, false), party(1, false));
  ASSERT_TRUE(honest.ok());
  const std::uint64_t word = honest.sent[1] - 1;
  (void)ot::run_parties(party(0, false), party(1, false), 1, {word, 1});
  EXPECT_EQ(by[0], EndedBy::kState) << "it says that it has no pool";
  (void)ot::run_parties(party(0, false), party(1, false), 1, {word, 2});
  EXPECT_EQ(by[0], EndedBy::kCheck) << "neither yes nor no";
  (void)ot::run_parties(party(0, false), [](ot::Channel& channel) -> Result<void> {
    auto session = Session::create(channel, Side::kEvaluator, kContext, small_batches());
    if (!session) return session.error();
    const auto drawn = (*session)->draw(4 * kBlockBits);  // the pool is there, but for the word
    return drawn ? fail("broken") : drawn.error();
  });
  EXPECT_EQ(by[0], EndedBy::kLink);
}

TEST(PairPool, BlocksOfAnotherSessionAreRefused) {
  std::optional<Reserved> kept;
  const auto party = [&](bool first) {
    return [&, first](Session& session) -> Result<void> {
      const bool garbler = session.side() == Side::kGarbler;
      const std::size_t p = garbler ? 0 : 1;
      if (first) {
        MemoryPosition position;
        auto reserved = reserve(session, pools()[p], position, 4);
        if (garbler && reserved) kept.emplace(std::move(*reserved));
        return {};
      }
      if (!garbler) return {};
      EXPECT_NE(kept->take(session, 1).error().message.find("another session"), std::string::npos);
      EXPECT_FALSE(bridge(session, *kept, record_of(pools(), 0)[0], kKeyName).ok());
      return {};
    };
  };
  EXPECT_TRUE(with_sessions(party(true), party(true)).ok());
  EXPECT_TRUE(with_sessions(party(false), party(false)).ok());
}

}  // namespace
}  // namespace tkdc::pair
