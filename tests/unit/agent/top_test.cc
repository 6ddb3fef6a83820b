// SPDX-License-Identifier: Apache-2.0
// What `tkdc top` makes of two statuses.
#include "tools/cli/top_frame.h"

#include <gtest/gtest.h>

#include "service/wire/times_json.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

json status_after(std::int64_t seals) {
  OperationTimes times;
  for (std::int64_t k = 0; k < seals; ++k)
    times.add(TKDC_OP_SEAL, std::chrono::microseconds(3000), 60, 2048);
  OperationTotals totals;
  times.add_to(totals);
  json document = {{"agent", {{"name", "agent-kdc"}}},
                   {"pending", 4},
                   {"security", "malicious"},
                   {"times", times_json(totals)}};
  for (int party = 0; party < 3; ++party)
    document["servers"].push_back(
        {{"party", party},
         {"reachable", true},
         {"session_up", true},
         {"jobs_done", seals},
         {"rounds", 100 * seals},
         {"message_bytes_sent", 1024 * 1024 * seals},
         {"clocks", {{{"party", 2}, {"ahead_ms", -70}}, {{"party", 1}, {"ahead_ms", 20}}}},
         {"times", times_json(totals)},
         {"agents", {{{"name", "agent-kdc"}, {"asked", 2 * seals}, {"limited", 0}}}},
         {"by_lane",
          {{{"rounds", 0}, {"operations", 0}, {"busy_s", 0.0}, {"jobs", 0}},
           {{"rounds", 100 * seals},
            {"operations", seals},
            {"busy_s", 0.05 * seals},
            {"jobs", 3}}}}});
  return document;
}

TEST(Top, RatesAreOfWhatCameBetween) {
  const json frame = top_frame(status_after(10), status_after(30), 2);
  ASSERT_EQ(frame["operations"].size(), 1u);
  const json& seal = frame["operations"][0];
  EXPECT_EQ(seal["operation"], "seal");
  EXPECT_DOUBLE_EQ(seal["servers"]["per_s"].get<double>(), 10);
  EXPECT_DOUBLE_EQ(seal["agent"]["p50_ms"].get<double>(), 3);
  EXPECT_DOUBLE_EQ(seal["servers"]["rounds"].get<double>(), 60);
  EXPECT_DOUBLE_EQ(frame["servers"][1]["done_per_s"].get<double>(), 10);
  EXPECT_DOUBLE_EQ(frame["servers"][1]["clocks_off_ms"].get<double>(), 70);
  EXPECT_DOUBLE_EQ(frame["agents"][0]["per_s"].get<double>(), 20);
  EXPECT_DOUBLE_EQ(frame["lanes"][1]["busy"].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(frame["lanes"][1]["rounds_per_s"].get<double>(), 1000);
  EXPECT_EQ(frame["healthy"], true);
}

TEST(Top, AProcessThatBeganAnewCountsFromNothing) {
  const json frame = top_frame(status_after(30), status_after(10), 2);
  EXPECT_DOUBLE_EQ(frame["operations"][0]["servers"]["per_s"].get<double>(), 5);
  EXPECT_DOUBLE_EQ(frame["servers"][0]["done_per_s"].get<double>(), 5);
}

TEST(Top, LinesFitATerminal) {
  json now = status_after(1'000'000);
  now["servers"][0]["agents"][0]["name"] = std::string(500, 'a') + "\x1b[2J";
  now["servers"][1]["latched"] = std::string(300, 'x') + "\n\x1b[31m";
  now["servers"][1]["session_up"] = false;
  const auto lines = top_lines(top_frame(status_after(0), now, 0.001), "12:00:00");
  EXPECT_NE(lines[0].find("DEGRADED"), std::string::npos);
  EXPECT_NE(lines[1].find("server 1 session: xxx"), std::string::npos);
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 80u) << line;
    for (const unsigned char letter : line) EXPECT_TRUE(letter >= 0x20 && letter < 0x7f) << line;
  }
}

// Another version's, or one that says what it likes.
TEST(Top, AnyDocumentIsShown) {
  for (const char* text :
       {"{}", "[]", "7", R"({"servers":7,"agent":{},"times":[]})", R"({"servers":[7,[],"x"]})",
        R"({"servers":[{"reachable":true,"by_lane":[7,{"busy_s":"x"}],"agents":{"name":7}}]})",
        R"({"servers":[{"clocks":[1,{"ahead_ms":"x"}],"times":{"by":7}}]})",
        R"({"agent":{"name":7},"of_server":[1],"security":{}})"}) {
    const json document = json::parse(text);
    for (const json& before : {document, status_after(3)})
      EXPECT_GE(top_lines(top_frame(before, document, 1), "-").size(), 8u) << text;
  }
}

}  // namespace
}  // namespace tkdc::cli
