// SPDX-License-Identifier: Apache-2.0
#include "migrate/importer.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace tkdc::migrate {
namespace {

using namespace std::chrono_literals;

constexpr int kTurnMs = 50;
// Entries written under one lock, and how long the first of them waits: each lock ends with
// a wait for the disk, and krb5kdc and kadmind wait meanwhile.
constexpr std::size_t kBatch = 64;
constexpr auto kReadyWait = 500ms;
// krb5kdc writes an entry back (lockout, last success) that it read a moment before, maybe
// before we wrote it. What it undid so is found when this time is over.
constexpr auto kLateWrites = 2s;
constexpr unsigned kMostDoublings = 4;
// With so many the pass starts on no other principal.
constexpr std::size_t kFailuresOfAPass = 32;

tkdc_span as_span(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void set_principal(tkdc_wire_key& key, const std::string& name) {
  crypto_hash_sha256(key.principal, reinterpret_cast<const unsigned char*>(name.data()),
                     name.size());
}

bool same_key(const StoredKey& a, const StoredKey& b) {
  return a.kvno == b.kvno && a.enctype == b.enctype && a.plain.size() == b.plain.size() &&
         sodium_memcmp(a.plain.data(), b.plain.data(), a.plain.size()) == 0;
}

// Asking again may give another answer.
bool may_pass(std::uint16_t status) {
  return status == TKDC_STATUS_UNAVAILABLE || status == TKDC_STATUS_LIMIT ||
         status == TKDC_STATUS_INTERNAL || status == TKDC_STATUS_UNKNOWN_KEY ||
         status == TKDC_STATUS_INCONSISTENT;
}

}  // namespace

std::vector<std::string> next_pass(const Survey& found, const std::string& history,
                                   const std::function<bool(const std::string&)>& refused) {
  std::vector<std::string> names = found.names;
  std::erase_if(names, refused);
  const auto other = [&](const std::string& name) { return name != history; };
  if (std::ranges::any_of(names, other) || std::ranges::any_of(found.remembering, other))
    std::erase(names, history);
  return names;
}

std::chrono::seconds pause_after(unsigned fruitless) {
  return kLateWrites * (1 << std::min(fruitless, kMostDoublings));
}

void KeysAtOnce::answered(bool good, std::chrono::steady_clock::duration took) {
  if (!good || took > kLate)
    now_ = std::max<std::size_t>(1, now_ / 2);
  else if (took < kFast)
    now_ = std::min(most_, now_ + 1);
}

Importer::Importer(RealmDb& db, Journal& journal, std::unique_ptr<AgentPipe> pipe,
                   const Options& options, Hooks hooks)
    : db_(db), journal_(journal), options_(options), hooks_(std::move(hooks)),
      pipe_(std::move(pipe)), at_once_(options.keys_at_once) {}

// False: not now.
Result<bool> Importer::ensure_pipe() {
  if (pipe_->alive()) return true;
  auto pipe = AgentPipe::connect(db_.agent_socket());
  if (!pipe) {
    trouble_ = pipe.error().message;
    return false;
  }
  if (!journal_.is_of((*pipe)->installation()))
    return fail(db_.agent_socket() +
                ": this agent is of another installation than the one that "
                "this import began with");
  pipe_ = std::move(*pipe);
  return true;
}

Result<void> Importer::run(const Survey& found) {
  const auto refused = [this](const std::string& name) { return refused_.contains(name); };
  std::vector<std::string> names = next_pass(found, db_.history_principal(), refused);
  total_ = found.names.size();
  Clock::time_point progress = Clock::now();
  unsigned fruitless = 0;
  std::size_t failed_before = 0;
  while (!names.empty()) {
    trouble_.clear();
    const std::size_t before = imported_;
    auto finished = pass(names);
    if (!finished) return finished.error();
    if (!*finished) return fail("stopped; run it again to go on");
    const bool advanced = imported_ > before;
    if (advanced) progress = Clock::now();
    fruitless = advanced || trouble_.empty() ? 0 : fruitless + 1;
    if (Clock::now() - progress > std::chrono::seconds(options_.patience_s))
      return fail("no principal was imported for " + std::to_string(options_.patience_s) +
                  " s: " + trouble_ + "; see `tkdc status`, then run it again to go on");
    const auto pause = pause_after(fruitless);
    if (!trouble_.empty())
      hooks_.say("goes on in " + std::to_string(pause.count()) + " s: " + trouble_);
    if (!wait(pause)) return fail("stopped; run it again to go on");
    auto left = survey(db_, options_);
    if (!left) return left.error();
    names = next_pass(*left, db_.history_principal(), refused);
    failed_before += failures_;
    if (!names.empty()) {  // the pass begins behind those that may fail again
      const auto skipped = static_cast<std::ptrdiff_t>(failed_before % names.size());
      std::rotate(names.begin(), names.begin() + skipped, names.end());
    }
    total_ = imported_ + names.size();
  }
  return {};
}

bool Importer::wait(std::chrono::seconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end; std::this_thread::sleep_for(100ms))
    if (hooks_.stopped()) return false;
  return true;
}

// False: stopped by the administrator.
Result<bool> Importer::pass(const std::vector<std::string>& names) {
  failures_ = 0;
  auto connected = ensure_pipe();
  if (!connected) return connected.error();
  if (!*connected) return true;
  std::size_t next = 0;
  while (true) {
    const bool stop = hooks_.stopped() || failures_ >= kFailuresOfAPass || !pipe_->alive();
    while (!stop && next < names.size() && in_flight_ < at_once_.now())
      if (auto started = start(names[next++]); !started) return started.error();
    if (works_.empty() && ready_.empty() && (stop || next == names.size())) break;
    if (auto bound = bind_staged(); !bound) return bound.error();
    pipe_->turn(kTurnMs);
    collect_ready();
    const bool waited = !ready_.empty() && Clock::now() - ready_since_ > kReadyWait;
    if (ready_.size() >= kBatch || waited || works_.empty())
      if (auto written = write_ready(); !written) return written.error();
    hooks_.show(
        {imported_, total_, keys_, std::chrono::duration<double>(Clock::now() - began_).count()});
  }
  return !hooks_.stopped();
}

Result<void> Importer::start(const std::string& name) {
  auto entry = db_.read(name);
  if (!entry) return entry.error();
  if (!*entry) return {};
  if (!(*entry)->trouble.empty()) {
    trouble_ = name + ": " + (*entry)->trouble;
    return {};
  }
  works_.emplace_back();
  Work& work = works_.back();
  work.name = name;
  const std::vector<const StoredKey*> plain = list_keys(**entry, work);
  work.waiting = plain.size();
  in_flight_ += plain.size();
  for (std::size_t i = 0; i < plain.size(); ++i) stage(work, work.keys[i], *plain[i]);
  return {};
}

// Into `work`, and each one's octets. A key that stands in several places is one key.
std::vector<const StoredKey*> Importer::list_keys(const EntryKeys& entry, Work& work) const {
  std::vector<const StoredKey*> plain;
  for (const StoredKey& key : entry.keys) {
    if (key.is_handle || !is_served(key.enctype)) continue;
    plain.push_back(&key);
    work.keys.emplace_back().stored = {key.stored};
  }
  for (const RememberedPlain& old : entry.remembered_plain) {
    if (options_.without_history || old.loss != Loss::kNone) {
      work.forgotten.push_back(old.key.stored);
      continue;
    }
    const auto same =
        std::ranges::find_if(plain, [&](const StoredKey* k) { return same_key(*k, old.key); });
    if (same == plain.end()) {
      plain.push_back(&old.key);
      work.keys.emplace_back().remembered = true;
      work.keys.back().stored = {old.key.stored};
    } else {
      work.keys[static_cast<std::size_t>(same - plain.begin())].stored.push_back(old.key.stored);
    }
  }
  return plain;
}

void Importer::stage(Work& work, Key& key, const StoredKey& stored) {
  key.id.kvno = stored.kvno;
  key.id.enctype = static_cast<std::uint32_t>(stored.enctype);
  std::memcpy(key.id.installation, pipe_->installation(), sizeof key.id.installation);
  set_principal(key.id, work.name);
  tkdc_request request{};
  request.op = TKDC_OP_STAGE;
  request.label = TKDC_ORIGIN_IMPORTED;
  request.key.kvno = key.id.kvno;
  request.key.enctype = key.id.enctype;
  request.data = {stored.plain.data(), stored.plain.size()};
  key.asked = Clock::now();
  pipe_->ask(request, [this, &work, &key](const tkdc_reply& r) { on_staged(work, key, r); });
}

void Importer::on_staged(Work& work, Key& key, const tkdc_reply& reply) {
  --work.waiting;
  key.good = reply.status == TKDC_STATUS_OK && tkdc_reply_key_id(&reply, key.id.key_id);
  if (key.good || may_pass(reply.status))  // a refusal says nothing of how busy they are
    at_once_.answered(key.good, Clock::now() - key.asked);
  if (!key.good) failed(work, reply);
}

void Importer::failed(const Work& work, const tkdc_reply& reply) {
  if (may_pass(reply.status) || reply.status == TKDC_STATUS_OK) {
    trouble_ = work.name + ": " + describe(reply);
    ++failures_;
  } else {
    refused_.try_emplace(work.name, describe(reply));
  }
}

bool Importer::note(const Work& work) {
  for (const Key& key : work.keys) {
    auto added = journal_.add({key.id, work.name});
    if (added) continue;
    refused_.try_emplace(work.name, added.error().message);
    return false;
  }
  return true;
}

// Of works with all keys staged: into the journal, on disk, then to the servers.
Result<void> Importer::bind_staged() {
  std::vector<Work*> staged;
  for (auto it = works_.begin(); it != works_.end();) {
    Work& work = *it;
    if (work.waiting > 0 || work.staged) {
      ++it;
      continue;
    }
    const bool good = std::ranges::all_of(work.keys, [](const Key& k) { return k.good; });
    if (good && note(work)) {
      staged.push_back(&work);
      ++it;
    } else {
      in_flight_ -= work.keys.size();
      it = works_.erase(it);
    }
  }
  if (auto synced = journal_.sync(); !synced) return synced;
  for (Work* work : staged) {
    work->staged = true;
    work->waiting = work->keys.size();
    for (Key& key : work->keys) bind(*work, key);
  }
  return {};
}

void Importer::bind(Work& work, Key& key) {
  key.good = false;
  tkdc_request request{};
  request.op = TKDC_OP_BIND;
  request.key = key.id;
  request.data = as_span(work.name);
  pipe_->ask(request, [this, &work, &key](const tkdc_reply& reply) {
    --work.waiting;
    key.good = reply.status == TKDC_STATUS_OK;
    if (!key.good) failed(work, reply);
  });
}

// Bound works leave works_; those of which a key failed are tried in the next pass, and
// what was kept of them is removed by settle().
void Importer::collect_ready() {
  for (auto it = works_.begin(); it != works_.end();) {
    if (!it->staged || it->waiting > 0) {
      ++it;
      continue;
    }
    in_flight_ -= it->keys.size();
    if (std::ranges::all_of(it->keys, [](const Key& k) { return k.good; })) {
      if (ready_.empty()) ready_since_ = Clock::now();
      ready_.push_back(std::move(*it));
    }
    it = works_.erase(it);
  }
}

Result<void> Importer::write_ready() {
  if (ready_.empty()) return {};
  auto locked = db_.lock();
  if (!locked) {
    trouble_ = locked.error().message;  // kadmind writes; those at work come again
    ready_.clear();
    return {};
  }
  Result<void> written;
  for (; !ready_.empty() && written.ok(); ready_.pop_front()) written = write(ready_.front());
  if (*locked) db_.unlock();
  return written;
}

Result<void> Importer::write(const Work& work) {
  std::vector<Replacement> keys;
  for (const Key& key : work.keys)
    for (const Bytes& stored : key.stored) keys.push_back({stored, key.id});
  for (const Bytes& stored : work.forgotten) keys.push_back({stored, std::nullopt});
  auto replaced = db_.replace(work.name, keys, options_.drop_legacy);
  if (!replaced) return replaced.error();
  if (*replaced == Replaced::kChanged) trouble_ = work.name + ": its keys were changed meanwhile";
  if (*replaced != Replaced::kDone) return {};
  ++imported_;
  keys_ += work.keys.size();
  remembered_ += static_cast<std::size_t>(std::ranges::count_if(work.keys, &Key::remembered));
  return {};
}

// A key is bound to its principal, so no other entry can use it. DESTROY cannot be undone:
// the entry is read right before. A key that the servers do not know is gone, or was never
// kept and cannot be any more.
void Importer::destroy_unless_held(const JournalKey& key) {
  const Holds held = holds(db_.read(key.principal), key.key);
  if (held == Holds::kYes) return;
  ++remaining_;
  if (held == Holds::kUnreadable) {
    trouble_ = key.principal + ": its entry cannot be read";
    return;
  }
  tkdc_request request{};
  request.op = TKDC_OP_DESTROY;
  request.key = key.key;
  set_principal(request.key, key.principal);
  pipe_->ask(request, [this, &key](const tkdc_reply& reply) {
    if (reply.status == TKDC_STATUS_OK || reply.status == TKDC_STATUS_UNKNOWN_KEY)
      --remaining_;
    else
      trouble_ = key.principal + ": " + describe(reply);
    removed_ += reply.status == TKDC_STATUS_OK ? 1 : 0;
  });
}

Result<void> Importer::settle() {
  auto connected = ensure_pipe();
  if (!connected) return connected.error();
  if (!*connected) return fail(trouble_);
  const std::vector<JournalKey>& keys = journal_.keys();
  for (std::size_t i = 0; i < keys.size() || pipe_->pending() > 0;) {
    while (i < keys.size() && pipe_->pending() < options_.keys_at_once)
      destroy_unless_held(keys[i++]);
    pipe_->turn(kTurnMs);
  }
  if (removed_ > 0)
    hooks_.say("removed " + std::to_string(removed_) +
               " keys that were made for entries which were not written with them");
  if (remaining_ > 0)
    return fail(std::to_string(remaining_) +
                " keys at the servers that no principal has could "
                "not be removed yet (" +
                trouble_ + "); " + journal_.path() + " lists them: run this again");
  return journal_.remove();
}

}  // namespace tkdc::migrate
