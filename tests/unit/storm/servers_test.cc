// SPDX-License-Identifier: Apache-2.0
#include "storm/servers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "storm/results.h"

namespace tkdc::storm {
namespace {

const char* const kStatus = R"({"servers": [
  {"party": 0, "operations": 90, "cohorts": 30, "rounds": 1000, "operation_rounds": 5000,
   "agents_limited": 1, "keys_limited": 2},
  {"party": 1, "operations": 91, "keys_limited": 7},
  {"party": 2, "reachable": false}]})";

TEST(Servers, ReadsServerZeroAndTheStrictestLimit) {
  auto counts = parse_counts(kStatus);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->operations, 90U);
  EXPECT_EQ(counts->cohorts, 30U);
  EXPECT_EQ(counts->rounds, 1000U);
  EXPECT_EQ(counts->operation_rounds, 5000U);
  EXPECT_EQ(counts->limited, 7U);
}

TEST(Servers, NothingOfWhatIsNotAStatus) {
  for (const char* text : {"", "[]", "{}", "{\"servers\": 5}", "{\"servers\": [5, null]}",
                           "{\"servers\": [{\"party\": 0}]}", "{\"servers\": [{\"rounds\": 1}]}"})
    EXPECT_FALSE(parse_counts(text)) << text;
  auto odd = parse_counts(
      R"({"servers": [{"party": 0, "rounds": "many", "cohorts": -1, "operations": 1.5}]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->rounds + odd->cohorts + odd->operations, 0U);
}

TEST(Servers, ARowIsWhatCameBetween) {
  ServerCounts before{100, 50, 1000, 4000, 3}, after{160, 70, 1200, 7000, 4};
  auto row = between(before, 2, after, 3.5);
  ASSERT_TRUE(row);
  EXPECT_DOUBLE_EQ(row->at_s, 3.5);
  EXPECT_DOUBLE_EQ(row->seconds, 1.5);
  EXPECT_DOUBLE_EQ(row->per_cohort(), 3);
  EXPECT_DOUBLE_EQ(row->at_once(), 15);
  EXPECT_EQ(row->counts.limited, 1U);
  EXPECT_FALSE(between(after, 2, before, 3)) << "a restarted server";
  EXPECT_FALSE(between(before, 2, after, 2));
  auto idle = between(before, 2, before, 3);
  ASSERT_TRUE(idle);
  EXPECT_DOUBLE_EQ(idle->per_cohort() + idle->at_once(), 0) << "nothing, not NaN";
}

TEST(Servers, ReportsHaveThem) {
  Options options;
  Results results;
  results.options = &options;
  auto page = [&] {
    std::ostringstream out;
    write_html(out, results);
    return out.str();
  };
  EXPECT_EQ(page().find("Batch size"), std::string::npos);
  results.batches = {*between({}, 0, {10, 5, 100, 300, 0}, 1),
                     *between({10, 5, 100, 300, 0}, 1, {40, 10, 200, 900, 2}, 2)};
  EXPECT_NE(page().find("Batch size"), std::string::npos);
  EXPECT_EQ(page().find("nan"), std::string::npos);
  std::ostringstream text, summary;
  write_json(text, results);
  auto document = nlohmann::json::parse(text.str());
  EXPECT_EQ(document["servers"]["rows"].size(), 2U);
  EXPECT_EQ(document["servers"]["operations"], 40);
  EXPECT_EQ(document["servers"]["limited"], 2);
  EXPECT_DOUBLE_EQ(document["servers"]["per_cohort"], 4);
  EXPECT_DOUBLE_EQ(document["servers"]["at_once"], 4.5);
  write_summary(summary, results);
  EXPECT_NE(summary.str().find("40 operations in 10 cohorts, 4.0 each"), std::string::npos);
}

TEST(Servers, AnAgentThatIsNotThereIsCounted) {
  Servers servers("/nonexistent/agent.sock");
  servers.begin();
  servers.end();
  EXPECT_GE(servers.unanswered(), 1U);
  EXPECT_TRUE(servers.rows().empty());
  Servers none("");
  none.begin();
  none.end();
  EXPECT_EQ(none.unanswered(), 0U);
}

}  // namespace
}  // namespace tkdc::storm
