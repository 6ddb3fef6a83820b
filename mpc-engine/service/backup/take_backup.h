// SPDX-License-Identifier: Apache-2.0
// A backup of a server's store, beside the server that goes on with it.
#pragma once

#include <string>
#include <vector>

#include "base/stop.h"
#include "service/backup/backup_entry.h"
#include "service/backup/backup_head.h"
#include "service/store/store.h"

namespace tkdc {

struct TakeOptions {
  StoreOptions store;
  std::string folder;  // where the file comes to lie
  BackupPublicKey recipient{};
  std::vector<BackupFile> files;
  std::uint64_t now_s = 0;
  Watch watch;  // counts values
};

struct TakenBackup {
  std::string path;
  BackupHead head;
};

// `wrapping`: as Store::open(). Error: nothing is left in the folder.
Result<TakenBackup> take_backup(const TakeOptions& options, const SecretBuffer& wrapping);

inline constexpr std::string_view kBackupEnding = ".tkdc-backup";
inline constexpr std::string_view kBackupDraftEnding = ".tkdc-backup.partial";  // not finished yet
// server1-20261126T033000Z.tkdc-backup
std::string backup_name(int party, std::uint64_t made_at_s);

}  // namespace tkdc
