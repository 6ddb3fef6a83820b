// SPDX-License-Identifier: Apache-2.0
// A job service of which a test says what its status is.
#pragma once

#include <functional>

#include "service/job/job_service.h"

namespace tkdc {

// Only its work on shares.
class SharesOnly final : public JobService {
 public:
  void submit(AgentRole, JobRequest) override {}
  std::string run_session(Session&) override { return {}; }
  SessionId held() const override { return {}; }
  void give_up(std::optional<int>) override {}
  std::optional<std::string> deviation() const override { return std::nullopt; }
  void stop() override {}
  CourseTail course(std::size_t) const override { return {}; }
  Result<void> hear_course(std::size_t, int, const CourseTail&) override { return {}; }
  Result<void> revoke(SealWindow) override { return {}; }
  Result<void> lift_revocations() override { return {}; }
  void ask_shares(ShareTask) override { ++asked; }
  void go_on_with_shares(ShareTask) override {
    ++goes_on;
    if (when_goes_on) when_goes_on();
  }
  void expire() override {}
  JobServiceStatus status() const override {
    const JobServiceStatus told = now;
    if (after_status) after_status();
    return told;
  }

  JobServiceStatus now;
  std::function<void()> after_status, when_goes_on;
  int asked = 0, goes_on = 0;
};

}  // namespace tkdc
