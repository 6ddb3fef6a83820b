// SPDX-License-Identifier: Apache-2.0
#include "liar.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <limits>
#include <sstream>

namespace tkdc::test {
namespace {

constexpr Verdict kNot = TKDC_STATUS_UNAVAILABLE;
// As in deviate.cc: by then a job is admitted, and its thousands of rounds are not over; one
// changed octet alone might stand in the filling of another.
constexpr int kFirstLayer = 100, kChangedLayers = 8;
constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kVerdictBytes = 32 + 1;  // a course's digest, and whether a check held
constexpr std::uint64_t kMadeUpLines = 1'000'000;

// Packets of the handshake begin with 'H', 'X', or the number of a step; a lane's with its tick,
// which is below 2^24 here.
std::optional<std::uint32_t> tick_of(ByteSpan packet) {
  if (packet.size() < kHeaderBytes || packet[0] != 0) return std::nullopt;
  return Reader(packet).u32();
}

int opened_for_writing(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

void write_all(int fd, ByteSpan octets) {
  while (fd >= 0 && !octets.empty()) {
    const ssize_t written = ::write(fd, octets.data(), octets.size());
    if (written <= 0) return;  // the test misses it, and fails
    octets = octets.subspan(static_cast<std::size_t>(written));
  }
}

// Openings and exchanges of a packet to the next neighbour.
std::size_t opened_in(ByteSpan packet) {
  auto parts = parse_packet(packet);
  return parts ? parts->rest.size() : 0;
}

}  // namespace

// ---- orders and the tap

void Liar::look_for_orders() {
  const std::string armed = folder_ + "/armed";
  const int fd = ::open(armed.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[256];
  const ssize_t bytes = ::read(fd, text, sizeof text);
  ::close(fd);
  if (bytes <= 0 || ::unlink(armed.c_str()) != 0) return;
  begin(std::string(text, static_cast<std::size_t>(bytes)));
}

void Liar::begin(const std::string& order) {
  end();
  std::istringstream in(order);
  in >> lie_;
  withholds_ = shortens_ = dies_ = false;
  goes_on_ = lie_.starts_with("gone-");
  stops_at_.reset();
  aborts_after_.reset();
  lane_ = 0;
  for (std::string then; in >> then;) {
    withholds_ |= then == "withhold";
    shortens_ |= then == "shorten";
    goes_on_ |= then == "break";
    dies_ |= then == "die";
    if (std::size_t octets = 0; (then == "break" || then == "die") && in >> octets)
      stops_at_ = octets;
    if (std::uint32_t ticks = 0; then == "abort" && in >> ticks) aborts_after_ = ticks;
    if (then == "on") in >> lane_;
  }
  lied_at_.reset();
  compares_at_.reset();
  silent_ = forgets_ = told_of_held_ = false;
  layers_sent_ = layers_changed_ = openings_ = votes_ = 0;
  records_ = 0;
  run_opened_ = run_ticks_ = 0;
  masked_at_.reset();
  if (is("none")) return lie_.clear();
  tap_ = opened_for_writing(folder_ + "/tap");
  received_ = opened_for_writing(folder_ + "/received");
}

void Liar::end() {
  note("end");
  for (int* fd : {&tap_, &received_})
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
  lie_.clear();
}

void Liar::note(const std::string& line) {
  const std::string text = line + "\n";
  write_all(tap_, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void Liar::closed() { note("closed"); }

void Liar::lied(std::uint32_t tick) {
  if (lied_at_) return;
  lied_at_ = tick;
  note("lie " + std::to_string(tick));
}

bool Liar::holds() const {
  return ((withholds_ || shortens_) && lied_at_ && !compares_at_) || is("opening-digest") ||
         is("layer-then-good") || is("masked-both") || stops_at_;
}

// ---- the handshake

// The session of the lie is over. What each was told in it would show in the next handshake that
// it had lied; the two others still have each other's word.
void Liar::forget(Hello& hello) {
  if (goes_on_ || (is("held") && !told_of_held_)) return;
  if (lied_at_ && !is("hello-epoch")) {
    end();
    lied_at_.reset();
    forgets_ = true;
  }
  if (forgets_) hello.course = {};
}

void Liar::say_hello(Peer& peer, SecretVector& packet) {
  auto hello = decode_hello(packet);
  if (!hello) return;
  peer.side = peer.heard_hello ? Neighbour::kPrev : Neighbour::kNext;
  peer.said_hello = true;
  peer.lane = hello->lane;
  party_ = hello->party;
  forget(*hello);
  if (is("hello-epoch")) {
    if (peer.side == Neighbour::kNext) hello->epoch += 1;
    lied(0);
  }
  if (is("held") && lied_at_ && peer.side == Neighbour::kNext) {
    hello->held = {};
    told_of_held_ = true;
  }
  packet = encode_hello(*hello);
}

void Liar::hear_hello(Peer& peer, SecretVector& packet) {
  auto hello = decode_hello(packet);
  if (!hello) return;
  peer.heard_hello = true;
  forget(*hello);
  packet = encode_hello(*hello);
}

// ---- lies

// The lies of which its own program has to know take as many.
std::size_t Liar::least_verdicts() const {
  if (is("audit-heads")) return 1;
  return is("verdicts") || is("put-back") ? 2 : std::numeric_limits<std::size_t>::max();
}

// What one server says to both others. True: it was changed.
bool Liar::lie_in_word(int to, std::uint32_t tick, LaneControl& said) {
  const bool to_next = to == party_at(Neighbour::kNext);
  if (lied_at_ && *lied_at_ != tick) return false;
  if (is("verdicts") && said.verdicts.size() >= least_verdicts()) {
    for (std::size_t k = 0; k < said.verdicts.size(); ++k)
      if (k != (to_next ? 0u : 1u)) said.verdicts[k] = kNot;
    return true;
  }
  if (is("put-back") && said.verdicts.size() >= least_verdicts()) {
    said.verdicts[0] = to_next ? kMissing : Verdict{TKDC_STATUS_LIMIT};
    return true;
  }
  if (is("audit-heads") && said.verdicts.size() >= least_verdicts()) {
    said.audit_head = AuditHead{kMadeUpLines + (to_next ? 1 : 2), {}};
    return true;
  }
  if (!to_next) return false;
  if (is("sealed-at") && said.manifest) {
    said.manifest->sealed_at ^= 1;
    return true;
  }
  if (is("order") && said.manifest && said.manifest->jobs.size() >= 2) {
    std::swap(said.manifest->jobs[0], said.manifest->jobs[1]);
    return true;
  }
  if (is("names") && said.manifest && said.manifest->jobs.size() >= 2) {
    said.manifest->jobs[1].name.number += 1'000'000;
    return true;
  }
  if (is("windows") && said.revoked) {
    said.revoked.reset();
    return true;
  }
  return false;
}

// What it says to one neighbour: its own verdict on a job, and two digests. True: it was changed.
bool Liar::lie_in_statements(int to, std::uint32_t tick, LanePacket& packet) {
  constexpr std::size_t kPublic = 1, kComponent = 1 + sizeof(Digest);
  Bytes& statements = packet.to_one;
  if (lied_at_ && *lied_at_ != tick) return false;
  if (statements.empty() || statements.size() % AdmissionStatement::kBytes != 0 ||
      statements[0] != kAdmit)
    return false;
  const bool to_next = to == party_at(Neighbour::kNext);
  if (is("statements") || is(to_next ? "statement-next" : "statement-prev")) {
    statements[kComponent] ^= 1;
    return true;
  }
  if (is("statement-public") && to_next) {
    statements[kPublic] ^= 1;
    return true;
  }
  if (is("statement-wrong-key")) {
    statements[0] = TKDC_STATUS_INTEGRITY;
    return true;
  }
  if (is("statement-verdict") && to_next) {
    statements[0] = TKDC_STATUS_UNKNOWN_KEY;
    return true;
  }
  return false;
}

// A layer's message, and whole packets; all to the previous neighbour.
void Liar::lie_in_octets(Peer& peer, std::uint32_t tick, SecretVector& packet) {
  const bool layers = is("layer") || is("layer-then-good");
  if (!layers && !is("replay") && !is("truncated")) return;
  if (packet.size() <= 2 * kHeaderBytes || ++layers_sent_ < kFirstLayer) {
    peer.before = packet;
    return;
  }
  const SecretVector meant = packet;
  if (layers && layers_changed_ < kChangedLayers) {
    ++layers_changed_;
    packet.back() ^= 0xff;
    lied(tick);
  } else if (is("replay") && !lied_at_) {
    packet = peer.before;
    lied(tick);
  } else if (is("truncated") && !lied_at_) {
    packet.pop_back();
    lied(tick);
  }
  peer.before = meant;
}

// What is opened or exchanged in this tick: to the next neighbour at the packet's end, and to the
// previous one in the packet that is held.
void Liar::lie_in_openings(std::uint32_t tick, SecretVector& packet, SecretVector* held) {
  const std::size_t opened = opened_in(packet);
  if (opened == 0) return;
  if (is("opening") && !lied_at_) {
    packet[packet.size() - opened] ^= 1;  // the seed's component
    lied(tick);
  }
  lie_in_votes(tick, opened, packet);
  lie_in_masked(tick, opened, packet, held);
  constexpr std::size_t kDigestAndPair = 32 + 32;
  if (is("opening-digest") && !lied_at_ && held != nullptr && held->size() > kDigestAndPair) {
    (*held)[held->size() - kDigestAndPair] ^= 1;
    lied(tick);
  }
  if (opened != kVerdictBytes) return;
  if (is("verdict-bad") && !lied_at_ && packet.back() == 1) {
    packet.back() = 0;
    lied(tick);
  }
  if (is("layer-then-good") && held != nullptr && packet.back() == 0) {
    packet.back() = 1;
    held->back() = 1;
    note("says-good " + std::to_string(tick));
  }
}

// What its store did, in an octet alone: of the first step, then of the second.
void Liar::lie_in_votes(std::uint32_t tick, std::size_t opened, SecretVector& packet) {
  if ((!is("vote") && !is("vote-second")) || lied_at_ || opened != 1) return;
  if (++votes_ < (is("vote") ? 1 : 2)) return;
  packet.back() ^= 1;
  lied(tick);
}

// Masked values of so many blocks go to both, tick by tick; the first of them is an opening. What
// is to be changed is known a tick before, when the next one's packet of it cannot be there yet.
void Liar::lie_in_masked(std::uint32_t tick, std::size_t opened, SecretVector& packet,
                         SecretVector* held) {
  constexpr std::size_t kBlock = 16, kEnough = 2;
  const bool goes_on = opened == run_opened_ && tick == run_last_ + 1;
  run_ticks_ = goes_on ? run_ticks_ + 1 : 1;
  run_opened_ = opened;
  run_last_ = tick;
  const bool both = is("masked-both");
  if ((!both && !is("masked-one")) || lied_at_) return;
  if (masked_at_ == tick) {
    packet.back() ^= 1;
    if (both && held != nullptr) held->back() ^= 1;
    lied(tick);
  } else if (opened % kBlock == 0 && run_ticks_ >= kEnough) {
    masked_at_ = tick + 1;
  }
}

// ---- answers to agents

bool Liar::answers(JobReply& reply) {
  look_for_orders();
  // Without a message there was no operation: it tells of itself.
  const bool computed = reply.cost.rounds > 0 || reply.cost.message_bytes > 0;
  if (!lie_.starts_with("answer-") || !computed) return false;
  const bool good = reply.status == TKDC_STATUS_OK;
  const bool has_output = good && !reply.output.empty();
  if (is("answer-output") && has_output) {
    reply.output.back() ^= 1;
  } else if (is("answer-digest") && has_output) {
    reply.next_output.back() ^= 1;
  } else if (is("answer-denied") && good) {
    reply.status = TKDC_STATUS_DENIED;
  } else if (is("answer-unknown") && good) {
    reply.status = TKDC_STATUS_UNKNOWN_KEY;
  } else if (is("answer-integrity") && good) {
    reply.status = TKDC_STATUS_INTEGRITY;
  } else if (is("answer-ok") && reply.status == TKDC_STATUS_INTEGRITY) {
    constexpr std::size_t kTimestampBytes = 19;
    reply.status = TKDC_STATUS_OK;
    reply.message.clear();
    reply.output.assign(kTimestampBytes, 0);
  } else {
    return false;
  }
  note("answer");
  lied(0);
  return true;
}

// ---- packets

// Shorter ones say how much may be sent, or that it is there.
Liar::Fate Liar::says_of_two(MutableByteSpan record) {
  constexpr std::size_t kLeast = 40;
  look_for_orders();
  if (!lie_.starts_with("stream-") || lied_at_ || record.size() < kLeast) return Fate::kSend;
  if (lie_ != "stream-" + std::to_string(++records_)) return Fate::kSend;
  lied(records_);
  if (dies_) (void)::raise(SIGKILL);
  if (goes_on_) return Fate::kCut;
  record.back() ^= 1;
  return Fate::kSend;
}

// Nothing false is told: whether it goes instead of saying this.
bool Liar::is_to_go(const LanePacket& packet, const std::optional<LaneControl>& said) {
  if (lied_at_) return false;
  const bool opens = !packet.rest.empty() && ++openings_ > 0;
  if (is("gone-manifest")) return said && said->manifest;
  if (is("gone-statements")) return !packet.to_one.empty();
  if (is("gone-verdicts")) return said && !said->verdicts.empty();
  return opens && lie_ == "gone-opening-" + std::to_string(openings_);
}

Liar::Fate Liar::says(Peer& peer, SecretVector& packet, SecretVector* held) {
  look_for_orders();
  if (!packet.empty() && packet[0] == 'H') say_hello(peer, packet);
  const auto tick = tick_of(packet);
  if (lie_.empty() || !tick || !peer.said_hello || peer.lane != lane_) return Fate::kSend;
  if (silent_) return Fate::kWithhold;
  if (lied_at_ && aborts_after_ && *tick >= *lied_at_ + *aborts_after_) {
    note("aborted " + std::to_string(*tick));
    return Fate::kCut;
  }
  auto parts = parse_packet(packet);
  auto said = parts ? said_in(*parts) : std::nullopt;
  if (said && lie_in_word(party_at(peer.side), *tick, *said)) {
    packet = with(packet, *said);
    lied(*tick);
  }
  if (parts && lie_in_statements(party_at(peer.side), *tick, *parts)) {
    packet = encode(*parts);
    lied(*tick);
  }
  if (peer.side == Neighbour::kPrev) {
    lie_in_octets(peer, *tick, packet);
    return holds() ? Fate::kHold : Fate::kSend;
  }
  if ((is("held") && !lied_at_) || (goes_on_ && parts && is_to_go(*parts, said))) {
    lied(*tick);
    note("aborted " + std::to_string(*tick));
    return Fate::kCut;
  }
  if (lied_at_ && stops_at_ == opened_in(packet)) {
    note("aborted " + std::to_string(*tick));
    if (dies_) (void)::raise(SIGKILL);
    stops_at_.reset();
    return Fate::kCut;
  }
  lie_in_openings(*tick, packet, held);
  if (lied_at_ && !compares_at_ && opened_in(packet) > 0) {
    compares_at_ = *tick;
    note("compares " + std::to_string(*tick));
    if (shortens_) {
      silent_ = true;
      packet.pop_back();
      if (held != nullptr) held->pop_back();
      note("withheld " + std::to_string(*tick));
    } else if (withholds_) {
      silent_ = true;
      note("withheld " + std::to_string(*tick));
      return Fate::kWithhold;
    }
  }
  return Fate::kSend;
}

// Another server has not got the job: all put it back, whatever was stated of it.
void Liar::tell_again(std::uint32_t tick, ByteSpan packet) {
  if (!lied_at_ || tick != *lied_at_ + 1) return;
  auto parts = parse_packet(packet);
  auto said = parts ? said_in(*parts) : std::nullopt;
  if (said && !said->verdicts.empty() && said->verdicts[0] == kMissing) lied_at_.reset();
}

bool Liar::hears(Peer& peer, SecretVector& packet) {
  if (!packet.empty() && packet[0] == 'H') hear_hello(peer, packet);
  const auto tick = tick_of(packet);
  if (lie_.empty() || !tick || !peer.said_hello) return true;
  const bool prev = peer.side == Neighbour::kPrev;
  note((peer.lane == lane_ ? "got " : "beside ") + std::string(prev ? "prev " : "next ") +
       std::to_string(*tick) + " " + std::to_string(packet.size()) + " " +
       std::to_string(prev ? opened_in(packet) : 0));
  write_all(received_, packet);
  if (peer.lane != lane_) return true;
  // Its own program would see that the others were told something else, and go.
  if (silent_) return false;
  // Its own program hears of the same sum as the others.
  if (is("masked-both") && !prev && masked_at_ == tick) packet.back() ^= 1;
  if (lie_.starts_with("statement")) tell_again(*tick, packet);
  if (!prev && (!lied_at_ || lied_at_ == tick)) believe(*tick, packet);
  return true;
}

// Its own program goes on as its next neighbour does. That one's packet may be there before its
// own of the same tick has left.
void Liar::believe(std::uint32_t tick, SecretVector& packet) {
  auto parts = parse_packet(packet);
  auto said = parts ? said_in(*parts) : std::nullopt;
  if (!said || said->verdicts.size() < least_verdicts()) return;
  if (is("audit-heads")) said->audit_head = AuditHead{kMadeUpLines, {}};
  if (is("put-back")) said->verdicts[0] = Verdict{TKDC_STATUS_LIMIT};
  if (is("verdicts"))
    for (std::size_t k = 1; k < said->verdicts.size(); ++k) said->verdicts[k] = kNot;
  packet = with(packet, *said);
  lied(tick);
}

}  // namespace tkdc::test
