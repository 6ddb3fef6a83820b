// SPDX-License-Identifier: Apache-2.0
// Records that are replaced at once: nothing of it shows before, all of it after, and a crash at
// any step leaves the old ones or the new ones whole.
#include "refreshed_store.h"
#include "service/store/key_count.h"

namespace tkdc {
namespace {

TEST_F(Refresh, TakesTheOldOnesPlaceTogether) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  const Digest before = store_->inventory().value();
  add_all(3);
  expect(0, 1, 0);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1'700'000'000).ok());
  EXPECT_EQ(store_->prepared().value(), std::vector<KeyId>{store_->refresh()->entry()});
  expect(0, 1, 0);
  ASSERT_TRUE(store_->refresh()->commit_refresh().ok());
  // Who serves goes on until nobody works with the old ones.
  EXPECT_EQ(version(1), 1u);
  EXPECT_EQ(store_->inventory().value(), before);
  store_->refresh()->switch_over();
  expect(1, 2, 3);
  EXPECT_EQ(store_->refresh()->state().at_s, 1'700'000'000u);
  EXPECT_NE(store_->inventory().value(), before);
  EXPECT_TRUE(store_->prepared().value().empty());
  open();
  expect(1, 2, 3);
  // And back into the first pair.
  add_all(3, 3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1'700'000'001).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  expect(2, 3, 3);
  open();
  expect(2, 3, 3);
}

// As the handshake settles it after a crash.
TEST_F(Refresh, ACrashAtEachStepLeavesOneOrTheOther) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  const EntryId entry = store_->refresh()->entry();
  add_all(3);
  open();
  expect(0, 1, 0);
  EXPECT_TRUE(store_->prepared().value().empty());
  EXPECT_FALSE(store_->refresh()->commit_refresh().ok()) << "it was never prepared";
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  open();
  expect(0, 1, 0);
  EXPECT_EQ(store_->prepared().value(), std::vector<KeyId>{entry});
  EXPECT_FALSE(store_->committed(entry).value());
  ASSERT_TRUE(store_->abandon(entry).ok());
  open();
  expect(0, 1, 0);
  EXPECT_TRUE(store_->prepared().value().empty());
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  open();
  ASSERT_TRUE(store_->commit(entry).ok());
  expect(1, 2, 3);
  EXPECT_TRUE(store_->committed(entry).value());
  EXPECT_TRUE(store_->commit(entry).ok()) << "again";
  EXPECT_TRUE(store_->abandon(entry).ok()) << "too late, and nothing";
  expect(1, 2, 3);
  // Committed in a session, and killed before it ended.
  add_all(3, 3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(2).ok());
  ASSERT_TRUE(store_->refresh()->commit_refresh().ok());
  open();
  expect(2, 3, 3);
}

// A server that lied in the handshake could make one commit and the other not.
TEST_F(Refresh, SharesOfBeforeStayUntilASessionHasBegun) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  const Digest before = store_->inventory().value();
  EXPECT_FALSE(store_->refresh()->undo_refresh().ok());
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  open();
  ASSERT_TRUE(store_->refresh()->tidy().ok());  // no session has begun
  open();
  expect(1, 2, 3);
  ASSERT_TRUE(store_->refresh()->undo_refresh().ok());
  expect(0, 1, 0);
  EXPECT_EQ(store_->inventory().value(), before);
  open();
  expect(0, 1, 0);
  EXPECT_EQ(store_->inventory().value(), before);
  EXPECT_FALSE(store_->refresh()->undo_refresh().ok());
  // Once more, and a session begins.
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_FALSE(store_->refresh()->undo_refresh().ok());
  open();
  expect(1, 2, 3);
  EXPECT_EQ(count_keys(options_.path).value(), 3u) << "those of before are gone";
}

// Its session goes on until its lanes have ended: they have what they began with.
TEST_F(Refresh, IsNotTidiedBeforeItServes) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  ASSERT_TRUE(store_->refresh()->commit_refresh().ok()) << "what is prepared is kept";
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(version(2), 1u);
  store_->refresh()->switch_over();
  expect(1, 2, 3);
}

// An attempt that came to nothing takes no room that keys need, also in the session that goes on.
TEST_F(Refresh, WhatIsGivenUpGoesWithoutAnotherSession) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  add_all(3);
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(count_keys(options_.path).value(), 6u) << "the control: it is not over";
  store_->refresh()->give_up();
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  EXPECT_EQ(count_keys(options_.path).value(), 3u);
  expect(0, 1, 0);
  // What is complete is not given up.
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  store_->refresh()->give_up();
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  store_->refresh()->give_up();
  ASSERT_TRUE(store_->refresh()->tidy().ok());
  expect(1, 2, 3);
  ASSERT_TRUE(store_->refresh()->undo_refresh().ok());
  expect(0, 1, 0);
}

TEST_F(Refresh, NoKeyHasItsId) {
  open();
  KeyRecord r = record(1);
  r.ref.id = store_->refresh()->entry();
  auto prepared = store_->prepare(r);
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.error().message.find("no key may have"), std::string::npos);
}

TEST_F(Refresh, AStoreWithoutKeysIsOfARefreshToo) {
  open();
  const Digest before = store_->inventory().value();
  add_all(0);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  EXPECT_NE(store_->inventory().value(), before);
}

// A release that knows no refresh would serve shares of before.
TEST_F(Refresh, HasAFormatOfItsOwn) {
  open();
  add(1);
  const std::uint8_t format = store_format();
  add_all(1);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  EXPECT_EQ(store_format(), format);
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  EXPECT_EQ(store_format(), format + 2);
}

TEST_F(Refresh, IsOfAllKeysOrNone) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  add_all(2);
  auto prepared = store_->refresh()->prepare_refresh(1);
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.error().message.find("refresh again"), std::string::npos);
  // One that goes meanwhile goes from both.
  add_all(3);
  ASSERT_TRUE(store_->destroy(id_of(2)).ok());
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  EXPECT_EQ(store_->count(), 2u);
  EXPECT_EQ(store_->get(id_of(2)).value(), nullptr);
}

TEST_F(Refresh, DropsWhatWasPreparedBefore) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  ASSERT_TRUE(store_->prepare(record(9)).ok());
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  EXPECT_TRUE(store_->prepared().value().empty());
  EXPECT_FALSE(store_->commit(id_of(9)).ok());
}

TEST_F(Refresh, AFullMapRefusesItAndTheOldOnesServe) {
  options_.map_bytes = 1u << 20;
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  ASSERT_TRUE(store_->refresh()->begin().ok());
  Result<void> added;
  for (std::uint32_t n = 1; n <= 400 && added.ok(); ++n) {
    RefreshedKey one = refreshed(n);
    for (auto& [name, value] : one.record.fields)
      for (SecretVector& component : value.component) component.assign(4096, 1);
    added = store_->refresh()->add(std::span(&one, 1));
  }
  EXPECT_FALSE(added.ok());
  expect(0, 1, 0);
  ASSERT_TRUE(store_->refresh()->begin().ok());
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  expect(1, 2, 3);
}

}  // namespace
}  // namespace tkdc
