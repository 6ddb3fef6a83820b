// SPDX-License-Identifier: Apache-2.0
// What stands in front of a backup, in the clear and authenticated (docs/backup.md has the format,
// octet by octet): whose it is, which moment of the store it is of, and the digest of what follows.
//
// Nothing in it is secret. Whoever has no key can read it and compare the digest, and finds damage;
// that nobody changed it on purpose is known when it is opened with the key.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "service/backup/backup_key.h"
#include "service/wire/key_ref.h"

namespace tkdc {

struct BackupHead {
  InstallationId installation{};
  int party = 0;
  std::uint32_t refresh_epoch = 0;
  std::uint32_t era = 0;  // of nonce epochs
  std::uint64_t generation = 0;
  std::uint64_t made_at_s = 0;  // Unix time
  std::uint64_t records = 0;
  std::array<std::uint8_t, 32> inventory{};  // equal at all three servers at one moment
  BackupPublicKey recipient{};
  std::uint64_t body_bytes = 0;
  std::array<std::uint8_t, 32> body_digest{};  // BLAKE2b-256 of the octets behind the head
};

inline constexpr std::size_t kBackupSealedKeyBytes = crypto_box_SEALBYTES + 32;
inline constexpr std::size_t kBackupMacBytes = crypto_generichash_BYTES;
// Of the whole head: the fields, the backup's own key sealed to the recipient, and the MAC.
inline constexpr std::size_t kBackupFieldBytes = 167;
inline constexpr std::size_t kBackupHeadBytes =
    kBackupFieldBytes + kBackupSealedKeyBytes + kBackupMacBytes;
inline constexpr std::size_t kBackupChunkBytes = 64 * 1024;  // before it is encrypted
inline constexpr std::size_t kBackupTagBytes = crypto_secretstream_xchacha20poly1305_ABYTES;

struct WholeHead {
  BackupHead head;
  Bytes octets;  // kBackupHeadBytes
  ByteSpan sealed_key() const {
    return ByteSpan(octets).subspan(kBackupFieldBytes, kBackupSealedKeyBytes);
  }
  ByteSpan authenticated() const { return ByteSpan(octets).first(octets.size() - kBackupMacBytes); }
  ByteSpan mac() const { return ByteSpan(octets).last(kBackupMacBytes); }
};

Bytes encode_backup_fields(const BackupHead& head);
// Error: no such file, or none that can be read.
Result<UniqueFd> open_backup(const std::string& path);
// Error: no backup, of another format, or cut short. `path` is for messages.
Result<WholeHead> read_backup_head(const UniqueFd& fd, const std::string& path);
// Error: what follows the head is not what it says, without any key.
Result<void> compare_body_digest(const UniqueFd& fd, const std::string& path,
                                 const BackupHead& head);

// Of a backup's own key: what authenticates the head, what encrypts the body.
enum class BackupSubkey : std::uint64_t { kHead = 1, kBody = 2 };
SecretBuffer backup_subkey(const SecretBuffer& own, BackupSubkey which);
std::array<std::uint8_t, kBackupMacBytes> backup_mac(const SecretBuffer& own, ByteSpan octets);

// For the administrator; with the name of the file.
Error backup_damaged(const std::string& path, const std::string& what);

}  // namespace tkdc
