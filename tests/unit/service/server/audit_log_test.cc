// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_log.h"

#include "service/server/audit_check.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "audit_log_fixture.h"
#include "base/hex.h"

namespace tkdc {
namespace {

class AuditLogTest : public AuditLogFixture {};

TEST_F(AuditLogTest, LinesAreChainedAcrossRestarts) {
  open();
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  ASSERT_TRUE(log_->append(R"({"event":"two"})").ok());
  auto head = log_->head();
  open();
  EXPECT_EQ(log_->head(), head);
  ASSERT_TRUE(log_->append(R"({"event":"three"})").ok());
  ASSERT_TRUE(log_->sync().ok());
  auto lines = check_audit_log(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(lines->head.lines, 3u);
  std::string text = read(path());
  auto first = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(first["n"], 1);
  EXPECT_EQ(first["prev"], std::string(64, '0'));
  EXPECT_EQ(first["event"]["event"], "one");
}

TEST_F(AuditLogTest, ChangedOrMissingLinesAreFound) {
  open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(log_->append(R"({"event":"x"})").ok());
  log_.reset();
  std::string text = read(path());
  std::string changed = text;
  changed[text.find("\"x\"") + 1] = 'y';
  write("audit.jsonl", changed);
  auto verdict = check_audit_log(path());
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().message.find("line 2"), std::string::npos) << verdict.error().message;
  std::size_t second = text.find('\n') + 1;
  std::string missing = text;
  missing.erase(second, text.find('\n', second) + 1 - second);
  write("audit.jsonl", missing);
  EXPECT_FALSE(check_audit_log(path()).ok());
}

TEST_F(AuditLogTest, ALineCutShortByACrashStaysVisible) {
  open();
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  log_.reset();
  std::ofstream(path(), std::ios::app) << R"({"n":2,"time":"20)";
  EXPECT_FALSE(check_audit_log(path()).ok());
  open();
  ASSERT_TRUE(log_->append(R"({"event":"two"})").ok());
  auto lines = check_audit_log(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(lines->head.lines, 3u) << "one, resumed, two";
  EXPECT_NE(read(path()).find("cut short"), std::string::npos);
}

// Whatever a crash leaves of what is written at the end, at any octet: the log goes on, and its
// chain holds.
TEST_F(AuditLogTest, GoesOnAfterACrashAtAnyOctet) {
  open();
  for (const char* event : {R"({"event":"one"})", R"({"event":"two"})"})
    ASSERT_TRUE(log_->append(event).ok());
  log_.reset();
  const std::string whole = read(path());
  const std::size_t second = whole.find('\n') + 1;
  for (std::size_t end = second; end < whole.size(); ++end) {
    write("audit.jsonl", whole.substr(0, end));
    open();
    log_.reset();
    // The start after that is cut short, too.
    const std::string resumed = read(path());
    for (std::size_t again = end; again <= resumed.size(); ++again) {
      write("audit.jsonl", resumed.substr(0, again));
      open();
      ASSERT_TRUE(log_->append(R"({"event":"three"})").ok());
      const AuditHead head = log_->head();
      log_.reset();
      auto checked = check_audit_log(path());
      ASSERT_TRUE(checked.ok()) << end << ", " << again << ": " << checked.error().message;
      EXPECT_EQ(checked->head, head);
    }
  }
}

TEST_F(AuditLogTest, ALineThatLacksItsNewlineIsALine) {
  open();
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  ASSERT_TRUE(log_->append(R"({"event":"two"})").ok());
  const AuditHead head = log_->head();
  log_.reset();
  std::string text = read(path());
  text.pop_back();
  write("audit.jsonl", text);
  open();
  EXPECT_EQ(log_->head(), head) << "nothing was cut short";
  ASSERT_TRUE(log_->append(R"({"event":"three"})").ok());
  auto lines = check_audit_log(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(lines->head.lines, 3u);
}

TEST_F(AuditLogTest, OthersAreToldOfWhatIsOnDisk) {
  open();
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  EXPECT_EQ(log_->durable_head(), AuditHead());
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_EQ(log_->durable_head(), log_->head());
  open();
  EXPECT_EQ(log_->durable_head(), log_->head());
}

TEST_F(AuditLogTest, RefusesAForeignFile) {
  write("audit.jsonl", "these are somebody's notes\n");
  auto opened = AuditLog::open(path());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(read(path()), "these are somebody's notes\n") << "left as it was";
}

TEST_F(AuditLogTest, ManyThreads) {
  open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) ASSERT_TRUE(log_->append(R"({"event":"x"})").ok());
    });
  for (auto& thread : threads) thread.join();
  auto lines = check_audit_log(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(lines->head.lines, 200u);
}

TEST_F(AuditLogTest, TheHighestEpochIsKnownAfterARestart) {
  open();
  EXPECT_EQ(log_->last_epoch(), SessionEpoch());
  for (const char* event : {R"({"epoch":7,"event":"session"})", R"({"epoch":9,"event":"session"})",
                            R"({"event":"x"})", R"({"epoch":8,"event":"session"})"})
    ASSERT_TRUE(log_->append(event).ok());
  open();
  EXPECT_EQ(log_->last_epoch(), (SessionEpoch{0, 9}));
  ASSERT_TRUE(log_->append(R"({"epoch":2,"era":1,"event":"session"})").ok());
  open();
  EXPECT_EQ(log_->last_epoch(), (SessionEpoch{1, 2})) << "of the latest era";
}

// Party 0's log, and what party 1 has recorded of it after lines 2 and 4.
class AuditHeadsTest : public AuditLogTest {
 protected:
  AuditHeadsTest() {
    open();
    write_events(2);
    const AuditHead second = log_->head();
    write_events(2);
    record(second, log_->head());
    write_events(2);
    log_.reset();
  }
  void write_events(int count, const std::string& event = R"({"event":"x","party":0})") {
    for (int k = 0; k < count; ++k) EXPECT_TRUE(log_->append(event).ok());
  }
  void record(const AuditHead& one, const AuditHead& two) {
    auto other = AuditLog::open(other_path());
    ASSERT_TRUE(other.ok());
    for (const AuditHead& head : {one, two}) {
      nlohmann::json peer = {{"party", 0}, {"lines", head.lines}, {"head", to_hex(head.hash)}};
      nlohmann::json stranger = {{"party", 2}, {"lines", 5}, {"head", std::string(64, 'a')}};
      nlohmann::json event = {{"event", "peers"}, {"party", 1}, {"peers", {peer, stranger}}};
      ASSERT_TRUE((*other)->append(event.dump()).ok());
    }
  }
  std::string other_path() const { return directory_ + "/other.jsonl"; }
  std::string verdict() {
    auto other = check_audit_log(other_path());
    EXPECT_TRUE(other.ok());
    std::vector<RecordedHead> heads;
    for (const RecordedHead& head : other->peers)
      if (head.party == 0) heads.push_back(head);
    EXPECT_EQ(heads.size(), 2u);
    auto checked = check_audit_log(path(), heads);
    return checked.ok() ? "" : checked.error().message;
  }
};

TEST_F(AuditHeadsTest, AWholeLogHoldsAllHeads) {
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(check_audit_log(path())->party, 0);
}

TEST_F(AuditHeadsTest, ALogCutShortShowsAgainstTheOther) {
  std::string text = read(path());
  std::size_t end = 0;
  for (int k = 0; k < 3; ++k) end = text.find('\n', end) + 1;
  write("audit.jsonl", text.substr(0, end));
  EXPECT_TRUE(check_audit_log(path()).ok()) << "by itself it looks whole";
  EXPECT_NE(verdict().find("cut short"), std::string::npos) << verdict();
  // Its server goes on as if nothing had happened.
  open();
  write_events(10, R"({"event":"y"})");
  EXPECT_NE(verdict().find("rewritten"), std::string::npos) << verdict();
}

TEST_F(AuditHeadsTest, ALogWrittenAnewShowsAgainstTheOther) {
  write("audit.jsonl", "");
  open();
  write_events(20, R"({"event":"y"})");
  EXPECT_TRUE(check_audit_log(path()).ok()) << "by itself it looks whole";
  EXPECT_NE(verdict().find("rewritten"), std::string::npos) << verdict();
}

TEST_F(AuditHeadsTest, EventsAboutAnotherServerDoNotSayWhoseLogItIs) {
  open();
  for (const char* event : {"check broken", "repair approved", "repair over"})
    write_events(1, R"({"event":")" + std::string(event) + R"(","party":2})");
  EXPECT_EQ(check_audit_log(path())->party, 0);
}

// Its log of before went with its disk: what is recorded from the repair on counts.
TEST_F(AuditHeadsTest, ARepairedServersLogBeginsAnew) {
  std::filesystem::remove(path());
  open();
  write_events(3);
  auto other = AuditLog::open(other_path());
  ASSERT_TRUE(other.ok());
  const AuditHead now = log_->head();
  const nlohmann::json peer = {{"party", 0}, {"lines", now.lines}, {"head", to_hex(now.hash)}};
  nlohmann::json event = {{"event", "session"}, {"party", 1}, {"peers", {peer}}};
  ASSERT_TRUE((*other)->append(event.dump()).ok());
  const auto recorded_of = [&](int party) {
    auto heads = check_audit_log(other_path())->peers;
    std::erase_if(heads, [&](const RecordedHead& one) { return one.party != party; });
    return heads;
  };
  EXPECT_FALSE(check_audit_log(path(), recorded_of(0)).ok()) << "nobody repaired it";
  event["repaired"] = 0;
  ASSERT_TRUE((*other)->append(event.dump()).ok());
  EXPECT_EQ(recorded_of(0).size(), 1u);
  EXPECT_TRUE(check_audit_log(path(), recorded_of(0)).ok());
  EXPECT_EQ(recorded_of(2).size(), 2u) << "of a server that was not repaired";
  const auto left_out = check_audit_log(other_path())->left_out;
  ASSERT_EQ(left_out.size(), 1u) << "who verifies is told";
  EXPECT_EQ(left_out[0].party, 0);
  EXPECT_GT(left_out[0].heads, 0u);
  EXPECT_NE(left_out[0].where.find(other_path() + " line "), std::string::npos);
  const std::string over = R"({"event":"repair over","party":0})";
  ASSERT_TRUE((*other)->append(over).ok());
  EXPECT_EQ(recorded_of(0).size(), 1u) << "of the new log, since its session's line is here";
  ASSERT_TRUE((*other)->append(over).ok());
  EXPECT_TRUE(recorded_of(0).empty()) << "of a repair that has no session's line here";
}

}  // namespace
}  // namespace tkdc
