// SPDX-License-Identifier: Apache-2.0
// One lane at one party: admits jobs, runs them, answers them.
//
// The leader (party 0) names waiting jobs in a manifest; in the next two full
// ticks the servers exchange claims and verdicts (service/admit/admission.h), and the
// jobs that all three admit start in the same tick at all three. Jobs that
// wait together so form a cohort by themselves; there is no timer. A job that
// a follower has not received yet is put back and named again.
//
// Threads: run() belongs to the lane's thread; enqueue() and stop() may be
// called from any. Everything that a job holds is secret.
#pragma once

#include <atomic>
#include <list>
#include <optional>
#include <set>
#include <unordered_map>

#include "lane/ticker.h"
#include "service/admit/admission.h"
#include "service/admit/equal_limit.h"
#include "service/admit/preauth_watch.h"
#include "service/job/clock_exchange.h"
#include "service/job/fair_queue.h"
#include "service/job/half_done.h"
#include "service/job/head_exchange.h"
#include "service/job/lane_said.h"
#include "service/job/pending.h"
#include "service/lifecycle/management.h"
#include "service/sealing/revocation_exchange.h"
#include "service/sealing/seal_counts.h"

namespace tkdc {

// A job between manifest and verdict.
struct Candidate {
  JobName name;
  std::unique_ptr<PendingJob> job;  // null: not received
  std::shared_ptr<const KeyRecord> record;
  JobDigests digests;
  Verdict verdict = kMissing;  // own first, then the three servers' together
  bool holds_key = false;      // its id is in LaneRunner::managed_
  bool key_missing = false;    // this server holds no such key
  bool head_missing = false;   // a tail whose head it has not answered, or no more
  bool clock_wrong = false;    // this server's clock does not take the manifest's time
};

// The jobs of one manifest.
struct AdmissionRound {
  std::uint32_t sealed_at = 0;
  std::vector<Candidate> candidates;
};

// An admitted job.
struct ActiveJob {
  std::unique_ptr<PendingJob> job;
  std::shared_ptr<const KeyRecord> record;
  std::uint32_t sealed_at = 0;
  std::uint64_t number = 0, cohort = 0, first_round = 0;
  std::size_t input_bytes = 0;
  bool holds_key = false;
  bool answered = false;  // finished; goes at the end of the tick
};

// The servers did their work, and the answer is no: a wrong password, a forged ticket, a key
// that is not there. The others are troubles of the servers or of what was asked of them at once.
inline bool is_refusal(tkdc_status status) {
  return status == TKDC_STATUS_INTEGRITY || status == TKDC_STATUS_DENIED ||
         status == TKDC_STATUS_UNKNOWN_KEY || status == TKDC_STATUS_BAD_REQUEST;
}

struct LaneCounters {
  std::atomic<std::uint64_t> rounds{0}, layer_bytes{0}, aes_blocks{0}, sha1_blocks{0},
      sha2_blocks{0}, masked_blocks{0}, masks_made{0};
  // How large batches are: operations started, in how many cohorts; and those at work, added
  // up over all rounds.
  std::atomic<std::uint64_t> operations{0}, cohorts{0}, operation_rounds{0};
  std::atomic<std::uint64_t> jobs_done{0}, jobs_refused{0}, jobs_failed{0}, jobs_late{0};
  std::atomic<std::uint64_t> tickets_revoked{0};

  void answered(tkdc_status status) {
    (status == TKDC_STATUS_OK ? jobs_done : is_refusal(status) ? jobs_refused : jobs_failed)++;
  }
};

// What all lanes of a server share.
struct LaneShared {
  const EngineOptions& options;
  Store& store;
  PendingJobs& pending;
  StagedKeys& staged;  // lane 0's only
  LaneCounters& counters;
  SealCounts& seals;
  PreauthWatch& preauth;
  EqualLimit& equals;
  HalfDone& half_done;
  RateLimits& limits;
  Revocations& revocations;
  ClockDifferences& clocks;
  // The leader's: its clock stands before what the lane has sealed, so nothing can be sealed before
  // there is a new session.
  const std::function<void()>& set_back;
  const Engine::Reply& reply;
  const Engine::Audit& audit;
};

class LaneRunner {
 public:
  LaneRunner(LaneShared shared, const Session& session, std::size_t lane,
             const AesBackend& backend);
  ~LaneRunner();

  // Leader only: a job that is in `pending` and belongs to this lane.
  void enqueue(const JobName& name);
  void stop();
  std::size_t load() const { return load_; }

  struct Ended {
    std::string why;  // empty after stop()
    // Only connections were lost: the lane can go on over others, where it stands.
    bool can_go_on = false;
  };
  // Until the link fails or stop(). The second time on connections that took the place of lost
  // ones, and so on.
  Ended run(Link& link);

  // ---- while it does not run
  // Answers jobs whose deadline is over; what they yield later goes nowhere.
  void expire();
  // It will not run again: answers all that is in progress. Whether messages were being
  // verified.
  std::optional<LostCheck> give_up();
  // How it showed that a server computed wrongly, if one did.
  std::optional<std::string> deviation() const;
  // What its servers decided, for the next handshake to compare.
  CourseTail course() const;

 private:
  using Clock = PendingJob::Clock;

  bool leader() const { return party_ == 0; }
  bool admitting() const { return claims_.has_value() || verdicts_.has_value(); }
  bool has_waiting();
  std::size_t active_room(std::uint64_t agent) const;
  std::size_t octets_room() const;
  int idle_ms();
  bool draining();
  std::string run_ticks();
  void use(Link* link);
  template <class Visit>
  void for_each_taken(Visit visit);
  Result<void> tick();
  void begin_tick();
  void note_session(const Session& session);
  Ticker::OwnControl say(bool due);
  Result<LaneSaid> read_said(ByteSpan octets, int party) const;
  Result<void> admit(const Ticker::Control& control);
  Task<void> keep_heads(std::optional<AuditHead> prev, std::optional<AuditHead> next);

  // The three steps of admission, in the order of the ticks.
  void propose(bool due);                                   // leader: names jobs, if it is time to
  AdmissionRound round_of(const Manifest& manifest) const;  // the others
  void take_candidates(AdmissionRound& round);
  void add_claims(Ticker::OwnControl& own) const;
  Result<void> read_claims(ByteSpan from_prev, ByteSpan from_next);
  void settle(AdmissionRound& round, const LaneSaid& prev, const LaneSaid& next);

  Verdict check(Candidate& candidate, bool clock_ok);
  Verdict check_key_use(Candidate& candidate, bool clock_ok);
  // How much of the operation a job is in this session.
  Part part(const JobRequest& request) const;
  Verdict check_part(Candidate& candidate);
  Verdict check_rate(Candidate& candidate, Verdict others);
  static std::string limit_message(const Candidate& candidate);
  Verdict check_key_management(Candidate& candidate);
  void put_back(Candidate& candidate);
  void let_go(const JobRequest& request);
  void refuse(Candidate& candidate, Verdict verdict);
  void start(Candidate candidate, std::uint32_t sealed_at);
  Task<void> run_job(ActiveJob& job);
  void refill_masks();
  Task<void> make_masks();
  void finish(ActiveJob& job, JobOutcome outcome);
  bool tail_follows(const ActiveJob& job, tkdc_status status) const;
  void answer(const JobRequest& request, tkdc_status status, std::string message);
  // `note`: what is unusual about it, or null.
  void audit(const JobRequest& request, tkdc_status status, const char* note = nullptr,
             bool head = false) const;
  const char* watch(const JobRequest& request, const JobOutcome& outcome);
  void publish_counters();

  LaneShared shared_;
  const int party_;
  const std::uint32_t lane_, epoch_;
  const std::array<std::uint8_t, 32> session_;
  const bool two_parts_;
  Rep3 rep3_;
  MaskPool pool_;
  Ciphers ciphers_;
  bool making_masks_ = false;
  int keeping_heads_ = 0;   // tasks
  bool said_head_ = false;  // in this tick
  bool admission_tick_ = false;
  Ticker ticker_;
  HeadExchange heads_;
  RevocationExchange revoked_;
  ClockExchange clocks_;

  std::mutex queue_mutex_;
  FairQueue queue_;
  Link* link_ = nullptr;  // while it runs; to be woken under queue_mutex_
  bool has_run_ = false;
  bool connected_ = true;  // no link has failed in this run
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> load_{0};

  std::optional<AdmissionRound> proposed_, claims_, verdicts_;
  std::list<ActiveJob> active_;
  std::size_t answered_ = 0;  // of them, in this tick
  // Keys that an admitted or half admitted management job works on: what was
  // checked for one such job must still hold when it runs.
  std::set<KeyId> managed_;
  Clock::time_point stop_by_;
  std::uint32_t last_sealed_at_ = 0;
  std::uint64_t next_number_ = 0, cohort_ = 0, ticks_ = 0;
  std::uint64_t published_bytes_ = 0, published_aes_ = 0, published_sha1_ = 0, published_sha2_ = 0;
  std::uint64_t published_cohorts_ = 0, published_masked_ = 0, published_masks_ = 0;
};

}  // namespace tkdc
