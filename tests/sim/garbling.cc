// SPDX-License-Identifier: Apache-2.0
#include "sim/garbling.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hex.h"
#include "service/garbled/garbling_parts.h"
#include "sim/liar.h"
#include "sim/realm.h"

namespace tkdc::sim {
namespace {

using threegarble::InstanceId;
using threegarble::Step;

constexpr std::size_t kMib = std::size_t{1} << 20;
constexpr std::chrono::microseconds kFar{250};  // some plans' servers are, others' are not
constexpr Us kWaits = 20 * kSecond;             // for an instance, and no longer
// Who has found something wrong latches within this, hung or slow as it may be.
constexpr Us kLatches = 40 * kSecond;

// Of a session, by its keys: which lane, circuit and number.
using Id = std::pair<SessionId, std::string>;

struct OfServer {
  std::set<Id> used;
  std::set<Id> at_work;         // used, and nobody knows how it ends
  std::optional<Us> bad_since;  // it has said so of an instance
  std::uint64_t uses = 0, tables = 0;
};

struct Garblings {
  std::array<OfServer, kServers> servers;
  std::map<Id, std::set<int>> bad, good;  // what servers say of an instance
  std::set<Bytes> tables;
};
Garblings garblings;

OfServer& of(int server) { return garblings.servers[static_cast<std::size_t>(server)]; }

std::string name_of(const InstanceId& id) {
  return "lane " + std::to_string(id.lane) + ", circuit " + to_hex(id.circuit).substr(0, 8) +
         ", number " + std::to_string(id.n);
}

std::string honest_in(const std::set<int>& servers) {
  for (const int one : servers)
    if (one != liar().server) return world().hosts[static_cast<std::size_t>(one)].name;
  return "";
}

void end_of_session(OfServer& one) {
  if (!one.at_work.empty()) world().reached("garbling: a session ended amid an operation");
  one.at_work.clear();
}

// A result is taken by all who are honest, or by none who heard of it.
void compare_verdicts(const Id& which) {
  const std::string finds = honest_in(garblings.bad[which]),
                    takes = honest_in(garblings.good[which]);
  if (!finds.empty() && !takes.empty())
    world().broken("garbling",
                   takes + " takes a result that " + finds + " has found wrong: " + which.second);
}

void note_use(int server, const Id& which) {
  OfServer& one = of(server);
  ++one.uses;
  if (!one.used.insert(which).second)
    world().broken("garbling", "server " + std::to_string(server) +
                                   " uses an instance a second time: " + which.second);
  if (!one.at_work.empty() && one.at_work.begin()->first != which.first) end_of_session(one);
  one.at_work.insert(which);
}

void watch(const SessionId& session, Step step, const InstanceId& id) {
  const Host& host = world().here();
  if (host.dead) return;
  const Id which{session, name_of(id)};
  OfServer& one = of(host.number);
  switch (step) {
    case Step::kMade: return world().reached("garbling: an instance made");
    case Step::kLost: return world().reached("garbling: an instance lost while it was made");
    case Step::kMissed: return world().reached("garbling: none stands ready, by sharing");
    case Step::kUsed: return note_use(host.number, which);
    case Step::kBad:
      world().reached("garbling: a server finds something wrong");
      if (!one.bad_since && host.number != liar().server) one.bad_since = world().now();
      garblings.bad[which].insert(host.number);
      return compare_verdicts(which);
    case Step::kGood:
      world().reached("garbling: an operation");
      one.at_work.erase(which);
      garblings.good[which].insert(host.number);
      return compare_verdicts(which);
  }
}

// By its name and the bound, which decides whether it can be.
Result<WholeKinds::ShapePtr> lay_out(const std::string& circuit, std::size_t most_bytes) {
  static std::map<std::pair<std::string, std::size_t>, Result<WholeKinds::ShapePtr>> all;
  auto one = all.find({circuit, most_bytes});
  if (one == all.end())
    one = all.try_emplace({circuit, most_bytes}, WholeShapes::lay_out(circuit, most_bytes)).first;
  if (!one->second.ok()) world().reached("garbling: a circuit is too long");
  return one->second;
}

// Until a count has grown.
bool wait_for(const std::uint64_t& count) {
  const std::uint64_t before = count;
  return world().wait(kWaits, [&count, before] { return count != before || world().calm; }) &&
         !world().calm;
}

// A latch that nobody could write down is none that its disk shows.
bool has_disk_faults() {
  return std::ranges::any_of(world().plan.faults, [](const Fault& one) {
    return one.kind == "disk full" || one.kind == "disk errors";
  });
}

}  // namespace

void new_garbling() { garblings = {}; }

void make_it_garble(Plan& plan) {
  Random random(plan.seed ^ 0x6a4b);
  constexpr const char* kUses[] = {"always", "always", "auto", "far"};
  plan.garbling = kUses[random.below(std::size(kUses))];
  plan.instances = random.between(1, 3);
  // Some hold a layout or two, and hardly an instance of each.
  plan.garbled_mb = random.percent(25) ? random.between(8, 16) : 128;
  plan.lanes = std::min(plan.lanes, 2);
}

GarblingOptions garbling_of(const Plan& plan) {
  GarblingOptions out;
  const auto use = std::ranges::find(GarblingOptions::kUses, plan.garbling);
  if (!plan.garbles() || use == GarblingOptions::kUses.end()) return out;
  out.use = static_cast<GarblingOptions::Use>(use - GarblingOptions::kUses.begin());
  out.most_bytes = static_cast<std::size_t>(plan.garbled_mb) * kMib;
  out.instances = static_cast<std::size_t>(plan.instances);
  out.far = kFar;
  return out;
}

std::shared_ptr<const GarblingParts> garbling_parts() {
  static const auto parts = [] {
    auto made = std::make_shared<GarblingParts>();
    made->lay_out = lay_out;
    made->watch = watch;
    return made;
  }();
  return parts;
}

void note_tables(int server, ByteSpan first) {
  constexpr std::size_t kEnough = 32;
  ++of(server).tables;
  if (first.size() < kEnough) return;
  if (!garblings.tables.emplace(first.begin(), first.begin() + kEnough).second)
    world().broken("garbling", "server " + std::to_string(server) +
                                   " sends tables that have been sent before: an instance of the "
                                   "same keys and number");
}

void note_end_of_garbling(int server) {
  end_of_session(of(server));
  of(server).bad_since.reset();
}

void note_log_of_garbling(int server, std::string_view text) {
  if (text.starts_with("session ") && text.find(" up: epoch") != text.npos)
    end_of_session(of(server));
  if (text.starts_with("no session: latched")) of(server).bad_since.reset();
}

void note_latch_of_garbling(std::string_view why) {
  const auto says = [why](const char* words) { return why.find(words) != why.npos; };
  if (says("not those of the circuit")) world().reached("garbling: wrong tables latch");
  if (says("garbled job") || says("garbles or evaluates") || says("which job an instance serves"))
    world().reached("garbling: a wrong verdict latches");
}

bool is_garbling(int server) { return !of(server).at_work.empty(); }

void look_at_garbling() {
  if (world().calm) return;  // latches are released
  for (int server = 0; server < world().servers(); ++server) {
    const auto& since = of(server).bad_since;
    if (since && world().now() - *since > kLatches && !has_disk_faults())
      world().broken("garbling", "server " + std::to_string(server) +
                                     " has found a garbled job wrong, and serves on");
  }
}

bool wait_for_use(std::int64_t server) {
  return wait_for(of(static_cast<int>(server % kServers)).uses);
}

bool wait_for_tables(std::int64_t server) {
  return wait_for(of(static_cast<int>(server % kServers)).tables);
}

}  // namespace tkdc::sim
