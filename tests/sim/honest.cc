// SPDX-License-Identifier: Apache-2.0
#include "sim/honest.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "session/agreement.h"
#include "sim/liar.h"
#include "sim/lying_agent.h"
#include "sim/realm.h"
#include "sim/store_keys.h"
#include "sim/stores.h"

namespace tkdc::sim {
namespace {

// Sessions that are tried in a second, each with its lead.
constexpr std::uint32_t kMostStarts = 10;
constexpr std::uint32_t kMostAhead = kMostStarts * (kMaxEpochLead + 1);

struct Answered {
  tkdc_status status = TKDC_STATUS_OK;
  std::size_t bytes = 0;
  Digest own{}, next{};
};
using JobOf = std::tuple<int, std::uint64_t, std::uint64_t>;  // agent, run, number

struct Seen {
  std::map<JobOf, std::array<std::optional<Answered>, kServers>> answers;
  std::array<std::optional<std::uint32_t>, kServers> epochs;
  std::vector<StoreCopy> kept;
};
Seen seen;

bool is_honest(int server) { return !liar().has_lied || liar().server != server; }

std::string name_of(int server) { return world().hosts[static_cast<std::size_t>(server)].name; }

// Late, out of order or overloaded each can be for itself.
bool is_verdict(tkdc_status status) {
  return status != TKDC_STATUS_UNAVAILABLE && status != TKDC_STATUS_INTERNAL;
}

const Host& host_of(int server) {
  return realm().servers[static_cast<std::size_t>(server)]->host();
}

// Of two honest servers'.
bool stores_are_alike() {
  for (int one = 0; one < world().servers(); ++one) {
    const int next = (one + 1) % world().servers();
    if (is_honest(one) && is_honest(next))
      return same_keys(view_of(host_of(one)), view_of(host_of(next)));
  }
  return true;
}

// `next` holds the component of which `one` has told the digest.
void compare(int one, const Answered& first, int next, const Answered& second) {
  const bool done = first.status == TKDC_STATUS_OK, too = second.status == TKDC_STATUS_OK;
  const std::string both = name_of(one) + " and " + name_of(next);
  if (done != too && is_verdict(done ? second.status : first.status))
    world().broken("answers", both + " are honest, one has carried out a job and one says: " +
                                  tkdc_status_text(done ? second.status : first.status));
  if (done && too && (first.bytes != second.bytes || first.next != second.own))
    world().broken("answers", both + " are honest, and their answers do not fit together");
}

// Keys that were made since are not there, and those that were removed are.
void model_goes_back() {
  Model& model = realm().model;
  for (const auto& key : model.keys) {
    const Bytes id(key->ref.id.begin(), key->ref.id.end());
    const TableSet& now = seen.kept.front().tables;
    const bool there = now[Tables::kCommitted].contains(id);
    if (there || now[Tables::kDropped].contains(id)) key->purged = key->asked_to_purge = false;
    const bool bound = key->state == Key::State::kBound, gone = key->state == Key::State::kGone;
    if ((bound && !there) || (gone && there)) {
      key->state = Key::State::kUnsure;
      key->buried = false;
      ++key->changes;
    }
    if (!there && model.krbtgt == key.get()) model.krbtgt = nullptr;
  }
}

}  // namespace

void new_honest() { seen = {}; }

void note_honest_answer(int server, int agent, const JobReply& reply) {
  const bool single = reply.status == TKDC_STATUS_OK && reply.next_output == Digest{};
  if (world().plan.of_two() || single) return;  // a status or a list is each server's own
  auto& all = seen.answers[{agent, reply.run, reply.number}];
  const Answered mine{reply.status, reply.output.size(), output_digest(reply.output),
                      reply.next_output};
  const auto at = [](int party) { return static_cast<std::size_t>(party % kServers); };
  all[at(server)] = mine;
  if (!is_honest(server)) return;
  const int next = (server + 1) % kServers, prev = (server + 2) % kServers;
  if (const auto& other = all[at(next)]; other && is_honest(next))
    compare(server, mine, next, *other);
  if (const auto& other = all[at(prev)]; other && is_honest(prev))
    compare(prev, *other, server, mine);
  if (std::ranges::all_of(all, [](const auto& one) { return one.has_value(); }))
    seen.answers.erase({agent, reply.run, reply.number});
}

void look_at_epochs() {
  for (int server = 0; server < world().servers(); ++server) {
    const Host& host = world().hosts[static_cast<std::size_t>(server)];
    const auto epochs = epochs_of(host);
    auto& before = seen.epochs[static_cast<std::size_t>(server)];
    // An old store, or a new disk, has fewer and catches up.
    const bool caught_up =
        world().injected_.contains("old store") || world().injected_.contains("disk lost");
    if (epochs && before && !caught_up && epochs->reserved > *before + kMostAhead)
      world().broken("epochs", host.name + " was pushed from nonce epoch " +
                                   std::to_string(*before) + " to " +
                                   std::to_string(epochs->reserved));
    if (epochs) before = epochs->reserved;
  }
}

void keep_stores() {
  if (!stores_are_alike()) return;
  seen.kept.clear();
  for (auto& server : realm().servers) seen.kept.push_back(disk_of(server->host()).copy_store());
}

void restore_stores() {
  if (seen.kept.empty() || stores_are_alike()) return;
  world().note("operator", "has all three stores restored");
  world().injected(kStoresRestored);
  model_goes_back();
  for (std::size_t party = 0; party < seen.kept.size(); ++party) {
    ServerHost& which = *realm().servers[party];
    which.in_repair = true;
    crash(which.host(), false);
    world().wait(kNever, [&] { return which.ended(); });
    put_back_store(which.host(), seen.kept[party], true);
    which.in_repair = false;
    which.boot();
  }
}

void judge_honest_stores() {
  using enum Tables::Table;
  if (!stores_are_alike())
    world().broken("stores", "two honest servers serve, and their stores differ");
  for (int server = 0; server < world().servers(); ++server)
    for (auto table : {kPrepared, kCondemned})
      if (is_honest(server) && !rows_of(host_of(server), table).empty())
        world().broken("stores", name_of(server) + " is honest and has entries that are half made");
}

}  // namespace tkdc::sim
