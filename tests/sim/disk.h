// SPDX-License-Identifier: Apache-2.0
// Each host's disk: files whose last writes, and names, are lost, kept or torn when the power goes,
// and the tables of its store, in which a transaction is there as a whole or not at all. Either may
// be full or fail.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/disk.h"
#include "service/store/tables.h"
#include "sim/world.h"

namespace tkdc::sim {

struct DiskFile {
  std::string contents, durable;
  bool rewritten = false;  // `contents` need not begin with `durable`

  void sync() {
    if (std::exchange(rewritten, false))
      durable = contents;
    else
      durable.append(contents, durable.size());
  }
};
using Table = std::map<Bytes, Bytes>;
using TableSet = std::array<Table, Tables::kTables>;

// What a transaction of two servers' stores does.
enum class Step : std::uint8_t { kNone, kPool, kNumber, kMove, kRefresh, kKey };
struct StepFault {
  Step step = Step::kNone;
  int before = 0;  // so many of that step go well
  bool crashes = false;
};

// Of the store's file `keys` and its draft: so many operations go well. -1: all do.
struct KeysFault {
  std::int64_t before = -1;
  bool crashes = false;
  bool at_rename = false;  // or the power is lost behind the next rename, before it is synced
};

inline constexpr const char *kStorePath = "/store", *kKeysFile = "/store/keys";

// What a store has on a disk, but for the key in store.key: data.mdb, and `keys`.
struct StoreCopy {
  TableSet tables;
  std::string keys;
  int wrapping = 0;  // as HostDisk's then
};

// Outlives the server that runs on it.
struct HostDisk {
  std::map<std::string, std::shared_ptr<DiskFile>> names, durable_names;
  TableSet tables;
  bool full = false;  // nothing more is taken
  int failing = 0;    // so many of the next operations fail
  // Of the store's transactions: so many are carried out, and so many fail behind these.
  int commits_before = 0, commits_failing = 0;
  int reads_before = 0, reads_failing = 0;  // the same of those that only read
  StepFault step;                           // the same of one step, once
  KeysFault keys_fault;                     // and of the file `keys`
  Us failed_at = -kNever / 2;               // when anything last failed
  int wrapping = 0;                         // which key store.key has: so many came before it
  std::int64_t limit = 0;                   // entries of the store; 0: none

  bool tears = false;  // the next loss of power tears a line
  // What was written and is not synced.
  bool has_unsynced() const;

  // What is left of it.
  void lose_power(Random& random);
  std::string text(const std::string& path) const;
  const std::string& keys() const;
  bool names_file(const std::shared_ptr<DiskFile>& file) const;

  StoreCopy copy_store() const { return {tables, keys(), wrapping}; }
  // An administrator's hand.
  void put_file(const std::string& path, const std::string& text);
};

HostDisk& disk_of(const Host& host);
// By an administrator: data.mdb, and `keys` with it and the store.key of then, or those of today.
void put_back_store(const Host& host, StoreCopy copy, bool with_keys);
void new_disks();

class SimDisk final : public Disk {
 public:
  std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) override;
  std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                  std::size_t most) override;
  bool remove(const std::string& path) override;
  bool rename(const std::string& from, const std::string& to) override;
  bool sync_folder(const std::string& folder) override;
};

std::unique_ptr<Tables> tables_of(const Host& host);

}  // namespace tkdc::sim
