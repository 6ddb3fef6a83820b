// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_job_service.h"

#include "service/pair/pair_begin.h"
#include "service/pair/pair_lane.h"
#include "service/pair/pair_operations.h"
#include "service/pair/pair_parts.h"
#include "service/store/refresh_table.h"

namespace tkdc {
namespace {

// A call waits so long for the other server, which may be laying a large circuit out.
constexpr int kPatienceMs = 25'000;
constexpr int kLastWordsMs = 1000;
constexpr const char* kThreeOnly =
    "two servers have no shares to repair or audit: the two stores are all there is, and both are "
    "needed";

class PairJobService final : public JobService {
 public:
  PairJobService(const JobServiceOptions& options, Store& store, ValueTable& values, Reply reply,
                 Audit audit)
      : options_(options), parts_(options.pair_parts ? *options.pair_parts : PairParts()),
        store_(store), reply_(std::move(reply)), audit_(std::move(audit)),
        pools_(values, options.party == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator),
        pending_(options.max_pending_jobs), limits_(options.limits),
        equals_(options.equal_burst, options.equal_every), seals_(store, options.seal_limit),
        revocations_(store), share_alarm_([](const std::string&, const KeyRecord*) {}) {}

  Result<void> load() {
    prove_what_all_send(proved_);
    return pools_.load();
  }

  void submit(AgentRole role, JobRequest request) override;
  std::string run_session(Session& session) override;
  // Its lane ends between two steps, at which the other server's ends too: a stream that broke in
  // the middle of a check would count as one that failed. Whoever waits for it breaks the streams.
  void stop() override { queue_.stop(); }
  void expire() override;
  JobServiceStatus status() const override;
  std::optional<std::string> deviation() const override {
    const std::lock_guard lock(mutex_);
    return deviation_;
  }

  // A session of two servers never goes on over new connections, and has no course to compare.
  SessionId held() const override { return {}; }
  void give_up(std::optional<int>) override {}
  CourseTail course(std::size_t) const override { return {}; }
  Result<void> hear_course(std::size_t, int, const CourseTail&) override { return {}; }
  Result<void> revoke(SealWindow) override {
    return fail(
        "two servers seal no tickets in the GCM form, of which windows could be revoked: "
        "draw a new krbtgt key instead");
  }
  Result<void> lift_revocations() override { return {}; }
  void ask_shares(ShareTask task) override;
  void go_on_with_shares(ShareTask task) override;

 private:
  struct Ended {
    std::string why;
    pair::EndedBy by = pair::EndedBy::kLink;
    bool lost = false;  // the link, while a check was at work: counted, not latched at once
  };
  Ended work(const Session& session, LaneStreams& streams);
  Result<void> begin_asked_refresh();
  void refuse_refresh(const std::string& why);
  Ended work_at_jobs(pair::Session& jobs, const pair::Pool& pool, const PairMost& most,
                     LaneStreams& streams);
  void session_is(const pair::Label& id, const pair::Pool& pool);
  static void close(LaneStreams& streams);
  RefreshState refreshed() const {
    return store_.refresh() != nullptr ? store_.refresh()->state() : RefreshState();
  }
  void session_is_over(const Ended& ended);
  void answer_at_once(const JobName& name, JobReply reply, tkdc_status status, const char* why);
  template <class Of>
  void deal_again_to(const Of& which, const pair::Label& id) {
    for (const auto& job : pending_.take_if(which))
      reply_(job->request.name, deal_again(job->request, id));
  }
  std::optional<pair::Label> session_now() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  static bool is_dealt_for(const JobRequest& request, const pair::Label& session) {
    const auto* id = reinterpret_cast<const std::uint8_t*>(&session);  // public
    return request.dealt.empty() || (request.dealt.size() >= sizeof session &&
                                     std::equal(id, id + sizeof session, request.dealt.begin()));
  }

  std::size_t new_pool_blocks() const {
    return parts_.pool_blocks != 0 ? parts_.pool_blocks : options_.pair_pool_blocks;
  }

  const JobServiceOptions options_;
  const PairParts parts_;
  Store& store_;
  const Reply reply_;
  const Audit audit_;
  PairPools pools_;
  const std::shared_ptr<PairCircuits> circuits_ =
      parts_.circuits ? parts_.circuits : std::make_shared<PairCircuits>();
  PairWishes wishes_;
  PairTableWishes table_wishes_;                    // the lane's thread
  PairProved proved_{options_.pair_unproved_ands};  // the lane's thread
  PairProved cookies_{options_.pair_unproved_ands};
  PairAsked asked_;
  PairAttempt attempt_;  // the lane's thread
  PairQueue queue_;
  PairFigures figures_;
  std::atomic<bool> refresh_asked_{false};          // and not begun
  std::atomic<std::uint32_t> begun_with_epoch_{0};  // the refresh epoch when the session began
  PendingJobs pending_;
  StagedKeys staged_;
  RateLimits limits_;
  EqualLimit equals_;
  PreauthWatch preauth_;
  LaneCounters counters_;
  LaneFigures of_lane_;
  // What lanes of three servers have besides, and a lane of two does not use.
  SealCounts seals_;
  HalfDone half_done_;
  AgentsGarbled agents_garbled_;
  WholeShapes shapes_{0};
  threegarble::Pace pace_{0};
  Revocations revocations_;
  ClockDifferences clocks_;
  ShareUpkeep upkeep_;
  ShareAlarm share_alarm_;
  const std::function<void(std::string)> end_session_ = [](const std::string&) {};

  mutable std::mutex mutex_;
  std::optional<pair::Label> session_;  // its id, while jobs are taken
  std::optional<std::string> deviation_;
  pair::Label pool_;  // that new keys are of, of the last session
};

void PairJobService::answer_at_once(const JobName& name, JobReply reply, tkdc_status status,
                                    const char* why) {
  reply.run = name.run;
  reply.number = name.number;
  reply.status = status;
  reply.message = why;
  counters_.answered(status);
  reply_(name, std::move(reply));
}

// What was dealt for another session is dead, so its agent hears at once that it has to deal again.
// While there is none the job waits, and is put in line when one begins.
void PairJobService::submit(AgentRole role, JobRequest request) {
  const JobName name = request.name;
  auto job = std::make_unique<Job>();
  job->received = Job::Clock::now();
  job->deadline = job->received + std::chrono::milliseconds(request.deadline_ms);
  job->role = role;
  job->request = std::move(request);
  const auto now = session_now();
  if (now && !is_dealt_for(job->request, *now)) return reply_(name, deal_again(job->request, *now));
  if (pending_.put(std::move(job)))
    return answer_at_once(name, {}, TKDC_STATUS_LIMIT, "too many jobs are waiting at this server");
  {
    const std::lock_guard lock(mutex_);
    if (session_ && options_.party == 0) queue_.put(name);
  }
  // A session that began meanwhile has looked at those that waited before this one did.
  if (const auto begun = session_now(); begun && !now)
    deal_again_to(
        [&](const Job& one) {
          return one.request.name == name && !is_dealt_for(one.request, *begun);
        },
        *begun);
}

void PairJobService::expire() {
  for (const auto& job : pending_.take_expired())
    answer_at_once(job->request.name, {}, TKDC_STATUS_UNAVAILABLE,
                   "the two servers did not both take this job in time; see tkdc status");
}

void PairJobService::session_is(const pair::Label& id, const pair::Pool& pool) {
  {
    const std::lock_guard lock(mutex_);
    session_ = id;
    pool_ = pool.id;
  }
  if (options_.party == 0)
    for (const JobName& name : pending_.names()) queue_.put(name);
  deal_again_to([&](const Job& one) { return !is_dealt_for(one.request, id); }, id);
}

// What was said last has to arrive: the other server may be waiting for its half of a vote.
void PairJobService::close(LaneStreams& streams) {
  streams.to_next->finish();
  (void)streams.to_next->wait_finished(kLastWordsMs);
  streams.to_next->abort("the session has ended");
  streams.from_next->abort("the session has ended");
}

void PairJobService::session_is_over(const Ended& ended) {
  {
    const std::lock_guard lock(mutex_);
    session_.reset();
    // Where nobody counts ends in the middle of a check, each is a check that failed.
    const bool counted = ended.lost && (options_.lost_check || queue_.stopped());
    if (ended.by == pair::EndedBy::kCheck && !counted) deviation_ = ended.why;
    queue_.clear();
  }
  if (ended.lost && options_.lost_check && !queue_.stopped())
    options_.lost_check({1 - options_.party, true, false});
}

// From the next session on, whatever is under way: that began before this was asked.
void PairJobService::ask_shares(ShareTask task) {
  if (task != ShareTask::kRefresh) {
    if (options_.trouble) options_.trouble(kThreeOnly);
    return;
  }
  upkeep_.want(task, refreshed().epoch);
  refresh_asked_ = true;
  queue_.begin_anew();
}

// The one that is under way ends with this session or a later one, which raises the epoch of this
// session's begin: so the wish is fulfilled then, also where it ends just now.
void PairJobService::go_on_with_shares(ShareTask task) {
  if (task != ShareTask::kRefresh || !pools_.refreshing()) return ask_shares(task);
  upkeep_.want(task, begun_with_epoch_);
}

// Nothing has changed: keys are made, and serve.
void PairJobService::refuse_refresh(const std::string& why) {
  const std::string text =
      "the refresh has not begun, without room for a new pool at this server: " + why +
      ". Make room, then ask again";
  upkeep_.begun(ShareTask::kRefresh, store_.count());
  upkeep_.ended(text);
  if (options_.trouble) options_.trouble(text);
}

// Once: what fails behind it has it on disk, and goes on with it.
Result<void> PairJobService::begin_asked_refresh() {
  bool asked = refresh_asked_.exchange(false);
  if (asked) {
    attempt_ = {};
    // Amid another one, which waits for room: that one says so, and this one follows it.
    if (auto room = pools_.room_for_refresh(new_pool_blocks()); !room && !pools_.refreshing()) {
      asked = false;
      refuse_refresh(room.error().message);
    }
  }
  auto begun = begin_refresh(asked, pools_);
  if (!begun && asked) refresh_asked_ = true;
  return begun;
}

std::string PairJobService::run_session(Session& session) {
  if (session.lanes.size() != 1 || !session.lanes[0].streams ||
      !session.lanes[0].streams->to_next || !session.lanes[0].streams->from_next)
    return "session: two servers work in one lane with its streams: set lanes = 1";
  LaneStreams& streams = *session.lanes[0].streams;
  {
    const std::lock_guard lock(mutex_);
    deviation_.reset();
  }
  const Ended ended = work(session, streams);
  close(streams);
  session_is_over(ended);
  if (ended.by == pair::EndedBy::kState && options_.trouble) options_.trouble(ended.why);
  return queue_.stopped() && ended.by == pair::EndedBy::kLink ? std::string() : ended.why;
}

PairJobService::Ended PairJobService::work(const Session& session, LaneStreams& streams) {
  ot::Channel channel(*streams.to_next, *streams.from_next, kPatienceMs);
  queue_.begun();
  PairBeginning beginning;
  beginning.installation = options_.installation;
  beginning.session = session.id;
  beginning.side = options_.party == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator;
  beginning.pool_blocks = new_pool_blocks();
  beginning.steps = parts_.steps;
  beginning.prepared_bytes = options_.pair_prepared_bytes;
  beginning.tables_bytes = options_.pair_tables_bytes;
  Ended ended;
  if (auto begun = begin_asked_refresh(); !begun) {
    ended.why = begun.error().message;
    ended.by = pair::EndedBy::kState;
    return ended;
  }
  auto pool = agree_on_pool(channel, beginning, pools_, ended.by);
  if (!pool) {
    ended.why = pool.error().message;
    return ended;
  }
  if (!pools_.no_room().empty() && options_.trouble) options_.trouble(pools_.no_room());
  ended.by = pair::EndedBy::kLink;
  const auto most = agree_on_most(channel, beginning);
  if (!most) {
    ended.why = most.error().message;
    return ended;
  }
  auto jobs = begin_jobs(channel, beginning, ended.by);
  if (!jobs) {
    ended.why = jobs.error().message;
    return ended;
  }
  return work_at_jobs(**jobs, **pool, *most, streams);
}

PairJobService::Ended PairJobService::work_at_jobs(pair::Session& jobs, const pair::Pool& pool,
                                                   const PairMost& most, LaneStreams& streams) {
  const LaneShared shared{options_,        store_,       pending_,     staged_, counters_,
                          agents_garbled_, seals_,       preauth_,     equals_, half_done_,
                          limits_,         revocations_, clocks_,      shapes_, pace_,
                          upkeep_,         share_alarm_, end_session_, reply_,  audit_};
  PairBlocks blocks(jobs, pools_, pool, options_.trouble, parts_.reserved);
  PairRecords records(jobs, blocks);
  PairReserve reserve(jobs, most.prepared_bytes);
  PairTables tables(jobs, most.tables_bytes);
  figures_.prepared_most = most.prepared_bytes;
  figures_.tables_most = tables.most_bytes();
  const PairAtWork at_work{jobs,   pools_,  *circuits_, blocks, records, reserve,
                           tables, proved_, cookies_,   asked_, attempt_};
  PairLane lane(shared, at_work, queue_, wishes_, table_wishes_, figures_, of_lane_,
                *streams.from_next);
  begun_with_epoch_ = refreshed().epoch;
  upkeep_.session(true, begun_with_epoch_);
  session_is(jobs.id(), pool);
  Ended ended;
  ended.why = lane.run();
  if (!queue_.stopped()) attempt_.session_is_over();
  const bool stands = jobs.stands().ok();
  ended.by = stands ? pair::EndedBy::kLink : jobs.ended_by();
  ended.lost = jobs.lost_in_check();
  return ended;
}

JobServiceStatus PairJobService::status() const {
  JobServiceStatus out;
  const std::vector<PairPools::Count> pools = pools_.counts();  // which may wait for the disk
  const std::uint64_t since = pools_.refreshing().value_or(0), ended = pools_.refresh_ended();
  const std::lock_guard lock(mutex_);
  out.session_up = session_.has_value();
  out.lanes = out.session_up ? 1 : 0;
  out.pending_jobs = pending_.size();
  for (std::size_t k = 0; k < out.results.size(); ++k) out.results[k] = counters_.results[k];
  out.jobs_late = counters_.jobs_late;
  of_lane_.times.add_to(out.times);
  out.operations = of_lane_.operations.get();
  out.by_lane.push_back({0, out.operations, of_lane_.busy_ns.get(), out.pending_jobs});
  out.logins_unheralded = preauth_.alarms();
  out.agents_limited = limits_.agents_refused();
  out.keys_limited = limits_.keys_refused();
  out.agents = limits_.agents();
  out.garbled_agents_had = agents_garbled_.all();
  out.shares = upkeep_.status();
  out.refresh_epoch = refreshed().epoch;
  out.refreshed_at_s = refreshed().at_s;
  out.refreshing_since_s = since;
  out.refresh_ended_s = ended;
  PairJobsStatus& pair = out.pair.emplace();
  for (const PairPools::Count& one : pools) {
    const std::uint64_t left = one.blocks - one.next;
    ++pair.pools;
    if (left == 0)
      ++pair.pools_spent;
    else
      pair.pool_least = pair.pool_least == 0 ? left : std::min(pair.pool_least, left);
    if (!(one.id == pool_)) continue;
    pair.pool_blocks = one.blocks;
    pair.pool_left = left;
  }
  pair.prepared = figures_.prepared;
  pair.prepared_bytes = figures_.prepared_bytes;
  pair.prepared_most = figures_.prepared_most;
  pair.found = figures_.found;
  pair.missed = figures_.missed;
  pair.key_had = counters_.garbled_key_had;
  pair.may_be_known = figures_.may_be_known;
  pair.tables_forward = figures_.tables_forward;
  pair.tables_inverse = figures_.tables_inverse;
  pair.tables_bytes = figures_.tables_bytes;
  pair.tables_most = figures_.tables_most;
  pair.tables_jobs = figures_.tables_jobs;
  pair.tables_missed = figures_.tables_missed;
  pair.tables_last_s = figures_.tables_last_s;
  return out;
}

}  // namespace

Result<std::unique_ptr<JobService>> make_pair_job_service(const JobServiceOptions& options,
                                                          Store& store, JobService::Reply reply,
                                                          JobService::Audit audit) {
  if (sodium_init() < 0) return fail("libsodium cannot be initialised");
  if (options.party != 0 && options.party != 1)
    return fail("two servers are number 0 and 1: set party accordingly");
  ValueTable* values = store.values();
  if (values == nullptr) return fail("pair: this store cannot keep pools");
  auto service =
      std::make_unique<PairJobService>(options, store, *values, std::move(reply), std::move(audit));
  if (auto loaded = service->load(); !loaded) return loaded.error();
  return std::unique_ptr<JobService>(std::move(service));
}

}  // namespace tkdc
