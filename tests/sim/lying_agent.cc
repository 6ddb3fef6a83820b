// SPDX-License-Identifier: Apache-2.0
#include "sim/lying_agent.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "sim/realm.h"

namespace tkdc::sim {
namespace {

constexpr int kEverywhere = -1;
constexpr const char* kNames[kLies] = {
    "an agent lies: octets",     "an agent lies: lengths",   "an agent lies: shares",
    "an agent lies: its number", "an agent lies: its run",   "an agent lies: its time",
    "an agent lies: the key",    "an agent lies: operation", "an agent lies: protocol",
    "an agent lies: session",    "an agent lies: its role",  "an agent repeats itself",
    "an agent sends an old job", "an agent withholds a job", "an agent swaps two servers' jobs",
    "an agent sends a job late",
};

using JobAt = std::tuple<int, std::uint64_t, std::uint64_t>;  // host, run, number

struct LyingAgent {
  int host = -1;
  int left = 0;
  unsigned one_in = 1;
  std::int64_t kind = 0;
  bool has_lied = false;

  // ---- of the job that is sent out just now
  std::uint64_t run = 0, number = 0;
  std::optional<AgentsLie> lie;
  int victim = 0;                      // or kEverywhere
  std::optional<SecretVector> held;    // the victim's, to be swapped
  std::uint64_t word = 0;              // the same for all servers
  std::map<int, SecretVector> before;  // the last job that each server got, as the others did
};
LyingAgent deceiver;
std::map<JobAt, int> lied_about;  // and the server that was to take it for a later job
std::map<JobAt, int> victims;     // of these
std::set<JobAt> told_all;         // under another name, and alike
// Of each agent: its run, and the last number.
std::map<int, std::pair<std::uint64_t, std::uint64_t>> last_jobs;

bool is_single(tkdc_wire_op op) {
  return op == TKDC_OP_STATUS || op == TKDC_OP_LIST || op == TKDC_OP_LIST_DROPPED;
}

void flip_bit(std::uint8_t* octets, std::size_t bytes) {
  Random& random = world().random;
  if (bytes > 0) octets[random.below(bytes)] ^= static_cast<std::uint8_t>(1u << random.below(8));
}

// What servers compare is the same in both.
bool are_alike(const SecretVector& meant, const SecretVector& sent) {
  auto a = decode_request(meant), b = decode_request(sent);
  if (!a.ok() || !b.ok()) return false;
  for (JobRequest* request : {&*a, &*b}) request->deadline_ms = 0, request->request_id = 0;
  return encode(*a) == encode(*b);
}

void change_octets(SecretVector& frame) {
  Random& random = world().random;
  for (auto left = random.between(1, 4); left > 0; --left) flip_bit(frame.data(), frame.size());
  if (random.percent(20)) frame.resize(random.below(frame.size()) + 1);
  if (random.percent(5)) frame.resize(2 * frame.size());
}

void change_lengths(JobRequest& request) {
  Random& random = world().random;
  const auto other = [&](std::size_t bytes) {
    return random.percent(50) ? random.below(bytes + 1) : bytes + random.between(1, 40);
  };
  if (request.dealt.empty()) {
    const std::size_t bytes = std::min<std::size_t>(other(request.input_bytes()), kMaxInputBytes);
    for (SecretVector& component : request.component) component.resize(bytes);
  } else if (random.percent(50)) {
    request.dealt_input_bytes = static_cast<std::uint32_t>(other(request.dealt_input_bytes));
  } else {
    request.dealt.resize(std::max<std::size_t>(other(request.dealt.size()), 1));
  }
}

void change_shares(JobRequest& request) {
  SecretVector& which =
      request.dealt.empty() ? request.component[world().random.below(2)] : request.dealt;
  flip_bit(which.data(), which.size());
}

void change_number(JobRequest& request) {
  Random& random = world().random;
  const auto by = random.percent(90) ? random.between(1, 3) : random.between(1, 1'000'000);
  const bool less = random.percent(30) && std::cmp_less(by, request.name.number);
  request.name.number += less ? -static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
}

// Of another agent, most times, and with a number that is the one of its next job, or far ahead.
void change_run(JobRequest& request) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> others;
  for (const auto& [host, last] : last_jobs)
    if (host != deceiver.host) others.push_back(last);
  request.name.run ^= deceiver.word | 1;
  if (others.empty() || deceiver.word % 8 == 0) return;
  const auto& [run, number] = others[deceiver.word / 16 % others.size()];
  request.name.run = run;
  request.name.number = number + 1 + (deceiver.word % 2 == 0 ? 0 : 1'000'000);
}

void change_key(JobRequest& request) {
  Random& random = world().random;
  KeyRef& key = request.key;
  switch (random.below(6)) {
    case 0: flip_bit(key.id.data(), key.id.size()); break;
    case 1: flip_bit(key.principal.data(), key.principal.size()); break;
    case 2: flip_bit(key.installation.data(), key.installation.size()); break;
    case 3: key.kvno += 1; break;
    case 4: key.enctype = 17 + (key.enctype - 16) % 4; break;
    default:
      if (const auto& all = realm().model.keys; !all.empty())
        key = all[random.below(all.size())]->ref;
  }
}

void change_operation(JobRequest& request) {
  Random& random = world().random;
  if (random.percent(50)) {
    request.usage ^= 1u << random.below(4);
  } else {
    constexpr tkdc_wire_op kOthers[] = {TKDC_OP_SEAL,   TKDC_OP_OPEN,         TKDC_OP_MAC,
                                        TKDC_OP_VERIFY, TKDC_OP_SEAL_DERIVED, TKDC_OP_OPEN_DERIVED,
                                        TKDC_OP_STATUS};
    request.op = kOthers[random.below(std::size(kOthers))];
  }
}

void change_protocol(JobRequest& request) {
  Random& random = world().random;
  switch (random.below(4)) {
    case 0: request.protocol = "rep3"; break;
    case 1: request.protocol = "another"; break;
    case 2: request.public_data = encode(Part{Part::Kind::kTail, request.name.number - 1}); break;
    default: request.public_data = encode(Part{Part::Kind::kHead, 0}); break;
  }
}

void change_session(JobRequest& request) {
  constexpr std::size_t kBytes = 16;  // they stand in front of what is dealt
  if (request.dealt.size() < kBytes) return change_shares(request);
  flip_bit(request.dealt.data(), kBytes);
}

// The same at all servers: it is theirs to refuse it.
void take_administrators_role(JobRequest& request) {
  constexpr tkdc_wire_op kTheirs[] = {TKDC_OP_STAGE,   TKDC_OP_EXPORT, TKDC_OP_BIND,
                                      TKDC_OP_DESTROY, TKDC_OP_PURGE,  TKDC_OP_GIVE_BACK};
  request.op = kTheirs[deceiver.word % std::size(kTheirs)];
}

void change_request(JobRequest& request) {
  switch (*deceiver.lie) {
    case AgentsLie::kLengths: return change_lengths(request);
    case AgentsLie::kShares: return change_shares(request);
    case AgentsLie::kNumber: return change_number(request);
    case AgentsLie::kRun: return change_run(request);
    case AgentsLie::kTime:
      request.deadline_ms = deceiver.word % 2 == 0 ? 1 : kMaxDeadlineMs;
      return;
    case AgentsLie::kKey: return change_key(request);
    case AgentsLie::kOperation: return change_operation(request);
    case AgentsLie::kProtocol: return change_protocol(request);
    case AgentsLie::kSession: return change_session(request);
    case AgentsLie::kRole: return take_administrators_role(request);
    default: return;
  }
}

// Of a job: whether it is lied about, how and to whom.
void decide(const JobName& name) {
  deceiver.run = name.run;
  deceiver.number = name.number;
  deceiver.lie.reset();
  deceiver.held.reset();
  Random& random = world().random;
  if (deceiver.left <= 0 || random.below(deceiver.one_in) != 0) return;
  --deceiver.left;
  deceiver.has_lied = true;
  deceiver.lie =
      static_cast<AgentsLie>(deceiver.kind == 0 ? random.between(0, kLies - 1) : deceiver.kind - 1);
  deceiver.victim = static_cast<int>(random.below(static_cast<std::uint64_t>(world().servers())));
  if (deceiver.lie == AgentsLie::kSwaps && deceiver.victim > 0) --deceiver.victim;
  deceiver.word = random.next();
  if (deceiver.lie == AgentsLie::kRole || (deceiver.lie == AgentsLie::kRun && random.percent(50)))
    deceiver.victim = kEverywhere;
  const std::string what = kNames[static_cast<std::size_t>(*deceiver.lie)];
  world().injected(what);
  world().note(world().hosts[static_cast<std::size_t>(deceiver.host)].name,
               "lies in job " + std::to_string(name.number) + ": " + what);
}

void send_late(int server, SecretVector frame, const SendTo& send) {
  Host& host = world().hosts[static_cast<std::size_t>(deceiver.host)];
  const Us by = static_cast<Us>(deceiver.word % static_cast<std::uint64_t>(12 * kSecond));
  world().fibers.start(
      host, [&host, server, by, send, frame = std::make_shared<SecretVector>(std::move(frame))] {
        world().sleep(by);
        if (!host.dead) send(server, std::move(*frame));
      });
}

// Nobody else has it of this name, or all have other words of it.
void note_lie(int server, const JobRequest& meant, const SecretVector& before,
              const SecretVector& after) {
  if (is_single(meant.op)) return;
  if (*deceiver.lie != AgentsLie::kRole && are_alike(before, after)) return;
  lied_about.insert({{deceiver.host, meant.name.run, meant.name.number}, kEverywhere});
  if (deceiver.victim != kEverywhere)
    victims[{deceiver.host, meant.name.run, meant.name.number}] = server;
  auto sent = decode_request(after);
  if (!sent.ok()) return;
  const JobAt other{deceiver.host, sent->name.run, sent->name.number};
  const bool later = sent->name.run != meant.name.run || sent->name.number > meant.name.number;
  if (later && !told_all.contains(other)) lied_about.insert({other, server});
}

// Whoever alone had not got a job has it now, as the others do.
void forget_lie(int server, const SecretVector& frame) {
  auto old = decode_request(frame);
  if (!old.ok()) return;
  const JobAt job{deceiver.host, old->name.run, old->name.number};
  const auto victim = victims.find(job);
  if (victim != victims.end() && victim->second == server) lied_about.erase(job);
}

void lie_to(int server, const JobRequest& meant, SecretVector frame, const SendTo& send) {
  SecretVector sent = frame;
  switch (*deceiver.lie) {
    case AgentsLie::kRepeats: send(server, frame); return send(server, std::move(sent));
    case AgentsLie::kAnOldOne:
      sent = deceiver.before.contains(server) ? deceiver.before[server] : SecretVector();
      note_lie(server, meant, frame, sent);
      forget_lie(server, sent);
      if (!sent.empty()) send(server, std::move(sent));
      return;
    case AgentsLie::kWithholds: return note_lie(server, meant, frame, {});
    case AgentsLie::kLate: return send_late(server, std::move(frame), send);
    case AgentsLie::kOctets: change_octets(sent); break;
    default: {
      auto changed = *decode_request(frame);
      change_request(changed);
      sent = encode(changed);
    }
  }
  if (deceiver.victim != kEverywhere || deceiver.lie == AgentsLie::kRole)
    note_lie(server, meant, frame, sent);
  else if (auto name = decode_request(sent); name.ok())
    told_all.insert({deceiver.host, name->name.run, name->name.number});
  send(server, std::move(sent));
}

// The victim and the next one: each gets the other's.
bool swap_two(int server, const JobRequest& meant, SecretVector& frame, const SendTo& send) {
  if (deceiver.lie != AgentsLie::kSwaps || server < deceiver.victim || server > deceiver.victim + 1)
    return false;
  if (server == deceiver.victim) {
    // What is dealt to two servers fits in their places, too.
    if (!world().plan.of_two()) note_lie(server, meant, frame, {});
    deceiver.held = std::move(frame);
  } else if (deceiver.held) {
    send(deceiver.victim, std::move(frame));
    send(server, std::move(*std::exchange(deceiver.held, std::nullopt)));
  }
  return true;
}

}  // namespace

void new_lying_agent() {
  deceiver = {};
  lied_about.clear();
  victims.clear();
  told_all.clear();
  last_jobs.clear();
}

void let_agent_lie(int host, int jobs, unsigned one_in, std::int64_t kind) {
  if (deceiver.has_lied) return;
  deceiver = {};
  deceiver.host = host;
  deceiver.left = jobs;
  deceiver.one_in = std::max(one_in, 1u);
  deceiver.kind = std::clamp<std::int64_t>(kind, 0, kLies);
}

bool has_lied(int host) { return deceiver.has_lied && deceiver.host == host; }

void send_for_agent(int host, int server, SecretVector frame, const SendTo& send) {
  auto meant = decode_request(frame);
  if (!meant.ok()) return send(server, std::move(frame));
  last_jobs[host] = {meant->name.run, meant->name.number};
  if (host != deceiver.host) return send(server, std::move(frame));
  if (meant->name.run != deceiver.run || meant->name.number != deceiver.number) decide(meant->name);
  const SecretVector own = frame;
  const bool lies = deceiver.lie && (deceiver.victim == kEverywhere || deceiver.victim == server);
  if (!swap_two(server, *meant, frame, send)) {
    if (lies)
      lie_to(server, *meant, std::move(frame), send);
    else
      send(server, std::move(frame));
  }
  // One that is sent late is none of before.
  if (!deceiver.lie) deceiver.before[server] = own;
}

void forget_lies_to(int server) {
  std::erase_if(lied_about, [server](const auto& lie) { return lie.second == server; });
}

bool was_lied_about(int host, std::uint64_t run, std::uint64_t number) {
  return lied_about.contains({host, run, number});
}

}  // namespace tkdc::sim
