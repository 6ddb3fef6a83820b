// SPDX-License-Identifier: Apache-2.0
// What a server keeps and tells of work on all shares.
#include "service/server/share_watch.h"

#include <chrono>
#include <future>
#include <vector>

#include "scratch_dir.h"
#include "shares_only.h"

namespace tkdc {
namespace {

class ShareWatchTest : public ScratchDir {
 protected:
  void end_an_audit() {
    jobs_.now.shares.task = ShareTask::kAudit;
    jobs_.now.shares.finished = 1;
    jobs_.now.shares.audited = 7;
    jobs_.now.shares.ended_at_s = 1'764'100'000;
  }
  SharesOnly jobs_;
};

TEST_F(ShareWatchTest, TheLastAuditIsKept) {
  std::string logged, audited;
  const auto log = [&](const std::string& line) { logged += line; };
  const auto audit = [&](const std::string& line) { audited += line; };
  ShareWatch watch(directory_, jobs_, log, audit);
  EXPECT_FALSE(watch.state().contains("last_audit"));
  end_an_audit();
  watch.look();
  EXPECT_EQ(watch.state()["last_audit"]["audited"], 7);
  EXPECT_NE(audited.find("\"shares\""), std::string::npos);
  EXPECT_EQ(ShareWatch(directory_, jobs_, log, audit).state()["last_audit"]["at"], 1'764'100'000);
  EXPECT_EQ(logged, "");
}

// The thread that answers agents asks for it, too. That the file is written shows where it cannot.
TEST_F(ShareWatchTest, ItsStateIsToldWhileFilesAreWritten) {
  std::vector<std::future<nlohmann::json>> asked;
  std::unique_ptr<ShareWatch> watch;
  const auto meanwhile = [&](const std::string&) {
    asked.push_back(std::async(std::launch::async, [&] { return watch->state(); }));
    EXPECT_EQ(asked.back().wait_for(std::chrono::seconds(2)), std::future_status::ready);
  };
  watch = std::make_unique<ShareWatch>(directory_ + "/none", jobs_, meanwhile, meanwhile);
  end_an_audit();
  watch->look();
  ASSERT_EQ(asked.size(), 2u) << "the file of the last audit, and a line of the audit log";
  for (auto& one : asked) EXPECT_EQ(one.get()["last_audit"]["audited"], 7);
}

}  // namespace
}  // namespace tkdc
