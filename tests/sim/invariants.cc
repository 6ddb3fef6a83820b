// SPDX-License-Identifier: Apache-2.0
#include "sim/invariants.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/hex.h"
#include "service/sealing/nonce.h"
#include "service/server/audit_check.h"
#include "service/server/broken_checks.h"
#include "sim/answers.h"
#include "sim/coverage.h"
#include "sim/dropped.h"
#include "sim/floods.h"
#include "sim/garbling.h"
#include "sim/honest.h"
#include "sim/liar.h"
#include "sim/memory.h"
#include "sim/realm.h"
#include "sim/repairs.h"
#include "sim/store_keys.h"
#include "sim/stores.h"
#include "sim/upkeep.h"

namespace tkdc::sim {
namespace {

constexpr int kMostFibers = 24;  // of a server with a few lanes
// Of a server, with its simulated disk: so much more than the most of many seeds.
constexpr std::int64_t kMostMemory = 5 << 20, kMostOfTwo = 128 << 20;
constexpr std::size_t kNonceBytes = 12;
// A change of keys takes milliseconds between its steps. When the three have sealed so many tickets
// after so long, they serve on with one that is half made.
constexpr Us kHalfMade = 3 * kSecond;
constexpr std::uint64_t kServedOn = 3;

constexpr Tables::Table kHalf[] = {Tables::kPrepared, Tables::kCondemned};

struct HalfMade {
  Us since;
  std::optional<std::uint64_t> sealed;  // when kHalfMade was over
};

struct Seen {
  // What the servers answered to one job.
  std::map<std::tuple<int, std::uint64_t, std::uint64_t>,
           std::array<std::optional<JobReply>, kServers>>
      replies;
  std::set<Bytes> nonces;
  std::map<std::string, std::string> latched;
  std::uint64_t sealed = 0;  // by all three
  std::array<std::map<Bytes, HalfMade>, kServers> half_made;
};
Seen seen;

}  // namespace

void new_invariants() {
  seen = {};
  new_answers();
  new_honest();
}

void note_reply(int server, int agent, ByteSpan frame) {
  auto reply = decode_reply(frame);
  if (!reply.ok()) return world().broken("answers", "a server's answer cannot be read");
  note_answer(server, agent, *reply);
  note_honest_answer(server, agent, *reply);
  if (reply->status != TKDC_STATUS_OK || reply->output.size() < 40) return;
  const std::tuple job{agent, reply->run, reply->number};
  auto& all = seen.replies[job];
  all[static_cast<std::size_t>(server)] = std::move(*reply);
  const auto here = std::span(all).first(realm().servers.size());
  if (!std::ranges::all_of(here, [](const auto& one) { return one.has_value(); })) return;
  if (world().plan.of_two()) {  // no nonces of servers; a status is no work
    seen.sealed += here[0]->output[0] == '{' && here[1]->output[0] == '{' ? 0 : 1;
    seen.replies.erase(job);
    return;
  }
  Bytes output(all[0]->output.begin(), all[0]->output.end());
  bool alike = true;
  for (std::size_t k = 1; k < kServers; ++k) {
    alike = alike && all[k]->output.size() == output.size();
    if (alike) xor_bytes(output.data(), all[k]->output.data(), output.size());
  }
  seen.replies.erase(job);
  if (!alike) return;
  output.resize(kNonceBytes);
  GcmNonce nonce;
  std::copy_n(output.begin(), nonce.size(), nonce.begin());
  const NonceCoordinates at = decode_nonce(nonce);
  // A nonce of ours: mode 0, this run's time, a lane that there is. Others are random octets.
  const std::uint32_t now = sealed_at_now();
  const bool ours = at.mode == 0 && at.sealed_at + 100 > now && at.sealed_at < now + 100 &&
                    at.lane < static_cast<std::uint32_t>(world().plan.lanes) &&
                    at.number < (1u << 20);
  if (!ours) return;
  ++seen.sealed;
  if (!seen.nonces.insert(output).second)
    world().broken("nonces", "a nonce came twice: epoch " + std::to_string(at.epoch) +
                                 ", sealed at " + std::to_string(at.sealed_at) + ", lane " +
                                 std::to_string(at.lane) + ", number " + std::to_string(at.number));
}

namespace {

// That a server cannot read its own, or that a crash amid dealing left it behind, accuses nobody.
bool accuses_a_holder(std::string_view text) {
  constexpr std::string_view kFound[] = {"differ about the component",
                                         "do not hold the same record", "has other records",
                                         "have different records"};
  return text.starts_with("audit of shares: ") && std::ranges::any_of(kFound, [&](auto words) {
           return text.find(words) != std::string_view::npos;
         });
}

// The rest is what a server of two says of a peer whose words do not fit its own.
bool accuses_a_teller(std::string_view text) {
  constexpr std::string_view kFound[] = {"HELLOs differ from lane to lane",
                                         "told other things",
                                         "it garbled another circuit",
                                         "it has other circuits prepared",
                                         "it opens another value",
                                         "it opens bits whose MACs",
                                         "it proves other inputs",
                                         "it reserves blocks of another pool",
                                         "it says neither yes nor no",
                                         "it says of a refresh what cannot be",
                                         "says what is no order"};
  return std::ranges::any_of(
      kFound, [&](auto words) { return text.find(words) != std::string_view::npos; });
}

}  // namespace

namespace {

// Servers whose stores differ do not serve, and say what puts that right.
bool names_no_remedy(std::string_view text) {
  const bool differ = text.find("the inventory of party") != text.npos ||
                      text.find("inventories of all three") != text.npos;
  return text.starts_with("no session: ") && differ && text.find("docs/operations.md") == text.npos;
}

}  // namespace

void note_log(const std::string& who, std::string_view text) {
  if (names_no_remedy(text))
    world().broken("stores", who + " names no remedy: " + std::string(text));
  if (liar().has_lied) return;
  const bool old = world().injected_.contains("old store");
  if (accuses_a_teller(text) || (!old && accuses_a_holder(text)))
    world().broken("accusations", who + " says, and nobody lied: " + std::string(text));
}

namespace {

// By a session that begins, or it ends the one that there is.
void look_whether_changes_are_settled(std::size_t server) {
  const Host& host = world().hosts[server];
  auto& before = seen.half_made[server];
  std::map<Bytes, HalfMade> now;
  const auto note = [&](const Bytes& id) {
    const auto known = before.find(id);
    HalfMade one = known == before.end() ? HalfMade{world().now(), {}} : known->second;
    if (!one.sealed && world().now() - one.since > kHalfMade) one.sealed = seen.sealed;
    if (one.sealed && seen.sealed - *one.sealed > kServedOn && !liar().has_lied)
      world().broken("stores", host.name + " serves on with a key that is half made or removed");
    now.emplace(id, one);
  };
  for (auto table : kHalf)
    for (const auto& [id, value] : rows_of(host, table)) note(id);
  for (const auto& [id, row] : rows_of(host, Tables::kDropped))
    if (dropped_in(row).state != DroppedState::kDropped) note(id);
  before = std::move(now);
}

}  // namespace

namespace {

// As its file says. What a failing disk did not take, the server remembers alone.
void judge_latch_by_count(const ServerHost& server) {
  const ServerConfig& config = server.config();
  const std::string counted = disk_of(server.host()).text(broken_checks_file(config.store_path));
  const auto checks = static_cast<std::uint32_t>(std::ranges::count(counted, '\n')) +
                      (counted.empty() || counted.ends_with('\n') ? 0 : 1);
  const std::uint32_t least = std::min(config.opened_checks_per_day, config.broken_checks_per_day);
  if (checks < least && !failed_lately(server.host()))
    world().broken("latch", server.host().name + " latched for broken checks, and has met " +
                                std::to_string(checks));
}

}  // namespace

void look() {
  look_at_refresh(seen.sealed);
  look_at_garbling();
  look_at_waiting();
  look_at_epochs();
  for (auto& server : realm().servers) {
    look_whether_changes_are_settled(static_cast<std::size_t>(server->host().number));
    look_at_half_made(server->host().number, false);
    const std::string why = server->latched();
    std::string& before = seen.latched[server->host().name];
    if (!why.empty() && before.empty()) {
      world().note(server->host().name, "is latched: " + why);
      note_latch_of_garbling(why);
      world().reached(why.starts_with("limits.") ? "latch: too many broken checks"
                                                 : "latch: a deviation");
      if (why.starts_with("limits.")) judge_latch_by_count(*server);
      const bool by_count = why.starts_with("limits.") || why == kUnknownLatch;
      if (!by_count && !liar().has_lied)
        world().broken("latch", server->host().name + " latched, and nobody lied: " + why);
    }
    before = why;
    if (server->up() && server->host().fibers > kMostFibers)
      world().broken("limits", server->host().name + " has " +
                                   std::to_string(server->host().fibers) + " threads");
    const std::int64_t memory = memory_of(server->host());
    world().most_memory = std::max(world().most_memory, memory);
    if (server->up() && memory > (world().plan.protocol == "pair" ? kMostOfTwo : kMostMemory))
      world().broken("limits", server->host().name + " has " + std::to_string(memory) + " octets");
  }
}

namespace {

std::vector<Bytes> names_in(const Host& host, Tables::Table table) {
  std::vector<Bytes> out;
  for (const auto& [name, value] : rows_of(host, table)) out.push_back(name);
  return out;
}

void judge_stores() {
  using enum Tables::Table;
  const Host& first = realm().servers[0]->host();
  for (auto& server : realm().servers) {
    const Host& host = server->host();
    for (auto table : {kCommitted, kTombstones, kDropped})
      if (names_in(host, table) != names_in(first, table))
        world().broken("stores", "the stores of " + first.name + " and " + host.name +
                                     " differ in " + std::string(Tables::kNames[table]));
    for (auto table : kHalf)
      if (!names_in(host, table).empty())
        world().broken("stores", host.name + " has entries that are half made or half removed");
  }
}

void judge_keys() {
  for (auto& server : realm().servers) {
    const Host& host = server->host();
    for (const auto& key : realm().model.keys) {
      const Bytes id(key->ref.id.begin(), key->ref.id.end());
      const bool dropped = rows_of(host, Tables::kDropped).contains(id);
      const bool there = rows_of(host, Tables::kCommitted).contains(id) && !dropped;
      const bool buried = rows_of(host, Tables::kTombstones).contains(id) || dropped;
      const std::string which =
          to_hex(key->ref.id).substr(0, 8) + " of " + key->principal + " at " + host.name;
      if (key->state == Key::State::kBound && !there)
        world().broken("keys", "kadmin was told of key " + which + ", and it is not there");
      if (key->state == Key::State::kGone && there)
        world().broken("keys", "key " + which + " is gone or was refused, and it is there");
      if (key->buried && !buried)
        world().broken("keys", "key " + which + " was removed without a tombstone");
      if (there && buried) world().broken("keys", "key " + which + " lives and is buried");
    }
  }
}

// In a log that went with its disk.
bool has_head(const std::string& log, const AuditHead& head) {
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);)
    if (hash_audit_line(line) == head.hash) return true;
  return false;
}

// What was said of a server's log before its disk was lost is no more of the one that it has.
void leave_out_lost(int party, std::vector<RecordedHead>& heads) {
  for (const std::string& log : lost_audit_logs(party))
    std::erase_if(heads, [&](const RecordedHead& one) { return has_head(log, one.head); });
}

// A store of before was put on a new disk, whose log begins with it.
bool is_on_another_disk() {
  return world().injected_.contains(kStoresRestored) && world().injected_.contains("disk lost");
}

void judge_audit_logs() {
  std::vector<RecordedHead> heads[kServers];
  for (auto& server : realm().servers) {
    std::istringstream in(disk_of(server->host()).text(server->config().audit_file));
    auto checked = check_audit_lines(in, server->host().name + "'s log", {});
    if (!checked.ok()) return world().broken("audit", checked.error().message);
    if (in.str().find(kAuditBehind) != std::string::npos && !is_on_another_disk())
      return world().broken("audit", server->host().name +
                                         " says that its log is not the one that it had, and "
                                         "nobody has touched it");
    for (const RecordedHead& head : checked->peers) heads[head.party].push_back(head);
  }
  if (liar().has_lied) return;
  for (auto& server : realm().servers) {
    leave_out_lost(server->host().number, heads[server->host().number]);
    std::istringstream in(disk_of(server->host()).text(server->config().audit_file));
    auto checked = check_audit_lines(in, server->host().name + "'s log",
                                     heads[static_cast<std::size_t>(server->host().number)]);
    if (!checked.ok()) world().broken("audit", checked.error().message);
  }
}

}  // namespace

void judge() {
  judge_audit_logs();
  if (liar().has_lied) return judge_honest_stores();
  judge_stores();
  judge_keys();
  judge_dropped();
  if (!world().failed()) judge_shares();
  for (auto& server : realm().servers)
    if (!world().failed()) judge_store_keys(*server);
}

}  // namespace tkdc::sim
