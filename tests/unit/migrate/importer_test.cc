// SPDX-License-Identifier: Apache-2.0
// When a key of the journal may be destroyed, and how long a failing import waits.
#include "migrate/importer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tkdc::migrate {
namespace {

using namespace std::chrono_literals;
using Entry = Result<std::optional<EntryKeys>>;

tkdc_wire_key handle(std::uint8_t id) {
  tkdc_wire_key out{};
  std::memset(out.key_id, id, sizeof out.key_id);
  return out;
}

EntryKeys with_handles(std::initializer_list<std::uint8_t> ids) {
  EntryKeys out;
  for (std::uint8_t id : ids) {
    StoredKey& key = out.keys.emplace_back();
    key.is_handle = true;
    key.handle = handle(id);
  }
  return out;
}

TEST(Holds, ByKeyId) {
  EXPECT_EQ(holds(Entry(with_handles({1, 2})), handle(2)), Holds::kYes);
  EXPECT_EQ(holds(Entry(with_handles({1, 2})), handle(3)), Holds::kNo);
  EXPECT_EQ(holds(Entry(std::nullopt), handle(1)), Holds::kNo);
}

TEST(Holds, PlainKeysHaveNoId) {
  EntryKeys plain;
  plain.keys.emplace_back();
  EXPECT_EQ(holds(Entry(std::move(plain)), handle(0)), Holds::kNo);
}

TEST(Holds, NothingIsSaidOfWhatCannotBeRead) {
  EXPECT_EQ(holds(Entry(fail("the database is locked")), handle(1)), Holds::kUnreadable);
  EntryKeys in_part = with_handles({1});
  in_part.trouble = "version 2: no master key opens it";
  EXPECT_EQ(holds(Entry(std::move(in_part)), handle(2)), Holds::kUnreadable);
}

TEST(Holds, WhatTheHistoryRemembers) {
  EntryKeys entry = with_handles({1});
  entry.remembered.push_back(handle(2));
  EXPECT_EQ(holds(Entry(entry), handle(2)), Holds::kYes);
  entry.history_damaged = true;
  EXPECT_EQ(holds(Entry(std::move(entry)), handle(3)), Holds::kUnreadable);
}

constexpr char kHistory[] = "kadmin/history@A.TEST";

std::vector<std::string> next(std::vector<std::string> names, std::vector<std::string> remembering,
                              const std::string& refused = "") {
  Survey found;
  found.names = std::move(names);
  found.remembering = std::move(remembering);
  return next_pass(found, kHistory, [&](const std::string& name) { return name == refused; });
}

using Names = std::vector<std::string>;

TEST(NextPass, TheKeyOfHistoriesGoesWhenNobodyNeedsItAnyMore) {
  EXPECT_EQ(next({kHistory, "a@A.TEST"}, {"a@A.TEST"}), Names{"a@A.TEST"});
  EXPECT_EQ(next({kHistory, "a@A.TEST"}, {}), Names{"a@A.TEST"}) << "it may remember one yet";
  EXPECT_EQ(next({kHistory}, {}), Names{kHistory});
  EXPECT_EQ(next({kHistory}, {kHistory}), Names{kHistory}) << "its own is no obstacle";
}

TEST(NextPass, ItStaysForThoseThatAreRefused) {
  EXPECT_EQ(next({kHistory, "a@A.TEST"}, {"a@A.TEST"}, "a@A.TEST"), Names{});
  EXPECT_EQ(next({kHistory, "a@A.TEST"}, {}, "a@A.TEST"), Names{kHistory});
}

// Two servers make one key after the other: 32 at once would wait for each other until they fail.
TEST(KeysAtOnce, GoUpWhileAnswersAreFastAndDownWhenTheyAreLate) {
  KeysAtOnce keys(4);
  EXPECT_EQ(keys.now(), 2u);
  keys.answered(true, 5s);
  EXPECT_EQ(keys.now(), 2u) << "neither fast nor late";
  for (int i = 0; i < 10; ++i) keys.answered(true, 100ms);
  EXPECT_EQ(keys.now(), 4u) << "what --parallel says is the most";
  keys.answered(true, 9s);
  EXPECT_EQ(keys.now(), 2u);
  for (int i = 0; i < 10; ++i) keys.answered(false, 100ms);
  EXPECT_EQ(keys.now(), 1u) << "never none";
  keys.answered(true, 100ms);
  EXPECT_EQ(keys.now(), 2u);
  EXPECT_EQ(KeysAtOnce(1).now(), 1u);
}

// Passes of 10 minutes, the time for which a staged key stays: each leaves 64 at most with
// --parallel 32, and the servers have places for 4096.
TEST(PauseAfter, StagedKeysDoNotFillTheServers) {
  EXPECT_EQ(pause_after(0), 2s);
  EXPECT_EQ(pause_after(1), 4s);
  EXPECT_EQ(pause_after(1000), 32s);
  std::chrono::seconds time = 0s;
  unsigned passes = 0;
  while (time < 10min) time += pause_after(passes++);
  EXPECT_LT(passes * 64, 4096u / 2);
}

}  // namespace
}  // namespace tkdc::migrate
