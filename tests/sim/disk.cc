// SPDX-License-Identifier: Apache-2.0
#include "sim/disk.h"

#include <algorithm>
#include <cerrno>

#include "service/store/kept_values.h"
#include "sim/hosts.h"
#include "sim/memory.h"
#include "sim/store_keys.h"
#include "sim/stores.h"
#include "sim/two.h"

namespace tkdc::sim {
namespace {

std::array<HostDisk, kHosts> disks;

HostDisk& here() { return disk_of(world().here()); }

// What every operation meets. 0: it is carried out; else errno. A dead host's does nothing, and
// says that it has: nobody is there to hear it.
constexpr std::string_view kSync = "sync", kCommit = "commit";

enum class Fate : std::uint8_t { kDone, kDead, kFails };

Fate failure(const char* fault, int why) {
  world().injected(fault);
  here().failed_at = world().now();
  errno = why;
  return Fate::kFails;
}

// Of the file `keys`: it fails, or its host crashes at it.
bool fails_at_keys(Host& host) {
  KeysFault& fault = here().keys_fault;
  if (fault.before < 0 || fault.before-- > 0) return false;
  if (fault.crashes) host.crash_at_disk = 0;
  return !fault.crashes;
}

Fate meet(std::string_view what, bool writes, bool of_keys = false) {
  Host& host = world().here();
  if (host.dead || ends_for_want_of_memory(host)) return Fate::kDead;
  if (of_keys && fails_at_keys(host)) return failure("error at keys", EIO);
  // Before what it asked for is done, or after it: then it dies of the next one.
  if (host.crash_at_disk >= 0 && host.crash_at_disk-- == 0) {
    world().note(host.name, "crashes at the disk: " + std::string(what));
    world().injected("crash at a disk operation");
    crash(host, world().random.percent(50));
    return Fate::kDead;
  }
  if (host.crash_at_sync >= 0 && what == kSync && host.crash_at_sync-- == 0) {
    world().note(host.name, "loses its power before what it wrote is on disk");
    world().injected("power loss at a sync");
    crash(host, true);
    return Fate::kDead;
  }
  if (host.crash_at_commit >= 0 && what == kCommit && host.crash_at_commit-- == 0) {
    world().note(host.name, "crashes amid a transaction of its store");
    world().injected("crash at a transaction");
    crash(host, world().random.percent(50));
    return Fate::kDead;
  }
  HostDisk& disk = here();
  if (disk.failing > 0) {
    --disk.failing;
    return failure("disk error", EIO);
  }
  if (writes && disk.full) return failure("disk full", ENOSPC);
  return Fate::kDone;
}

bool is_keys(std::string_view path) { return path.starts_with(kKeysFile); }

class SimFile final : public Disk::File {
 public:
  SimFile(std::shared_ptr<DiskFile> file, bool of_keys)
      : file_(std::move(file)), of_keys_(of_keys) {}

  ssize_t write(ByteSpan octets) override {
    const Fate fate = meet("write", true, of_keys_);
    if (fate == Fate::kDead) return static_cast<ssize_t>(octets.size());
    std::size_t taken = octets.size();
    if (fate == Fate::kFails) {
      // A full disk takes what it has room for.
      if (errno != ENOSPC || world().random.percent(50)) return -1;
      taken = world().random.below(octets.size());
      if (taken == 0) return -1;
    }
    file_->contents.append(reinterpret_cast<const char*>(octets.data()), taken);
    return static_cast<ssize_t>(taken);
  }
  bool sync() override {
    const Fate fate = meet(kSync, true, of_keys_);
    if (fate == Fate::kDone) file_->sync();
    return fate != Fate::kFails;
  }
  void wipe_if_nameless() override {
    if (here().names_file(file_) || meet("wipe", false, of_keys_) != Fate::kDone) return;
    file_->contents.assign(file_->contents.size(), '\0');
    file_->rewritten = true;
    (void)sync();
  }

 private:
  std::shared_ptr<DiskFile> file_;
  const bool of_keys_;
};

// A transaction of the store, counted down.
bool fails(int& before, int& failing) {
  if (world().here().dead || failing == 0) return false;
  if (before > 0) {
    --before;
    return false;
  }
  --failing;
  return failure("transaction failed", EIO) == Fate::kFails;
}

using Changes = std::map<std::pair<Tables::Table, Bytes>, std::optional<Bytes>>;

Step step_of(const Changes& changes) {
  Step out = Step::kNone;
  for (const auto& [where, value] : changes) {
    const std::string_view name(reinterpret_cast<const char*>(where.second.data()),
                                where.second.size());
    const bool is_value = where.first == Tables::kValues;
    const Step one = is_value && (name == kept::kRefreshing || name == kept::kMoveRefreshed)
                         ? Step::kRefresh
                     : is_value && name.starts_with(kept::kMove) ? Step::kMove
                     : is_value && name.ends_with(kept::kHead)   ? Step::kPool
                     : is_value && name.ends_with(kept::kNext)   ? Step::kNumber
                     : !is_value && where.first != Tables::kMeta ? Step::kKey
                                                                 : Step::kNone;
    // A move has rows of keys in it, and the end of a refresh a move.
    constexpr int kRank[] = {0, 3, 2, 4, 5, 1};
    if (kRank[static_cast<int>(one)] > kRank[static_cast<int>(out)]) out = one;
  }
  return out;
}

// Whether this one fails; or its host crashes in it.
bool fails_at_step(StepFault& fault, const Changes& changes) {
  Host& host = world().here();
  if (host.dead || fault.step == Step::kNone || step_of(changes) != fault.step) return false;
  if (fault.before-- > 0) return false;
  const bool crashes = fault.crashes;
  fault = {};
  if (crashes) {
    host.crash_at_commit = 0;
    return false;
  }
  return failure("a step failed", EIO) == Fate::kFails;
}

class SimTransaction final : public Tables::Transaction {
 public:
  using Which = Tables::Table;
  explicit SimTransaction(const Host& host) : host_(host), disk_(disk_of(host)) {}

  int find(Which table, ByteSpan name, ByteSpan& value) override {
    if (const auto at = changes_.find({table, bytes(name)}); at != changes_.end()) {
      if (!at->second) return Tables::kNotFound;
      value = *at->second;
      return 0;
    }
    const Table& rows = disk_.tables[static_cast<std::size_t>(table)];
    const auto at = rows.find(bytes(name));
    if (at == rows.end()) return Tables::kNotFound;
    value = at->second;
    return 0;
  }
  int put(Which table, ByteSpan name, ByteSpan value) override {
    changes_[{table, bytes(name)}] = bytes(value);
    return 0;
  }
  int erase(Which table, ByteSpan name) override {
    changes_[{table, bytes(name)}] = std::nullopt;
    return 0;
  }
  int clear(Which table) override {
    for (const auto& [name, value] : disk_.tables[static_cast<std::size_t>(table)])
      changes_[{table, name}] = std::nullopt;
    for (auto& [key, value] : changes_)
      if (key.first == table) value = std::nullopt;
    return 0;
  }
  int count(Which table, std::size_t& entries) override {
    // With what this transaction has changed, as LMDB counts.
    const auto& rows = disk_.tables[static_cast<std::size_t>(table)];
    entries = rows.size();
    for (const auto& [where, value] : changes_) {
      if (where.first != table) continue;
      const bool there = rows.contains(where.second);
      if (value && !there) ++entries;
      if (!value && there) --entries;
    }
    return 0;
  }
  int each(Which table, const std::function<bool(ByteSpan, ByteSpan)>& visit) override {
    for (const auto& [name, value] : disk_.tables[static_cast<std::size_t>(table)])
      if (!visit(name, value)) break;
    return 0;
  }
  int commit() override {
    const bool alive = !world().here().dead;
    const bool failed =
        fails_at_step(disk_.step, changes_) || fails(disk_.commits_before, disk_.commits_failing);
    const Fate fate = failed ? Fate::kFails : meet(kCommit, true);
    if (fate == Fate::kFails) return errno;
    // It crashed in this very commit, which may be on disk all the same.
    const bool there = fate == Fate::kDone || (alive && world().random.percent(50));
    if (!there) return 0;
    const bool ends_refresh = alive && is_end_of_refresh();
    const std::optional<StoreCopy> before =
        says_refresh() ? std::optional(disk_.copy_store()) : std::nullopt;
    for (auto& [key, value] : changes_) {
      Table& rows = disk_.tables[static_cast<std::size_t>(key.first)];
      if (value)
        rows[key.second] = std::move(*value);
      else
        rows.erase(key.second);
    }
    if (ends_refresh) judge_end_of_refresh(host_);
    if (before && refresh_in(view_of(host_, *before)).is.epoch < refresh_of(host_).is.epoch)
      note_refresh(host_, *before);
    return 0;
  }

 private:
  bool is_end_of_refresh() const {
    const Bytes name(kept::kRefreshing.begin(), kept::kRefreshing.end());
    const auto at = changes_.find({Tables::kValues, name});
    return at != changes_.end() && !at->second;
  }
  bool says_refresh() const { return changes_.contains({Tables::kMeta, bytes(meta::kRefresh)}); }
  static Bytes bytes(ByteSpan span) { return {span.begin(), span.end()}; }
  const Host& host_;
  HostDisk& disk_;
  Changes changes_;
};

class SimTables final : public Tables {
 public:
  explicit SimTables(const Host& host) : host_(host) {}
  int begin(bool writes, std::unique_ptr<Transaction>& transaction) override {
    HostDisk& disk = disk_of(host_);
    if (!writes && fails(disk.reads_before, disk.reads_failing)) return errno;
    if (!writes && meet("read", false) == Fate::kFails) return errno;
    transaction = std::make_unique<SimTransaction>(host_);
    return 0;
  }
  int check_room(Table, std::size_t) override {
    const HostDisk& disk = disk_of(host_);
    std::size_t entries = 0;
    for (const auto& table : disk.tables) entries += table.size();
    const bool room = disk.limit == 0 || entries < static_cast<std::size_t>(disk.limit);
    if (!room) world().injected("map full");
    return room ? 0 : MDB_MAP_FULL;
  }

 private:
  const Host& host_;
};

}  // namespace

HostDisk& disk_of(const Host& host) {
  return disks[static_cast<std::size_t>(std::clamp(host.number, 0, kHosts - 1))];
}

void put_back_store(const Host& host, StoreCopy copy, bool with_keys) {
  HostDisk& disk = disk_of(host);
  disk.tables = std::move(copy.tables);
  if (!with_keys) return;
  disk.put_file(kKeysFile, copy.keys);
  disk.wrapping = copy.wrapping;
}

void new_disks() { disks = {}; }

std::string HostDisk::text(const std::string& path) const {
  const auto at = names.find(path);
  return at == names.end() ? "" : at->second->contents;
}

bool HostDisk::has_unsynced() const {
  return std::ranges::any_of(names, [](const auto& one) {
    return one.second->contents.size() > one.second->durable.size() + 2;
  });
}

const std::string& HostDisk::keys() const {
  static const std::string none;
  const auto at = names.find(kKeysFile);
  return at == names.end() ? none : at->second->contents;
}

bool HostDisk::names_file(const std::shared_ptr<DiskFile>& file) const {
  return std::ranges::any_of(names, [&](const auto& one) { return one.second == file; });
}

void HostDisk::put_file(const std::string& path, const std::string& text) {
  names[path] = durable_names[path] = std::make_shared<DiskFile>(DiskFile{text, text, false});
}

namespace {

// What is left of what was written and not synced.
void tear(DiskFile& file, bool surely, Random& random) {
  std::string& now = file.contents;
  const std::string& durable = file.durable;
  if (now == durable) return;
  if (now.starts_with(durable)) {
    const std::size_t more = now.size() - durable.size();
    // A newline is the last octet of each line, and the first where a line before it was torn.
    const bool behind_torn = now[durable.size()] == '\n' && more > 1;
    const std::size_t kept = surely && more > 2                  ? 1 + random.below(more - 2)
                             : behind_torn && random.percent(40) ? 1
                             : random.percent(30)                ? 0
                             : random.percent(30)                ? more
                             : random.percent(30)                ? more - 1
                             : random.percent(30)                ? 1
                                                                 : random.below(more + 1);
    now.resize(durable.size() + kept);
    world().injected(kept == 0 ? "write lost" : kept == more ? "write kept" : "write torn");
  } else {
    now = random.percent(50) ? durable : now.substr(0, random.below(now.size() + 1));
    world().injected("overwrite torn");
  }
  file.durable = now;
  file.rewritten = false;
}

}  // namespace

void HostDisk::lose_power(Random& random) {
  const bool surely = std::exchange(tears, false);
  for (auto& [name, file] : names) {
    // A name that was not synced may be there all the same.
    const auto was = durable_names.find(name);
    if (was == durable_names.end() || was->second != file) {
      const bool kept = random.percent(50), replaces = was != durable_names.end();
      if (replaces) world().injected(kept ? "rename kept" : "rename lost");
      if (kept) durable_names[name] = file;
    }
    tear(*file, surely, random);
  }
  for (auto& [name, file] : durable_names) tear(*file, surely, random);
  for (auto at = durable_names.begin(); at != durable_names.end();) {
    const bool removed = !names.contains(at->first);
    // Removed and not synced: it may come back.
    if (removed && random.percent(50))
      at = durable_names.erase(at);
    else
      ++at;
  }
  names = durable_names;
}

std::unique_ptr<Disk::File> SimDisk::open(const std::string& path, How how, mode_t) {
  HostDisk& disk = here();
  const bool keys = is_keys(path);
  const Fate fate = meet("open", false, keys);
  if (fate == Fate::kFails) return nullptr;
  if (fate == Fate::kDead) return std::make_unique<SimFile>(std::make_shared<DiskFile>(), keys);
  const bool there = disk.names.contains(path);
  if (there ? how == How::kNew : how == How::kOld) {
    errno = there ? EEXIST : ENOENT;
    return nullptr;
  }
  std::shared_ptr<DiskFile>& file = disk.names[path];
  if (!file) file = std::make_shared<DiskFile>();
  if (how == How::kOverwrite) {
    file->contents.clear();
    file->rewritten = true;
  }
  return std::make_unique<SimFile>(file, keys);
}

std::optional<std::string> SimDisk::read(const std::string& path, std::uint64_t from,
                                         std::size_t most) {
  const HostDisk& disk = here();
  const auto at = disk.names.find(path);
  if (at == disk.names.end()) {
    errno = ENOENT;
    return std::nullopt;
  }
  if (meet("read", false, is_keys(path)) == Fate::kFails) return std::nullopt;
  const std::string& contents = at->second->contents;
  return contents.substr(std::min<std::size_t>(from, contents.size()), most);
}

bool SimDisk::remove(const std::string& path) {
  const Fate fate = meet("remove", false, is_keys(path));
  if (fate != Fate::kDone) return fate == Fate::kDead;
  if (here().names.erase(path) == 1) return true;
  errno = ENOENT;
  return false;
}

bool SimDisk::rename(const std::string& from, const std::string& to) {
  const Fate fate = meet("rename", true, is_keys(from));
  if (fate != Fate::kDone) return fate == Fate::kDead;
  auto& names = here().names;
  const auto draft = names.find(from);
  if (draft == names.end()) {
    errno = ENOENT;
    return false;
  }
  names[to] = draft->second;
  names.erase(from);
  if (is_keys(from) && std::exchange(here().keys_fault.at_rename, false)) {
    world().injected("power loss at a rename");
    crash(world().here(), true);
  }
  return true;
}

bool SimDisk::sync_folder(const std::string& folder) {
  const Fate fate = meet("sync of a folder", true, folder == kStorePath);
  if (fate != Fate::kDone) return fate == Fate::kDead;
  HostDisk& disk = here();
  const auto within = [&](const std::string& name) { return name.starts_with(folder + "/"); };
  std::erase_if(disk.durable_names, [&](const auto& one) {
    return within(one.first) && !disk.names.contains(one.first);
  });
  for (const auto& [name, file] : disk.names)
    if (within(name)) disk.durable_names[name] = file;
  return true;
}

std::unique_ptr<Tables> tables_of(const Host& host) { return std::make_unique<SimTables>(host); }

}  // namespace tkdc::sim
