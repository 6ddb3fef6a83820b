// SPDX-License-Identifier: Apache-2.0
// Which jobs run: the three steps of admission, each in a tick of its own.
//
// The leader (party 0) names waiting jobs in a manifest. In the next full tick the servers exchange
// statements, in the one after it verdicts (service/admit/admission.h). The jobs that all three
// admit start in the same tick at all three, by the protocol that the manifest says. A job that
// another server has not received yet is put back and named again. Used by the lane's thread.
#pragma once

#include <optional>

#include "lane/ticker.h"
#include "service/job/agent_room.h"
#include "service/job/answers.h"
#include "service/job/garbling_choice.h"
#include "service/job/job_checks.h"
#include "service/job/lane_control.h"
#include "service/job/lane_queue.h"

namespace tkdc {

class LaneAdmission {
 public:
  LaneAdmission(const LaneShared& shared, int party, std::uint32_t lane,
                const SessionProtocols& protocols, const RunningJobs& running, LaneQueue& queue,
                JobChecks& checks, Answers& answers)
      : shared_(shared), party_(party), lane_index_(lane), protocols_(protocols), running_(running),
        queue_(queue), checks_(checks), answers_(answers) {}

  // The lane garbles; `choice` is asked at the leader.
  void use_garbling(GarblingChoice& choice) { choice_ = &choice; }

  bool under_way() const { return stated_.has_value() || verdicts_.has_value(); }

  // In each full tick, in this order. The leader names jobs, if it is time to.
  void propose();
  void say(LaneControl& said, Ticker::OwnControl& own) const;
  LaneExpects expects(int party) const;
  Result<void> hear(const LaneControl& prev, const LaneControl& next,
                    const Ticker::Control& control);
  // Those that all three admit, to be started now. The others are answered or put back.
  ManifestJobs settle(const LaneControl& prev, const LaneControl& next);
  // What the leader learns of a KDC's jobs: whose run, and how long the rounds were of one that has
  // come to its end. Few keys are made, and wait for the disk: an admin agent's do not count.
  void started(const Job& job) {
    if (counts(job)) room_.asked(job.request.name.agent, job.running.started);
  }
  void ended(const Job& job, std::uint64_t round) {
    if (counts(job))
      room_.ended(job.running.started, round - job.running.first_round, Clock::now());
  }
  // This server's checks of those that were named.
  void take_named();

  // Jobs that have been taken from the pending ones.
  template <class Visit>
  void for_each_taken(Visit visit) {
    for (auto* listed : {&stated_, &verdicts_})
      if (*listed)
        for (Candidate& candidate : (*listed)->candidates)
          if (candidate.job && !candidate.job->expired) visit(*candidate.job);
  }

 private:
  using Clock = Job::Clock;

  bool leader() const { return party_ == 0; }
  bool counts(const Job& job) const { return leader() && job.role == AgentRole::kKdc; }
  std::uint8_t protocol_for(const JobName& name);
  std::size_t running_room(std::uint64_t agent) const;
  std::size_t octets_room() const;
  void add_statements(Ticker::OwnControl& own) const;
  Result<void> read_statements(ByteSpan from_prev, ByteSpan from_next);
  void take_candidates(ManifestJobs& listed);
  void refuse(Candidate& candidate);
  void put_back(Candidate& candidate);

  const LaneShared shared_;
  const int party_;
  const std::uint32_t lane_index_;
  const SessionProtocols& protocols_;
  const RunningJobs& running_;
  LaneQueue& queue_;
  JobChecks& checks_;
  Answers& answers_;
  std::optional<ManifestJobs> proposed_, named_, stated_, verdicts_;
  std::uint32_t last_sealed_at_ = 0;
  AgentRoom room_;  // the leader's
  GarblingChoice* choice_ = nullptr;
};

}  // namespace tkdc
