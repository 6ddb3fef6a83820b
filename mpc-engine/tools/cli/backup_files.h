// SPDX-License-Identifier: Apache-2.0
// What of a server's folder goes into its backups, and comes out of one: its configuration,
// certificate, keys and introductions, so that a host that is lost comes back as the one that the
// others know. Not store.key: a restored store is under another.
//
// Secret: keys among the files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/backup/backup_entry.h"

namespace tkdc::cli {

inline constexpr const char* kBackupPublicName = "backup.pub";

// Of the folder that the configuration lies in; credentials are opened, as root. Error: one of them
// cannot be read.
Result<std::vector<BackupFile>> read_member_files(const std::string& config);

// A new folder with these, and a new store.key. Secrets that were credentials are files there.
// Error: there is something in it already.
Result<void> write_member_files(const std::string& folder, const std::vector<BackupFile>& files);

}  // namespace tkdc::cli
