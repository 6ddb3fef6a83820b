// SPDX-License-Identifier: Apache-2.0
// The backups that lie in a folder: which of them are of use, and which are to go. Nothing is
// opened with a key. What is said of them is what their heads say.
//
// Of two, the newer is that of the later era of nonce epochs: all three servers went on from there
// together, wherever they had been before. Then the refresh epoch decides, then the generation.
//
// A backup of another refresh epoch than the newest one here, of the same server, is stale: the
// realm does not take it any more, and with another server's store of its epoch it is every key.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/backup/backup_head.h"

namespace tkdc {

struct ShelvedBackup {
  std::string path;
  BackupHead head;
  std::uint64_t bytes = 0;
  bool stale = false;
  std::string trouble;  // why it is no backup, or damaged; then the rest means nothing
};

// Where a server's backups come to lie, unless its administrator says otherwise.
std::string own_backups(const std::string& store_path);

// By server, the newest first; then those with trouble. Error: the folder cannot be read.
Result<std::vector<ShelvedBackup>> look_at_backups(const std::string& folder);

// The head of the newest of this server's, by its time; no digest is compared. None: there is none
// that has a head, or no such folder.
std::optional<BackupHead> newest_backup(const std::string& folder,
                                        const InstallationId& installation, int party);

// Drafts of runs that were killed: nobody has written to them for a day.
std::vector<std::string> left_drafts(const std::string& folder, std::uint64_t now_s);

// Heads are not authenticated without the key: in a folder of several, who writes one server's
// backups can have all others' look stale.
bool of_several_servers(const std::vector<ShelvedBackup>& shelf);

// This server's that are of another refresh epoch than its store: stale, though none of the store's
// lies there yet.
std::vector<ShelvedBackup> of_another_epoch(const std::vector<ShelvedBackup>& shelf,
                                            const InstallationId& installation, int party,
                                            std::uint32_t refresh_epoch);

struct Retention {
  std::size_t keep = 0;             // of the newest refresh epoch, of each server
  std::uint64_t stale_after_s = 0;  // how old a stale one is that goes
};
// Those that are to go. One with trouble is nobody's to remove but the administrator's.
std::vector<ShelvedBackup> to_remove(const std::vector<ShelvedBackup>& shelf,
                                     const Retention& retention, std::uint64_t now_s);

}  // namespace tkdc
