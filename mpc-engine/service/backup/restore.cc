// SPDX-License-Identifier: Apache-2.0
#include "service/backup/restore.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "base/hex.h"
#include "base/unique_fd.h"
#include "base/utc_time.h"
#include "service/backup/place_store.h"
#include "service/store/keyring.h"
#include "service/store/store_filler.h"
#include "service/store/store_snapshot.h"

namespace tkdc {
namespace {

// In the order of which is the newer (backup_shelf.h).
using Age = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

std::string state(const Age& age) {
  const auto& [era, refresh_epoch, generation] = age;
  return "refresh epoch " + std::to_string(refresh_epoch) + ", generation " +
         std::to_string(generation) + ", era " + std::to_string(era);
}

Result<void> is_for(const BackupHead& head, const StoreOptions& store) {
  if (head.installation == store.installation && head.party == store.party) return {};
  return fail("the backup is of party " + std::to_string(head.party) + " of installation " +
              to_hex(head.installation) + ", this server is party " + std::to_string(store.party) +
              " of " + to_hex(store.installation));
}

// By a process of its own: a database that is damaged can end who reads it. 0: it cannot be read.
std::uint64_t generation_there(const StoreOptions& store, const SecretBuffer& wrapping) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 0;
  const UniqueFd mine(ends[0]);
  UniqueFd its(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    auto there = StoreSnapshot::take(store, wrapping);
    const std::uint64_t generation = there.ok() ? (*there)->moment().generation : 0;
    ::_exit(::write(its.get(), &generation, sizeof generation) == sizeof generation ? 0 : 1);
  }
  its = UniqueFd();
  std::uint64_t generation = 0;
  const bool told =
      child > 0 && ::read(mine.get(), &generation, sizeof generation) == sizeof generation;
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return told ? generation : 0;
}

// The generation that the restored store counts on from: no backup of the store that it replaces is
// of a higher one. Error: that store is newer than the backup, or cannot be read, and --replace
// does not say so.
Result<std::uint64_t> counts_on_from(const RestoreOptions& options, const BackupHead& head,
                                     const SecretBuffer& wrapping) {
  if (options.replace) return std::max(generation_there(options.store, wrapping), head.generation);
  auto there = StoreSnapshot::take(options.store, wrapping);
  if (!there.ok())
    return fail("the store that is there cannot be compared with the backup (" +
                there.error().message + "); --replace restores all the same");
  const StoreMoment& now = (*there)->moment();
  const Age is{now.epochs.era, now.refresh_epoch, now.generation};
  const Age restored{head.era, head.refresh_epoch, head.generation};
  if (is <= restored) return std::max(now.generation, head.generation);
  return fail("the store in " + options.store.path + " is newer (" + state(is) +
              ") than the backup (" + state(restored) +
              "): keys made since would be lost; --replace restores all the same");
}

class StoreRestore final : public Restore {
 public:
  StoreRestore(const RestoreOptions& options, const WholeHead& checked,
               const SecretBuffer& wrapping, StorePlace place, std::uint64_t generation)
      : options_(options), checked_(checked), wrapping_(copy_of(wrapping)),
        place_(std::move(place)), generation_(generation) {}

  Result<RestoredStore> run(BackupReader& reader) override {
    if (reader.whole_head().octets != checked_.octets)
      return fail(reader.path() +
                  " is another backup than the one that was checked: somebody "
                  "changes it meanwhile; restore from a copy that is yours alone");
    if (auto filled = fill(reader); !filled.ok()) return filled.error();
    auto era = opens(reader.head());
    if (!era.ok()) return era.error();
    if (auto on = look_at(reader); !on.ok()) return on.error();
    auto placed = place_.replace(former_name());
    if (!placed.ok()) return placed.error();
    return RestoredStore{placed->former, *era, placed->unsynced};
  }

 private:
  // Free: several may be restored within a second.
  std::string former_name() const {
    const std::string time = format_utc_compact(static_cast<std::int64_t>(options_.now_s));
    const std::string first = options_.store.path + ".before-" + time;
    std::string name = first;
    for (int more = 2; ::access(name.c_str(), F_OK) == 0; ++more)
      name = first + "-" + std::to_string(more);
    return name;
  }
  Result<void> look_at(const BackupReader& reader) const {
    return look(options_.watch, reader.octets(), reader.head().body_bytes);
  }
  Result<void> fill(BackupReader& reader);
  // What was made is what the backup says. Its era.
  Result<std::uint32_t> opens(const BackupHead& head);

  StoreOptions at_draft() const {
    StoreOptions out = options_.store;
    out.path = place_.draft();
    return out;
  }

  const RestoreOptions options_;
  const WholeHead checked_;
  const SecretBuffer wrapping_;
  StorePlace place_;
  const std::uint64_t generation_;
};

Result<void> StoreRestore::fill(BackupReader& reader) {
  auto filler = StoreFiller::create(at_draft(), wrapping_, {generation_, options_.all_three});
  if (!filler.ok()) return filler.error();
  BackupEntry entry;
  for (;;) {
    auto more = reader.next(entry);
    if (!more.ok()) return more.error();
    if (!*more) return (*filler)->finish();
    if (auto on = look_at(reader); !on.ok()) return on;
    if (entry.kind == kBackupFileKind) continue;
    auto done = (*filler)->put(
        {static_cast<ValueKind>(entry.kind), entry.name, entry.header, entry.contents});
    if (!done.ok()) return done;
  }
}

Result<std::uint32_t> StoreRestore::opens(const BackupHead& head) {
  auto store = Store::open(at_draft(), wrapping_);
  if (!store.ok()) return store.error();
  auto inventory = (*store)->inventory();
  if (!inventory.ok()) return inventory.error();
  if (*inventory != head.inventory || (*store)->count() != head.records)
    return fail("the store that was made is not what the backup says; nothing was changed");
  return (*store)->epochs().era;
}

}  // namespace

Result<std::unique_ptr<Restore>> Restore::begin(const RestoreOptions& options,
                                                const WholeHead& checked,
                                                const SecretBuffer& wrapping) {
  const BackupHead& head = checked.head;
  if (auto own = is_for(head, options.store); !own.ok()) return own.error();
  auto place = StorePlace::hold(options.store.path);
  if (!place.ok()) return place.error();
  Result<std::uint64_t> generation = head.generation;
  if (place->occupied()) generation = counts_on_from(options, head, wrapping);
  if (!generation.ok()) return generation.error();
  return std::unique_ptr<Restore>(
      std::make_unique<StoreRestore>(options, checked, wrapping, std::move(*place), *generation));
}

}  // namespace tkdc
