// SPDX-License-Identifier: Apache-2.0
#include "job/lane_runner.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "admit/policy.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxManifest = 256;
constexpr std::size_t kMaxActive = 2048;
constexpr std::uint64_t kFullTickEvery = 4;
constexpr auto kRetryAfter = std::chrono::milliseconds(1);

std::string to_hex(ByteSpan bytes) {
  std::string out(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(out.data(), out.size(), bytes.data(), bytes.size());
  out.pop_back();
  return out;
}

bool is_management(tkdc_wire_op op) { return op >= TKDC_OP_STAGE && op <= TKDC_OP_DESTROY; }
bool is_operation(tkdc_wire_op op) { return op >= TKDC_OP_SEAL && op <= TKDC_OP_VERIFY; }

}  // namespace

LaneRunner::LaneRunner(LaneShared shared, const Session& session, std::size_t lane,
                       const AesBackend& backend)
    : shared_(shared),
      party_(session.party),
      lane_(static_cast<std::uint32_t>(lane)),
      epoch_(session.epoch),
      link_(*session.lanes[lane].link),
      rep3_(session.party, session.representation, session.lanes[lane].keys),
      ciphers_(rep3_, backend),
      ticker_(rep3_, link_) {}

LaneRunner::~LaneRunner() = default;

void LaneRunner::enqueue(const JobName& name) {
  {
    std::lock_guard lock(queue_mutex_);
    queue_.emplace_back(Clock::time_point::min(), name);
    ++load_;
  }
  link_.wake();
}

void LaneRunner::stop() {
  stopping_ = true;
  link_.wake();
}

bool LaneRunner::has_waiting() {
  std::lock_guard lock(queue_mutex_);
  const auto now = Clock::now();
  return std::ranges::any_of(queue_, [&](const auto& entry) { return entry.first <= now; });
}

std::string LaneRunner::run() {
  std::string reason;
  while (!stopping_) {
    const bool busy = !active_.empty() || admitting() || (leader() && has_waiting());
    if (!busy) {
      bool delayed = false;
      {
        std::lock_guard lock(queue_mutex_);
        delayed = !queue_.empty();
      }
      auto event = link_.wait(delayed ? 1 : 1000);
      if (!event) {
        reason = event.error().message;
        break;
      }
      if (*event != Link::Event::kPacket) continue;
    }
    if (auto ticked = tick(); !ticked) {
      reason = ticked.error().message;
      break;
    }
  }
  for (ActiveJob& job : active_)
    if (!job.answered)
      answer(job.job->request, TKDC_STATUS_UNAVAILABLE, "the session between the servers ended");
  for (auto* round : {&proposed_, &claims_, &verdicts_})
    if (*round)
      for (Candidate& candidate : (*round)->candidates)
        if (candidate.job)
          answer(candidate.job->request, TKDC_STATUS_UNAVAILABLE,
                 "the session between the servers ended");
  return reason;
}

// ---- one tick

Result<void> LaneRunner::tick() {
  const bool full = active_.empty() || admitting() || ticks_ % kFullTickEvery == 0;
  Ticker::OwnControl own;
  if (full) {
    if (leader()) {
      propose();
      for (Bytes* out : {&own.to_prev, &own.to_next}) {
        Writer w(*out);
        w.u32(proposed_->sealed_at);
        w.u16(static_cast<std::uint16_t>(proposed_->candidates.size()));
        for (const Candidate& c : proposed_->candidates) {
          w.u64(c.name.agent);
          w.u64(c.name.session);
          w.u64(c.name.number);
        }
      }
    }
    add_claims(own);
    add_verdicts(own);
  }
  ++ticks_;
  // An opening makes a tick full for the protocols; the lane's own part is
  // then present and empty.
  auto control = ticker_.tick(full, own);
  if (!control) return control.error();
  if (full)
    if (auto admitted = admit(*control); !admitted) return admitted.error();
  rep3_.advance();
  std::erase_if(active_, [](const ActiveJob& job) { return job.answered; });
  load_ = active_.size();
  publish_counters();
  return {};
}

Result<void> LaneRunner::admit(const Ticker::Control& control) {
  Reader prev(control.from_prev), next(control.from_next);
  std::optional<AdmissionRound> manifest = std::move(proposed_);
  proposed_.reset();
  if (!leader()) {
    auto read = read_manifest(party_ == 1 ? prev : next);
    if (!read) return read.error();
    manifest = std::move(*read);
  }
  if (claims_)
    if (auto done = read_claims(prev, next); !done) return done.error();
  if (verdicts_)
    if (auto done = read_verdicts(prev, next); !done) return done.error();
  if (!prev.complete() || !next.complete())
    return fail("lane " + std::to_string(lane_) + ": a neighbour's admission data are malformed");
  if (verdicts_) settle(*verdicts_);
  verdicts_ = std::move(claims_);
  claims_.reset();
  if (manifest && !manifest->candidates.empty()) {
    take_candidates(*manifest);
    claims_ = std::move(manifest);
  }
  return {};
}

// ---- admission

void LaneRunner::propose() {
  proposed_.emplace();
  proposed_->sealed_at = std::max(sealed_at_now(), last_sealed_at_);
  std::size_t room = active_.size() < kMaxActive ? kMaxManifest : 0;
  std::lock_guard lock(queue_mutex_);
  const auto now = Clock::now();
  for (auto it = queue_.begin(); it != queue_.end() && room > 0;) {
    if (it->first > now) {
      ++it;
      continue;
    }
    Candidate candidate;
    candidate.name = it->second;
    proposed_->candidates.push_back(std::move(candidate));
    it = queue_.erase(it);
    --room;
  }
}

Result<AdmissionRound> LaneRunner::read_manifest(Reader& in) {
  AdmissionRound round;
  round.sealed_at = in.u32();
  const std::size_t count = in.u16();
  if (count > kMaxManifest) return fail("lane: the leader's manifest names too many jobs");
  for (std::size_t k = 0; k < count && !in.failed(); ++k) {
    Candidate candidate;
    candidate.name.agent = in.u64();
    candidate.name.session = in.u64();
    candidate.name.number = in.u64();
    round.candidates.push_back(std::move(candidate));
  }
  return round;
}

void LaneRunner::take_candidates(AdmissionRound& round) {
  const std::uint32_t now = sealed_at_now();
  const bool clock_ok = round.sealed_at + kClockSkewUnits >= now &&
                        round.sealed_at <= now + kClockSkewUnits &&
                        round.sealed_at >= last_sealed_at_ && round.sealed_at < (1u << 24);
  for (Candidate& c : round.candidates) {
    c.job = shared_.pending.take(c.name);
    if (!c.job) continue;
    c.verdict = check(c, clock_ok);
    c.digests = digest_job(c.job->request, c.job->role, c.record.get());
  }
}

// While another job works on the same key this one counts as missing: it is put
// back and checked again when that one is done.
Verdict LaneRunner::check_key_management(Candidate& candidate) {
  const JobRequest& request = candidate.job->request;
  if (lane_ != 0) return TKDC_STATUS_BAD_REQUEST;
  if (managed_.contains(request.key.id)) return kMissing;
  shared_.staged.expire(managed_);
  Verdict verdict = check_management(shared_.staged, shared_.store, candidate.job->role, request);
  if (verdict == kAdmit) {
    managed_.insert(request.key.id);
    candidate.holds_key = true;
  }
  return verdict;
}

Verdict LaneRunner::check(Candidate& candidate, bool clock_ok) {
  const JobRequest& request = candidate.job->request;
  if (request.key.installation != shared_.options.installation) return TKDC_STATUS_UNKNOWN_KEY;
  if (is_management(request.op)) return check_key_management(candidate);
  if (!is_operation(request.op)) return TKDC_STATUS_BAD_REQUEST;
  auto record = shared_.store.get(request.key.id);
  if (!record) return TKDC_STATUS_INTERNAL;
  if (*record == nullptr || (*record)->ref != request.key) return TKDC_STATUS_UNKNOWN_KEY;
  candidate.record = *record;
  if (!may_use((*record)->key_class, candidate.job->role, request.op, request.usage))
    return TKDC_STATUS_DENIED;
  if (in_gcm_form(**record, request.usage) && !clock_ok &&
      (request.op == TKDC_OP_SEAL || request.op == TKDC_OP_OPEN))
    return TKDC_STATUS_LIMIT;
  return static_cast<Verdict>(check_lengths(request, **record));
}

void LaneRunner::add_claims(Ticker::OwnControl& own) const {
  if (!claims_) return;
  for (const Candidate& c : claims_->candidates) {
    put_claim(own.to_prev, c.verdict, c.digests, 0);
    put_claim(own.to_next, c.verdict, c.digests, 1);
  }
}

Result<void> LaneRunner::read_claims(Reader& prev, Reader& next) {
  for (Candidate& c : claims_->candidates) {
    const AdmissionClaim from_prev = get_claim(prev), from_next = get_claim(next);
    if (prev.failed() || next.failed()) return fail("lane: a neighbour's claims are truncated");
    c.verdict = judge(c.verdict, c.digests, from_prev, from_next);
  }
  return {};
}

void LaneRunner::add_verdicts(Ticker::OwnControl& own) const {
  if (!verdicts_) return;
  for (const Candidate& c : verdicts_->candidates) {
    own.to_prev.push_back(c.verdict);
    own.to_next.push_back(c.verdict);
  }
}

Result<void> LaneRunner::read_verdicts(Reader& prev, Reader& next) {
  for (Candidate& c : verdicts_->candidates) {
    const Verdict from_prev = prev.u8(), from_next = next.u8();
    if (prev.failed() || next.failed()) return fail("lane: a neighbour's verdicts are truncated");
    c.verdict = combine(c.verdict, from_prev, from_next);
  }
  return {};
}

void LaneRunner::settle(AdmissionRound& round) {
  bool any = false;
  for (Candidate& c : round.candidates) {
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
  if (candidate.job->deadline <= Clock::now()) {
    answer(candidate.job->request, TKDC_STATUS_UNAVAILABLE,
           "another server did not receive this job in time");
    return;
  }
  if (auto refused = shared_.pending.put(std::move(candidate.job))) {
    answer(refused->request, TKDC_STATUS_LIMIT, "too many jobs are waiting at this server");
    return;
  }
  if (leader()) {
    std::lock_guard lock(queue_mutex_);
    queue_.emplace_back(Clock::now() + kRetryAfter, candidate.name);
  }
}

void LaneRunner::refuse(Candidate& candidate, Verdict verdict) {
  if (!candidate.job) return;  // this server is the one that waits for it
  if (candidate.holds_key) managed_.erase(candidate.job->request.key.id);
  if (verdict == kMissing) return put_back(candidate);
  const auto status = static_cast<tkdc_status>(verdict);
  std::string message = tkdc_status_text(status);
  if (status == TKDC_STATUS_LIMIT)
    message = "a limit was reached: staged keys are full, or this server's clock is more than two "
              "minutes off the others'; run NTP on all three";
  answer(candidate.job->request, status, std::move(message));
}

void LaneRunner::start(Candidate candidate, std::uint32_t sealed_at) {
  ActiveJob& job = active_.emplace_back();
  const tkdc_wire_op op = candidate.job->request.op;
  job.job = std::move(candidate.job);
  job.record = std::move(candidate.record);
  job.sealed_at = sealed_at;
  job.holds_key = candidate.holds_key;
  job.number = op == TKDC_OP_SEAL ? next_number_++ : 0;
  job.cohort = cohort_;
  job.first_round = rep3_.rounds();
  job.input_bytes = job.job->request.component[0].size();
  rep3_.spawn(run_job(job));
}

Task<void> LaneRunner::run_job(ActiveJob& job) {
  JobRequest& request = job.job->request;
  SharedBytes input;
  for (int c = 0; c < 2; ++c) input.component[c] = std::move(request.component[c]);
  if (is_management(request.op)) {
    ManagementContext context{ciphers_, shared_.staged, shared_.store,
                              kSealedAtOriginS + kSealedAtUnitS * job.sealed_at};
    JobOutcome outcome = co_await run_management(context, request, std::move(input));
    finish(job, std::move(outcome));
  } else {
    NonceCoordinates at;
    at.epoch = epoch_;
    at.sealed_at = job.sealed_at;
    at.lane = lane_;
    at.number = job.number;
    JobContext context{ciphers_,     shared_.options.installation, *job.record, at, epoch_,
                       request.usage};
    JobOutcome outcome = co_await run_operation(context, request.op, std::move(input));
    finish(job, std::move(outcome));
  }
}

void LaneRunner::finish(ActiveJob& job, JobOutcome outcome) {
  const JobRequest& request = job.job->request;
  JobReply reply;
  reply.session = request.name.session;
  reply.number = request.name.number;
  reply.status = outcome.status;
  reply.message = std::move(outcome.message);
  reply.next_output = output_digest(outcome.output.component[1]);
  reply.output = std::move(outcome.output.component[0]);
  if (job.record)
    reply.cost = cost_of(*job.record, request.op, request.usage, job.input_bytes);
  reply.cost.rounds = static_cast<std::uint32_t>(rep3_.rounds() - job.first_round);
  (reply.status == TKDC_STATUS_OK ? shared_.counters.jobs_done : shared_.counters.jobs_failed)++;
  audit(request, reply.status);
  shared_.reply(request.name, std::move(reply));
  if (job.holds_key) managed_.erase(request.key.id);
  job.answered = true;
}

void LaneRunner::answer(const JobRequest& request, tkdc_status status, std::string message) {
  JobReply reply;
  reply.session = request.name.session;
  reply.number = request.name.number;
  reply.status = status;
  reply.message = std::move(message);
  shared_.counters.jobs_failed++;
  audit(request, status);
  shared_.reply(request.name, std::move(reply));
}

void LaneRunner::audit(const JobRequest& request, tkdc_status status) const {
  nlohmann::json line = {
      {"operation", tkdc_wire_op_name(static_cast<std::uint8_t>(request.op))},
      {"usage", request.usage},
      {"key", to_hex(request.key.id)},
      {"kvno", request.key.kvno},
      {"enctype", request.key.enctype},
      {"principal", to_hex(request.key.principal)},
      {"agent", to_hex({reinterpret_cast<const std::uint8_t*>(&request.name.agent), 8})},
      {"lane", lane_},
      {"cohort", cohort_},
      {"result", tkdc_status_text(status)},
  };
  shared_.audit(line.dump());
}

void LaneRunner::publish_counters() {
  LaneCounters& c = shared_.counters;
  c.rounds++;
  c.layer_bytes += rep3_.layer_bytes() - published_bytes_;
  c.aes_blocks += ciphers_.aes.blocks() - published_aes_;
  c.sha1_blocks += ciphers_.sha1.blocks() - published_sha1_;
  published_bytes_ = rep3_.layer_bytes();
  published_aes_ = ciphers_.aes.blocks();
  published_sha1_ = ciphers_.sha1.blocks();
}

}  // namespace tkdc
