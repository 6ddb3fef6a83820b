// SPDX-License-Identifier: Apache-2.0
// Whether this server's backups are made, for its status and journal: by the files beside its
// store, where it has a key for backups (docs/operations.md, Backup). What they hold nobody looks
// at here: that needs their key. Asked anew each time; nothing is secret.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tkdc {

// Beside tkdc.toml: where `tkdc backup copy` sends copies. And beside the backups: its note that
// all of them were there.
inline constexpr const char* kBackupCopyName = "backup.copy";
inline constexpr const char* kBackupsCopiedName = "copied";

struct BackupsSeen {
  std::int64_t since_s = 0;  // Unix time at which the key for them came
  std::optional<std::int64_t> newest_s;
  // When that one was begun, by its name: what it holds is of then.
  std::optional<std::int64_t> newest_begun_s;
  bool of_two = false;  // servers, of which nobody can rebuild one from the other
  // Where copies are to go to another host: since when, and when all backups were there last.
  std::optional<std::int64_t> copies_since_s, copied_s;
};

// Nothing: it is to have none, since there is no backup.pub beside its configuration. One of two
// servers is to have one always.
std::optional<BackupsSeen> backups_seen(const std::string& config_file,
                                        const std::string& store_path, int parties);

// Of two servers: since when a refresh is under way, and when the last one ended; 0: none is, or
// has. Either's administrator begins one, which makes the backups of both worthless.
struct RefreshSeen {
  std::uint64_t since_s = 0, ended_s = 0;
};

// Empty while there is nothing to say: the timer makes one each night.
std::string backup_alarm(const std::optional<BackupsSeen>& seen, std::int64_t now_s,
                         const RefreshSeen& refresh = {});

// Empty while copies come to another host, or none are to.
std::string copy_alarm(const std::optional<BackupsSeen>& seen, std::int64_t now_s);

// "backup_newest_s", and "backup_warning" where there is one.
void tell_backups(nlohmann::json& json, const std::optional<BackupsSeen>& seen, std::int64_t now_s,
                  const RefreshSeen& refresh = {});

}  // namespace tkdc
