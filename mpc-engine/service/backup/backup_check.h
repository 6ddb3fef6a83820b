// SPDX-License-Identifier: Apache-2.0
// Whether a backup is one: all of it decrypts, every value is what it says, and together they are
// what its head says. Needs no server and no realm. Secret: the files that it holds.
#pragma once

#include <vector>

#include "base/stop.h"
#include "service/backup/backup_reader.h"

namespace tkdc {

struct BackupContents {
  std::uint64_t records = 0, prepared = 0, tombstones = 0, condemned = 0, seals = 0;
  std::uint64_t dropped = 0;  // of the records
  std::uint64_t macs = 0, without_macs = 0;
  std::uint64_t pools = 0;  // of two servers
  std::uint64_t refreshed_at_s = 0;
  std::vector<BackupFile> files;
};

// To its end. `watch` counts octets. Error: the first thing that is wrong, and where.
Result<BackupContents> check_backup(BackupReader& reader, const Watch& watch = {});

}  // namespace tkdc
