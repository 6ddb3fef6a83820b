// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "storm/results.h"
#include "storm/svg.h"

namespace tkdc::storm {
namespace {

struct Filled {
  Filled() {
    options.kdc = "<kdc> & co";
    results.options = &options;
    for (int second = 0; second < 3; ++second) {
      for (int i = 1; i <= 100; ++i) {
        ++results.recorder.counts().sent;
        results.recorder.finish(Outcome::kOk, 0, i * 1'000'000);
      }
      results.recorder.tick(100, 4);
    }
    results.recorder.duration_s = 3;
    results.recorder.error(24);
  }
  Options options;
  Results results;
};

TEST(Requirements, DecideTheResult) {
  Filled f;
  for (const char* text : {"rate>99", "p50<51", "lost<1"})
    f.results.requirements.push_back(*parse_requirement(text));
  judge_requirements(f.results);
  EXPECT_TRUE(f.results.good());
  f.results.requirements.push_back(*parse_requirement("p99<10"));
  judge_requirements(f.results);
  EXPECT_FALSE(f.results.good());
  EXPECT_TRUE(f.results.requirements[0].met);
  EXPECT_FALSE(f.results.requirements[3].met);
  EXPECT_NEAR(f.results.requirements[3].found, 99, 0.2);
}

TEST(Requirements, AWrongAnswerIsNeverGood) {
  Filled f;
  EXPECT_TRUE(f.results.good());
  f.results.recorder.finish(Outcome::kWrong, 0, 1);
  EXPECT_FALSE(f.results.good());
}

TEST(Requirements, RefusesWhatItCannotJudge) {
  for (const char* text : {"p99", "p99<", "p99<fast", "speed>1", "<5", "p99=5", "p99<5ms"})
    EXPECT_FALSE(parse_requirement(text)) << text;
}

TEST(Reports, JsonAndCsvHoldTheRun) {
  Filled f;
  std::ostringstream text, rows;
  write_json(text, f.results);
  auto document = nlohmann::json::parse(text.str());
  EXPECT_EQ(document["counts"]["ok"], 300);
  EXPECT_EQ(document["errors"]["PREAUTH_FAILED"], 1);
  EXPECT_NEAR(document["latency_ms"]["p50"], 50, 0.1);
  EXPECT_EQ(document["seconds"].size(), 3U);
  write_csv(rows, f.results);
  EXPECT_NE(rows.str().find("\n2,100.000,100,100,0,"), std::string::npos) << rows.str();
}

TEST(Reports, HtmlIsWholeAndNeedsNoNetwork) {
  Filled f;
  f.results.steps.push_back({100, 99, 20, 30, {}, true});
  f.results.processes.push_back({"krb5kdc", {getpid()}, {}, {{1, 1, 10, 5}, {2, 1, 10, 5}}});
  std::ostringstream out;
  write_html(out, f.results);
  std::string page = out.str();
  EXPECT_NE(page.find("&lt;kdc&gt; &amp; co"), std::string::npos);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http-equiv")) << "the only one";
  EXPECT_EQ(page.find("nan"), std::string::npos);
  std::size_t plots = 0;
  for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) ++plots;
  EXPECT_EQ(plots, 7U);
}

TEST(Reports, PlotsOfNothing) {
  for (bool log : {false, true}) {
    EXPECT_EQ(svg({"t", "x", "y", {}, log, {}}).find("nan"), std::string::npos);
    EXPECT_EQ(svg({"t", "x", "y", {{"a", {{1, 0}}}}, log, {}}).find("nan"), std::string::npos);
  }
}

TEST(Watch, ItsOwnProcess) {
  Watched watched;
  EXPECT_TRUE(parse_watched("me=" + std::to_string(getpid()) + "+999999999", watched));
  EXPECT_EQ(watched.name, "me");
  ProcessUsage usage = usage_of(watched.pids);
  EXPECT_GT(usage.resident_mb, 1);
  EXPECT_GT(usage.files, 2);
  for (const char* wrong : {"me", "=5", "me=", "me=0", "me=5+", "me=5,6", "me=x"}) {
    Watched none;
    EXPECT_FALSE(parse_watched(wrong, none)) << wrong;
  }
}

}  // namespace
}  // namespace tkdc::storm
