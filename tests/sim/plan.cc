// SPDX-License-Identifier: Apache-2.0
#include "sim/plan.h"

#include <algorithm>
#include <sstream>

#include "sim/deceits.h"
#include "sim/faults.h"
#include "sim/garbling.h"
#include "sim/lying_agent.h"
#include "sim/random.h"
#include "sim/store_keys.h"
#include "sim/two_faults.h"

namespace tkdc::sim {
namespace {

constexpr std::int64_t kMaxFaults = 10'000;

// Each kind, how often in a run where it is common, and what it is about.
struct Kind {
  const char* name;
  int often;
  std::int64_t (*a)(Random&);
  std::int64_t (*b)(Random&);
  std::int64_t (*c)(Random&);
};

std::int64_t none(Random&) { return 0; }
std::int64_t party(Random& r) { return r.between(0, 2); }
std::int64_t any_host(Random& r) { return r.between(0, 5); }
std::int64_t an_agent(Random& r) { return r.between(3, 5); }
std::int64_t direction(Random& r) { return r.between(0, 2); }
std::int64_t a_moment(Random& r) {
  return r.percent(60) ? r.between(1, 3'000) : r.between(3'000, 25'000);
}
std::int64_t some_operations(Random& r) {
  return r.percent(70) ? r.between(0, 12) : r.between(0, 200);
}
std::int64_t some_lateness(Random& r) {
  return r.percent(50) ? r.between(1, 20) : r.between(20, 200);
}
std::int64_t some_commits(Random& r) { return r.between(0, 5); }
std::int64_t some_of_refresh(Random& r) { return r.between(0, 7 * kCommitsOfRefresh - 1); }
std::int64_t some_of_change(Random& r) { return r.between(0, 7 * kCommitsOfChange - 1); }
std::int64_t some_of_keys(Random& r) { return r.between(0, 7 * kOperationsOfKeys - 1); }
std::int64_t some_of_rekey(Random& r) { return r.between(0, 4 * 60 - 1); }
std::int64_t some_reads(Random& r) { return r.between(0, 8); }
std::int64_t some_packets(Random& r) { return r.between(0, 400); }
// From the moment on in which an instance is taken: m1, m2 and m3; or its first table leaves.
std::int64_t some_of_job(Random& r) { return r.between(0, 12); }
std::int64_t some_of_tables(Random& r) { return r.between(0, 60); }
std::int64_t some_jobs(Random& r) { return r.between(20, 300); }
std::int64_t few(Random& r) { return r.between(1, 4); }
std::int64_t a_jump(Random& r) {
  const std::int64_t by = r.percent(50) ? r.between(1, 100'000) : r.between(100'000, 4'000'000);
  return r.percent(50) ? by : -by;
}
std::int64_t a_rate(Random& r) { return r.between(-500, 500); }

constexpr Kind kKinds[] = {
    {"cut", 20, none, none, none},
    {"one way", 4, any_host, party, a_moment},
    {"partition", 4, any_host, party, a_moment},
    {"isolate", 3, any_host, direction, a_moment},
    {"hang", 4, any_host, none, a_moment},
    {"slow threads", 6, party, some_lateness, a_moment},
    {"crash", 4, party, none, a_moment},
    {"power", 4, party, none, a_moment},
    {"power twice", 6, party, some_operations, a_moment},
    {"crash at disk", 8, party, some_operations, a_moment},
    {"crash at packet", 4, party, some_packets, a_moment},
    {"no memory", 4, party, some_packets, a_moment},
    {"stop", 3, party, none, a_moment},
    {"clock", 3, party, a_jump, none},
    {"clocks", 3, none, a_jump, a_moment},
    {"drift", 2, party, a_rate, none},
    {"disk full", 3, party, none, a_moment},
    {"disk errors", 4, party, few, none},
    {"commit errors", 8, party, some_commits, few},
    {"errors at all", 8, party, some_commits, some_reads},
    {"agent", 2, an_agent, none, a_moment},
    {"cut agent", 6, an_agent, none, none},
    {"flood", 2, an_agent, some_jobs, none},
    {"rekey", 3, party, some_of_rekey, a_moment},
};

// Of runs whose shares have MACs, and of those that keep dropped keys.
constexpr Kind kInRefresh = {"crash in refresh", 8, party, some_of_refresh, a_moment};
constexpr Kind kSlowRefresh = {"slow refresh", 4, party, some_lateness, none};
constexpr Kind kAtKeys[] = {{"errors at keys", 6, party, some_of_keys, none},
                            {"crash at keys", 8, party, some_of_keys, a_moment},
                            {"power at rename", 4, party, some_of_keys, a_moment}};
constexpr Kind kInChange = {"crash in change", 8, none, some_of_change, a_moment};

// Of runs that garble.
constexpr Kind kInGarbling[] = {
    {"cut in garbling", 12, party, some_of_job, none},
    {"crash in garbling", 5, party, some_of_job, a_moment},
    {"hang in garbling", 4, party, some_of_job, a_moment},
    {"cut in making", 8, party, some_of_tables, none},
    {"crash in making", 5, party, some_of_tables, a_moment},
};

// A disk that is lost, who lies about it, and crashes while it is made good.
void add_lost_disk(std::vector<Fault>& faults, Random& random, std::int64_t last_ms) {
  const std::int64_t at = random.between(10'000, last_ms);
  faults.push_back({at, "lost disk", party(random), random.between(0, 5), a_moment(random)});
  if (random.percent(50))
    faults.push_back({at, "crash in repair", 0, some_of_refresh(random), a_moment(random)});
}

void add_some(std::vector<Fault>& faults, const Kind& kind, Random& random, std::int64_t last_ms) {
  for (auto left = random.between(1, kind.often); left > 0; --left) {
    Fault fault{random.between(500, last_ms), kind.name, kind.a(random), kind.b(random),
                kind.c(random)};
    if (fault.a == fault.b && (fault.kind == "one way" || fault.kind == "partition"))
      fault.b = (fault.a + 1) % 3;
    faults.push_back(fault);
  }
}

// Two servers have one lane, and MACs in all that they store.
void make_it_of_two(Plan& plan, Random& random) {
  plan.lanes = 1;
  plan.macs = false;
  plan.record_limit = 0;  // a pool has more entries than that
  plan.pool_blocks = 1024 << random.below(3);
  // A job has some twenty messages behind each other, and a session that begins prepares each key.
  plan.latency_us = std::min<std::int64_t>(plan.latency_us, 2'000);
  plan.jitter_us = std::min<std::int64_t>(plan.jitter_us, 1'000);
  if (plan.protocol == kPairPlain) return;
  plan.clients = 1;
  plan.pause_ms = 4'000;
}

// One at most, in some runs.
void add_one_liar(Plan& plan, Random& random) {
  const std::int64_t at = plan.minutes * 15'000;
  const bool found_out = plan.shares() || plan.of_two();
  // Its survivors tell the truth.
  const auto lose_disks_honestly = [&plan] {
    for (Fault& fault : plan.faults)
      if (fault.kind == "lost disk") fault.b = 0;
  };
  Fault one;
  if (!plan.of_two() && random.percent(25)) {
    lose_disks_honestly();
    const std::int64_t kind = random.percent(65) ? 0 : random.between(1, kDeceits);
    // The first one names the jobs.
    const std::int64_t who = random.percent(30) ? 0 : party(random);
    one = {random.between(500, 3 * at), "two-faced", who, random.between(1, 60),
           kLiesOfKind * kind + random.between(1, 30)};
  } else if (found_out && random.percent(30)) {
    one = {at, "liar", party(random), random.between(1, 20), random.between(1, 2'000)};
  } else if (plan.of_two() && random.percent(25)) {
    one = {at, "changed store", party(random), random.between(0, 1), 0};
  } else if (random.percent(8)) {
    one = {at, "liar to agents", party(random), random.between(1, 20), random.between(1, 20)};
  } else if (plan.kdcs == 2 && random.percent(30)) {
    lose_disks_honestly();
    // Few jobs, or each as long as the run lasts.
    const std::int64_t jobs =
        random.percent(50) ? random.between(1, 20) : random.between(20, 9'999);
    const std::int64_t kind = random.percent(50) ? 0 : random.between(1, kLies);
    one = {random.between(500, 2 * at), "lying agent", random.percent(50) ? kKdc : kSecondKdc, jobs,
           kLiesOfKind * kind + random.between(1, 20)};
  } else {
    return;
  }
  plan.faults.push_back(one);
  std::ranges::stable_sort(plan.faults, {}, &Fault::at_ms);
}

}  // namespace

std::vector<Fault> some_faults(Random& random, const Plan& plan) {
  std::vector<Fault> faults;
  const std::int64_t last_ms = plan.minutes * 60'000 - 5'000;
  for (const Kind& kind : kKinds) {
    // A swarm: in most runs most kinds are left out, and the others are not drowned by them.
    if (random.percent(35)) add_some(faults, kind, random, last_ms);
  }
  const bool refreshes = plan.macs || plan.of_two();
  if (refreshes && random.percent(60)) add_some(faults, kInRefresh, random, last_ms);
  if (refreshes && random.percent(40)) add_some(faults, kSlowRefresh, random, last_ms);
  for (const Kind& kind : kAtKeys)
    if (plan.macs && random.percent(50)) add_some(faults, kind, random, last_ms);
  if (plan.macs && plan.record_limit == 0 && random.percent(45))
    add_lost_disk(faults, random, last_ms);
  if (plan.seed % 2 == 1 && !plan.of_two() && random.percent(50))
    add_some(faults, kInChange, random, last_ms);
  if (plan.of_two()) add_faults_of_two(faults, random, last_ms);
  for (const Kind& kind : kInGarbling)
    if (plan.garbles() && random.percent(50)) add_some(faults, kind, random, last_ms);
  if (random.percent(15)) {
    const std::int64_t at = random.between(5'000, last_ms / 2), who = party(random);
    faults.push_back({at, "keep", who, 0, 0});
    const std::int64_t back = random.between(at + 1'000, last_ms);
    faults.push_back({back, "old store", who, random.between(0, 1), a_moment(random)});
  }
  std::ranges::stable_sort(faults, {}, &Fault::at_ms);
  return faults;
}

Plan plan_of(std::uint64_t seed, const std::string& protocol) {
  Plan plan;
  plan.seed = seed;
  Random random(seed ^ 0x97a4);
  // Seeds in a row have the protocols in their turns.
  if (seed % 5 == 4) plan.protocol = seed % 25 == 24 ? kGarbled : "rep3";
  if (seed % 10 == 0) plan.protocol = seed % 1000 == 100 ? "pair" : kPairPlain;
  if (!protocol.empty()) plan.protocol = protocol;
  plan.latency_us = random.percent(70) ? random.between(50, 500) : random.between(500, 20'000);
  plan.jitter_us = random.between(0, plan.latency_us);
  plan.clients = random.between(2, 6);
  plan.pause_ms = random.between(500, 2'500);
  plan.lanes = static_cast<int>(random.between(1, 3));
  if (random.percent(10)) plan.record_limit = random.between(6, 30);
  if (plan.shares()) {
    plan.clients = 2;
    plan.pause_ms = 2'000;
    plan.latency_us = std::min<std::int64_t>(plan.latency_us, 400);
    plan.jitter_us = std::min<std::int64_t>(plan.jitter_us, 200);
  }
  plan.macs = Random(seed ^ 0x3ac5).percent(40);
  plan.kdcs = Random(seed ^ 0x2dc5).percent(90) ? 2 : 1;
  if (plan.of_two()) make_it_of_two(plan, random);
  if (plan.garbles()) make_it_garble(plan);
  plan.faults = some_faults(random, plan);
  add_one_liar(plan, random);
  return plan;
}

std::string encode(const Plan& plan) {
  std::ostringstream out;
  out << "seed " << plan.seed << "\nkeys " << plan.keys << "\nprotocol " << plan.protocol
      << "\nsecurity " << plan.security << "\nbackend " << plan.backend << "\nlanes " << plan.lanes
      << "\nminutes " << plan.minutes << "\nlatency_us " << plan.latency_us << "\njitter_us "
      << plan.jitter_us << "\nclients " << plan.clients << "\npause_ms " << plan.pause_ms
      << "\nrecord_limit " << plan.record_limit << "\nmacs " << plan.macs << "\nkdcs " << plan.kdcs
      << "\n";
  if (plan.of_two()) out << "pool_blocks " << plan.pool_blocks << "\n";
  if (plan.garbles())
    out << "garbling " << plan.garbling << "\ninstances " << plan.instances << "\ngarbled_mb "
        << plan.garbled_mb << "\n";
  for (const Fault& f : plan.faults)
    out << "fault " << f.at_ms << " " << f.a << " " << f.b << " " << f.c << " " << f.kind << "\n";
  return out.str();
}

Result<Plan> decode_plan(const std::string& text) {
  Plan plan;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    std::istringstream in(line);
    std::string name;
    in >> name;
    if (name == "fault") {
      Fault f;
      in >> f.at_ms >> f.a >> f.b >> f.c >> std::ws;
      std::getline(in, f.kind);
      plan.faults.push_back(f);
    } else if (name == "seed") {
      in >> plan.seed;
    } else if (name == "keys") {
      in >> plan.keys;
    } else if (name == "protocol") {
      in >> plan.protocol;
    } else if (name == "security") {
      in >> plan.security;
    } else if (name == "backend") {
      in >> plan.backend;
    } else if (name == "lanes") {
      in >> plan.lanes;
    } else if (name == "minutes") {
      in >> plan.minutes;
    } else if (name == "latency_us") {
      in >> plan.latency_us;
    } else if (name == "jitter_us") {
      in >> plan.jitter_us;
    } else if (name == "clients") {
      in >> plan.clients;
    } else if (name == "pause_ms") {
      in >> plan.pause_ms;
    } else if (name == "record_limit") {
      in >> plan.record_limit;
    } else if (name == "macs") {
      in >> plan.macs;
    } else if (name == "kdcs") {
      in >> plan.kdcs;
    } else if (name == "pool_blocks") {
      in >> plan.pool_blocks;
    } else if (name == "garbling") {
      in >> plan.garbling;
    } else if (name == "instances") {
      in >> plan.instances;
    } else if (name == "garbled_mb") {
      in >> plan.garbled_mb;
    } else {
      return fail("line " + std::to_string(number) + ": no plan has '" + name + "'");
    }
    if (in.fail()) return fail("line " + std::to_string(number) + " cannot be read");
  }
  if (plan.kdcs < 1 || plan.kdcs > 2)
    return fail("a realm has 1 KDC or 2, not " + std::to_string(plan.kdcs));
  if (plan.faults.size() > kMaxFaults) return fail("too many faults");
  return plan;
}

}  // namespace tkdc::sim
