// SPDX-License-Identifier: Apache-2.0
#include "sim/deceits.h"

#include <algorithm>

#include "lane/ticker.h"
#include "service/admit/admission.h"
#include "service/job/audit_head.h"
#include "service/wire/message.h"
#include "session/epochs.h"
#include "session/settle.h"
#include "sim/world.h"

namespace tkdc::sim {
namespace {

constexpr const char* kNames[kDeceits] = {
    "two-faced: its epochs",       "two-faced: its HELLO",       "two-faced: in the handshake",
    "two-faced: a manifest",       "two-faced: time of sealing", "two-faced: a verdict",
    "two-faced: a statement",      "two-faced: other words",     "two-faced: a vote",
    "two-faced: a message again",  "two-faced: another's",       "two-faced: withholds a message",
    "two-faced: is silent to one", "two-faced: a message late",  "two-faced: an answer",
};

// The parts of what is for both (service/job/lane_control.cc).
enum Parts : std::uint8_t {
  kManifestPart = 1,
  kVerdictsPart = 2,
  kWindowsPart = 4,
  kHeadPart = 8,
  kClockPart = 16,
  kSharesPart = 32
};
constexpr std::size_t kMostJobs = 4'096, kProtocols = 255;
constexpr Verdict kVerdicts[] = {kAdmit,
                                 TKDC_STATUS_UNAVAILABLE,
                                 TKDC_STATUS_DENIED,
                                 TKDC_STATUS_UNKNOWN_KEY,
                                 TKDC_STATUS_BAD_REQUEST,
                                 TKDC_STATUS_INCONSISTENT,
                                 TKDC_STATUS_LIMIT,
                                 kMissing};

std::uint8_t first(ByteSpan packet) { return packet.empty() ? 0 : packet[0]; }

template <class Octets>
void flip_bit(Octets& octets) {
  Random& random = world().random;
  if (!octets.empty())
    octets[random.below(octets.size())] ^= static_cast<std::uint8_t>(1u << random.below(8));
}

// Most times one that lets another job run, or none.
void change_verdict(std::uint8_t& verdict) {
  const std::uint8_t before = verdict;
  Random& random = world().random;
  if (before != kAdmit && random.percent(50)) verdict = kAdmit;
  while (verdict == before) verdict = kVerdicts[random.below(std::size(kVerdicts))];
}

struct Said {
  std::uint8_t parts = 0;
  std::optional<Manifest> manifest;
  Bytes verdicts, rest;
};

std::optional<Said> read_said(ByteSpan octets) {
  Reader in(octets);
  Said said;
  said.parts = in.u8();
  if ((said.parts & kManifestPart) != 0) {
    auto manifest = get_manifest(in, kMostJobs, kProtocols);
    if (!manifest.ok()) return std::nullopt;
    said.manifest = std::move(*manifest);
  }
  std::size_t behind = 0;
  if ((said.parts & kHeadPart) != 0) behind += std::tuple_size_v<OwnersNote>;
  if ((said.parts & kClockPart) != 0) behind += sizeof(std::uint64_t);
  if ((said.parts & kSharesPart) != 0) behind += 1;
  // Nobody says how many there are; revoked windows are of any length.
  if ((said.parts & kVerdictsPart) != 0 && (said.parts & kWindowsPart) == 0) {
    if (in.remaining() < behind) return std::nullopt;
    const ByteSpan verdicts = in.raw(in.remaining() - behind);
    said.verdicts.assign(verdicts.begin(), verdicts.end());
  }
  const ByteSpan rest = in.raw(in.remaining());
  said.rest.assign(rest.begin(), rest.end());
  if (in.failed()) return std::nullopt;
  return said;
}

Bytes write(const Said& said) {
  Bytes out;
  Writer w(out);
  w.u8(said.parts);
  if (said.manifest) put_manifest(out, *said.manifest);
  w.raw(said.verdicts);
  w.raw(said.rest);
  return out;
}

void change_jobs(Manifest& manifest) {
  Random& random = world().random;
  auto& jobs = manifest.jobs;
  NamedJob& one = jobs[random.below(jobs.size())];
  switch (random.below(5)) {
    case 0:
      if (jobs.size() > 1) {
        std::swap(one, jobs[random.below(jobs.size())]);
        break;
      }
      [[fallthrough]];
    case 1: one.name.number += static_cast<std::uint64_t>(random.between(1, 3)); break;
    case 2:
      if (jobs.size() > 1) {
        jobs.pop_back();
        break;
      }
      [[fallthrough]];
    case 3: one.protocol ^= 1; break;
    default: jobs.push_back(NamedJob(one)); break;
  }
}

// What stands behind manifest and verdicts; or anything.
bool change_words(Tick& tick, Said& said) {
  if (said.rest.empty()) return false;
  flip_bit(said.rest);
  tick.to_both = write(said);
  return true;
}

bool change_said(Tick& tick, Deceit deceit) {
  auto said = read_said(tick.to_both);
  if (!said) return false;
  const bool jobs = said->manifest && !said->manifest->jobs.empty();
  switch (deceit) {
    case Deceit::kManifest:
      if (!jobs) return false;
      change_jobs(*said->manifest);
      break;
    case Deceit::kTime:
      if (!jobs) return false;
      ++said->manifest->sealed_at;
      break;
    case Deceit::kVerdict:
      if (said->verdicts.empty()) return false;
      change_verdict(said->verdicts[world().random.below(said->verdicts.size())]);
      break;
    default: return change_words(tick, *said);
  }
  tick.to_both = write(*said);
  return true;
}

bool change_statement(Tick& tick) {
  const std::size_t statements = tick.to_me.size() / AdmissionStatement::kBytes;
  if (statements == 0) return false;
  const std::size_t at = world().random.below(statements) * AdmissionStatement::kBytes;
  if (world().random.percent(70))
    change_verdict(tick.to_me[at]);
  else
    tick.to_me[at + 1 + world().random.below(AdmissionStatement::kBytes - 1)] ^= 1;
  return true;
}

// One octet; or two, of what both others voted. Where several jobs exchange something in a tick it
// cannot be told from that.
bool is_vote(const SecretVector& rest) {
  return !rest.empty() && rest.size() <= 2 &&
         std::ranges::all_of(rest, [](std::uint8_t vote) { return vote <= 1; });
}

bool change_vote(Tick& tick) {
  if (!is_vote(tick.rest)) return false;
  tick.rest[world().random.below(tick.rest.size())] ^= 1;
  return true;
}

// Some few, as one start may add; more than that; or all that there are.
std::uint32_t a_lead(std::uint64_t word) {
  const std::uint64_t how = word % 3, by = word / 3;
  if (how == 0) return static_cast<std::uint32_t>(1 + by % 40);
  if (how == 1) return static_cast<std::uint32_t>(41 + by % 1'960);
  return static_cast<std::uint32_t>(by % kMaxEpoch);
}

void push_epochs(Hello& hello, std::uint64_t word) {
  hello.epoch_used = std::min(hello.epoch_used + a_lead(word), kMaxEpoch);
  hello.epoch = std::max(hello.epoch, hello.epoch_used);
}

void change_octet(std::span<std::uint8_t> octets, std::uint64_t word) {
  octets[word % octets.size()] ^= static_cast<std::uint8_t>(1u << word / 64 % 8);
}

}  // namespace

const char* name_of(Deceit deceit) { return kNames[static_cast<std::size_t>(deceit)]; }

bool is_hello(ByteSpan packet) { return first(packet) == 'H'; }

bool is_step(ByteSpan packet) {
  return first(packet) >= static_cast<std::uint8_t>(tkdc::Step::kConfirm) &&
         first(packet) <= static_cast<std::uint8_t>(tkdc::Step::kReady);
}

bool settles(ByteSpan packet) {
  return first(packet) == static_cast<std::uint8_t>(tkdc::Step::kPrepared) ||
         first(packet) == static_cast<std::uint8_t>(tkdc::Step::kCommitted);
}

bool agrees(ByteSpan packet) {
  return first(packet) == static_cast<std::uint8_t>(tkdc::Step::kConfirm) ||
         first(packet) == static_cast<std::uint8_t>(tkdc::Step::kEpoch);
}

std::optional<Tick> read_tick(ByteSpan packet) {
  Reader in(packet);
  Tick tick;
  tick.number = in.u32();
  Reader control(in.bytes(Ticker::kMaxControlBytes));
  if (in.failed()) return std::nullopt;
  if (control.remaining() > 0) {
    const ByteSpan to_both = control.bytes(Ticker::kMaxControlBytes);
    tick.to_both.assign(to_both.begin(), to_both.end());
    const ByteSpan to_me = control.raw(control.remaining());
    tick.to_me.assign(to_me.begin(), to_me.end());
  }
  if (control.failed()) return std::nullopt;
  const ByteSpan rest = in.raw(in.remaining());
  tick.rest.assign(rest.begin(), rest.end());
  return tick;
}

SecretVector write(const Tick& tick) {
  SecretVector out;
  SecretWriter w(out);
  w.u32(tick.number);
  if (tick.to_both.empty() && tick.to_me.empty()) {
    w.u32(0);
  } else {
    w.u32(static_cast<std::uint32_t>(sizeof(std::uint32_t) + tick.to_both.size() +
                                     tick.to_me.size()));
    w.bytes(tick.to_both);
    w.raw(tick.to_me);
  }
  w.raw(tick.rest);
  return out;
}

std::vector<Deceit> possible(ByteSpan packet) {
  using enum Deceit;
  if (is_hello(packet)) return {kEpochs, kHello};
  if (is_step(packet)) return {kStep};
  std::vector<Deceit> out;
  const auto tick = read_tick(packet);
  if (!tick) return out;
  if (const auto said = tick->to_both.empty() ? std::nullopt : read_said(tick->to_both)) {
    if (said->manifest) out = {kManifest, kTime};
    if (!said->verdicts.empty()) out.push_back(kVerdict);
    if (!said->rest.empty()) out.push_back(kSaid);
  }
  if (tick->to_me.size() >= AdmissionStatement::kBytes) out.push_back(kStatement);
  if (is_vote(tick->rest)) out.push_back(kVote);
  return out;
}

void change(Hello& hello, Deceit deceit, std::uint64_t word) {
  if (deceit == Deceit::kEpochs) return push_epochs(hello, word);
  const std::uint64_t how = word % 10, by = word / 10;
  switch (how) {
    case 0: push_epochs(hello, by); break;
    case 1: change_octet(hello.nonce, by); break;
    case 2: hello.held = {}; break;
    case 3: change_octet(hello.held, by); break;
    case 4: change_octet(hello.inventory, by); break;
    case 5: change_octet(hello.note, by); break;
    case 6: hello.two_parts = !hello.two_parts; break;
    case 7:
      if (hello.protocols.size() > 1) hello.protocols.erase(hello.protocols.begin() + 1);
      break;
    case 8: hello.course = {}; break;
    default:
      if (hello.course.last.empty())
        change_octet(hello.round, by);
      else
        change_octet(hello.course.last.back(), by);
  }
}

bool change_step(SecretVector& packet) {
  if (!is_step(packet) || packet.size() < 2) return false;
  Random& random = world().random;
  // Of what is half made a whole octet says yes or no.
  std::uint8_t& octet = packet[static_cast<std::size_t>(1 + random.below(packet.size() - 1))];
  octet ^= static_cast<std::uint8_t>(settles(packet) ? 1 : 1u << random.below(8));
  return true;
}

bool change_tick(SecretVector& packet, Deceit deceit) {
  auto tick = read_tick(packet);
  if (!tick) return false;
  const bool changed = deceit == Deceit::kVote        ? change_vote(*tick)
                       : deceit == Deceit::kStatement ? change_statement(*tick)
                                                      : change_said(*tick, deceit);
  if (changed) packet = write(*tick);
  return changed;
}

bool change_answer(SecretVector& frame) {
  auto reply = decode_reply(frame);
  if (!reply.ok()) return false;
  Random& random = world().random;
  const tkdc_status before = reply->status;
  while (reply->status == before)
    reply->status = static_cast<tkdc_status>(random.between(TKDC_STATUS_OK, TKDC_STATUS_INTERNAL));
  if (random.percent(50)) reply->output.clear();
  frame = encode(*reply);
  return true;
}

}  // namespace tkdc::sim
