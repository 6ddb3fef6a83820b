// SPDX-License-Identifier: Apache-2.0
#include "service/job/job_service.h"

#include <algorithm>
#include <functional>

#include "service/garbled/garbling_parts.h"
#include "service/job/features.h"
#include "service/job/lane_runner.h"
#include "service/lifecycle/mac_keyring.h"
#include "service/store/refresh_table.h"

namespace tkdc {
namespace {

constexpr std::chrono::minutes kTidyAgain{1};  // on a full disk it would fail each time
// Lanes of three servers stop at different ticks: two can wait for each other's lane. A tick takes
// less, and what may come to its end (LaneRunner::may_finish()) has both together.
constexpr std::chrono::milliseconds kLanesStop{500}, kOthersStop{2'000};
constexpr const char* kFreshKeys = "shares are to be refreshed: first a new session, with new keys";

class JobServiceOnLanes final : public JobService {
 public:
  JobServiceOnLanes(const JobServiceOptions& options, Store& store, Reply reply, Audit audit)
      : options_(options), store_(store), reply_(std::move(reply)), audit_(std::move(audit)),
        pending_(options.max_pending_jobs), seals_(store, options.seal_limit),
        equals_(options.equal_burst, options.equal_every), limits_(options.limits),
        revocations_(store), share_alarm_([this](const std::string& text, const KeyRecord*) {
          if (options_.share_alarm) options_.share_alarm(text);
        }) {}

  Result<void> load() { return revocations_.load(); }

  void submit(AgentRole role, JobRequest request) override {
    auto job = std::make_unique<Job>();
    const JobName name = request.name;
    const bool management = is_management(request.op);
    job->received = Job::Clock::now();
    job->deadline = job->received + std::chrono::milliseconds(request.deadline_ms);
    job->role = role;
    job->request = std::move(request);
    if (auto refused = pending_.put(std::move(job))) {
      JobReply reply;
      reply.run = name.run;
      reply.number = name.number;
      reply.status = TKDC_STATUS_LIMIT;
      reply.message = "too many jobs are waiting at this server";
      counters_.answered(reply.status);
      reply_(name, std::move(reply));
      return;
    }
    if (options_.party != 0) return;
    std::lock_guard lock(lanes_mutex_);
    if (!lanes_.empty()) lane_for(management).enqueue(name);
  }

  std::string run_session(Session& session) override;

  void stop() override {
    stopping_ = true;
    std::lock_guard lock(lanes_mutex_);
    for (auto& lane : lanes_) lane->stop();
  }

  Result<void> revoke(SealWindow window) override {
    return revocations_.revoke(window, sealed_at_now());
  }
  Result<void> lift_revocations() override { return revocations_.lift(); }

  void ask_shares(ShareTask task) override {
    upkeep_.want(task, refresh_epoch());
    if (task == ShareTask::kRefresh) return end_session(kFreshKeys);
    std::lock_guard lock(lanes_mutex_);
    if (!lanes_.empty()) lanes_.front()->wake();
  }

  void expire() override {
    seals_.reserve();
    revocations_.keep();
    tidy_store();
    half_done_.expire();
    expire_held();
    for (auto& job : pending_.take_expired()) {
      JobReply reply;
      reply.run = job->request.name.run;
      reply.number = job->request.name.number;
      reply.status = TKDC_STATUS_UNAVAILABLE;
      reply.message = "the three servers did not all take this job in time; see tkdc status";
      counters_.answered(reply.status);
      reply_(job->request.name, std::move(reply));
    }
  }

  std::optional<std::string> deviation() const override {
    std::lock_guard lock(lanes_mutex_);
    return deviation_;
  }

  SessionId held() const override { return held_; }
  void give_up(std::optional<int> forgotten_by) override;

  CourseTail course(std::size_t lane) const override {
    return lane < courses_.size() ? courses_[lane] : CourseTail();
  }
  Result<void> hear_course(std::size_t lane, int party, const CourseTail& theirs) override;

  JobServiceStatus status() const override {
    JobServiceStatus s;
    std::lock_guard lock(lanes_mutex_);
    s.session_up = session_up_;
    s.lanes = lanes_.size();
    s.pending_jobs = pending_.size();
    for (std::size_t k = 0; k < s.results.size(); ++k) s.results[k] = counters_.results[k];
    s.jobs_late = counters_.jobs_late;
    s.message_bytes_sent = counters_.layer_bytes;
    s.aes_blocks = counters_.aes_blocks;
    s.masked_blocks = counters_.masked_blocks;
    s.masks_made = counters_.masks_made;
    s.masks_held = counters_.masks_held;
    s.sha1_blocks = counters_.sha1_blocks;
    s.sha2_blocks = counters_.sha2_blocks;
    s.cohorts = counters_.cohorts;
    s.operation_rounds = counters_.operation_rounds;
    for (std::size_t k = 0; k < figures_.size(); ++k) {
      const LaneFigures& one = *figures_[k];
      one.times.add_to(s.times);
      one.checks.add_to(s.checks);
      s.rounds += one.rounds.get();
      s.operations += one.operations.get();
      s.by_lane.push_back({one.rounds.get(), one.operations.get(), one.busy_ns.get(),
                           k < lanes_.size() ? lanes_[k]->load() : 0});
    }
    s.protocols = protocols_;
    s.most_seals = seals_.most();
    s.seals_near_limit = s.most_seals >= seals_.warn_at();
    s.logins_unheralded = preauth_.alarms();
    s.heads_abandoned = half_done_.abandoned();
    s.agents_limited = limits_.agents_refused();
    s.keys_limited = limits_.keys_refused();
    s.agents = limits_.agents();
    s.revoked = revocations_.state();
    s.peers_lift = {revocations_.agrees(0), revocations_.agrees(1)};
    s.revoked_unwritten = revocations_.unwritten();
    s.tickets_revoked = counters_.tickets_revoked;
    s.garbles = garbles_;
    s.garbled_jobs = counters_.garbled_jobs;
    s.garbled_missed = counters_.garbled_missed;
    s.garbled_made = counters_.garbled_made;
    s.garbled_ready = counters_.garbled_ready;
    s.garbled_bytes = counters_.garbled_bytes;
    s.garbled_kinds = counters_.garbled_kinds;
    s.garbled_key_had = counters_.garbled_key_had;
    s.garbled_agents_had = agents_garbled_.all();
    s.garbled_unfit = shapes_.unfit();
    s.garbled_circuits = shapes_.laid_out();
    s.garbled_layouts = shapes_.times();
    s.garbled_sent_bytes = pace_.spent();
    s.clocks_ahead = clocks_.ahead();
    s.shares = upkeep_.status();
    if (store_.refresh() != nullptr) {
      const RefreshState refreshed = store_.refresh()->state();
      s.refresh_epoch = refreshed.epoch;
      s.refreshed_at_s = refreshed.at_s;
    }
    s.share_alarms = share_alarm_.count();
    s.share_alarms_named = share_alarm_.named();
    return s;
  }

 private:
  // Lanes end as at a stop: their checks first.
  std::uint32_t refresh_epoch() {
    return store_.refresh() != nullptr ? store_.refresh()->state().epoch : 0;
  }
  // Each server has heard from both others that their stores are of the same refresh. In a repair
  // one of them has none.
  Result<void> begin_with_shares(const Session& session) {
    std::lock_guard lock(tidy_mutex_);
    may_tidy_ = false;
    if (store_.refresh() == nullptr || session.newcomer) return {};
    if (auto noted = store_.refresh()->begun_with(); !noted.ok()) return noted;
    if (store_.macs() != nullptr) {
      MacKeyring keyring(*store_.macs());
      auto kept = keyring.load();
      if (kept.ok()) kept = keyring.keep_only_of(refresh_epoch());
      if (!kept.ok()) {  // former ones may be left: so does what opens them, until another session
        if (options_.trouble) options_.trouble(kept.error().message);
        return {};
      }
    }
    may_tidy_ = true;
    return {};
  }
  void tidy_store() {
    if (store_.refresh() == nullptr || SteadyClock::now() < tidy_again_) return;
    std::lock_guard lock(tidy_mutex_);
    if (!may_tidy_) return;
    auto tidied = store_.refresh()->tidy();
    if (tidied.ok()) return;
    tidy_again_ = SteadyClock::now() + kTidyAgain;
    if (options_.trouble) options_.trouble(tidied.error().message);
  }

  void end_session(std::string why) {
    std::lock_guard lock(lanes_mutex_);
    if (ends_why_.empty()) ends_why_ = std::move(why);
    for (auto& lane : lanes_) lane->stop();
  }
  bool are_stopping() {
    std::lock_guard lock(lanes_mutex_);
    return stopping_ || !ends_why_.empty();
  }
  void expire_held() {
    std::lock_guard held(held_mutex_);
    if (held_ == SessionId{}) return;
    for (auto& lane : lanes_) lane->expire();
  }
  Result<void> begin(Session& session);
  Result<void> take_up(const Session& session);
  // True: only connections were lost.
  bool run_lanes(Session& session, std::string& why);
  // Lane 0 waits for the disk, so tickets run on the others where there are any.
  LaneRunner& lane_for(bool management) {
    if (management || lanes_.size() == 1) return *lanes_[0];
    auto first = lanes_.begin() + 1;
    return **std::min_element(first, lanes_.end(),
                              [](const auto& a, const auto& b) { return a->load() < b->load(); });
  }

  const JobServiceOptions options_;
  Store& store_;
  const Reply reply_;
  const Audit audit_;
  PendingJobs pending_;
  StagedKeys staged_;
  LaneCounters counters_;
  AgentsGarbled agents_garbled_;
  SealCounts seals_;
  PreauthWatch preauth_;
  EqualLimit equals_;
  HalfDone half_done_;
  RateLimits limits_;
  Revocations revocations_;
  WholeShapes shapes_{options_.garbling.most_bytes,
                      (options_.garbling_parts && options_.garbling_parts->lay_out)
                          ? options_.garbling_parts->lay_out
                          : WholeShapes::lay_out};
  threegarble::Pace pace_{options_.garbling.octets_per_s};
  std::atomic<bool> stopping_{false};
  mutable std::mutex lanes_mutex_;
  std::vector<std::unique_ptr<LaneFigures>> figures_;  // by lane, of all sessions
  std::vector<std::unique_ptr<LaneRunner>> lanes_;
  std::vector<ProtocolInfo> protocols_;  // of the session
  bool garbles_ = false;                 // it does
  std::optional<std::string> deviation_;
  std::vector<CourseTail> courses_;  // by lane, of the last session
  bool difference_known_ = false;    // this server has been latched for it
  bool session_up_ = false;          // under lanes_mutex_
  std::string ends_why_;             // the session, by this server's own will; the same
  ClockDifferences clocks_;
  const std::function<void(std::string)> end_session_ = [this](std::string why) {
    end_session(std::move(why));
  };
  SteadyClock::time_point tidy_again_{};  // expire()'s
  // tidy() puts the MAC keys that are left under the key of the present epoch: not before those of
  // former ones are forgotten.
  std::mutex tidy_mutex_;
  bool may_tidy_ = false;
  ShareUpkeep upkeep_;
  ShareAlarm share_alarm_;
  // The lanes stand still, and expire() or give_up() looks at their jobs. Taken before
  // lanes_mutex_.
  std::mutex held_mutex_;
  SessionId held_{};
  SessionId session_{};  // of the lanes
};

Result<void> JobServiceOnLanes::begin(Session& session) {
  give_up(session.forgotten_by);
  {
    std::lock_guard lock(lanes_mutex_);
    deviation_.reset();
  }
  revocations_.forget_peers();
  clocks_.forget();
  if (auto begun = begin_with_shares(session); !begun.ok()) return begun;
  std::lock_guard lock(lanes_mutex_);
  LaneShared shared{options_,        store_,       pending_,     staged_, counters_,
                    agents_garbled_, seals_,       preauth_,     equals_, half_done_,
                    limits_,         revocations_, clocks_,      shapes_, pace_,
                    upkeep_,         share_alarm_, end_session_, reply_,  audit_};
  std::vector<std::unique_ptr<LaneRunner>> lanes;
  for (std::size_t k = 0; k < session.lanes.size(); ++k) {
    if (figures_.size() == k) figures_.push_back(std::make_unique<LaneFigures>());
    lanes.push_back(std::make_unique<LaneRunner>(shared, *figures_[k], session, k));
    if (auto joined = lanes.back()->join(session); !joined) return joined.error();
  }
  ends_why_.clear();
  lanes_ = std::move(lanes);
  protocols_ = lanes_.front()->protocols();
  garbles_ = session.streams;
  session_ = session.id;
  upkeep_.session(session.has(kShareMacs) && store_.macs() != nullptr, refresh_epoch(),
                  session.newcomer);
  if (options_.party == 0)
    for (const JobName& name : pending_.names())
      lane_for(pending_.is_management(name)).enqueue(name);
  return {};
}

Result<void> JobServiceOnLanes::take_up(const Session& session) {
  std::lock_guard held(held_mutex_);
  if (held_ == SessionId{} || held_ != session.id || session.lanes.size() != lanes_.size())
    return fail("session: this server does not hold the session that is to go on");
  held_ = {};
  return {};
}

bool JobServiceOnLanes::run_lanes(Session& session, std::string& why) {
  std::mutex mutex;
  std::condition_variable ended_one;
  std::vector<bool> at_work(lanes_.size(), true);
  bool can_go_on = true;
  const auto all_have_ended = [&] { return std::ranges::none_of(at_work, std::identity{}); };
  const auto none_may_finish = [&] {
    for (std::size_t k = 0; k < at_work.size(); ++k)
      if (at_work[k] && lanes_[k]->may_finish()) return false;
    return true;
  };
  // The first lane that ends takes the others with it, each of which may be waiting for a packet
  // that nobody sends any more. Where they have been told to stop, they first may by themselves.
  auto run_lane = [&](std::size_t k) {
    LaneRunner::Ended ended = lanes_[k]->run(session.lanes[k]);
    const bool stops = are_stopping();
    std::unique_lock lock(mutex);
    can_go_on = can_go_on && ended.can_go_on;
    if (why.empty()) why = ended.why;
    at_work[k] = false;
    ended_one.notify_all();
    if (!stops && ended.why.empty()) return;
    if (stops && !lanes_[k]->deviation()) {
      if (machine().wait(ended_one, lock, kLanesStop, all_have_ended)) return;
      machine().wait(ended_one, lock, kOthersStop, none_may_finish);
      if (all_have_ended()) return;
    }
    for (LaneLink& each : session.lanes) each.link->abort("another lane of the session ended");
  };
  std::vector<std::unique_ptr<Machine::Thread>> threads;
  for (std::size_t k = 1; k < lanes_.size(); ++k)
    threads.push_back(machine().start([&, k] { run_lane(k); }));
  run_lane(0);
  threads.clear();
  return can_go_on;
}

std::string JobServiceOnLanes::run_session(Session& session) {
  if (auto ready = session.goes_on ? take_up(session) : begin(session); !ready)
    return ready.error().message;
  {
    std::lock_guard lock(lanes_mutex_);
    session_up_ = true;
    if (stopping_)
      for (auto& lane : lanes_) lane->stop();
  }
  std::string why;
  const bool can_go_on = run_lanes(session, why);
  {
    std::lock_guard held(held_mutex_);
    std::lock_guard lock(lanes_mutex_);
    session_up_ = false;
    courses_.clear();
    for (auto& lane : lanes_) {
      courses_.push_back(lane->course());
      if (lane->deviation() && !deviation_) deviation_ = lane->deviation();
    }
    difference_known_ = deviation_.has_value();
    if (can_go_on && !deviation_ && ends_why_.empty()) held_ = session_;
  }
  if (held_ == SessionId{}) give_up(std::nullopt);
  std::lock_guard lock(lanes_mutex_);
  if (deviation_) return *deviation_;
  // Where this server ended it, another lane may have lost its connections by that.
  return ends_why_.empty() ? why : ends_why_;
}

// What is between its lanes and their jobs ends here.
void JobServiceOnLanes::give_up(std::optional<int> forgotten_by) {
  std::optional<LostCheck> lost;
  std::vector<std::unique_ptr<LaneRunner>> over;
  {
    std::lock_guard held(held_mutex_);
    const bool was_held = std::exchange(held_, SessionId{}) != SessionId{};
    for (auto& lane : lanes_) {
      const auto in_lane = lane->give_up();
      if (!in_lane) continue;
      if (!lost) lost.emplace();
      lost->held = was_held;
      lost->opened |= in_lane->opened;
      if (!lost->party) lost->party = forgotten_by ? forgotten_by : in_lane->party;
    }
    std::lock_guard lock(lanes_mutex_);
    over.swap(lanes_);
    if (!over.empty()) upkeep_.session(false, 0);
  }
  // Nothing of the session is at work any more.
  over.clear();
  if (store_.refresh() != nullptr) store_.refresh()->switch_over();
  if (lost && !deviation_ && options_.lost_check) options_.lost_check(*lost);
}

// A server that has seen the difference goes on telling its course: the other may not have.
Result<void> JobServiceOnLanes::hear_course(std::size_t lane, int party, const CourseTail& theirs) {
  if (difference_known_ || !contradict(course(lane), theirs)) return {};
  difference_known_ = true;
  std::lock_guard lock(lanes_mutex_);
  deviation_ = "session: in lane " + std::to_string(lane) +
               " of the last session this server and party " + std::to_string(party) +
               " were told different things about which jobs to run, or that party says so";
  return fail(*deviation_);
}

}  // namespace

Result<std::unique_ptr<JobService>> JobService::create(const JobServiceOptions& options,
                                                       Store& store, Reply reply, Audit audit) {
  if (sodium_init() < 0) return fail("libsodium cannot be initialised");
  auto service =
      std::make_unique<JobServiceOnLanes>(options, store, std::move(reply), std::move(audit));
  if (auto loaded = service->load(); !loaded.ok()) return loaded.error();
  return std::unique_ptr<JobService>(std::move(service));
}

}  // namespace tkdc
