// SPDX-License-Identifier: Apache-2.0
#include "server/audit_log.h"

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "scratch_dir.h"

namespace tkdc {
namespace {

class AuditLogTest : public ScratchDir {
 protected:
  void open() {
    log_.reset();
    auto opened = AuditLog::open(path());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    log_ = std::move(*opened);
  }
  std::string path() const { return directory_ + "/audit.jsonl"; }

  std::unique_ptr<AuditLog> log_;
};

TEST_F(AuditLogTest, LinesAreChainedAcrossRestarts) {
  open();
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  ASSERT_TRUE(log_->append(R"({"event":"two"})").ok());
  auto head = log_->head();
  open();
  EXPECT_EQ(log_->head(), head);
  ASSERT_TRUE(log_->append(R"({"event":"three"})").ok());
  ASSERT_TRUE(log_->sync().ok());
  auto lines = AuditLog::verify(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(*lines, 3u);
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
  auto verdict = AuditLog::verify(path());
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().message.find("line 2"), std::string::npos) << verdict.error().message;
  std::size_t second = text.find('\n') + 1;
  std::string missing = text;
  missing.erase(second, text.find('\n', second) + 1 - second);
  write("audit.jsonl", missing);
  EXPECT_FALSE(AuditLog::verify(path()).ok());
}

TEST_F(AuditLogTest, ALineCutShortByACrashStaysVisible) {
  open();
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  log_.reset();
  std::ofstream(path(), std::ios::app) << R"({"n":2,"time":"20)";
  EXPECT_FALSE(AuditLog::verify(path()).ok());
  open();
  ASSERT_TRUE(log_->append(R"({"event":"two"})").ok());
  auto lines = AuditLog::verify(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(*lines, 3u) << "one, resumed, two";
  EXPECT_NE(read(path()).find("cut short"), std::string::npos);
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
  auto lines = AuditLog::verify(path());
  ASSERT_TRUE(lines.ok()) << lines.error().message;
  EXPECT_EQ(*lines, 200u);
}

}  // namespace
}  // namespace tkdc
