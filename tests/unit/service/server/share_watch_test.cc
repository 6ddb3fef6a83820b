// SPDX-License-Identifier: Apache-2.0
// What a server keeps and tells of work on all shares.
#include "service/server/share_watch.h"

#include <chrono>
#include <future>
#include <vector>

#include "scratch_dir.h"
#include "service/server/share_request.h"
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

// Whoever hears that an audit has ended hears of it as the last one.
TEST_F(ShareWatchTest, AnAuditThatEndsMeanwhileIsNotHalfTold) {
  const auto nothing = [](const std::string&) {};
  ShareWatch watch(directory_, jobs_, nothing, nothing);
  jobs_.after_status = [this] { end_an_audit(); };
  for (bool ended : {false, true}) {
    const auto told = watch.ask("status");
    ASSERT_TRUE(told.ok());
    const auto json = nlohmann::json::parse(*told);
    EXPECT_EQ(json.at("finished").get<int>() == 1, ended);
    EXPECT_EQ(json.contains("last_audit"), ended);
  }
}

// What goes on after a start is under way for who asks in the same moment.
TEST_F(ShareWatchTest, WhatGoesOnIsNotAskedForOnceMore) {
  const auto nothing = [](const std::string&) {};
  ASSERT_TRUE(write_share_request(directory_, ShareTask::kRefresh).ok());
  jobs_.now.session_up = jobs_.now.shares.possible = true;
  ShareWatch watch(directory_, jobs_, nothing, nothing);
  jobs_.when_goes_on = [this] { jobs_.now.shares.wanted = true; };
  EXPECT_FALSE(watch.ask("audit").ok());
  EXPECT_EQ(read_share_request(directory_).value(), ShareTask::kRefresh);
  EXPECT_EQ(jobs_.asked, 0);
}

// After a start, of two servers: one that was asked for before the request, and has ended, or is
// under way, does not cover it; one that began since does.
TEST_F(ShareWatchTest, ARequestOfBeforeTheStartGoesByItsTime) {
  const auto nothing = [](const std::string&) {};
  jobs_.now.pair.emplace();
  jobs_.now.shares.possible = true;
  struct Case {
    std::int64_t refreshed, refreshing;  // since, behind the request; 0: none
    int asked, goes_on;
    bool stays;
  };
  for (const Case& one :
       {Case{0, 0, 0, 1, true}, Case{-10, 0, 0, 1, true}, Case{5, 0, 0, 0, false},
        Case{-10, 5, 0, 1, true}, Case{-10, -5, 1, 0, true}, Case{0, -5, 1, 0, true}}) {
    ASSERT_TRUE(write_share_request(directory_, ShareTask::kRefresh).ok());
    const auto at = static_cast<std::int64_t>(share_request_at(directory_));
    const auto time = [&](std::int64_t behind) {
      return behind == 0 ? 0 : static_cast<std::uint64_t>(at + behind);
    };
    jobs_.asked = jobs_.goes_on = 0;
    jobs_.now.refreshed_at_s = time(one.refreshed);
    jobs_.now.refreshing_since_s = time(one.refreshing);
    ShareWatch(directory_, jobs_, nothing, nothing).look();
    EXPECT_EQ(jobs_.asked, one.asked) << one.refreshed << " " << one.refreshing;
    EXPECT_EQ(jobs_.goes_on, one.goes_on) << one.refreshed << " " << one.refreshing;
    EXPECT_EQ(share_request_at(directory_) != 0, one.stays) << one.refreshed;
  }
}

// Amid another one, which had begun before: its end is not this one's, which is asked for again.
TEST_F(ShareWatchTest, ARequestAmidAnotherFollowsIt) {
  const auto nothing = [](const std::string&) {};
  jobs_.now.pair.emplace();
  jobs_.now.session_up = jobs_.now.shares.possible = true;
  ShareWatch watch(directory_, jobs_, nothing, nothing);
  ASSERT_TRUE(watch.ask("refresh").ok());
  const std::uint64_t at = share_request_at(directory_);
  ASSERT_NE(at, 0u);
  const auto ends = [&](std::uint64_t since) {
    ++jobs_.now.shares.finished;
    jobs_.now.refreshed_at_s = since;
    watch.look();
  };
  ends(at - 1);
  EXPECT_EQ(share_request_at(directory_), at);
  EXPECT_EQ(jobs_.asked + jobs_.goes_on, 2) << "and again";
  ends(at);
  EXPECT_EQ(share_request_at(directory_), 0u);
  watch.look();
  EXPECT_EQ(jobs_.asked + jobs_.goes_on, 2);
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
