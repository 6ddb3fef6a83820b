// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_lane.h"

#include "service/lifecycle/management.h"
#include "service/pair/pair_begin.h"

namespace tkdc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAliveEvery{2000};
constexpr std::uint8_t kGoOn = 1, kAnew = 2;  // answers to it
constexpr milliseconds kIdleBefore{20};       // since the last job, before work ahead begins
constexpr const char* kLeft = "the other server has ended this session";
// One step and the next, where keys have to move: so many jobs, or so long where these take long.
constexpr unsigned kJobsBetween = 4;
constexpr milliseconds kStepsApart{500};
constexpr const char* kNewPool =
    "the pool is nearly used up: a new session begins, which makes another one";
constexpr const char* kRefreshed = "keys are to be refreshed: first a new session, with a new pool";

}  // namespace

PairLane::PairLane(const LaneShared& shared, const PairAtWork& at_work, PairQueue& queue,
                   PairWishes& wishes, PairTableWishes& table_wishes, PairFigures& figures,
                   LaneFigures& of_lane, BulkReader& from_peer)
    : shared_(shared), at_work_(at_work), queue_(queue), wishes_(wishes),
      table_wishes_(table_wishes), figures_(figures), of_lane_(of_lane), from_peer_(from_peer),
      checks_(shared, at_work), management_(shared, at_work), upkeep_(shared, at_work),
      answers_(shared, of_lane, 0, false), choice_(shared.options.pair_tables_wait),
      found_before_(figures.found), missed_before_(figures.missed) {}

std::string PairLane::run() {
  from_peer_.on_change([this] { queue_.wake(); });
  upkeep_.begin();
  const auto done = leads() ? lead() : follow();
  from_peer_.on_change({});
  figures_.prepared = figures_.prepared_bytes = 0;
  figures_.tables_forward = figures_.tables_inverse = figures_.tables_bytes = 0;
  figures_.tables_last_s = -1;
  return done ? std::string() : done.error().message;
}

Result<void> PairLane::lead() {
  const auto octets = [&](const JobName& name) { return shared_.pending.input_octets(name); };
  while (!queue_.stopped()) {
    if (auto alive = from_peer_.available(); !alive)
      return at_work_.session.end(alive.error().message, pair::EndedBy::kLink);
    if (from_peer_.at_end()) return at_work_.session.end(kLeft, pair::EndedBy::kLink);
    if (queue_.anew()) return fail(kRefreshed);
    if (Clock::now() - last_alive_ >= kAliveEvery)
      if (auto alive = say_alive(); !alive) return alive;
    if (const auto name = queue_.take(octets)) {
      if (auto done = name_job(*name); !done) return done;
      if (is_short_of_blocks()) return fail(kNewPool);
      if (auto kept_up = keep_up(); !kept_up) return kept_up;
      // A flood leaves no moment in which what others take is made again.
      if (std::exchange(left_some_, false)) {
        auto made = make_ahead();
        if (!made) return made.error();
        if (*made && is_short_of_blocks()) return fail(kNewPool);
      }
      continue;
    }
    auto worked = work_ahead();
    if (!worked) return worked.error();
    if (*worked && is_short_of_blocks()) return fail(kNewPool);
    if (*worked) continue;
    const milliseconds most = std::min(kAliveEvery / 2, shared_.options.pair_refresh_again);
    queue_.wait(Clock::now() - last_job_ < kIdleBefore ? kIdleBefore : most);
  }
  return {};
}

Result<void> PairLane::follow() {
  while (!queue_.stopped()) {
    auto there = from_peer_.available();
    if (!there) return at_work_.session.end(there.error().message, pair::EndedBy::kLink);
    if (from_peer_.at_end()) return at_work_.session.end(kLeft, pair::EndedBy::kLink);
    if (*there == 0) {
      if (Clock::now() - last_heard_ > 10 * kAliveEvery)
        return at_work_.session.end(
            "it has not been heard of in " + std::to_string(10 * kAliveEvery.count() / 1000) + " s",
            pair::EndedBy::kLink);
      if (!upkeep_.read_on()) queue_.wait(kAliveEvery);
      continue;
    }
    auto heard = hear_order(at_work_.session.channel());
    if (!heard) return at_work_.session.end(heard.error().message, pair::EndedBy::kState);
    if (auto done = obey(*heard); !done) return done;
    last_heard_ = Clock::now();  // what was to be done may have taken long
  }
  return {};
}

// ---- jobs

Result<void> PairLane::name_job(const JobName& name) {
  PairJob job;
  job.job = shared_.pending.take(name);
  if (!job.job) return {};
  PairOrder order;
  order.kind = PairOrder::Kind::kJob;
  order.job = name;
  order.statement = checks_.check(job);
  choose_for(job, order);
  ot::Channel& channel = at_work_.session.channel();
  auto said = say(channel, order);
  auto peers = said ? hear_statement(channel) : Result<PairStatement>(said.error());
  if (!peers) {
    const Error why = at_work_.session.end(peers.error().message, pair::EndedBy::kState);
    answers_.answer(job.job->request, TKDC_STATUS_UNAVAILABLE, why.message);
    return why;
  }
  last_heard_ = last_job_ = Clock::now();
  const bool admitted = concluded(order.statement, *peers) == kAdmit;
  const bool by_tables = order.statement.tables.wanted && peers->tables.wanted;
  settle_choice(name, admitted ? std::optional(by_tables) : std::nullopt);
  return settle(std::move(job), order.statement, *peers);
}

// At the leader: what serves a job that it admits.
void PairLane::choose_for(PairJob& job, PairOrder& order) {
  PairStatement& own = order.statement;
  if (own.verdict != kAdmit) return;
  own.tables.wanted = choice_.takes(job, own, at_work_.tables.most());
  const auto supply = [&](const std::string& kind) { return supply_of(kind); };
  job.made = order.made = circuit_choice_.made_for(job, own.held, supply);
}

// Whether it goes by tables; by nothing: it is not admitted. Who has had its quota is counted.
void PairLane::settle_choice(const JobName& name, std::optional<bool> by_tables) {
  using Answer = InstanceQuotas::Answer;
  choice_.settle(name, by_tables == true);
  circuit_choice_.settle(name, by_tables == false);
  if (by_tables != false) return;
  const Answer had =
      choice_.answer() != Answer::kGranted ? choice_.answer() : circuit_choice_.answer();
  left_some_ = had != Answer::kGranted;
  if (had == Answer::kKeyHad) ++shared_.counters.garbled_key_had;
  if (had == Answer::kAgentHad) shared_.agents_garbled.had_its_quota(name.agent);
}

PairCircuitChoice::Supply PairLane::supply_of(const std::string& kind) const {
  const PairReserve& reserve = at_work_.reserve;
  const auto ands = at_work_.circuits.look_up(kind);
  if (!ands) return {};
  const std::size_t ready = reserve.ready(kind);
  const std::size_t room = (reserve.most_bytes() - reserve.bytes()) / pair_prepared_bytes(*ands);
  const std::size_t wanted = std::max(ready, wishes_.wanted(kind));
  return {ready, std::min({wanted, PairReserve::kMostOfKind, ready + room})};
}

Result<void> PairLane::take_named(const PairOrder& order) {
  PairJob job;
  job.made = order.made;
  job.job = shared_.pending.take(order.job);
  PairStatement own;
  if (job.job) own = checks_.check(job);
  if (auto said = say(at_work_.session.channel(), own); !said) {
    const Error why = at_work_.session.end(said.error().message);
    if (job.job) answers_.answer(job.job->request, TKDC_STATUS_UNAVAILABLE, why.message);
    return why;
  }
  return settle(std::move(job), own, order.statement);
}

Result<void> PairLane::settle(PairJob job, const PairStatement& own, const PairStatement& peers) {
  const Verdict verdict = concluded(own, peers);
  if (!job.job) return {};
  if (verdict == kMissing) {
    put_back(std::move(job.job));
    return {};
  }
  if (verdict == TKDC_STATUS_DEAL_AGAIN) {
    shared_.reply(job.job->request.name, deal_again(job.job->request, at_work_.session.id()));
    return {};
  }
  if (verdict != kAdmit) {
    // Staged here alone, as where the other server was started again: nobody could bind it.
    const bool alone = own.verdict == kAdmit && peers.verdict == TKDC_STATUS_UNKNOWN_KEY;
    if (alone && job.job->request.op == TKDC_OP_DESTROY) forget_staged(job);
    answers_.refuse(*job.job, static_cast<tkdc_status>(verdict));
    return {};
  }
  if (!has_alike(own, peers)) {
    const Error why = at_work_.session.end(
        "it has other circuits prepared, or other lookup tables left, than this server",
        pair::EndedBy::kState);
    answers_.answer(job.job->request, TKDC_STATUS_UNAVAILABLE, why.message);
    return why;
  }
  job.goes_by_tables = own.tables.wanted && peers.tables.wanted;
  job.has_round_keys = own.tables.round_keys && peers.tables.round_keys;
  return run_job(job, std::min(own.held, peers.held));
}

Result<void> PairLane::run_job(PairJob& of, PairHeld held) {
  const std::uint64_t sent = at_work_.session.channel().sent();
  const std::uint64_t told = at_work_.session.outputs_told();
  of.job->running.input_bytes = of.half_bytes + of.input_bytes;
  leave_to_others(of);
  answers_.begin_cohort();
  const auto begun = Clock::now();
  JobOutcome outcome = is_management(of.job->request.op)
                           ? management_.run(of, held != PairHeld::kNothing)
                           : run_pair_operation(at_work_, of, held);
  const std::string ends = outcome.ends_session;
  if (const auto stands = at_work_.session.stands(); !stands) {
    outcome = JobOutcome(TKDC_STATUS_UNAVAILABLE, stands.error().message);
    forget_staged(of);
  }
  const bool good = outcome.status == TKDC_STATUS_OK;
  // What a MAC does not hold of yields nothing, and both have said so.
  const tkdc_wire_op op = of.job->request.op;
  outcome.may_be_known = !good && outcome.status != TKDC_STATUS_INTEGRITY &&
                         (!is_management(op) || op == TKDC_OP_EXPORT) &&
                         at_work_.session.outputs_told() != told;
  if (outcome.may_be_known) ++figures_.may_be_known;
  if (good) note_proved(at_work_, of);
  JobCost cost;
  cost.message_bytes = static_cast<std::uint32_t>(at_work_.session.channel().sent() - sent);
  of_lane_.operations.add(1);
  of_lane_.busy_ns.add(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun).count()));
  note_tables(of, good);
  count();
  answers_.finish_by_two(*of.job, std::move(outcome), cost);
  for (const std::string& kind : at_work_.reserve.asked())
    if (good) wishes_.note(kind);
  if (good && !is_management(of.job->request.op)) at_work_.asked.note(of.job->request.key.id);
  last_job_ = Clock::now();
  if (!ends.empty()) return at_work_.session.end(ends, pair::EndedBy::kState);
  return at_work_.session.stands();
}

void PairLane::leave_to_others(const PairJob& of) {
  std::set<std::string> kinds;
  for (std::size_t k = 0; k < of.kinds.size(); ++k)
    if ((of.made >> k & 1) != 0) kinds.insert(of.kinds[k]);
  at_work_.reserve.leave(std::move(kinds));
}

// What this server has noted of a staged key, such as what it was compared with, the other one may
// not have noted: a key that one of them lacks is refused for that reason, and staged again.
void PairLane::forget_staged(const PairJob& of) {
  const JobRequest& request = of.job->request;
  if (!is_management(request.op)) return;
  for (const KeyId& id : keys_at_work(request)) shared_.staged.erase(id);
}

// One that the other server has not got yet waits until it is named again.
void PairLane::put_back(std::unique_ptr<Job> job) {
  job->found = {};
  const JobName name = job->request.name;
  const auto due = Clock::now() + job->retry_after;
  job->retry_after = std::min(2 * job->retry_after, Job::kMaxRetryAfter);
  if (auto refused = shared_.pending.put(std::move(job))) {
    answers_.answer(refused->request, TKDC_STATUS_LIMIT,
                    "too many jobs are waiting at this server");
    return;
  }
  if (leads()) queue_.put_back(name, due);
}

// What a job would have taken is made, too: there the circuit beside tables is what is wanted.
void PairLane::note_tables(const PairJob& of, bool good) {
  if (!good || !of.by_tables) return;
  const PairTableJob& job = *of.by_tables;
  if (of.goes_by_tables) {
    ++figures_.tables_jobs;
  } else {
    if (leads() && !choice_.is_near(job, true)) return;
    ++figures_.tables_missed;
    wishes_.note(job.kind);
  }
  for (const auto way : {PairTables::Way::kForward, PairTables::Way::kInverse})
    if (const std::size_t some = job.needs(way, of.goes_by_tables && of.has_round_keys); some > 0)
      table_wishes_.note(way, some);
}

// ---- ahead

Result<void> PairLane::order(PairOrder::Kind kind, const std::string& circuit) {
  PairOrder order;
  order.kind = kind;
  order.circuit = circuit;
  ot::Channel& channel = at_work_.session.channel();
  if (auto said = say(channel, order); !said) return at_work_.session.end(said.error().message);
  last_heard_ = Clock::now();
  return {};
}

// Also while there are jobs: the other server may want another session.
Result<void> PairLane::say_alive() {
  last_alive_ = Clock::now();
  if (auto said = order(PairOrder::Kind::kAlive); !said) return said;
  std::uint8_t octet = 0;
  auto heard = at_work_.session.channel().read({&octet, 1});
  if (heard && octet != kGoOn && octet != kAnew) heard = fail("it says neither yes nor no");
  if (!heard) return at_work_.session.end(heard.error().message);
  last_heard_ = Clock::now();
  choice_.took(last_heard_ - last_alive_);
  count();
  return octet == kAnew ? Result<void>(fail(kRefreshed)) : Result<void>();
}

Result<void> PairLane::answer_alive() {
  const std::uint8_t octet = queue_.anew() ? kAnew : kGoOn;
  if (auto said = at_work_.session.channel().write({&octet, 1}); !said)
    return at_work_.session.end(said.error().message);
  count();
  return octet == kAnew ? Result<void>(fail(kRefreshed)) : Result<void>();
}

// Keys whose pool is nearly used up move between jobs, where these leave no moment.
Result<void> PairLane::keep_up() {
  if (!shared_.options.pair_ahead || !upkeep_.is_due()) return {};
  if (++jobs_since_step_ < kJobsBetween && Clock::now() - last_step_ < kStepsApart) return {};
  jobs_since_step_ = 0;
  auto done = upkeep_.step();
  last_step_ = Clock::now();
  if (!done) return done.error();
  return {};
}

// Whether it has done something.
Result<bool> PairLane::work_ahead() {
  if (!shared_.options.pair_ahead || Clock::now() - last_job_ < kIdleBefore) return false;
  auto upkeep = upkeep_.step();
  if (!upkeep || *upkeep) {
    last_heard_ = Clock::now();
    return upkeep;
  }
  return make_ahead();
}

Result<bool> PairLane::make_ahead() {
  if (!shared_.options.pair_ahead) return false;
  if (auto made = make_tables(true); !made || *made) return made;
  (void)wishes_.stale();
  for (const std::string& kind : at_work_.reserve.kinds()) {
    if (wishes_.has(kind)) continue;  // one that was pushed out is not wished for, either
    if (auto told = order(PairOrder::Kind::kForget, kind); !told) return told.error();
    at_work_.reserve.forget(kind);
    count();
  }
  const auto ready = [&](const std::string& kind) { return at_work_.reserve.ready(kind); };
  const auto room = [&](const std::string& kind) {
    const auto ands = at_work_.circuits.look_up(kind);  // laid out when it is chosen
    return ands && at_work_.reserve.has_room(kind, *ands);
  };
  const auto kind = wishes_.next(ready, room);
  if (!kind) return make_tables(false);
  if (auto told = order(PairOrder::Kind::kPrepare, *kind); !told) return told.error();
  if (auto done = prepare(*kind); !done) return done.error();
  return true;
}

// `few`: only what one job may be waiting for.
Result<bool> PairLane::make_tables(bool few) {
  if (!at_work_.tables.work()) return false;
  const auto left = [&](PairTables::Way way) { return at_work_.tables.left(way); };
  const auto room = [&](PairTables::Way way) { return at_work_.tables.has_room(way); };
  const auto way = table_wishes_.next(few, left, room);
  if (!way) return false;
  PairOrder more;
  more.kind = PairOrder::Kind::kTables;
  more.way = *way;
  if (auto told = say(at_work_.session.channel(), more); !told)
    return at_work_.session.end(told.error().message);
  if (auto done = step_tables(*way); !done) return done.error();
  last_heard_ = Clock::now();
  return true;
}

Result<void> PairLane::step_tables(PairTables::Way way) {
  auto done = at_work_.tables.step(way);
  count();
  if (!done && at_work_.session.stands())
    return at_work_.session.end(done.error().message, pair::EndedBy::kState);
  return done;
}

Result<void> PairLane::prepare(const std::string& circuit) {
  auto kind = at_work_.circuits.get(circuit);
  if (!kind) return at_work_.session.end(kind.error().message, pair::EndedBy::kState);
  auto done = at_work_.reserve.step(*kind);
  count();
  if (!done && at_work_.session.stands())
    return at_work_.session.end(done.error().message, pair::EndedBy::kState);
  return done;
}

Result<void> PairLane::obey(const PairOrder& order) {
  upkeep_.look_at_leader();
  (void)upkeep_.read_on();
  switch (order.kind) {
    case PairOrder::Kind::kJob: return take_named(order);
    case PairOrder::Kind::kPrepare: return prepare(order.circuit);
    case PairOrder::Kind::kTables: return step_tables(order.way);
    case PairOrder::Kind::kForget:
      at_work_.reserve.forget(order.circuit);
      count();
      return {};
    case PairOrder::Kind::kBridge:
    case PairOrder::Kind::kMove:
    case PairOrder::Kind::kErase:
    case PairOrder::Kind::kEnd: return upkeep_.obey(order);
    case PairOrder::Kind::kAlive: break;
  }
  return answer_alive();
}

void PairLane::count() {
  figures_.prepared = at_work_.reserve.ready();
  figures_.prepared_bytes = at_work_.reserve.bytes();
  const PairTablesLeft left = at_work_.tables.left();
  figures_.tables_forward = left.forward;
  figures_.tables_inverse = left.inverse;
  figures_.tables_bytes = at_work_.tables.bytes();
  const auto lasts = table_wishes_.lasts_s([&](PairTables::Way way) { return left.of(way); });
  figures_.tables_last_s = lasts && at_work_.tables.work() ? static_cast<std::int64_t>(*lasts) : -1;
  figures_.found = found_before_ + at_work_.reserve.taken();
  figures_.missed = missed_before_ + at_work_.reserve.missed();
}

bool PairLane::is_short_of_blocks() const {
  return is_short(at_work_.pools, at_work_.blocks.pool());
}

}  // namespace tkdc
