// SPDX-License-Identifier: Apache-2.0
#include "service/job/lane_runner.h"

#include <algorithm>

#include "service/job/limits.h"
#include "service/operation/operations.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxManifest = kMaxCohortJobs;
constexpr std::size_t kMaxActive = 2048;
constexpr std::size_t kMaxActiveOfAgent = 1536;  // one agent's flood leaves room for others'
constexpr std::size_t kMaxInputOctets = 4u << 20;
// A tick that carries admissions costs a packet more each way, and three of them
// follow each other; a login's jobs run for thousands of ticks.
constexpr std::uint64_t kFullTickEvery = 16;
constexpr std::uint64_t kExpireEveryTicks = 256;  // a few ten milliseconds
constexpr int kIdleMs = 1000;
// Masks are made for so many blocks at once: a job that comes meanwhile waits for few.
constexpr std::size_t kMaskChunkBlocks = 4;
constexpr int kMaskRounds = 14;  // of the AES that needs most

std::vector<JobName> names_of(const AdmissionRound& round) {
  std::vector<JobName> names;
  for (const Candidate& c : round.candidates) names.push_back(c.name);
  return names;
}

}  // namespace

LaneRunner::LaneRunner(LaneShared shared, const Session& session, std::size_t lane,
                       const AesBackend& backend)
    : shared_(shared), party_(session.party), lane_(static_cast<std::uint32_t>(lane)),
      epoch_(session.epoch), session_(session.id), two_parts_(session.two_parts),
      rep3_(session.party, session.representation, session.lanes[lane].keys, session.security),
      pool_(rep3_, MaskPool::needed(shared.options.masked_blocks, kMaskRounds)),
      ciphers_(rep3_, backend), ticker_(rep3_), heads_(shared.options, lane_),
      revoked_(shared.revocations, party_),
      // Who follows says it whenever the leader does.
      clocks_(shared.clocks, lane_, shared.options.clock_every / (leader() ? 1 : 2)) {
  note_session(session);
  if (shared.options.masked_blocks == 0) return;
  ciphers_.aes.use_masks(pool_, std::max<std::size_t>(shared.options.masked_blocks / 4, 1));
  refill_masks();
}

LaneRunner::~LaneRunner() = default;

// What the handshake agreed, as this server understood it.
void LaneRunner::note_session(const Session& session) {
  Bytes agreed;
  Writer w(agreed);
  w.raw(session.id);
  w.u32(session.epoch);
  w.u32(lane_);
  w.u32(static_cast<std::uint32_t>(session.lanes.size()));
  w.u8(static_cast<std::uint8_t>(session.security));
  w.u8(static_cast<std::uint8_t>(session.representation));
  w.u8(static_cast<std::uint8_t>(session.zero_generator));
  w.u8(session.two_parts ? 1 : 0);
  w.u64(shared_.options.masked_blocks);
  rep3_.course().note(Course::Kind::kSession, {agreed});
}

CourseTail LaneRunner::course() const {
  CourseTail tail = rep3_.course().tail();
  // Semi-honest servers compare nothing.
  if (rep3_.security() == Security::kMalicious) tail.session = session_;
  return tail;
}

void LaneRunner::enqueue(const JobName& name) {
  std::lock_guard lock(queue_mutex_);
  queue_.put(name);
  ++load_;
  if (link_ != nullptr) link_->wake();
}

void LaneRunner::stop() {
  stopping_ = true;
  std::lock_guard lock(queue_mutex_);
  if (link_ != nullptr) link_->wake();
}

void LaneRunner::use(Link* link) {
  std::lock_guard lock(queue_mutex_);
  link_ = link;
}

// A stop ends no check for the two others that has opened anything; and none at all, if it ends
// by itself soon.
bool LaneRunner::draining() {
  constexpr auto kForAnyCheck = std::chrono::seconds(1), kForOpenedOnes = std::chrono::seconds(2);
  const ClaimLog* claims = rep3_.claims();
  if (claims == nullptr || !claims->checking()) return false;
  const auto now = Clock::now();
  if (stop_by_ == Clock::time_point()) stop_by_ = now + kForOpenedOnes;
  if (now + kForAnyCheck < stop_by_) return true;
  return ciphers_.verifier.opened() > 0 && now < stop_by_;
}

bool LaneRunner::has_waiting() {
  std::lock_guard lock(queue_mutex_);
  const auto due = queue_.next_due();
  return due && *due <= Clock::now();
}

// Until the next job is due to be named again.
int LaneRunner::idle_ms() {
  using std::chrono::milliseconds;
  std::lock_guard lock(queue_mutex_);
  const auto latest = Clock::now() + milliseconds(kIdleMs);
  const auto next = std::min(latest, queue_.next_due().value_or(latest));
  const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::max<long long>(left, 1));
}

LaneRunner::Ended LaneRunner::run(Link& link) {
  use(&link);
  connected_ = true;
  std::string why;
  if (!std::exchange(has_run_, true)) {
    ticker_.use(link);
  } else if (auto met = ticker_.go_on(link); !met) {
    connected_ = !ticker_.failure()->connection;
    why = met.error().message;
  }
  if (why.empty()) why = run_ticks();
  use(nullptr);
  return {why, !why.empty() && !connected_ && !rep3_.deviation()};
}

std::string LaneRunner::run_ticks() {
  while (!stopping_ || draining()) {
    const bool busy = ticker_.begun() || !active_.empty() || admitting() || making_masks_ ||
                      keeping_heads_ > 0 ||
                      (leader() && (has_waiting() || heads_.due() || clocks_.due()));
    if (!busy) {
      auto event = link_->wait(idle_ms());
      if (!event) {
        connected_ = false;
        return event.error().message;
      }
      if (*event != Link::Event::kPacket) continue;
    }
    if (auto ticked = tick(); !ticked) return ticked.error().message;
  }
  return {};
}

std::optional<std::string> LaneRunner::deviation() const {
  if (!rep3_.deviation()) return std::nullopt;
  return "lane " + std::to_string(lane_) + ", cohorts up to " + std::to_string(cohort_) +
         ", round " + std::to_string(rep3_.rounds()) + ": " + *rep3_.deviation();
}

// ---- one tick

Result<void> LaneRunner::tick() {
  // Else a connection was lost within it.
  if (!ticker_.begun()) begin_tick();
  auto control = ticker_.end(managed_.empty() ? Ticker::kReceiveTimeoutMs : Ticker::kDiskTimeoutMs);
  if (!control) {
    connected_ = !ticker_.failure()->connection;
    return control.error();
  }
  if (admission_tick_)
    if (auto admitted = admit(*control); !admitted) return admitted.error();
  rep3_.advance();
  if (rep3_.deviation()) return fail(*rep3_.deviation());
  if (std::exchange(answered_, 0) > 0)
    std::erase_if(active_, [](const ActiveJob& job) { return job.answered; });
  refill_masks();
  if (ticks_ % kExpireEveryTicks == 0) expire();
  load_ = active_.size();
  publish_counters();
  return {};
}

// An opening makes a tick full for the protocols; the lane's own part is then present and empty.
void LaneRunner::begin_tick() {
  const bool due = active_.empty() || ticks_ % kFullTickEvery == 0;
  admission_tick_ = due || admitting();
  Ticker::OwnControl own;
  if (admission_tick_) own = say(due);
  ++ticks_;
  ticker_.begin(admission_tick_, own);
}

// Between ticks, when nothing runs and nothing is being admitted: which jobs do is the same at
// all three servers, and so is what the pool holds.
void LaneRunner::refill_masks() {
  if (making_masks_ || !active_.empty() || admitting() || pool_.held() == pool_.capacity()) return;
  making_masks_ = true;
  rep3_.spawn(make_masks());
}

Task<void> LaneRunner::make_masks() {
  co_await pool_.fill(MaskPool::needed(kMaskChunkBlocks, kMaskRounds));
  making_masks_ = false;
}

// What goes to both is noted by the ticker; a decision that the three take alike belongs there.
Ticker::OwnControl LaneRunner::say(bool due) {
  LaneSaid said;
  if (leader()) propose(due);
  if (proposed_) said.manifest = Manifest{proposed_->sealed_at, names_of(*proposed_)};
  if (verdicts_)
    for (const Candidate& c : verdicts_->candidates) said.verdicts.push_back(c.verdict);
  said.revoked = revoked_.say();
  said.head = heads_.say();
  said_head_ = said.head.has_value();
  said.clock_ms = clocks_.say();
  Ticker::OwnControl own;
  own.to_both = encode(said);
  add_claims(own);
  return own;
}

Result<LaneSaid> LaneRunner::read_said(ByteSpan octets, int party) const {
  LaneExpects expected;
  expected.leader = party == 0;
  expected.verdicts = verdicts_ ? verdicts_->candidates.size() : 0;
  expected.most_jobs = kMaxManifest;
  auto said = decode_lane_said(octets, expected);
  if (!said)
    return fail(said.error().message + " (lane " + std::to_string(lane_) + ", from party " +
                std::to_string(party) + ")");
  return said;
}

Result<void> LaneRunner::admit(const Ticker::Control& control) {
  auto prev = read_said(control.prev.to_both, (party_ + 2) % 3);
  auto next = read_said(control.next.to_both, (party_ + 1) % 3);
  if (!prev) return prev.error();
  if (!next) return next.error();
  std::optional<AdmissionRound> manifest = std::exchange(proposed_, std::nullopt);
  for (const LaneSaid* other : {&*prev, &*next})
    if (other->manifest) manifest = round_of(*other->manifest);
  if (auto done = read_claims(control.prev.to_me, control.next.to_me); !done) return done.error();
  revoked_.hear(std::move(prev->revoked), std::move(next->revoked));
  clocks_.hear(Neighbour::kPrev, prev->clock_ms);
  clocks_.hear(Neighbour::kNext, next->clock_ms);
  // By any of the three: all of them compare in the same tick.
  if (said_head_ || prev->head || next->head) {
    ++keeping_heads_;
    rep3_.spawn(keep_heads(prev->head, next->head));
  }
  if (verdicts_) settle(*verdicts_, *prev, *next);
  verdicts_ = std::exchange(claims_, std::nullopt);
  if (manifest) {
    take_candidates(*manifest);
    claims_ = std::move(manifest);
  }
  return {};
}

// A server that tells its neighbours different heads tells one of them of a log that it will not
// be held to.
Task<void> LaneRunner::keep_heads(std::optional<AuditHead> prev, std::optional<AuditHead> next) {
  co_await rep3_.agreed();
  heads_.keep((party_ + 2) % 3, prev);
  heads_.keep((party_ + 1) % 3, next);
  --keeping_heads_;
}

// ---- admission

// Nothing is proposed where no job is named: what has no effect is no decision.
void LaneRunner::propose(bool due) {
  if (!due || stopping_ || active_.size() >= kMaxActive) return;
  AdmissionRound round;
  const std::uint32_t now = sealed_at_now();
  // Times of sealing never fall in a session, and the others take none that is ahead of theirs.
  if (now + kClockSkewUnits < last_sealed_at_ && has_waiting()) return shared_.set_back();
  round.sealed_at = std::max(now, last_sealed_at_);
  const FairQueue::Room most = {std::min(kMaxManifest, kMaxActive - active_.size()), octets_room()};
  const auto room_of = [this](std::uint64_t agent) { return active_room(agent); };
  const auto octets = [this](const JobName& name) { return shared_.pending.input_octets(name); };
  {
    std::lock_guard lock(queue_mutex_);
    for (const JobName& name : queue_.take(Clock::now(), most, room_of, octets))
      round.candidates.emplace_back().name = name;
  }
  if (!round.candidates.empty()) proposed_ = std::move(round);
}

// A tick's packet has some two octets for each of the inputs at work. Whoever asks for much at once
// does not make packets that a line cannot carry in time.
std::size_t LaneRunner::octets_room() const {
  std::size_t at_work = 0;
  for (const ActiveJob& job : active_) at_work += job.input_bytes;
  for (const auto* round : {&claims_, &verdicts_})
    if (*round)
      for (const Candidate& candidate : (*round)->candidates)
        if (candidate.job) at_work += candidate.job->request.component[0].size();
  return kMaxInputOctets - std::min(at_work, kMaxInputOctets);
}

std::size_t LaneRunner::active_room(std::uint64_t agent) const {
  const auto active = static_cast<std::size_t>(std::ranges::count_if(
      active_, [&](const ActiveJob& job) { return job.job->request.name.agent == agent; }));
  return kMaxActiveOfAgent - std::min(active, kMaxActiveOfAgent);
}

AdmissionRound LaneRunner::round_of(const Manifest& manifest) const {
  AdmissionRound round;
  round.sealed_at = manifest.sealed_at;
  for (const JobName& name : manifest.names) round.candidates.emplace_back().name = name;
  return round;
}

void LaneRunner::take_candidates(AdmissionRound& round) {
  const std::uint32_t now = sealed_at_now();
  const bool clock_ok = now > 0 && round.sealed_at + kClockSkewUnits >= now &&
                        round.sealed_at <= now + kClockSkewUnits &&
                        round.sealed_at >= last_sealed_at_ && round.sealed_at < (1u << 24);
  for (Candidate& c : round.candidates) {
    c.job = shared_.pending.take(c.name);
    if (!c.job) continue;
    c.verdict = check(c, clock_ok);
    c.key_missing = c.verdict == TKDC_STATUS_UNKNOWN_KEY;
    c.digests = digest_job(c.job->request, c.job->role, c.record.get());
  }
}

void LaneRunner::add_claims(Ticker::OwnControl& own) const {
  if (!claims_) return;
  for (const Candidate& c : claims_->candidates) {
    put_claim(own.to_prev, c.verdict, c.digests, 0);
    put_claim(own.to_next, c.verdict, c.digests, 1);
  }
}

Result<void> LaneRunner::read_claims(ByteSpan from_prev, ByteSpan from_next) {
  const std::size_t jobs = claims_ ? claims_->candidates.size() : 0;
  Reader prev_in(from_prev), next_in(from_next);
  auto prev = get_claims(prev_in, jobs), next = get_claims(next_in, jobs);
  if (!prev) return prev.error();
  if (!next) return next.error();
  if (!prev_in.complete() || !next_in.complete())
    return fail("lane " + std::to_string(lane_) + ": a neighbour's claims are malformed");
  for (std::size_t k = 0; k < jobs; ++k) {
    Candidate& c = claims_->candidates[k];
    c.verdict = judge(c.verdict, c.digests, (*prev)[k], (*next)[k]);
  }
  return {};
}

void LaneRunner::settle(AdmissionRound& round, const LaneSaid& prev, const LaneSaid& next) {
  bool any = false;
  for (std::size_t k = 0; k < round.candidates.size(); ++k) {
    Candidate& c = round.candidates[k];
    c.verdict = combine(c.verdict, prev.verdicts[k], next.verdicts[k]);
    if (c.verdict == kAdmit) {
      any = true;
      last_sealed_at_ = std::max(last_sealed_at_, round.sealed_at);
      start(std::move(c), round.sealed_at);
    } else {
      refuse(c, c.verdict);
    }
  }
  if (any) ++cohort_;
}

// ---- jobs

// A job that another server has not got yet waits until it is named again.
void LaneRunner::put_back(Candidate& candidate) {
  if (candidate.job->expired) return;
  if (candidate.job->deadline <= Clock::now()) {
    answer(candidate.job->request, TKDC_STATUS_UNAVAILABLE,
           "another server did not receive this job in time");
    return;
  }
  const auto due = Clock::now() + candidate.job->retry_after;
  candidate.job->retry_after = std::min(2 * candidate.job->retry_after, PendingJob::kMaxRetryAfter);
  if (auto refused = shared_.pending.put(std::move(candidate.job))) {
    answer(refused->request, TKDC_STATUS_LIMIT, "too many jobs are waiting at this server");
    return;
  }
  if (leader()) {
    std::lock_guard lock(queue_mutex_);
    queue_.put(candidate.name, due);
  }
}

void LaneRunner::let_go(const JobRequest& request) {
  for (const KeyId& id : keys_at_work(request)) managed_.erase(id);
}

void LaneRunner::refuse(Candidate& candidate, Verdict verdict) {
  constexpr auto kMissingHere =
      "this server holds no such key, which no other server says: it has expired or was removed a "
      "moment ago; or this server's store is damaged, or was restored from an older copy";
  constexpr auto kNoHead =
      "this server has answered no head of this tail, or it was too long ago or has had its tail; "
      "the operation must be asked for anew";
  if (!candidate.job) return;  // this server is the one that waits for it
  if (candidate.holds_key) let_go(candidate.job->request);
  if (verdict == kMissing) return put_back(candidate);
  if (candidate.job->expired) return;
  const auto status = static_cast<tkdc_status>(verdict);
  std::string message = tkdc_status_text(status);
  if (status == TKDC_STATUS_LIMIT) message = limit_message(candidate);
  if (status == TKDC_STATUS_INCONSISTENT && candidate.key_missing) message = kMissingHere;
  if (status == TKDC_STATUS_UNAVAILABLE && candidate.head_missing) message = kNoHead;
  answer(candidate.job->request, status, std::move(message));
}

void LaneRunner::start(Candidate candidate, std::uint32_t sealed_at) {
  ActiveJob& job = active_.emplace_back();
  const tkdc_wire_op op = candidate.job->request.op;
  job.job = std::move(candidate.job);
  job.record = std::move(candidate.record);
  job.sealed_at = sealed_at;
  job.holds_key = candidate.holds_key;
  const bool timed = (op == TKDC_OP_SEAL || op == TKDC_OP_OPEN) && job.record &&
                     in_gcm_form(*job.record, job.job->request.usage);
  if (timed) shared_.revocations.agreed(sealed_at);
  if (timed && op == TKDC_OP_SEAL) shared_.seals.sealed(job.job->request.key.id);
  if (op == TKDC_OP_EQUAL) shared_.equals.compared(job.job->request.key.principal);
  job.number = op == TKDC_OP_SEAL ? next_number_++ : 0;
  job.cohort = cohort_;
  shared_.counters.operations++;
  job.first_round = rep3_.rounds();
  job.input_bytes = job.job->request.component[0].size();
  rep3_.spawn(run_job(job));
}

Task<void> LaneRunner::run_job(ActiveJob& job) {
  JobRequest& request = job.job->request;
  SharedBytes input;
  for (int c = 0; c < 2; ++c) input.component[c] = std::move(request.component[c]);
  // Of these is the one that admitted it. Verification compares them; a job that has nothing to
  // verify does it before its answer.
  const std::uint64_t decisions = rep3_.course().decisions();
  if (is_management(request.op)) {
    ManagementContext context{ciphers_, shared_.staged, shared_.store,
                              kSealedAtOriginS + kSealedAtUnitS * job.sealed_at, job.record.get()};
    JobOutcome outcome = co_await run_management(context, request, std::move(input));
    co_await rep3_.verified();
    co_await rep3_.agreed(decisions);
    finish(job, std::move(outcome));
  } else {
    NonceCoordinates at;
    at.epoch = epoch_;
    at.sealed_at = job.sealed_at;
    at.lane = lane_;
    at.number = job.number;
    JobContext context{
        ciphers_,      shared_.options.installation, *job.record,         at,           epoch_,
        request.usage, request.public_data,          &revoked_.windows(), part(request)};
    JobOutcome outcome = co_await run_operation(context, request.op, std::move(input));
    co_await rep3_.verified();
    // A ticket may be refused for a window that was told after its job had begun.
    co_await rep3_.agreed(outcome.revoked ? rep3_.course().decisions() : decisions);
    finish(job, std::move(outcome));
  }
}

bool LaneRunner::tail_follows(const ActiveJob& job, tkdc_status status) const {
  const JobRequest& request = job.job->request;
  return status == TKDC_STATUS_OK && job.record &&
         leaves_tail(*job.record, request.op, request.usage, part(request), job.input_bytes);
}

}  // namespace tkdc
