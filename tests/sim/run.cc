// SPDX-License-Identifier: Apache-2.0
#include "sim/run.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "service/sealing/nonce.h"
#include "service/sealing/revocations.h"
#include "sim/asking.h"
#include "sim/coverage.h"
#include "sim/faults.h"
#include "sim/garbling.h"
#include "sim/invariants.h"
#include "sim/liar.h"
#include "sim/network.h"
#include "sim/operators.h"
#include "sim/realm.h"
#include "sim/repairs.h"
#include "sim/store_keys.h"
#include "sim/two.h"
#include "sim/upkeep.h"
#include "sim/workload.h"

namespace tkdc::sim {
namespace {

constexpr Us kLogins = 10 * kSecond;  // flow within this, once nothing is wrong any more
// After broken connections, and nothing else; of three. A login has some 200 rounds, one after the
// other.
constexpr Us kAtOnce = 6 * kSecond;
constexpr int kRoundsOfALogin = 200;
constexpr int kBreaks = 3;
constexpr Us kRevoked = 600 * kSecond;
constexpr Us kSettle = 14 * kSecond;  // every question has been answered
constexpr Us kStops = 10 * kSecond;
constexpr Us kLatest = 300 * kSecond;  // by then everything has been judged

Realm* current_realm = nullptr;
bool over = false;

// Whether somebody can within this time: asked anew, since what was asked before may be lost.
bool logins_flow(Us most) {
  most += kRoundsOfALogin * world().plan.latency_us;
  const Us since = world().now();
  const std::uint64_t before = realm().model.logins;
  for (int k = 0; k < 4; ++k)
    world().fibers.start(world().nature, [before, since, most] {
      while (realm().model.logins == before && world().now() < since + most) {
        log_in(honest_kdc());
        world().sleep(200 * kMs);
      }
    });
  return world().wait(most, [before] { return realm().model.logins > before; });
}

// A session begins while nobody asks anything. Agents that deal for the one before hear so at once.
void begin_unasked() {
  if (liar().has_lied || world().failed()) return;
  world().idle = true;
  world().sleep(kSettle);
  while (wires().cut_one()) {
  }
  world().sleep(kLogins);
  if (!logins_flow(kAtOnce))
    world().broken("liveness", "nobody could log in for " + std::to_string(kAtOnce / kSecond) +
                                   " s, in a session that had begun while nobody asked");
}

// A store that is full takes no key of a user, also where the last one is removed meanwhile.
bool has_users() {
  const bool users = realm().model.some(Key::State::kBound, true) != nullptr;
  return world().plan.record_limit == 0 || (users && realm().model.krbtgt != nullptr);
}

// Nothing is asked meanwhile, which would cost a run of several minutes.
void let_pass(const std::function<bool()>& is_revoked_still) {
  const Us calm = world().now();
  while (is_revoked_still() && world().now() < calm + kRevoked) {
    world().idle = true;
    world().sleep(kSecond);
  }
}

void judge_liveness() {
  // No ticket is sealed that is revoked at once. A window and what clocks may differ by end in
  // time.
  let_pass([] { return was_to_be_revoked(sealed_at_now()); });
  // After a lie a server may latch as late as in the next handshake, and has to be released.
  const std::uint32_t last = with_skew({sealed_at_now(), sealed_at_now()}).to;
  bool flows = logins_flow(liar().has_lied ? 2 * kLogins : kLogins);
  // And the others take a liar's word for what is revoked, up to the present.
  if (!flows && liar().has_lied) {
    let_pass([last] { return sealed_at_now() <= last; });
    flows = logins_flow(2 * kLogins);
  }
  const bool could = has_users();
  if (!flows && could)
    world().broken("liveness", "nobody could log in for 10 s after the last fault");
  // Who loses a connection, of whichever lane, is told so: nobody waits for the end of his time.
  for (int k = 0; k < kBreaks && flows && !liar().has_lied && !world().failed(); ++k) {
    break_in_a_handshake();
    // Of two servers a pool that is used up, and a refresh that ends, begin a session each.
    const Us most = world().plan.of_two() ? kLogins : kAtOnce;
    if (!logins_flow(most) && has_users())
      world().broken("liveness", "nobody could log in for " + std::to_string(most / kSecond) +
                                     " s after a connection was broken off");
  }
  if (flows && could && world().plan.of_two()) begin_unasked();
}

void direct() {
  for (auto& server : realm().servers) server->boot();
  for (Agent* agent : realm().agents()) agent->start();
  start_workload();
  start_faults();
  const Us end = world().plan.minutes * 60 * kSecond;
  while (world().now() < end && !world().failed()) {
    world().sleep(kSecond);
    look();
  }
  if (!world().failed()) make_calm();
  if (!world().failed()) judge_liveness();
  if (!world().failed()) finish_shares();
  world().quiet = true;
  if (!world().failed()) world().sleep(kSettle);
  look();
  for (auto& server : realm().servers) server->stop();
  for (Agent* agent : realm().agents()) agent->crash();
  const bool ended = world().wait(kStops, [] {
    for (const Host& host : world().hosts)
      if (host.fibers != 0) return false;
    return true;
  });
  if (!ended) world().broken("limits", "a server did not stop within 10 s");
  if (!world().failed()) judge();
  over = true;
}

// Whatever is left comes to its end without effect, so that objects go before the world does.
void end_all() {
  for (Host& host : world().hosts) host.dead = true;
  for (auto& server : realm().servers) server->stop();
  (void)world().fibers.run([] {
    for (const Host& host : world().hosts)
      if (host.fibers != 0) return false;
    return true;
  });
}

}  // namespace

Realm& realm() { return *current_realm; }

Realm::Realm() {
  current_realm = this;
  for (int party = 0; party < world().servers(); ++party)
    servers.push_back(std::make_unique<ServerHost>(world().hosts[static_cast<std::size_t>(party)]));
  kdcs.push_back(std::make_unique<Agent>(world().hosts[kKdc]));
  admin = std::make_unique<Agent>(world().hosts[kAdmin]);
  if (world().plan.kdcs == 2) kdcs.push_back(std::make_unique<Agent>(world().hosts[kSecondKdc]));
}

Realm::~Realm() { current_realm = nullptr; }

std::vector<Agent*> Realm::agents() const {
  std::vector<Agent*> out{kdcs.front().get(), admin.get()};
  if (kdcs.size() == 2) out.push_back(kdcs.back().get());
  return out;
}

Outcome run(const Plan& plan, bool talks) {
  known_keys(plan.keys);
  World one(plan, talks);
  new_disks();
  new_wires();
  new_network();
  new_agent_sockets();
  new_invariants();
  new_coverage();
  new_repairs();
  new_two();
  new_store_keys();
  new_garbling();
  liar() = {};
  over = false;
  Outcome out;
  {
    Realm all;
    one.fibers.start(one.nature, direct);
    const Us latest = plan.minutes * 60 * kSecond + kRevoked + kLatest;
    if (!one.fibers.run([&] { return over || one.now() > latest; }))
      one.broken("progress", "nothing can happen any more, or time stands still");
    if (!over) one.broken("progress", "the run does not come to its end");
    end_all();
    out.logins = all.model.logins;
  }
  out.invariant = one.invariant();
  out.how = one.how();
  out.digest = one.digest();
  out.octets = one.digest_of_octets();
  out.most_memory = one.most_memory;
  out.operations = one.operations;
  out.answered = one.answered;
  out.packets = one.packets;
  out.steps = one.fibers.steps();
  out.injected = one.injected_;
  out.reached = one.reached_;
  return out;
}

namespace {

bool falls(const Plan& plan, const std::string& invariant) {
  return run(plan, false).invariant == invariant;
}

// Half of what is left, then a quarter, and so on to single faults.
void leave_out_faults(Plan& plan, const std::string& invariant) {
  for (std::size_t piece = std::max<std::size_t>(plan.faults.size() / 2, 1); piece > 0; piece /= 2)
    for (std::size_t at = 0; at < plan.faults.size();) {
      Plan less = plan;
      const auto from = less.faults.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(piece, less.faults.size() - at);
      less.faults.erase(from, from + static_cast<std::ptrdiff_t>(count));
      if (falls(less, invariant))
        plan = std::move(less);
      else
        at += count;
    }
}

// A smaller realm, and less that happens in it.
void make_smaller(Plan& plan, const std::string& invariant) {
  const auto with = [&](auto what, auto less) {
    Plan one = plan;
    one.*what = less;
    if (one.*what != plan.*what && falls(one, invariant)) plan = std::move(one);
  };
  with(&Plan::protocol, plan.of_two() ? kPairPlain : "plaintext");
  with(&Plan::lanes, 1);
  with(&Plan::clients, 1);
  with(&Plan::record_limit, 0);
  with(&Plan::macs, false);
  with(&Plan::kdcs, 1);
  with(&Plan::jitter_us, 0);
  with(&Plan::minutes, 1);
}

}  // namespace

Plan shrink(Plan plan, const std::string& invariant) {
  for (std::size_t before = plan.faults.size() + 1; plan.faults.size() < before;) {
    before = plan.faults.size();
    leave_out_faults(plan, invariant);
    make_smaller(plan, invariant);
  }
  return plan;
}

}  // namespace tkdc::sim
