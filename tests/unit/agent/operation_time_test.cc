// SPDX-License-Identifier: Apache-2.0
// What operations took, read from a status that may say what it likes, and told as metrics.
#include "tools/cli/operation_time.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <ctime>

#include "base/utc_time.h"
#include "service/wire/times_json.h"
#include "tools/cli/status_table.h"
#include "tools/exporter/metrics.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

json some_times() {
  OperationTimes times;
  for (int k = 0; k < 98; ++k) times.add(TKDC_OP_SEAL, microseconds(1500), 60, 900);
  for (int k = 0; k < 2; ++k) times.add(TKDC_OP_SEAL, microseconds(100'000), 60, 900);
  times.add(TKDC_OP_OPEN, std::chrono::hours(1), 3, 4);
  OperationTotals totals;
  times.add_to(totals);
  return {{"times", times_json(totals)}};
}

TEST(OperationTime, QuantilesLieInTheirBucket) {
  const auto times = times_of(some_times());
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].operation, "seal");
  EXPECT_EQ(times[0].count(), 100u);
  EXPECT_NEAR(quantile(times[0].ms, 0.5), 1 + 50.0 / 98, 1e-9);
  EXPECT_NEAR(quantile(times[0].ms, 0.99), 64 + 64 * 0.5, 1e-9);
  EXPECT_EQ(quantile(times[1].ms, 0.5), 16'384);
  EXPECT_EQ(quantile(Histogram{}, 0.5), 0);
  EXPECT_EQ(quantile(Histogram{{}, {7}, 7}, 0.5), 0) << "without bounds";
}

// Of 101 operations, one of which took an hour.
TEST(OperationTime, StatusSaysTheMedianAndTheTail) {
  const Histogram all = together(times_of(some_times()));
  EXPECT_EQ(all.count(), 101u);
  EXPECT_NEAR(all.sum, 98 * 1.5 + 2 * 100 + 3'600'000, 1e-6);
  EXPECT_EQ(together({}).count(), 0u);
  auto apart = times_of(some_times());
  apart[1].ms.bounds[0] = 0.25;
  EXPECT_EQ(together(apart).count(), 100u);
  json server = some_times();
  server.update({{"party", 1}, {"reachable", true}, {"session_up", true}, {"uptime_s", 7}});
  const auto shown = [&] { return status_table({{"servers", {server}}}); };
  EXPECT_NE(shown().find("P50, P99"), std::string::npos) << shown();
  EXPECT_NE(shown().find("  1.5, 128 ms  "), std::string::npos) << shown();
  server["times"]["by"]["seal"]["counts"][2] = 0u;
  EXPECT_NE(shown().find("  112, >16384 ms  "), std::string::npos) << shown();
  server["times"]["by"] = json::object();
  EXPECT_EQ(shown().find(" ms "), std::string::npos) << shown();
}

TEST(OperationTime, WhatCameSince) {
  const auto now = times_of(some_times());
  auto before = now;
  before[0].ms.counts[2] -= 8;
  before[0].rounds.counts[6] -= 8;  // up to 64
  before[0].rounds.sum -= 480;
  const auto since = times_since(now, before);
  EXPECT_EQ(since[0].count(), 8u);
  EXPECT_EQ(since[0].rounds.sum, 480);
  EXPECT_EQ(since[0].rounds.count(), 8u);
  EXPECT_EQ(since[0].message_bytes.sum, 0);
  EXPECT_EQ(since[1].count(), 0u);
  // A server that was started anew counts from nothing.
  before[0].ms.counts[2] += 100;
  EXPECT_EQ(times_since(now, before)[0].count(), 100u);
  EXPECT_EQ(times_since(now, {})[0].count(), 100u);
}

// An older server says no more of rounds and octets, and one may say what does not fit.
TEST(OperationTime, CostsWithoutBucketsKeepTheirSum) {
  for (const char* said : {R"({"bounds_ms":[1],"by":{"seal":{"counts":[1,2],"rounds":9}}})",
                           R"({"bounds_ms":[1],"bounds_rounds":[1,2],
                               "by":{"seal":{"counts":[1,2],"rounds":9,"rounds_counts":[3]}}})",
                           R"({"bounds_ms":[1],"bounds_rounds":[2,1],
                               "by":{"seal":{"counts":[1,2],"rounds":9,
                                             "rounds_counts":[1,1,1]}}})"}) {
    const auto times = times_of({{"times", json::parse(said)}});
    ASSERT_EQ(times.size(), 1u) << said;
    EXPECT_TRUE(times[0].rounds.bounds.empty()) << said;
    EXPECT_EQ(times[0].rounds.count(), 3u) << said;
    EXPECT_EQ(times[0].rounds.sum, 9) << said;
  }
}

TEST(OperationTime, WhatDoesNotFitTogetherIsLeftOut) {
  EXPECT_TRUE(times_of(json()).empty());
  for (const char* times :
       {R"(7)", R"({"by":{"seal":{"counts":[1,2]}}})", R"({"bounds_ms":[],"by":{}})",
        R"({"bounds_ms":[1,1],"by":{"seal":{"counts":[1,2,3]}}})",
        R"({"bounds_ms":["1"],"by":{"seal":{"counts":[1,2]}}})",
        R"({"bounds_ms":[1],"by":{"seal":{"counts":[1,-2]}}})",
        R"({"bounds_ms":[1],"by":{"seal":{"counts":[1]}}})", R"({"bounds_ms":[1],"by":{"seal":7}})",
        R"({"bounds_ms":[1],"by":[1]})",
        R"({"bounds_ms":[1],"by":{"alice@REALM":{"counts":[1,2]}}})"})
    EXPECT_TRUE(times_of({{"times", json::parse(times)}}).empty()) << times;
  EXPECT_EQ(
      times_of(
          json::parse(R"({"times":{"bounds_ms":[1],"by":{"seal":{"counts":[1,2],"rounds":"x"}}}})"))
          .size(),
      1u);
}

std::string metrics_text(const json& document) {
  return prometheus::TextSerializer().Serialize(exporter::metrics_of(document));
}

TEST(OperationTime, IsAHistogramOfPrometheus) {
  json server = some_times();
  server["party"] = 1;
  server["version"] = "1";
  server["results"] = {{"ok", 7}, {"limit", 2}, {"alice@REALM", 3}};
  server["by_lane"] = {{{"rounds", 5}, {"operations", 3}, {"busy_s", 0.5}, {"jobs", 2}}, 7};
  json document = some_times();
  document["servers"] = {server};
  const std::string text = metrics_text(document);
  for (const char* line :
       {"tkdc_server_operation_seconds_count{server=\"1\",operation=\"seal\"} 100\n",
        "tkdc_server_operation_seconds_bucket{server=\"1\",operation=\"seal\",le=\"0.001\"} 0\n",
        "tkdc_server_operation_seconds_bucket{server=\"1\",operation=\"seal\",le=\"0.002\"} 98\n",
        "tkdc_server_operation_seconds_bucket{server=\"1\",operation=\"seal\",le=\"+Inf\"} 100\n",
        "tkdc_agent_operation_seconds_bucket{operation=\"open\",le=\"16.384\"} 0\n",
        "tkdc_server_results_total{server=\"1\",result=\"limit\"} 2\n",
        "tkdc_server_lane_busy_seconds_total{server=\"1\",lane=\"0\"} 0.5\n",
        "tkdc_server_rounds_of_operations_sum{server=\"1\",operation=\"seal\"} 6000\n",
        "tkdc_server_rounds_of_operations_bucket{server=\"1\",operation=\"seal\",le=\"32\"} 0\n",
        "tkdc_server_rounds_of_operations_bucket{server=\"1\",operation=\"seal\",le=\"64\"} 100\n",
        "tkdc_server_message_bytes_of_operations_bucket{server=\"1\",operation=\"open\","
        "le=\"4096\"} 1\n",
        "tkdc_server_message_bytes_of_operations_sum{server=\"1\",operation=\"seal\"} 90000\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(text.find("alice"), std::string::npos);
  EXPECT_TRUE(exporter::fields_unknown(document).empty());
}

// As a server says it that has verified; the others, and what does not fit together, have none.
TEST(OperationTime, VerificationsAreAHistogramToo) {
  json server = {{"party", 1}, {"version", "1"}};
  server["verification"] =
      json::parse(R"({"checks":5,"claims":700,"seconds":0.25,"bounds_ms":[1,2],"counts":[3,0,2]})");
  const json document = {{"servers", {server}}};
  const std::string text = metrics_text(document);
  for (const char* line : {"tkdc_server_verification_seconds_count{server=\"1\"} 5\n",
                           "tkdc_server_verification_seconds_sum{server=\"1\"} 0.25\n",
                           "tkdc_server_verification_seconds_bucket{server=\"1\",le=\"0.002\"} 3\n",
                           "tkdc_server_verification_seconds_bucket{server=\"1\",le=\"+Inf\"} 5\n",
                           "tkdc_server_verified_claims_total{server=\"1\"} 700\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  EXPECT_TRUE(exporter::fields_unknown(document).empty());
  for (const char* said :
       {"7", "{}", R"({"bounds_ms":[1,2],"counts":[3,0]})",
        R"({"bounds_ms":[2,1],"counts":[3,0,2]})", R"({"bounds_ms":[],"counts":[3]})"}) {
    server["verification"] = json::parse(said);
    EXPECT_FALSE(verification_of(server)) << said;
    EXPECT_EQ(metrics_text({{"servers", {server}}}).find("verif"), std::string::npos) << said;
  }
}

TEST(OperationTime, WarningsAreMetrics) {
  const auto now = std::time(nullptr);
  json server = {{"party", 1}, {"version", "1"}};
  const auto text = [&server] { return metrics_text({{"servers", {server}}}); };
  const auto says = [&](const std::string& metric, int value) {
    EXPECT_NE(text().find(metric + "{server=\"1\"} " + std::to_string(value) + "\n"),
              std::string::npos)
        << metric << "\n"
        << text();
  };
  says("tkdc_server_revoked_now", 0);
  says("tkdc_server_epoch_alarms", 0);
  says("tkdc_server_shares_audit_warning", 0);
  server["revoked"] = {{{"from", format_utc(now - 7200)}, {"until", format_utc(now - 3600)}}};
  says("tkdc_server_revoked_now", 0);
  server["revoked"].push_back({{"from", format_utc(now - 60)}, {"until", format_utc(now + 60)}});
  says("tkdc_server_revoked_now", 1);
  server["epoch_alarms"] = {"only 9 are left", "513 were used"};
  says("tkdc_server_epoch_alarms", 2);
  server["shares"] = {{"audit_warning", "the last audit was long ago"}};
  says("tkdc_server_shares_audit_warning", 1);
  EXPECT_TRUE(exporter::fields_unknown({{"servers", {server}}}).empty());
}

TEST(OperationTime, NoServerMakesLanesWithoutEnd) {
  json server = {{"party", 1}, {"version", "1"}, {"by_lane", json::array()}};
  for (int lane = 0; lane < 500; ++lane) server["by_lane"].push_back({{"rounds", 5}});
  const std::string text = metrics_text({{"servers", {server}}});
  EXPECT_NE(text.find("lane=\"127\""), std::string::npos);
  EXPECT_EQ(text.find("lane=\"128\""), std::string::npos);
}

// One that is empty is said, and is not the poorest of those that moves empty.
TEST(PoolsOfTwoServers, AreSaidWithThoseThatAreEmpty) {
  const auto table = [](int pools, int spent, int least) {
    const json pair = {{"prepared", 1u},
                       {"pools", static_cast<unsigned>(pools)},
                       {"pools_spent", static_cast<unsigned>(spent)},
                       {"pool_least", static_cast<unsigned>(least)}};
    return status_table({{"servers", {{{"party", 0}, {"session_up", true}, {"pair", pair}}}}});
  };
  const auto says = [](const std::string& text, const std::string& line) {
    EXPECT_NE(text.find("server 0: " + line + "\n"), std::string::npos) << text;
  };
  says(table(2, 0, 17), "pools: 2, the poorest with 17 blocks left");
  says(table(2, 1, 17),
       "pools: 2, 1 of them empty, whose keys take longer to come into a session, the poorest of "
       "the others with 17 blocks left");
  says(table(1, 1, 0), "pools: 1, 1 of them empty, whose keys take longer to come into a session");
}

TEST(FaultsOfStatus, AreNamedByTheirCheck) {
  const json well = {{"reachable", true}, {"session_up", true}};
  json document = {{"servers", {well, well, well}}};
  EXPECT_TRUE(faults_of(document).empty());
  document["servers"][0]["party"] = 0;
  document["servers"][0]["session_up"] = false;
  document["servers"][0]["latched"] = "server 2 lied\n";
  document["servers"][1]["audit_trouble"] = "full";
  document["servers"][2]["clock_error"] = "off";
  document["servers"][2]["audit_behind"] = "cut";
  document["other_agents"] = {{{"name", "agent-admin"}, {"trouble", "away"}}};
  const auto faults = faults_of(document);
  ASSERT_EQ(faults.size(), 5u);
  EXPECT_EQ(faults[0], "server 0 session: server 2 lied?");
  EXPECT_EQ(faults[1], "server - audit: full");
  EXPECT_EQ(faults[2], "server - clocks: off");
  EXPECT_EQ(faults[3], "server - audit: cut");
  EXPECT_EQ(faults[4], "agent agent-admin: away");
  EXPECT_EQ(faults_of(json::object()).size(), 1u);
  EXPECT_EQ(faults_of({{"servers", {7, well, well}}}).size(), 1u);
}

}  // namespace
}  // namespace tkdc::cli
