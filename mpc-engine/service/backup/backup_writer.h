// SPDX-License-Identifier: Apache-2.0
// Writes a backup: entries go in, octets that only the recipient opens come out, piece by piece.
// The file gets its name when it is whole and on disk; one that is not finished goes again.
//
// Errors: the disk's. One thread. Secret: what is written, and the backup's own key, which is
// gone with this.
#pragma once

#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "service/backup/backup_entry.h"
#include "service/backup/backup_head.h"

namespace tkdc {

class BackupWriter {
 public:
  // `path` must be free.
  static Result<std::unique_ptr<BackupWriter>> create(const std::string& path,
                                                      const BackupPublicKey& recipient);
  ~BackupWriter();

  Result<void> put(const BackupEntry& entry);
  // Fills in what is known only now: recipient, length and digest.
  Result<void> finish(BackupHead& head);

 private:
  BackupWriter(std::string path, UniqueFd fd, const BackupPublicKey& recipient);
  Result<void> begin();
  Result<void> put_octets(ByteSpan octets);
  Result<void> encrypt_chunk(unsigned char tag);
  Result<void> write_body(ByteSpan octets);
  Result<void> write_head(BackupHead& head);
  std::string draft() const { return path_ + ".partial"; }

  const std::string path_;
  UniqueFd fd_;
  const BackupPublicKey recipient_;
  SecretBuffer own_;
  crypto_secretstream_xchacha20poly1305_state stream_;
  crypto_generichash_state digest_;
  SecretVector chunk_;
  Bytes sealed_;
  std::uint64_t entries_ = 0, body_bytes_ = 0;
};

}  // namespace tkdc
