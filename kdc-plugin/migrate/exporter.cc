// SPDX-License-Identifier: Apache-2.0
#include "migrate/exporter.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>

namespace tkdc::migrate {
namespace {

using namespace std::chrono_literals;

// Entries written under one lock, and the time in which others may have it.
constexpr std::size_t kEntriesAtOnce = 64;
constexpr auto kBreath = 20ms;
// krb5kdc writes an entry back (lockout, last success) that it read a moment before.
constexpr auto kWriteBack = 2s;
constexpr int kLockAttempts = 60;
constexpr std::size_t kDestroysAtOnce = 32;
constexpr int kDestroyTurnMs = 50;

std::string own_krbtgt(const RealmDb& db) { return "krbtgt/" + db.realm() + "@" + db.realm(); }

KeyOf key_of(const ExportedKeys& keys) {
  return [&keys](const KeyId& id) {
    const auto it = keys.find(id);
    if (it == keys.end()) return Leaving();
    return it->second ? Leaving{&*it->second, false} : Leaving{nullptr, true};
  };
}

ExportKey export_key(const tkdc_wire_key& handle, const std::string& principal) {
  ExportKey out;
  std::ranges::copy(handle.key_id, out.id.begin());
  out.kvno = handle.kvno;
  out.enctype = handle.enctype;
  out.principal = principal;
  return out;
}

// Nothing is claimed about a realm with keys that cannot be told from handles.
Result<void> all_readable(const HandleSurvey& found) {
  if (found.unreadable.empty()) return {};
  return fail(std::to_string(found.unreadable.size()) +
              " entries have keys that cannot be read, first " + found.unreadable.front());
}

tkdc_wire_key wire_key(const ExportRequest& request, const ExportKey& key) {
  return wire_key(key_ref(request.installation, key));
}

}  // namespace

void add_entry(HandleSurvey& out, const EntryKeys& entry) {
  ++out.principals;
  if (!entry.trouble.empty()) out.unreadable.push_back(entry.name + ": " + entry.trouble);
  if (entry.history_damaged) out.damaged_histories.push_back(entry.name);
  for (const tkdc_wire_key& old : entry.remembered) out.remembered.push_back({entry.name, old});
  const std::size_t before = out.keys.size();
  for (const StoredKey& stored : entry.keys) {
    if (!stored.is_handle) {
      out.plain += stored.plain.empty() ? 0 : 1;
      continue;
    }
    InstallationId of{};
    std::ranges::copy(stored.handle.installation, of.begin());
    out.mixed = out.mixed || (!out.keys.empty() && of != out.installation);
    out.installation = of;
    out.keys.push_back(export_key(stored.handle, entry.name));
  }
  if (out.keys.size() > before)
    out.names.push_back(entry.name);
  else if (!entry.remembered.empty())
    out.remembering.push_back(entry.name);
}

Result<HandleSurvey> survey_handles(RealmDb& db) {
  HandleSurvey out;
  auto read = db.each([&](const EntryKeys& entry) { add_entry(out, entry); });
  if (!read) return read.error();
  if (out.keys.empty() && !out.remembered.empty())
    std::ranges::copy(out.remembered.front().key.installation, out.installation.begin());
  return out;
}

std::vector<ExportKey> keys_to_request(const HandleSurvey& found, bool with_history) {
  std::vector<ExportKey> out = found.keys;
  for (const RememberedHandle& old : found.remembered)
    if (with_history && std::ranges::equal(old.key.installation, found.installation))
      out.push_back(export_key(old.key, old.principal));
  std::ranges::sort(out, {}, &ExportKey::id);
  const auto same = [](const ExportKey& a, const ExportKey& b) { return a.id == b.id; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

Exporter::Exporter(RealmDb& db, const ExportedKeys& keys, Hooks hooks)
    : db_(db), keys_(keys), hooks_(std::move(hooks)), key_of_(key_of(keys_)) {}

Result<void> Exporter::run() {
  if (auto taken = db_.take_history_keys(key_of_); !taken) return taken;
  while (true) {
    const std::size_t before = progress_.keys;
    auto finished = pass();
    if (!finished) return finished.error();
    if (!*finished) return fail("stopped; run it again to go on");
    if (progress_.keys == before) return {};
    std::this_thread::sleep_for(kWriteBack);
  }
}

// False: stopped by the administrator.
Result<bool> Exporter::pass() {
  auto found = survey_handles(db_);
  if (!found) return found.error();
  if (auto readable = all_readable(*found); !readable) return readable.error();
  staying_ = unknown_ = left_remembered_ = 0;
  std::vector<std::string> all = found->names;
  all.insert(all.end(), found->remembering.begin(), found->remembering.end());
  progress_.of = progress_.principals + all.size();
  const std::span<const std::string> names = all;
  for (std::size_t at = 0; at < names.size(); at += kEntriesAtOnce) {
    if (hooks_.stopped()) return false;
    auto written = write(names.subspan(at, std::min(kEntriesAtOnce, names.size() - at)));
    if (!written) return written.error();
    hooks_.show(progress_);
    std::this_thread::sleep_for(kBreath);
  }
  return true;
}

Result<bool> Exporter::lock() {
  for (int attempt = 1;; ++attempt) {
    auto locked = db_.lock();
    if (locked || attempt == kLockAttempts || hooks_.stopped()) return locked;
    if (attempt == 1) hooks_.say("waits for the database: " + locked.error().message);
    std::this_thread::sleep_for(1s);
  }
}

Result<void> Exporter::write(std::span<const std::string> names) {
  auto locked = lock();
  if (!locked) return locked.error();
  Result<void> out;
  for (std::size_t i = 0; i < names.size() && out.ok(); ++i) {
    auto entry = db_.restore(names[i], key_of_);
    if (!entry) {
      out = entry.error();
      continue;
    }
    progress_.principals += entry->restored > 0 ? 1 : 0;
    progress_.keys += entry->restored;
    staying_ += entry->staying;
    unknown_ += entry->unknown;
    left_remembered_ += entry->left_remembered;
    fresh_ = fresh_ || entry->fresh;
  }
  if (*locked) db_.unlock();
  return out;
}

Result<std::size_t> drop_own_versions(RealmDb& db) {
  auto found = survey_handles(db);
  if (!found) return found.error();
  if (auto readable = all_readable(*found); !readable) return readable.error();
  const std::string krbtgt = own_krbtgt(db);
  std::size_t others = 0;
  for (const std::string& name : found->names) others += name == krbtgt ? 0 : 1;
  if (others > 0)
    return fail(std::to_string(others) +
                " principals still have keys on shares: make another request, or run `tkdc export "
                "restore` with the one whose shares you have");
  if (found->names.empty()) return std::size_t{0};
  auto entry = db.read(krbtgt);
  if (!entry) return entry.error();
  const bool served = *entry && std::ranges::any_of((*entry)->keys, [&](const StoredKey& key) {
    return !key.plain.empty() && key.kvno == (*entry)->newest_kvno;
  });
  if (!served) return fail(krbtgt + " has no newest version in the database: restore first");
  auto locked = db.lock();
  if (!locked) return locked.error();
  auto dropped = db.drop_handles(krbtgt);
  if (*locked) db.unlock();
  return dropped;
}

std::vector<tkdc_wire_key> keys_to_destroy(const HandleSurvey& found,
                                           const ExportRequest& request) {
  std::vector<tkdc_wire_key> out;
  for (const ExportKey& key : request.keys) out.push_back(wire_key(request, key));
  for (const RememberedHandle& old : found.remembered)
    if (std::ranges::equal(old.key.installation, request.installation)) out.push_back(old.key);
  return out;
}

Result<std::size_t> destroy_at_servers(AgentPipe& agent, const std::vector<tkdc_wire_key>& keys,
                                       const std::function<bool(std::size_t)>& go_on) {
  return change_at_servers(agent, TKDC_OP_DESTROY, keys, go_on);
}

Result<std::size_t> change_at_servers(AgentPipe& agent, tkdc_wire_op op,
                                      const std::vector<tkdc_wire_key>& keys,
                                      const std::function<bool(std::size_t)>& go_on) {
  std::size_t asked = 0, removed = 0, failed = 0;
  std::string trouble;
  bool stopped = false;
  const auto more = [&] { return !stopped && asked < keys.size(); };
  while (more() || agent.pending() > 0) {
    while (more() && agent.pending() < kDestroysAtOnce) {
      tkdc_request ask{};
      ask.op = static_cast<std::uint8_t>(op);
      ask.key = keys[asked++];
      agent.ask(ask, [&](const tkdc_reply& reply) {
        removed += reply.status == TKDC_STATUS_OK ? 1 : 0;
        if (reply.status == TKDC_STATUS_OK || reply.status == TKDC_STATUS_UNKNOWN_KEY) return;
        ++failed;
        trouble = describe(reply);
      });
    }
    agent.turn(kDestroyTurnMs);
    stopped = !go_on(asked - agent.pending());
  }
  if (failed > 0)
    return fail(std::to_string(failed) + " keys could not be changed at the servers (" + trouble +
                "): run this again");
  if (asked < keys.size()) return fail("stopped; run it again to go on");
  return removed;
}

}  // namespace tkdc::migrate
