// SPDX-License-Identifier: Apache-2.0
// What a lane tells of its jobs: answers to agents, lines of the audit log, counters. Used by
// the lane's thread.
#pragma once

#include <string>

#include "protocol/protocol.h"
#include "service/job/job.h"
#include "service/job/lane_shared.h"
#include "service/operation/outcome.h"

namespace tkdc {

class Answers {
 public:
  Answers(const LaneShared& shared, LaneFigures& figures, std::uint32_t lane, bool two_parts)
      : shared_(shared), figures_(figures), lane_index_(lane), two_parts_(two_parts) {}

  // Which cohort the lines of the audit log name.
  std::uint64_t cohort() const { return cohort_; }
  void begin_cohort() { ++cohort_; }

  // `note`: for the audit log, or null.
  void answer(const JobRequest& request, tkdc_status status, std::string message,
              const char* note = nullptr);
  // One that was not admitted: with the cause that this server knows.
  void refuse(const Job& job, tkdc_status status);
  // One that has run, in so many rounds. Past its deadline its agent has been told already.
  void finish(const Job& job, const Protocol& protocol, JobOutcome outcome, std::uint64_t rounds);
  // The same by two servers: the agent compares their answers, and gets no digest of another's.
  void finish_by_two(const Job& job, JobOutcome outcome, const JobCost& cost);

 private:
  // `note`: what is unusual about it, or null. False: it could not be written.
  bool audit(const JobRequest& request, tkdc_status status, const char* note = nullptr,
             bool head = false) const;
  static void keep_back(JobReply& reply);
  void finish(const Job& job, JobOutcome outcome, const JobCost& cost, const Digest& next_output);
  const char* watch(const JobRequest& request, const JobOutcome& outcome);
  bool tail_follows(const Job& job, tkdc_status status) const;

  const LaneShared shared_;
  LaneFigures& figures_;
  const std::uint32_t lane_index_;
  const bool two_parts_;
  std::uint64_t cohort_ = 0;
};

}  // namespace tkdc
