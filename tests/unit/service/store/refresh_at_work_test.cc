// SPDX-License-Identifier: Apache-2.0
// A refresh while its server is at work: what is asked or written meanwhile, and disks that fail.
#include <chrono>
#include <future>

#include "altered_tables.h"
#include "refreshed_store.h"
#include "service/store/key_count.h"

namespace tkdc {
namespace {

class RefreshAtWork : public Refresh {
 protected:
  ~RefreshAtWork() override { store_.reset(); }
  void open_altered() {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok()) << tables.error().message;
    auto opened = Store::open_on(std::make_unique<AlteredTables>(std::move(*tables), altered_),
                                 options_, key_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
  }

  void refresh_all(std::uint32_t count) {
    add_all(count);
    ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
    ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  }

  Alterations altered_;
};

// The thread that answers agents asks for it, too.
TEST_F(RefreshAtWork, ItsStateIsToldWhileTheDiskIsWaitedFor) {
  open_altered();
  int writes = 0;
  std::future<RefreshState> asked;
  altered_.writing = [&] {
    ++writes;
    asked = std::async(std::launch::async, [this] { return store_->refresh()->state(); });
    EXPECT_EQ(asked.wait_for(std::chrono::seconds(2)), std::future_status::ready);
  };
  ASSERT_TRUE(store_->prepare(record(1)).ok());
  altered_.writing = nullptr;
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(asked.get(), RefreshState{});
}

// A page of ids is as much work behind 400 keys as behind none.
TEST_F(RefreshAtWork, APageOfIdsIsFoundWithoutThoseBeforeIt) {
  open_altered();
  constexpr std::uint32_t kKeys = 400, kPage = 8;
  for (std::uint32_t number = 1; number <= kKeys; ++number) add(number);
  std::size_t visited = 0;
  altered_.visited = [&] { ++visited; };
  for (const std::uint32_t after : {0u, 100u, kKeys - kPage, kKeys}) {
    visited = 0;
    const auto page = store_->ids_behind(id_of(after), kPage);
    ASSERT_TRUE(page.ok()) << page.error().message;
    ASSERT_EQ(page->size(), after == kKeys ? 0u : kPage);
    if (!page->empty()) {
      EXPECT_EQ(page->front(), id_of(after + 1));
    }
    EXPECT_LE(visited, kPage) << after;
  }
  // From a name that is no key's, too.
  KeyId between = id_of(9);
  between.back() = 1;
  EXPECT_EQ(store_->ids_behind(between, 1).value(), std::vector<KeyId>{id_of(10)});
}

// A key that was answered for would be lost with the shares of before.
TEST_F(RefreshAtWork, NothingIsWrittenToWhatGoesAway) {
  open();
  add(1);
  add_all(1);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->refresh()->commit_refresh().ok());
  const NamedMacs macs{id_of(1), refreshed(1).macs};
  const RefreshedKey another = refreshed(3);
  const auto prepared = store_->prepare(record(2));
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.error().message.find("try again in the next"), std::string::npos);
  EXPECT_FALSE(store_->macs()->put(std::span(&macs, 1)).ok());
  EXPECT_FALSE(store_->refresh()->add(std::span(&another, 1)).ok());
  EXPECT_FALSE(store_->commit(id_of(2)).ok());
  store_->refresh()->switch_over();
  add(2);
  EXPECT_TRUE(store_->macs()->put(std::span(&macs, 1)).ok());
  open();
  EXPECT_EQ(version(1), 2u);
  EXPECT_EQ(version(2), 1u);
  EXPECT_EQ(store_->count(), 2u);
}

// What is removed is removed from both.
TEST_F(RefreshAtWork, AKeyCanBeRemovedFromBoth) {
  open();
  add(1);
  add(2);
  add_all(2);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->refresh()->commit_refresh().ok());
  ASSERT_TRUE(store_->condemn(id_of(1)).ok());
  ASSERT_TRUE(store_->destroy(id_of(1)).ok());
  store_->refresh()->switch_over();
  EXPECT_EQ(store_->get(id_of(1)).value(), nullptr);
  EXPECT_TRUE(store_->buried(id_of(1)).value());
  EXPECT_EQ(version(2), 2u);
}

// A crash right after, or a disk that is full: what the session made is not given up for it.
TEST_F(RefreshAtWork, NoWayBackOnceASessionHasBegun) {
  open();
  add(1);
  refresh_all(1);
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  add(2);
  EXPECT_EQ(count_keys(options_.path).value(), 3u) << "those of before are still there";
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_FALSE(store_->refresh()->undo_refresh().ok());
    open();
  }
  EXPECT_EQ(store_->count(), 2u);
  EXPECT_EQ(version(1), 2u);
  // Those go all the same, in the next session.
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(count_keys(options_.path).value(), 2u);
}

TEST_F(RefreshAtWork, WhatCannotBeDroppedStaysDue) {
  open_altered();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  refresh_all(3);
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  altered_.clear = MDB_MAP_FULL;
  for (int tried = 0; tried < 2; ++tried) EXPECT_FALSE(store_->refresh()->tidy().ok());
  EXPECT_FALSE(store_->refresh()->begin().ok());
  EXPECT_FALSE(store_->refresh()->tidy().ok());
  altered_.clear = 0;
  EXPECT_EQ(count_keys(options_.path).value(), 6u);
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(count_keys(options_.path).value(), 3u);
  expect(1, 2, 3);
}

}  // namespace
}  // namespace tkdc
