// SPDX-License-Identifier: Apache-2.0
#include "service/backup/restore.h"

#include <unistd.h>

#include <tuple>

#include "base/hex.h"
#include "base/utc_time.h"
#include "service/backup/place_store.h"
#include "service/store/keyring.h"
#include "service/store/store_filler.h"
#include "service/store/store_snapshot.h"

namespace tkdc {
namespace {

std::string state(std::uint32_t refresh_epoch, std::uint64_t generation) {
  return "refresh epoch " + std::to_string(refresh_epoch) + ", generation " +
         std::to_string(generation);
}

Result<void> is_for(const BackupHead& head, const StoreOptions& store) {
  if (head.installation == store.installation && head.party == store.party) return {};
  return fail("the backup is of party " + std::to_string(head.party) + " of installation " +
              to_hex(head.installation) + ", this server is party " + std::to_string(store.party) +
              " of " + to_hex(store.installation));
}

// Refresh epochs come before generations: a store that was repaired counts anew.
Result<void> is_no_newer(const RestoreOptions& options, const BackupHead& head,
                         const SecretBuffer& wrapping) {
  auto there = StoreSnapshot::take(options.store, wrapping);
  if (!there.ok())
    return fail("the store that is there cannot be compared with the backup (" +
                there.error().message + "); --replace restores all the same");
  const StoreMoment& now = (*there)->moment();
  if (std::tie(now.refresh_epoch, now.generation) <= std::tie(head.refresh_epoch, head.generation))
    return {};
  return fail("the store in " + options.store.path + " is newer (" +
              state(now.refresh_epoch, now.generation) + ") than the backup (" +
              state(head.refresh_epoch, head.generation) +
              "): keys made since would be lost; --replace restores all the same");
}

class StoreRestore final : public Restore {
 public:
  StoreRestore(const RestoreOptions& options, const SecretBuffer& wrapping, StorePlace place)
      : options_(options), wrapping_(copy_of(wrapping)), place_(std::move(place)) {}

  Result<RestoredStore> run(BackupReader& reader) override {
    if (auto filled = fill(reader); !filled.ok()) return filled.error();
    auto era = opens(reader.head());
    if (!era.ok()) return era.error();
    auto former = place_.replace(former_name());
    if (!former.ok()) return former.error();
    return RestoredStore{*former, *era};
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
  Result<void> fill(BackupReader& reader);
  // What was made is what the backup says. Its era.
  Result<std::uint32_t> opens(const BackupHead& head);

  StoreOptions at_draft() const {
    StoreOptions out = options_.store;
    out.path = place_.draft();
    return out;
  }

  const RestoreOptions options_;
  const SecretBuffer wrapping_;
  StorePlace place_;
};

Result<void> StoreRestore::fill(BackupReader& reader) {
  auto filler =
      StoreFiller::create(at_draft(), wrapping_, {reader.head().generation, options_.all_three});
  if (!filler.ok()) return filler.error();
  BackupEntry entry;
  for (;;) {
    auto more = reader.next(entry);
    if (!more.ok()) return more.error();
    if (!*more) return (*filler)->finish();
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
                                                const BackupHead& head,
                                                const SecretBuffer& wrapping) {
  if (auto own = is_for(head, options.store); !own.ok()) return own.error();
  auto place = StorePlace::hold(options.store.path);
  if (!place.ok()) return place.error();
  if (place->occupied() && !options.replace)
    if (auto older = is_no_newer(options, head, wrapping); !older.ok()) return older.error();
  return std::unique_ptr<Restore>(
      std::make_unique<StoreRestore>(options, wrapping, std::move(*place)));
}

}  // namespace tkdc
