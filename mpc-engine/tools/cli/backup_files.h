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
#include "service/server/config.h"

namespace tkdc::cli {

inline constexpr const char* kBackupPublicName = "backup.pub";

// Those secrets of the configuration's folder that are credentials, which only root opens. No link
// is followed: the service's account could lay one to what is another's.
Result<std::vector<BackupFile>> open_member_credentials(const std::string& config);
// And all else but backup.pub, into the same list: by who owns the folder, for the same reason.
// Returns those files that the configuration names and that are not beside it, or are credentials
// of a name of their own: they are in no backup. Error: one of them cannot be read, or certificate
// and key do not belong together.
Result<std::vector<std::string>> read_member_files(const ServerConfig& config,
                                                   std::vector<BackupFile>& files);
// Certificate and keys that the configuration names, as paths.
std::vector<std::string> member_files(const ServerConfig& config);

// A new folder with these, and a new store.key. Secrets that were credentials are files there.
// Error: there is something in it already.
Result<void> write_member_files(const std::string& folder, const std::vector<BackupFile>& files);

}  // namespace tkdc::cli
