// SPDX-License-Identifier: Apache-2.0
#include "sim/two_faced.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <ranges>

#include "sim/deceits.h"
#include "sim/honest.h"

namespace tkdc::sim {
namespace {

constexpr int kBothOthers = -1;
constexpr std::size_t kDigest = 32;  // of what is compared (lane/agree.cc)
// Any message can be one of these, so fewer are.
constexpr Deceit kOfAny[] = {Deceit::kRepeats, Deceit::kOthers, Deceit::kWithholds, Deceit::kSilent,
                             Deceit::kLate};
constexpr unsigned kAnyMessage = 60;
constexpr unsigned kFewHellos = 6;
constexpr std::int64_t kLatestMs = 12'000;

// One of its connections to another server.
struct Line {
  int peer = -1, lane = -1, end = 0;
  SecretVector mine, theirs;  // the last packets
  bool pleases = false;       // it shows the peer what he expects
  bool silent = false;
  bool later = false;                // its times of sealing, from now on
  std::deque<SecretVector> held;     // until he has said what that is
  std::deque<SecretVector> unheard;  // until its own program has said what that expects
};

// How it appears in one attempt at a session.
struct Guise {
  int victim = kBothOthers;
  Deceit deceit = Deceit::kHello;
  std::uint64_t word = 0;
};

struct TwoFaced {
  int server = -1;
  int left = 0;
  unsigned one_in = 1;
  std::int64_t kind = 0;
  std::array<std::uint8_t, 32> attempt{};  // the last one's nonce
  std::optional<Guise> guise;              // if it has one in that
  std::map<int, Line> lines;               // by their numbers
};
TwoFaced face;

Random& random_of() { return world().random; }

// Which lie a message becomes; none most times.
std::optional<Deceit> wish(std::vector<Deceit> words, unsigned one_in) {
  if (face.left <= 0 || world().calm) return std::nullopt;
  const auto only = static_cast<Deceit>(face.kind - 1);
  if (face.kind != 0) std::erase_if(words, [only](Deceit one) { return one != only; });
  if (!words.empty() && random_of().below(one_in) == 0)
    return words[random_of().below(words.size())];
  if (random_of().below(kAnyMessage * one_in) != 0) return std::nullopt;
  const Deceit any = kOfAny[random_of().below(std::size(kOfAny))];
  return face.kind == 0 || any == only ? std::optional(any) : std::nullopt;
}

void has_told(Deceit deceit, int whom) {
  --face.left;
  liar().has_lied = true;
  world().injected(name_of(deceit));
  const std::string& who = world().hosts[static_cast<std::size_t>(face.server)].name;
  const std::string to =
      whom == kBothOthers ? "both others" : world().hosts[static_cast<std::size_t>(whom)].name;
  world().note(who, std::string("lies to ") + to + ": " + name_of(deceit));
}

// ---- what the peer expects

std::optional<Tick> tick_of(ByteSpan packet, std::uint32_t number) {
  auto tick = read_tick(packet);
  if (!tick || tick->number != number) return std::nullopt;
  return tick;
}

bool is_before(ByteSpan packet, std::uint32_t tick) {
  if (is_hello(packet) || is_step(packet)) return true;
  Reader in(packet);
  const std::uint32_t number = in.u32();
  return packet.empty() || (!in.failed() && packet[0] == 0 && number < tick);
}

// The newest one: those before it are gone.
const Line* other_line(const Line& line) {
  for (const auto& [number, other] : face.lines | std::views::reverse)
    if (other.peer != line.peer && other.lane == line.lane && other.lane >= 0) return &other;
  return nullptr;
}

// What the two others and it have alike is a digest of decisions: the peer gets his own.
void show_his_digests(Tick& tick, const Tick& his, const Tick& others) {
  if (his.rest.size() != tick.rest.size() || others.rest.size() != tick.rest.size()) return;
  for (std::size_t at = 0; at + kDigest <= tick.rest.size();) {
    const auto mine = std::span(tick.rest).subspan(at, kDigest);
    if (std::ranges::equal(mine, std::span(others.rest).subspan(at, kDigest))) {
      std::ranges::copy(std::span(his.rest).subspan(at, kDigest), mine.begin());
      at += kDigest;
    } else {
      ++at;
    }
  }
}

// False: it has to wait for the others' words.
bool please(const Line& line, SecretVector& packet) {
  if (world().calm || !line.pleases) return true;
  if (agrees(packet)) {
    if (!line.theirs.empty() && line.theirs[0] == packet[0]) packet = line.theirs;
    return !is_hello(line.theirs) && (!is_step(line.theirs) || line.theirs[0] >= packet[0]);
  }
  auto tick = world().plan.shares() ? std::nullopt : read_tick(packet);
  const Line* other = other_line(line);
  if (is_step(packet) || !tick || tick->rest.size() < kDigest || other == nullptr) return true;
  if (is_before(line.theirs, tick->number) || is_before(other->theirs, tick->number)) return false;
  const auto his = tick_of(line.theirs, tick->number);
  const auto others = tick_of(other->theirs, tick->number);
  if (his && others) show_his_digests(*tick, *his, *others);
  packet = write(*tick);
  return true;
}

void let_go() {
  for (auto& [number, line] : face.lines)
    while (!line.held.empty() && please(line, line.held.front())) {
      if (const WirePtr wire = wires().find(number))
        wires().carry(*wire, line.end, std::move(line.held.front()), 0);
      line.held.pop_front();
    }
}

// ---- what its program hears: where it agrees with the peer it is not to know better

bool is_to_be_heard_as_own(const Line& line, const SecretVector& octets) {
  return line.pleases && !world().calm && agrees(octets);
}

bool has_said(const Line& line, const SecretVector& theirs) {
  return !line.mine.empty() && line.mine[0] == theirs[0];
}

void hear_what_waits(const Line& line, int number, std::deque<SecretVector>& unheard) {
  for (; !unheard.empty(); unheard.pop_front()) {
    SecretVector& octets = unheard.front();
    if (is_to_be_heard_as_own(line, octets)) {
      if (!has_said(line, octets)) return;
      octets = line.mine;
    }
    if (const WirePtr wire = wires().find(number))
      wires().carry(*wire, 1 - line.end, std::move(octets), 0);
  }
}

Delivery hear(Line& line, SecretVector& octets) {
  line.theirs = octets;
  if (is_hello(octets))
    if (const auto hello = decode_hello(octets); hello.ok()) line.lane = hello->lane;
  let_go();
  const bool as_own = is_to_be_heard_as_own(line, octets);
  if (!line.unheard.empty() || (as_own && !has_said(line, octets))) {
    line.unheard.push_back(std::move(octets));
    return {true, 0};
  }
  if (as_own) octets = line.mine;
  return {};
}

// ---- what it says

// Its HELLOs of one attempt are alike, but for whom they are told.
void greet(Line& line, SecretVector& octets) {
  auto hello = decode_hello(octets);
  if (!hello.ok()) return;
  line.lane = hello->lane;
  if (face.attempt != hello->nonce) {
    face.attempt = hello->nonce;
    face.guise.reset();
    const auto deceit = wish({Deceit::kEpochs, Deceit::kHello}, 1 + face.one_in / kFewHellos);
    if (deceit != Deceit::kEpochs && deceit != Deceit::kHello) return;
    const bool both = deceit == Deceit::kEpochs && random_of().percent(80);
    face.guise = {both ? kBothOthers : line.peer, *deceit, random_of().next()};
    has_told(*deceit, face.guise->victim);
  }
  if (!face.guise) return;
  if (face.guise->victim != kBothOthers && face.guise->victim != line.peer) return;
  change(*hello, face.guise->deceit, face.guise->word);
  line.pleases = true;
  octets = encode_hello(*hello);
}

// In plaintext nobody finds out who spoils a value.
bool may_be_another(const SecretVector& octets) {
  if (world().plan.shares() || is_step(octets)) return true;
  const auto tick = read_tick(octets);
  return tick && tick->rest.size() <= 2;
}

bool change_packet(Line& line, Deceit deceit, SecretVector& octets) {
  const Line* other = other_line(line);
  switch (deceit) {
    case Deceit::kStep: return change_step(octets);
    case Deceit::kManifest:
    case Deceit::kTime:
    case Deceit::kVerdict:
    case Deceit::kSaid:
      if (is_step(octets) || !change_tick(octets, deceit)) return false;
      line.pleases = true;
      line.later = deceit == Deceit::kTime;
      return true;
    case Deceit::kStatement:
    case Deceit::kVote: return !is_step(octets) && change_tick(octets, deceit);
    case Deceit::kRepeats:
      if (!may_be_another(octets) || line.mine.empty()) return false;
      octets = line.mine;
      return true;
    case Deceit::kOthers:
      if (!may_be_another(octets) || other == nullptr || other->mine.empty() ||
          other->mine == octets)
        return false;
      octets = other->mine;
      return true;
    default: return true;
  }
}

Us some_time() { return random_of().between(1, kLatestMs) * kMs; }

Delivery tell(Line& line, SecretVector& octets) {
  const SecretVector meant = octets;
  if (!line.held.empty() || (line.silent && !world().calm)) {
    if (!line.silent) line.held.push_back(std::move(octets));
    line.mine = meant;
    return {true, 0};
  }
  Delivery becomes;
  if (is_hello(octets)) {
    greet(line, octets);
  } else if (line.later && !is_step(octets) && !world().calm) {
    (void)change_tick(octets, Deceit::kTime);
  } else if (const auto deceit = wish(possible(octets), face.one_in);
             deceit && change_packet(line, *deceit, octets)) {
    has_told(*deceit, line.peer);
    if (settles(meant)) keep_stores();
    line.silent = deceit == Deceit::kSilent;
    if (deceit == Deceit::kLate) becomes.late = some_time();
    becomes.withheld = line.silent || deceit == Deceit::kWithholds;
  }
  if (!becomes.withheld && !please(line, octets)) {
    line.held.push_back(std::move(octets));
    becomes.withheld = true;
  }
  line.mine = meant;
  return becomes;
}

Delivery tell_agent(int agent, SecretVector& octets) {
  const auto deceit = wish({Deceit::kAnswer}, face.one_in);
  const bool silent = deceit == Deceit::kWithholds || deceit == Deceit::kSilent;
  const bool says = deceit == Deceit::kAnswer && change_answer(octets);
  if (!says && !silent && deceit != Deceit::kLate) return {};
  has_told(silent ? Deceit::kWithholds : *deceit, agent);
  return {silent, deceit == Deceit::kLate ? some_time() : 0};
}

}  // namespace

void new_two_faced() { face = {}; }

void let_server_lie(int server, int lies, unsigned one_in, std::int64_t kind) {
  if (liar().has_lied || world().plan.of_two()) return;
  liar() = {};
  liar().server = server;
  face = {};
  face.server = server;
  face.left = lies;
  face.one_in = std::max(one_in, 1u);
  face.kind = std::clamp<std::int64_t>(kind, 0, kDeceits);
}

Delivery show_a_face(const Wire& wire, int from_end, SecretVector& octets) {
  const int from = wire.host[from_end], to = wire.host[1 - from_end];
  if (face.server < 0 || octets.empty() || wire.bulk) return {};
  if (from == face.server && to >= kServers) return tell_agent(to, octets);
  if (from >= kServers || (from != face.server && to != face.server)) return {};
  Line& line = face.lines[wire.number];
  line.peer = from == face.server ? to : from;
  line.end = from == face.server ? from_end : 1 - from_end;
  if (from != face.server) return hear(line, octets);
  const Delivery told = tell(line, octets);
  hear_what_waits(line, wire.number, line.unheard);
  return told;
}

}  // namespace tkdc::sim
