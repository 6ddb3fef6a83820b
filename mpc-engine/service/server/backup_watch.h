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

struct BackupsSeen {
  std::int64_t since_s = 0;  // Unix time at which the key for them came
  std::optional<std::int64_t> newest_s;
  bool of_two = false;  // servers, of which nobody can rebuild one from the other
};

// Nothing: it is to have none, since there is no backup.pub beside its configuration. One of two
// servers is to have one always.
std::optional<BackupsSeen> backups_seen(const std::string& config_file,
                                        const std::string& store_path, int parties);

// Empty while there is nothing to say: the timer makes one each night.
std::string backup_alarm(const std::optional<BackupsSeen>& seen, std::int64_t now_s);

// "backup_newest_s", and "backup_warning" where there is one.
void tell_backups(nlohmann::json& json, const std::optional<BackupsSeen>& seen, std::int64_t now_s);

}  // namespace tkdc
