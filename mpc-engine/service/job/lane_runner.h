// SPDX-License-Identifier: Apache-2.0
// One lane at one party: admits jobs, runs them, answers them.
//
// Jobs that wait together form a cohort by themselves (lane_admission.h); there is no timer.
// Whether this server would run one says job_checks.h, what becomes of it answers.h.
//
// Threads: run() belongs to the lane's thread; enqueue() and stop() may be
// called from any. Everything that a job holds is secret.
#pragma once

#include <atomic>
#include <optional>

#include "lane/ticker.h"
#include "service/garbled/lane_garbling.h"
#include "service/job/audit_head_notice.h"
#include "service/job/garbling_choice.h"
#include "service/job/lane_admission.h"
#include "service/job/lane_published.h"
#include "service/job/lane_shares.h"
#include "service/sealing/revocation_notice.h"

namespace tkdc {

class LaneRunner final : private Ticker::Owner {
 public:
  LaneRunner(LaneShared shared, LaneFigures& figures, const Session& session, std::size_t lane);
  // Its side in each of the session's protocols, and what its streams are for. Error: one cannot
  // be had here.
  Result<void> join(Session& session);
  ~LaneRunner() override;

  // Leader only: a job that is in `pending` and belongs to this lane.
  void enqueue(const JobName& name);
  void wake();
  void stop();
  std::size_t load() const { return load_; }
  std::vector<ProtocolInfo> protocols() const;

  struct Ended {
    std::string why;  // empty after stop()
    // Only connections were lost: the lane can go on over others, where it stands.
    bool can_go_on = false;
  };
  // Until the link fails or stop(). The second time on connections that took the place of lost
  // ones, and so on; then with their streams.
  Ended run(LaneLink& connections);

  // ---- while it does not run
  // Answers jobs whose deadline is over; what they yield later goes nowhere.
  void expire();
  // It will not run again: answers all that is in progress. Whether messages were being
  // verified.
  std::optional<LostCheck> give_up();
  // Whether a check, or a key's making or removal, was under way when the last tick ended. Any
  // thread.
  bool may_finish() const { return may_finish_; }
  // How it showed that a server computed wrongly, if one did.
  std::optional<std::string> deviation() const;
  // What its servers decided, for the next handshake to compare.
  CourseTail course() const;

 private:
  using Clock = Job::Clock;

  bool leader() const { return party_ == 0; }
  bool draining();
  std::string run_ticks(Link& link);
  template <class Visit>
  void for_each_taken(Visit visit);
  Result<void> tick(const Link& link);
  void note_load(bool at_work) {
    const auto passed = lane_load_.note(Clock::now(), at_work);
    if (at_work) figures_.busy_ns.add(static_cast<std::uint64_t>(passed.count()));
  }
  void note_session(const Session& session);
  std::optional<Ticker::OwnControl> say() override;
  Result<void> hear(const Ticker::Control& control) override;
  Result<LaneControl> read_said(ByteSpan octets, int party) const;

  void start(Candidate admitted, std::uint32_t sealed_at);
  Task<void> run_job(Job& job);
  bool preparing() const;
  std::optional<Protocol::Check> checking() const;
  void prepare();
  void prepare_garbling();
  Result<void> join_garbling(LaneStreams streams, const PairwiseKeys& keys);
  bool garbled(const Job& job) const;
  void finish(Job& job, JobOutcome outcome);
  void publish();
  void publish_counts();

  LaneShared shared_;
  LaneFigures& figures_;
  const int party_;
  const std::uint32_t index_, epoch_;
  const std::array<std::uint8_t, 32> session_;
  const bool two_parts_, keeps_dropped_;
  const bool repairs_;  // what the session is for
  Lane lane_;
  SessionProtocols protocols_;
  std::unique_ptr<LaneGarbling> garbling_;  // where the lane has streams
  std::optional<GarblingChoice> choice_;    // then; it is asked at the leader
  LaneShares shares_;
  Ticker ticker_;
  AuditHeadNotice audit_heads_;
  RevocationNotice revoked_;
  ClockNotice clocks_;

  LaneQueue queue_;
  RunningJobs running_;
  std::size_t answered_ = 0;  // of them, in this tick
  JobChecks checks_;
  Answers answers_;
  LaneAdmission admission_;

  bool has_run_ = false;
  bool connected_ = true;  // no link has failed in this run
  std::atomic<bool> stopping_{false}, may_finish_{false};
  std::atomic<std::size_t> load_{0};

  std::atomic<Clock::time_point> stopped_at_{};
  std::uint64_t next_number_ = 0, ticks_ = 0;
  std::chrono::microseconds one_way_{0};  // to the farther neighbour
  LaneLoad lane_load_;
  LanePublished published_;
};

}  // namespace tkdc
