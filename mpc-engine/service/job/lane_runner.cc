// SPDX-License-Identifier: Apache-2.0
#include "service/job/lane_runner.h"

#include <algorithm>

#include "service/garbled/garbling_parts.h"
#include "service/job/features.h"
#include "service/lifecycle/management.h"
#include "service/operation/operations.h"

namespace tkdc {
namespace {

// A tick that carries admissions costs a packet more each way, and three of them
// follow each other; a login's jobs run for thousands of ticks.
constexpr std::uint64_t kFullTickEvery = 16;
constexpr std::uint64_t kExpireEveryTicks = 256;  // a few ten milliseconds
constexpr std::chrono::milliseconds kIdle{1000};
constexpr std::chrono::seconds kForAnyCheck{1}, kForOpenedOnes{2};  // after a stop

}  // namespace

LaneRunner::LaneRunner(LaneShared shared, LaneFigures& figures, const Session& session,
                       std::size_t lane)
    : shared_(shared), figures_(figures), party_(session.party),
      index_(static_cast<std::uint32_t>(lane)), epoch_(session.epoch), session_(session.id),
      two_parts_(session.two_parts), keeps_dropped_(session.has(kKeepsDropped)),
      repairs_(session.newcomer.has_value()), lane_(session.party, session.security),
      shares_(lane_, shared_, checks_), ticker_(lane_), audit_heads_(lane_, shared.options, index_),
      revoked_(shared.revocations, party_),
      // Who follows says it whenever the leader does.
      clocks_(shared.clocks, index_, shared.options.clock_every / (leader() ? 1 : 2)),
      checks_(shared_, index_, two_parts_, protocols_, garbling_),
      answers_(shared_, figures_, index_, two_parts_),
      admission_(shared_, party_, index_, protocols_, running_, queue_, checks_, answers_),
      published_(shared.counters) {
  note_session(session);
}

Result<void> LaneRunner::join(Session& session) {
  for (const std::string& name : session.protocols) {
    const auto offer = std::ranges::find_if(shared_.options.protocols,
                                            [&](const auto& one) { return one->name() == name; });
    if (offer == shared_.options.protocols.end())
      return fail("session: this server has no protocol '" + name + "'");
    const PairwiseKeys keys = keys_for(name, session.lanes[index_].keys);
    auto joined = (*offer)->join(lane_, {session, index_, keys});
    if (!joined) return joined.error();
    if ((*joined)->info().security < session.security && !(*offer)->of_tests())
      return fail("session: protocol '" + name + "' is no more than semi-honest, and the session " +
                  "is malicious; take it out of data.protocols");
    (*joined)->on_checked(
        [this](std::uint64_t claims, auto took) { figures_.checks.add(claims, took); });
    protocols_.push_back(std::move(*joined));
  }
  if (LaneLink& mine = session.lanes[index_]; mine.streams) {
    auto joined = join_garbling(*std::exchange(mine.streams, std::nullopt), mine.keys);
    if (!joined) return joined;
  }
  if (index_ == 0) shares_.join(session, session.lanes[index_].keys);
  prepare();
  return {};
}

Result<void> LaneRunner::join_garbling(LaneStreams streams, const PairwiseKeys& keys) {
  threegarble::SeeStep watch;
  if (const auto& parts = shared_.options.garbling_parts; parts && parts->watch)
    watch = [this, &parts = *parts](threegarble::Step step, const threegarble::InstanceId& id) {
      parts.watch(session_, step, id);
    };
  auto joined = LaneGarbling::join(lane_, index_, keys, std::move(streams),
                                   {shared_.options.garbling, shared_.shapes, shared_.pace,
                                    shared_.options.trouble, std::move(watch)});
  if (!joined) return joined.error();
  garbling_ = std::move(*joined);
  choice_.emplace(shared_, running_, *garbling_, one_way_, lane_load_);
  admission_.use_garbling(*choice_);
  return {};
}

// Tasks refer to protocols.
LaneRunner::~LaneRunner() { lane_.drop_tasks(); }

// What the handshake agreed, as this server understood it.
void LaneRunner::note_session(const Session& session) {
  Bytes agreed;
  Writer w(agreed);
  w.raw(session.id);
  w.u32(session.epoch);
  w.u32(index_);
  w.u32(static_cast<std::uint32_t>(session.lanes.size()));
  w.u8(static_cast<std::uint8_t>(session.security));
  w.u8(static_cast<std::uint8_t>(session.representation));
  w.u8(static_cast<std::uint8_t>(session.zero_generator));
  w.u8(session.two_parts ? 1 : 0);
  for (const std::string& name : session.protocols) w.text(name);
  if (session.streams) w.text("streams");
  for (const std::string& feature : session.features) w.text(feature);
  if (session.newcomer) {
    w.text(kRepairSession);
    w.u8(static_cast<std::uint8_t>(*session.newcomer));
  }
  lane_.course().note(Course::Kind::kSession, {agreed});
}

CourseTail LaneRunner::course() const {
  CourseTail tail = lane_.course().tail();
  // Semi-honest servers compare nothing.
  if (lane_.security() == Security::kMalicious) tail.session = session_;
  return tail;
}

std::vector<ProtocolInfo> LaneRunner::protocols() const {
  std::vector<ProtocolInfo> all;
  for (const auto& protocol : protocols_) all.push_back(protocol->info());
  return all;
}

void LaneRunner::enqueue(const JobName& name) {
  ++load_;
  queue_.put(name);
}

void LaneRunner::wake() { queue_.wake(); }

void LaneRunner::stop() {
  if (stopped_at_.load() == Clock::time_point()) stopped_at_ = Clock::now();
  stopping_ = true;
  queue_.wake();
}

// A stop ends no check for the two others that has opened anything; and none at all, if it ends
// by itself soon.
bool LaneRunner::draining() {
  const auto check = checking();
  if (!check) return false;
  const auto since = Clock::now() - stopped_at_.load();
  return since < kForAnyCheck || (check->opened && since < kForOpenedOnes);
}

LaneRunner::Ended LaneRunner::run(LaneLink& connections) {
  Link& link = *connections.link;
  queue_.use(&link);
  connected_ = true;
  std::string why;
  if (!std::exchange(has_run_, true)) {
    ticker_.use(link);
  } else {
    if (garbling_) garbling_->use(std::exchange(connections.streams, std::nullopt));
    if (auto met = ticker_.go_on(link); !met) {
      connected_ = !ticker_.failure()->connection;
      why = met.error().message;
    }
  }
  if (why.empty()) why = run_ticks(link);
  lane_.tick_failed();  // what was known here, and to be told in a tick that is not
  queue_.use(nullptr);
  return {why, !why.empty() && !connected_ && !lane_.deviation()};
}

std::string LaneRunner::run_ticks(Link& link) {
  one_way_ = link.round_trip() / 2;
  while (!stopping_ || draining()) {
    const bool busy = ticker_.begun() || !running_.empty() || admission_.under_way() ||
                      preparing() || audit_heads_.at_work() || shares_.at_work() ||
                      shares_.wanted() ||
                      (leader() && (queue_.has_waiting() || audit_heads_.due() || clocks_.due()));
    if (!busy) {
      auto event = link.wait(static_cast<int>(queue_.until_due(kIdle).count()));
      if (!event) {
        connected_ = false;
        return event.error().message;
      }
      if (*event != Link::Event::kPacket) continue;
    }
    if (auto ticked = tick(link); !ticked) return ticked.error().message;
  }
  return {};
}

std::optional<std::string> LaneRunner::deviation() const {
  if (!lane_.deviation()) return std::nullopt;
  return "lane " + std::to_string(index_) + ", cohorts up to " + std::to_string(answers_.cohort()) +
         ", round " + std::to_string(lane_.rounds()) + ": " + *lane_.deviation();
}

// ---- one tick

Result<void> LaneRunner::tick(const Link& link) {
  const bool at_work = !running_.empty();
  if (!at_work) note_load(false);  // else the tick before has noted it
  auto stepped =
      ticker_.step(*this, checks_.manages() || shares_.at_work() ? Ticker::kDiskTimeoutMs
                                                                 : Ticker::kReceiveTimeoutMs);
  note_load(at_work);
  if (ticker_.failure()) connected_ = !ticker_.failure()->connection;
  if (!stepped) return stepped;
  if (std::exchange(answered_, 0) > 0)
    std::erase_if(running_, [](const auto& job) { return job->running.answered; });
  if (running_.empty() && !admission_.under_way())
    prepare();
  else if (garbling_ && garbling_->waited_for())
    prepare_garbling();
  if (ticks_ % kExpireEveryTicks == 0) {
    expire();
    one_way_ = link.round_trip() / 2;
  }
  load_ = running_.size();
  may_finish_ = checks_.manages() || checking().has_value();
  publish();
  return {};
}

// ---- what protocols make ahead, and check

// Between ticks, when nothing runs and nothing is being admitted: which jobs do is the same at
// all three servers, and so is what the protocols have in hand.
void LaneRunner::prepare() {
  for (const auto& protocol : protocols_) protocol->prepare();
  if (garbling_) prepare_garbling();
}

void LaneRunner::prepare_garbling() {
  garbling_->prepare([this] { return !running_.empty(); });
}

bool LaneRunner::preparing() const {
  if (garbling_ && garbling_->preparing()) return true;
  return std::ranges::any_of(protocols_, [](const auto& one) { return one->preparing(); });
}

std::optional<Protocol::Check> LaneRunner::checking() const {
  std::optional<Protocol::Check> all;
  for (const auto& protocol : protocols_)
    if (const auto check = protocol->checking()) {
      if (!all) all.emplace();
      all->opened |= check->opened;
    }
  return all;
}

// What goes to both is noted by the ticker; a decision that the three take alike belongs there.
// An opening makes a tick full for the protocols; the lane's own part is then present and empty.
std::optional<Ticker::OwnControl> LaneRunner::say() {
  const bool due = running_.empty() || ticks_ % kFullTickEvery == 0;
  ++ticks_;
  if (!due && !admission_.under_way()) return std::nullopt;
  LaneControl said;
  Ticker::OwnControl own;
  if (due && !stopping_) admission_.propose();
  admission_.say(said, own);
  said.revoked = revoked_.say();
  said.audit_head = audit_heads_.say();
  said.clock_ms = clocks_.say();
  said.share_task = shares_.say();
  own.to_both = encode(said);
  return own;
}

Result<LaneControl> LaneRunner::read_said(ByteSpan octets, int party) const {
  LaneExpects expected = admission_.expects(party);
  expected.shares = shares_.macs() != nullptr;
  expected.repair = repairs_;
  auto said = decode_lane_control(octets, expected);
  if (!said)
    return fail(said.error().message + " (lane " + std::to_string(index_) + ", from party " +
                std::to_string(party) + ")");
  return said;
}

Result<void> LaneRunner::hear(const Ticker::Control& control) {
  auto prev = read_said(control.prev.to_both, (party_ + 2) % 3);
  auto next = read_said(control.next.to_both, (party_ + 1) % 3);
  if (!prev) return prev.error();
  if (!next) return next.error();
  if (auto heard = admission_.hear(*prev, *next, control); !heard) return heard.error();
  revoked_.hear(std::move(prev->revoked), std::move(next->revoked));
  clocks_.hear(Neighbour::kPrev, prev->clock_ms);
  clocks_.hear(Neighbour::kNext, next->clock_ms);
  audit_heads_.hear(prev->audit_head, next->audit_head);
  shares_.hear(prev->share_task, next->share_task);
  ManifestJobs admitted = admission_.settle(*prev, *next);
  for (Candidate& candidate : admitted.candidates) start(std::move(candidate), admitted.sealed_at);
  if (!admitted.candidates.empty()) answers_.begin_cohort();
  admission_.take_named();
  return {};
}

// ---- jobs

void LaneRunner::start(Candidate admitted, std::uint32_t sealed_at) {
  Job& job = *running_.emplace_back(std::move(admitted.job));
  const JobRequest& request = job.request;
  const KeyRecord* record = job.found.record.get();
  const bool timed = (request.op == TKDC_OP_SEAL || request.op == TKDC_OP_OPEN) &&
                     record != nullptr && in_gcm_form(*record, request.usage);
  if (timed) shared_.revocations.agreed(sealed_at);
  if (timed && request.op == TKDC_OP_SEAL) shared_.seals.sealed(request.key.id);
  if (request.op == TKDC_OP_EQUAL) shared_.equals.compared(request.key.principal);
  const auto named = protocol_named(admitted.named.protocol, protocols_);
  job.running.protocol = static_cast<std::uint8_t>(named.protocol);
  job.running.sealed_at = sealed_at;
  job.running.number = request.op == TKDC_OP_SEAL ? next_number_++ : 0;
  job.running.cohort = answers_.cohort();
  job.running.first_round = lane_.rounds();
  job.running.started = Clock::now();
  admission_.started(job);
  job.running.input_bytes = request.input_bytes();
  if (garbling_ && job.found.learns && record != nullptr &&
      part_in(job, two_parts_).kind != Part::Kind::kTail)
    garbling_->note(*record, request.op, request.usage, job.running.input_bytes);
  figures_.operations.add(1);
  lane_.spawn(run_job(job));
}

// A tail continues what sharing began.
bool LaneRunner::garbled(const Job& job) const {
  return garbling_ && job.found.garbled != Garbled::kNo &&
         part_in(job, two_parts_).kind == Part::Kind::kWhole;
}

Task<void> LaneRunner::run_job(Job& job) {
  JobRequest& request = job.request;
  Protocol& protocol = *protocols_[job.running.protocol];
  SharedBytes input;
  for (int c = 0; c < 2; ++c) input.component[c] = std::move(request.component[c]);
  // Of these is the one that admitted it. Verification compares them; a job that has nothing to
  // verify does it before its answer.
  const std::uint64_t decisions = lane_.course().decisions();
  if (!protocol.info().zero_shared) co_await lane_.agreed(decisions);
  if (is_management(request.op)) {
    ManagementContext context{protocol,
                              lane_,
                              shared_.staged,
                              shared_.store,
                              shares_.macs(),
                              shared_.share_alarm,
                              kSealedAtOriginS + kSealedAtUnitS * job.running.sealed_at,
                              job.found.record.get(),
                              {keeps_dropped_, shared_.options.given_back}};
    JobOutcome outcome = co_await run_management(context, request, std::move(input));
    co_await protocol.verified();
    co_await lane_.agreed(decisions);
    finish(job, std::move(outcome));
  } else {
    NonceCoordinates at;
    at.epoch = epoch_;
    at.sealed_at = job.running.sealed_at;
    at.lane = index_;
    at.number = job.running.number;
    JobContext context{protocol,
                       shared_.options.installation,
                       *job.found.record,
                       at,
                       epoch_,
                       request.usage,
                       request.public_data,
                       &revoked_.windows(),
                       part_in(job, two_parts_)};
    JobOutcome outcome;
    if (garbled(job)) {
      InstanceHold hold = co_await garbling_->hold(*job.found.record, request.op, request.usage,
                                                   input.size(), job.found.garbled);
      choice_->settle(request.name, hold.any());
      const threegarble::JobTag tag = garbling_->next_job(job.found.digests.opened);
      outcome = co_await run_garbled_or_shared(context, garbling_->lane(hold), request.op, tag,
                                               std::move(input));
    } else {
      if (choice_) choice_->settle(request.name, false);
      outcome = co_await run_operation(context, request.op, std::move(input));
    }
    co_await protocol.verified();
    // A ticket may be refused for a window that was told after its job had begun.
    co_await lane_.agreed(outcome.revoked ? lane_.course().decisions() : decisions);
    finish(job, std::move(outcome));
  }
}

void LaneRunner::finish(Job& job, JobOutcome outcome) {
  if (job.found.holds_key) checks_.let_go(job.request);
  job.running.answered = true;
  admission_.ended(job, lane_.rounds());
  ++answered_;
  publish_counts();  // whoever has the answer may ask what it took
  std::string ends = std::move(outcome.ends_session);
  answers_.finish(job, *protocols_[job.running.protocol], std::move(outcome),
                  lane_.rounds() - job.running.first_round);
  if (!ends.empty()) shared_.end_session(std::move(ends));
}

// ---- what it is asked from outside

// Jobs that have been taken from the pending ones and not been answered.
template <class Visit>
void LaneRunner::for_each_taken(Visit visit) {
  for (const auto& job : running_)
    if (!job->running.answered && !job->expired) visit(*job);
  admission_.for_each_taken(visit);
}

// A job cannot be taken out of the lane: the three servers' clocks differ, and a server that left
// it out a round earlier than the others would send packets of another length. So it runs to its
// end, its agent is told now, and what it yields later goes nowhere.
void LaneRunner::expire() {
  const auto now = Clock::now();
  for_each_taken([&](Job& job) {
    if (job.deadline > now) return;
    job.expired = true;
    answers_.answer(
        job.request, TKDC_STATUS_UNAVAILABLE,
        "the job was still running at its deadline; see `tkdc status` for the servers' load");
  });
}

std::optional<LostCheck> LaneRunner::give_up() {
  publish_counts();
  for_each_taken([&](Job& job) {
    job.expired = true;
    answers_.answer(job.request, TKDC_STATUS_UNAVAILABLE, "the session between the servers ended");
  });
  const auto check = checking();
  if (lane_.deviation() || !check) return std::nullopt;
  LostCheck lost{std::nullopt, check->opened};
  // Whose packet was not what it has to be. A connection that was lost is nobody's.
  const auto& failure = ticker_.failure();
  if (failure && failure->whose && !failure->connection)
    lost.party = (party_ + (*failure->whose == Neighbour::kNext ? 1 : 2)) % 3;
  return lost;
}

void LaneRunner::publish() {
  figures_.rounds.add(1);
  shared_.counters.operation_rounds += running_.size();
  // Not each time: it takes as long as some of what a tick of few jobs is.
  if (running_.empty() || ticks_ % kFullTickEvery == 0) publish_counts();
}

void LaneRunner::publish_counts() {
  published_.protocols(protocols_, answers_.cohort());
  if (garbling_) published_.garbling(garbling_->counts());
}

}  // namespace tkdc
