// SPDX-License-Identifier: Apache-2.0
// What `tkdc backup` and `tkdc restore` have in common: exit statuses, and how they speak of a
// backup. Nothing in it is secret.
#pragma once

#include <string>

#include "service/backup/backup_head.h"

namespace tkdc::cli {

// 2: no backup, damaged, cut short, or for another key; of `list` and `prune`: something is to be
// looked at. 3: the backup is good, and must not be restored here.
enum BackupStatus { kBackupGood = 0, kBackupFailed = 1, kBackupBad = 2, kBackupRefused = 3 };

int say_failure(const char* command, const Error& error, int status);

// Backups of different servers with one state belong together.
std::string state_of(const BackupHead& head);
// Whoever has backup.pub can make a backup; which ones the server made, its journal says by digest.
// Of those first octets: to find the line.
std::string short_digest(const BackupHead& head);
void show_head(const BackupHead& head);

}  // namespace tkdc::cli
