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

TEST(Obstacles, HistoryAndUnreadableKeys) {
  Survey found;
  found.history = {"alice@A.TEST: 2 keys"};
  Options accepting;
  accepting.without_history = true;
  EXPECT_EQ(obstacles(found, {}).size(), 1u);
  EXPECT_TRUE(obstacles(found, accepting).empty());
  found.unreadable = {"bob@A.TEST: version 1"};
  accepting.drop_legacy = accepting.leave_legacy = true;
  EXPECT_EQ(obstacles(found, accepting).size(), 1u);
}

TEST(Report, NamesAFewThatMayServe) {
  Survey found;
  EXPECT_EQ(report("A.TEST", found, {}).find("of one component"), std::string::npos);
  found.may_serve = {"a@A.TEST", "b@A.TEST", "c@A.TEST", "d@A.TEST"};
  const std::string text = report("A.TEST", found, {});
  EXPECT_NE(text.find("4 principals of one component"), std::string::npos) << text;
  EXPECT_NE(text.find("a@A.TEST, b@A.TEST, c@A.TEST, ..."), std::string::npos) << text;
  EXPECT_EQ(text.find("d@A.TEST"), std::string::npos) << text;
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
