// SPDX-License-Identifier: Apache-2.0
// Records that are replaced by their next version, at two servers or at none.
#include "service/store/move_table.h"

#include "scratch_store.h"
#include "service/store/kept_values.h"
#include "service/store/refresh_table.h"
#include "service/store/value_table.h"
#include "settled_stores.h"

namespace tkdc {
namespace {

class MoveTest : public ScratchStore {
 protected:
  static constexpr std::uint32_t kKeys = 4;

  KeyRecord next(std::uint32_t number) const {
    KeyRecord out = record(number);
    out.version = 2;
    out.fields["pool"].component[0].assign(16, 9);
    return out;
  }
  // Of a store with some keys, of which two move.
  std::unique_ptr<Store> filled(const std::string& name) {
    StoreOptions options = options_;
    options.path = directory_ + "/" + name;
    auto opened = Store::open(options, key_);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    if ((*opened)->count() > 0) return std::move(*opened);
    for (std::uint32_t n = 1; n <= kKeys; ++n)
      EXPECT_TRUE((*opened)->prepare(record(n)).ok() && (*opened)->commit(id_of(n)).ok());
    return std::move(*opened);
  }
  static Result<void> commit(Store& store, std::uint32_t number) {
    return store.commit(store.moves()->move_entry(number));
  }
  static std::uint32_t version(Store& store, std::uint32_t number) {
    auto got = store.get(id_of(number));
    return got && *got ? (*got)->version : 0;
  }
};

TEST_F(MoveTest, NewOnesTakeThePlaceOfTheOldAtOnce) {
  auto store = filled("one");
  const auto before = store->inventory().value();
  const std::vector<KeyRecord> moved{next(2), next(3)};
  ASSERT_TRUE(store->moves()->prepare_move(7, moved).ok());
  EXPECT_EQ(version(*store, 2), 1u) << "the old ones serve still";
  EXPECT_EQ(store->inventory().value(), before);
  EXPECT_FALSE(store->moves()->prepare_move(8, moved).ok()) << "one at a time";
  EXPECT_EQ(store->prepared().value(), std::vector{store->moves()->move_entry(7)});
  EXPECT_FALSE(commit(*store, 8).ok());
  ASSERT_TRUE(commit(*store, 7).ok());
  store.reset();
  store = filled("one");
  EXPECT_NE(store->inventory().value(), before);
  EXPECT_TRUE(store->prepared().value().empty());
  EXPECT_EQ(store->count(), kKeys);
  for (std::uint32_t n = 1; n <= kKeys; ++n)
    EXPECT_EQ(version(*store, n), n == 2 || n == 3 ? 2u : 1u) << n;
  EXPECT_EQ((*store->get(id_of(2)))->fields.at("pool").component[0], SecretVector(16, 9));
  EXPECT_FALSE(store->moves()->prepare_move(7, moved).ok()) << "a number of before";
  EXPECT_EQ(store->moves()->last_move().value(), 7u);
  KeyRecord forged = record(9);
  forged.ref.id = store->moves()->move_entry(9);
  EXPECT_FALSE(store->prepare(forged).ok()) << "an id that stands for a move";
}

TEST_F(MoveTest, AKeyThatWasDestroyedMeanwhileStaysSo) {
  auto store = filled("one");
  ASSERT_TRUE(store->moves()->prepare_move(1, std::vector{next(1), next(2)}).ok());
  ASSERT_TRUE(store->condemn(id_of(2)).ok() && store->destroy(id_of(2)).ok());
  ASSERT_TRUE(commit(*store, 1).ok());
  EXPECT_EQ(version(*store, 1), 2u);
  EXPECT_EQ(store->get(id_of(2)).value(), nullptr);
  EXPECT_TRUE(store->values()->names("move/").value() == std::vector<std::string>{"move/state"});
}

// Wherever both were stopped, they are alike once they have settled.
TEST_F(MoveTest, ACrashLeavesBothStoresAlike) {
  enum Step { kNothing, kHasPrepared, kHasCommitted };
  const std::pair<Step, Step> crashes[] = {{kHasPrepared, kNothing},
                                           {kNothing, kHasPrepared},
                                           {kHasPrepared, kHasPrepared},
                                           {kHasCommitted, kHasPrepared},
                                           {kHasPrepared, kHasCommitted}};
  std::uint32_t number = 0;
  for (const auto& [first, second] : crashes) {
    const std::string name = "crash" + std::to_string(++number);
    const Step steps[2] = {first, second};
    for (const int p : {0, 1}) {
      auto store = filled(name + std::to_string(p));
      if (steps[p] != kNothing) {
        ASSERT_TRUE(store->moves()->prepare_move(1, std::vector{next(1), next(2)}).ok());
      }
      if (steps[p] == kHasCommitted) {
        ASSERT_TRUE(commit(*store, 1).ok());
      }
    }
    auto one = filled(name + "0"), other = filled(name + "1");
    settle_both({one.get(), other.get()});
    const bool moved = first == kHasCommitted || second == kHasCommitted;
    for (Store* store : {one.get(), other.get()}) {
      EXPECT_EQ(version(*store, 1), moved ? 2u : 1u) << name;
      EXPECT_EQ(version(*store, 2), moved ? 2u : 1u) << name;
      EXPECT_EQ(store->moves()->last_move().value(), moved ? 1u : 0u);
    }
  }
}

// Wherever both were stopped at a refresh's end, it has ended at both or at none.
TEST_F(MoveTest, TheEndOfARefreshIsAMove) {
  constexpr std::uint64_t kSince = 1'800'000'000;
  enum Step { kNothing, kHasPrepared, kHasCommitted };
  const std::pair<Step, Step> crashes[] = {{kHasPrepared, kNothing},
                                           {kHasPrepared, kHasPrepared},
                                           {kHasCommitted, kHasPrepared},
                                           {kHasPrepared, kHasCommitted},
                                           {kHasCommitted, kHasCommitted}};
  Bytes since;
  Writer(since).u64(kSince);
  std::uint32_t number = 0;
  for (const auto& [first, second] : crashes) {
    const std::string name = "end" + std::to_string(++number);
    const Step steps[2] = {first, second};
    for (const int p : {0, 1}) {
      auto store = filled(name + std::to_string(p));
      ASSERT_TRUE(store->values()->put(std::array{NamedValue{kept::kRefreshing, since}}).ok());
      const auto before = store->inventory().value();
      if (steps[p] != kNothing) {
        ASSERT_TRUE(store->moves()->prepare_refreshed(1, kSince + p).ok());
        EXPECT_EQ(store->refresh()->state().epoch, 0u);
        EXPECT_FALSE(store->moves()->prepare_move(2, std::vector{next(1)}).ok());
      }
      EXPECT_EQ(store->inventory().value(), before);
      if (steps[p] == kHasCommitted) {
        ASSERT_TRUE(commit(*store, 1).ok());
        EXPECT_EQ(store->refresh()->state(), (RefreshState{1, kSince + p}));
        EXPECT_NE(store->inventory().value(), before) << "not beside one of before";
        EXPECT_TRUE(commit(*store, 1).ok()) << "again";
        EXPECT_EQ(store->refresh()->state().epoch, 1u) << "it counts once";
      }
    }
    const bool ended = first == kHasCommitted || second == kHasCommitted;
    {
      auto one = filled(name + "0"), other = filled(name + "1");
      settle_both({one.get(), other.get()});
    }
    for (const int p : {0, 1}) {
      auto store = filled(name + std::to_string(p));
      EXPECT_EQ(store->refresh()->state(), ended ? (RefreshState{1, kSince + p}) : RefreshState());
      EXPECT_EQ(store->values()->get(kept::kRefreshing)->has_value(), !ended);
      EXPECT_EQ(store->values()->get(kept::kRefreshEnded)->has_value(), ended) << "when";
      EXPECT_LE(store->values()->names("move/").value().size(), 1u) << "its state";
      EXPECT_EQ(version(*store, 1), 1u);
      EXPECT_TRUE(store->moves()->prepare_move(2, std::vector{next(1)}).ok());
    }
  }
}

}  // namespace
}  // namespace tkdc
