// SPDX-License-Identifier: Apache-2.0
// What the encrypted part of a backup is made of: entries, one behind the other, in the order of
// their kinds, and of their names within a kind.
//
//   kind u8 | name: u32 and octets | header: u32 and octets | contents: u32 and octets
//
// Kinds 1 to 9 are a store's values (service/store/stored_value.h), 32 the files of the member's
// folder. The last entry has kind 255, and 8 octets of contents: how many entries are before it.
// Secret: contents.
#pragma once

#include <string>
#include <vector>

#include "base/secret.h"

namespace tkdc {

inline constexpr std::uint8_t kBackupFileKind = 32, kBackupEndKind = 255;

struct BackupEntry {
  std::uint8_t kind = 0;
  ByteSpan name, header, contents;
};

// Longer than any that a store has: names are ids, or words; a row of MACs has two tags.
inline constexpr std::size_t kMostEntryNameBytes = 64, kMostEntryHeaderBytes = 64;
inline constexpr std::size_t kMostEntryBytes = std::size_t{34} << 20;

// Of the member's folder: its configuration, certificate and keys.
struct BackupFile {
  std::string name;
  SecretVector contents;
};
inline constexpr std::size_t kMostBackupFiles = 32, kMostBackupFileBytes = 64 * 1024;

// Of letters, digits, dots and dashes, and no hidden one: it cannot lead out of a folder.
bool is_backup_file_name(const std::string& name);

}  // namespace tkdc
