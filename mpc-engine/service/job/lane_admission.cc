// SPDX-License-Identifier: Apache-2.0
#include "service/job/lane_admission.h"

#include <algorithm>

#include "service/job/limits.h"
#include "service/sealing/nonce.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxManifest = kMaxCohortJobs;
constexpr std::size_t kMaxRunning = 2048;
constexpr std::size_t kMaxInputOctets = 4u << 20;

constexpr const char* kSetBack =
    "this server's clock was set back: a new session begins, whose tickets carry the time as it is "
    "now";

ManifestJobs jobs_of(const Manifest& manifest) {
  ManifestJobs listed;
  listed.sealed_at = manifest.sealed_at;
  for (const NamedJob& job : manifest.jobs) listed.candidates.emplace_back().named = job;
  return listed;
}

}  // namespace

// Nothing is proposed where no job is named: what has no effect is no decision.
void LaneAdmission::propose() {
  if (!leader() || running_.size() >= kMaxRunning) return;
  ManifestJobs listed;
  const std::uint32_t now = sealed_at_now();
  // Times of sealing never fall in a session, and the others take none that is ahead of theirs.
  if (now + kClockSkewUnits < last_sealed_at_ && queue_.has_waiting())
    return shared_.end_session(kSetBack);
  listed.sealed_at = std::max(now, last_sealed_at_);
  const FairQueue::Room most = {std::min(kMaxManifest, kMaxRunning - running_.size()),
                                octets_room()};
  const auto room_of = [this](std::uint64_t agent) { return running_room(agent); };
  const auto octets = [this](const JobName& name) { return shared_.pending.input_octets(name); };
  for (const JobName& name : queue_.take(most, room_of, octets))
    listed.candidates.emplace_back().named = {name, protocol_for(name)};
  if (!listed.candidates.empty()) proposed_ = std::move(listed);
}

// The one that it asks for; else the session's first, garbled where it is time to. One that the
// session has not is found by every server's own check.
std::uint8_t LaneAdmission::protocol_for(const JobName& name) {
  const std::string asked = shared_.pending.protocol(name);
  const auto found =
      std::ranges::find_if(protocols_, [&](const auto& one) { return one->info().name == asked; });
  const std::size_t named = found == protocols_.end() ? 0 : found - protocols_.begin();
  const Garbled garbled = named == 0 && choice_ != nullptr ? choice_->choose(name) : Garbled::kNo;
  return garbled == Garbled::kNo ? static_cast<std::uint8_t>(named)
                                 : name_garbled(garbled, protocols_);
}

// A tick's packet has some two octets for each of the inputs at work. Whoever asks for much at once
// does not make packets that a line cannot carry in time.
std::size_t LaneAdmission::octets_room() const {
  std::size_t at_work = 0;
  for (const auto& job : running_) at_work += job->running.input_bytes;
  for (const auto* listed : {&stated_, &verdicts_})
    if (*listed)
      for (const Candidate& candidate : (*listed)->candidates)
        if (candidate.job) at_work += candidate.job->request.input_bytes();
  return kMaxInputOctets - std::min(at_work, kMaxInputOctets);
}

std::size_t LaneAdmission::running_room(std::uint64_t agent) const {
  const auto running = static_cast<std::size_t>(std::ranges::count_if(
      running_, [&](const auto& job) { return job->request.name.agent == agent; }));
  const std::size_t most = room_.of(agent, Clock::now());
  return most - std::min(running, most);
}

void LaneAdmission::say(LaneControl& said, Ticker::OwnControl& own) const {
  if (proposed_) {
    Manifest& manifest = said.manifest.emplace();
    manifest.sealed_at = proposed_->sealed_at;
    for (const Candidate& c : proposed_->candidates) manifest.jobs.push_back(c.named);
  }
  if (verdicts_)
    for (const Candidate& c : verdicts_->candidates) said.verdicts.push_back(c.verdict);
  add_statements(own);
}

LaneExpects LaneAdmission::expects(int party) const {
  LaneExpects expected;
  expected.leader = party == 0;
  expected.verdicts = verdicts_ ? verdicts_->candidates.size() : 0;
  expected.most_jobs = kMaxManifest;
  expected.protocols = protocols_.size() + (choice_ != nullptr ? kWaysToGarble : 0);
  return expected;
}

Result<void> LaneAdmission::hear(const LaneControl& prev, const LaneControl& next,
                                 const Ticker::Control& control) {
  named_ = std::exchange(proposed_, std::nullopt);
  for (const LaneControl* other : {&prev, &next})
    if (other->manifest) named_ = jobs_of(*other->manifest);
  return read_statements(control.prev.to_me, control.next.to_me);
}

void LaneAdmission::add_statements(Ticker::OwnControl& own) const {
  if (!stated_) return;
  for (const Candidate& c : stated_->candidates) {
    const JobDigests digests = c.job ? c.job->found.digests : JobDigests();
    put_statement(own.to_prev, c.verdict, digests, 0);
    put_statement(own.to_next, c.verdict, digests, 1);
  }
}

Result<void> LaneAdmission::read_statements(ByteSpan from_prev, ByteSpan from_next) {
  const std::size_t jobs = stated_ ? stated_->candidates.size() : 0;
  Reader prev_in(from_prev), next_in(from_next);
  auto prev = get_statements(prev_in, jobs), next = get_statements(next_in, jobs);
  if (!prev) return prev.error();
  if (!next) return next.error();
  if (!prev_in.complete() || !next_in.complete())
    return fail("lane " + std::to_string(lane_index_) + ": a neighbour's statements are malformed");
  for (std::size_t k = 0; k < jobs; ++k) {
    Candidate& c = stated_->candidates[k];
    const JobDigests digests = c.job ? c.job->found.digests : JobDigests();
    c.verdict = judge(c.verdict, digests, (*prev)[k], (*next)[k]);
  }
  return {};
}

ManifestJobs LaneAdmission::settle(const LaneControl& prev, const LaneControl& next) {
  ManifestJobs admitted;
  if (!verdicts_) return admitted;
  admitted.sealed_at = verdicts_->sealed_at;
  for (std::size_t k = 0; k < verdicts_->candidates.size(); ++k) {
    Candidate& c = verdicts_->candidates[k];
    c.verdict = joint_verdict(c.verdict, prev.verdicts[k], next.verdicts[k]);
    if (c.verdict == kAdmit)
      admitted.candidates.push_back(std::move(c));
    else
      refuse(c);
  }
  if (!admitted.candidates.empty()) last_sealed_at_ = std::max(last_sealed_at_, admitted.sealed_at);
  verdicts_.reset();
  return admitted;
}

void LaneAdmission::take_named() {
  verdicts_ = std::exchange(stated_, std::nullopt);
  if (!named_) return;
  take_candidates(*named_);
  stated_ = std::exchange(named_, std::nullopt);
}

void LaneAdmission::take_candidates(ManifestJobs& listed) {
  const std::uint32_t now = sealed_at_now();
  ManifestTime time;
  time.clock_ok = now > 0 && listed.sealed_at + kClockSkewUnits >= now &&
                  listed.sealed_at <= now + kClockSkewUnits &&
                  listed.sealed_at >= last_sealed_at_ && listed.sealed_at < (1u << 24);
  time.revoked = shared_.revocations.state().windows.contains(listed.sealed_at);
  for (Candidate& c : listed.candidates) {
    c.job = shared_.pending.take(c.named.name);
    if (!c.job) continue;
    Job& job = *c.job;
    c.verdict = checks_.check(job, c.named.protocol, time);
    job.found.own = c.verdict;
    job.found.digests = digest_job(job.request, job.role, job.found.record.get(), c.named.protocol);
  }
}

// A job that another server has not got yet waits until it is named again.
void LaneAdmission::put_back(Candidate& candidate) {
  if (candidate.job->expired) return;
  if (candidate.job->deadline <= Clock::now()) {
    answers_.answer(candidate.job->request, TKDC_STATUS_UNAVAILABLE,
                    "another server did not receive this job in time");
    return;
  }
  candidate.job->found = {};
  const auto due = Clock::now() + candidate.job->retry_after;
  candidate.job->retry_after = std::min(2 * candidate.job->retry_after, Job::kMaxRetryAfter);
  if (auto refused = shared_.pending.put(std::move(candidate.job))) {
    answers_.answer(refused->request, TKDC_STATUS_LIMIT,
                    "too many jobs are waiting at this server");
    return;
  }
  if (leader()) queue_.put_back(candidate.named.name, due);
}

void LaneAdmission::refuse(Candidate& candidate) {
  if (choice_ != nullptr) choice_->settle(candidate.named.name, false);
  if (!candidate.job) return;  // this server is the one that waits for it
  if (candidate.job->found.holds_key) checks_.let_go(candidate.job->request);
  if (candidate.verdict == kMissing) return put_back(candidate);
  if (!candidate.job->expired)
    answers_.refuse(*candidate.job, static_cast<tkdc_status>(candidate.verdict));
}

}  // namespace tkdc
