// SPDX-License-Identifier: Apache-2.0
// What stands in an import's way, by what was found and what the administrator accepts.
#include <gtest/gtest.h>

#include "migrate/survey.h"

namespace tkdc::migrate {
namespace {

Survey with_legacy(bool has_other) {
  Survey out;
  out.legacy.push_back({"old@A.TEST", {"version 1: arcfour-hmac (23)", "version 1: x"}, has_other});
  return out;
}

TEST(Obstacles, NoneInAnOrdinaryRealm) {
  Survey found;
  found.names = {"alice@A.TEST"};
  found.keys = 2;
  EXPECT_TRUE(obstacles(found, {}).empty());
  EXPECT_EQ(legacy_left(found, {}), 0u);
}

TEST(Obstacles, LegacyKeysBesideOthers) {
  const Survey found = with_legacy(true);
  Options drop, leave;
  drop.drop_legacy = true;
  leave.leave_legacy = true;
  EXPECT_EQ(obstacles(found, {}).size(), 1u);
  EXPECT_TRUE(obstacles(found, drop).empty());
  EXPECT_TRUE(obstacles(found, leave).empty());
  EXPECT_EQ(legacy_left(found, drop), 0u);
  EXPECT_EQ(legacy_left(found, leave), 2u);
}

TEST(Obstacles, LegacyKeysAloneAreNeverDropped) {
  const Survey found = with_legacy(false);
  Options drop, both;
  drop.drop_legacy = both.drop_legacy = both.leave_legacy = true;
  ASSERT_EQ(obstacles(found, drop).size(), 1u);
  EXPECT_NE(obstacles(found, drop)[0].find("ktadd"), std::string::npos);
  EXPECT_TRUE(obstacles(found, both).empty());
  EXPECT_EQ(legacy_left(found, both), 2u);
}

TEST(Obstacles, UnreadableKeys) {
  Survey found;
  found.unreadable = {"bob@A.TEST: version 1"};
  Options accepting;
  accepting.drop_legacy = accepting.leave_legacy = accepting.without_history = true;
  EXPECT_EQ(obstacles(found, accepting).size(), 1u);
}

// Their keys would stay as they are, while the key that opens them is believed gone.
TEST(Obstacles, DamagedHistories) {
  EntryKeys entry;
  entry.name = "bob@A.TEST";
  entry.history_damaged = true;
  Survey found;
  Options accepting;
  accepting.without_history = true;
  add_entry(found, entry, "krbtgt/A.TEST@A.TEST", accepting);
  ASSERT_EQ(obstacles(found, accepting).size(), 1u);
  EXPECT_NE(report("A.TEST", found, accepting).find("bob@A.TEST"), std::string::npos);
}

// Two passwords with two keys each, the older one with a legacy key; and a third in handles.
EntryKeys elder() {
  EntryKeys out;
  out.name = "elder@A.TEST";
  out.remembered.emplace_back();
  const auto add = [&](std::size_t password, std::int32_t enctype, Loss loss) {
    RememberedPlain& old = out.remembered_plain.emplace_back();
    old.password = password;
    old.key.enctype = enctype;
    old.loss = loss;
  };
  add(0, 18, Loss::kNone);
  add(0, 23, Loss::kLegacy);
  add(1, 18, Loss::kNone);
  add(1, 17, Loss::kNone);
  return out;
}

TEST(History, ComesAlongAndHindersNothing) {
  Survey found;
  add_entry(found, elder(), "", {});
  EXPECT_EQ(found.remembered.keys, 3u);
  EXPECT_EQ(found.remembered.passwords, 2u);
  EXPECT_EQ(found.remembered.forgotten, 0u) << "each has a key that can be compared";
  EXPECT_EQ(found.names, found.remembering);
  ASSERT_EQ(found.names.size(), 1u);
  EXPECT_EQ(found.keys, 0u);
  EXPECT_TRUE(obstacles(found, {}).empty());
  const std::string text = report("A.TEST", found, {});
  EXPECT_NE(text.find("3 keys of 2 former passwords to import, 1 keys to drop"), std::string::npos)
      << text;
  EXPECT_NE(text.find("elder@A.TEST: 1 keys are dropped: their enctypes"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("taken again"), std::string::npos) << text;
}

TEST(History, WhatKadmindRefusesNowAndWillNotIsCounted) {
  EntryKeys entry = elder();
  entry.remembered_plain[0].loss = Loss::kLegacy;
  Survey found;
  add_entry(found, entry, "", {});
  EXPECT_EQ(found.remembered.forgotten, 1u);
  EXPECT_NE(report("A.TEST", found, {}).find("1 former passwords have no other key"),
            std::string::npos);
}

TEST(History, AHandleOfTheSamePasswordIsEnough) {
  EntryKeys entry = elder();
  entry.remembered_plain.resize(2);
  entry.remembered_plain[0].loss = Loss::kLegacy;
  for (RememberedPlain& old : entry.remembered_plain) old.beside_handle = true;
  Survey found;
  add_entry(found, entry, "", {});
  EXPECT_EQ(found.remembered.forgotten, 0u);
}

TEST(History, WhatKadmindDoesNotCompareIsDroppedWithoutLoss) {
  for (const Loss loss : {Loss::kOtherVersion, Loss::kUnreadable}) {
    EntryKeys entry = elder();
    for (RememberedPlain& old : entry.remembered_plain) old.loss = loss;
    Survey found;
    add_entry(found, entry, "", {});
    EXPECT_EQ(found.remembered.lost[loss], 4u);
    EXPECT_EQ(found.remembered.forgotten, 0u);
    EXPECT_EQ(found.names.size(), 1u);
    EXPECT_TRUE(found.remembering.empty());
  }
}

TEST(History, IsDroppedOnPurpose) {
  Options without;
  without.without_history = true;
  Survey found;
  add_entry(found, elder(), "", without);
  EXPECT_EQ(found.remembered.keys, 0u);
  EXPECT_EQ(found.remembered.lost[Loss::kNone], 3u);
  EXPECT_EQ(found.remembered.forgotten, 2u);
  EXPECT_TRUE(found.remembering.empty());
  EXPECT_EQ(found.names.size(), 1u) << "its entry is written without";
  const std::string text = report("A.TEST", found, without);
  EXPECT_NE(text.find("3 dropped: --without-history"), std::string::npos) << text;
  EXPECT_EQ(text.find("elder"), std::string::npos) << "nobody is listed: " << text;
}

TEST(Report, NamesThoseThatMayServeUpToFifty) {
  Survey found;
  EXPECT_EQ(report("A.TEST", found, {}).find("of one component"), std::string::npos);
  for (int k = 1; k <= 51; ++k) found.may_serve.push_back("p" + std::to_string(k) + "@A.TEST");
  const std::string text = report("A.TEST", found, {});
  EXPECT_NE(text.find("51 principals of one component"), std::string::npos) << text;
  EXPECT_NE(text.find("    p1@A.TEST\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    p50@A.TEST\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("p51@A.TEST"), std::string::npos) << text;
}

TEST(Report, ListsTheRefused) {
  const std::string text = report_refused({{"a@A.TEST", "denied"}, {"b@A.TEST", "malformed"}});
  EXPECT_NE(text.find("2 principals"), std::string::npos) << text;
  EXPECT_NE(text.find("a@A.TEST: denied\n"), std::string::npos) << text;
  EXPECT_NE(text.find("b@A.TEST: malformed\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cpw"), std::string::npos) << text;
}

TEST(Served, ByEnctype) {
  for (std::int32_t enctype : {17, 18, 19, 20}) EXPECT_TRUE(is_served(enctype)) << enctype;
  for (std::int32_t enctype : {-1, 0, 1, 3, 16, 23, 25, 26}) EXPECT_FALSE(is_served(enctype));
  EXPECT_NE(enctype_name(23).find("arcfour"), std::string::npos);
  EXPECT_EQ(enctype_name(99), "99");
}

}  // namespace
}  // namespace tkdc::migrate
