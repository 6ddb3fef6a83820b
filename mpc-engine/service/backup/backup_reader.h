// SPDX-License-Identifier: Apache-2.0
// Reads a backup with the administrator's secret key: entry by entry, each as it is authenticated.
// All of it is good only when next() has said that the end is reached.
//
// One thread. Secret: the key, and entries.
#pragma once

#include <memory>
#include <string>

#include "service/backup/backup_entry.h"
#include "service/backup/backup_head.h"

namespace tkdc {

class BackupReader {
 public:
  // The file is read from its beginning. Error: no backup, damaged, or not for this key.
  static Result<std::unique_ptr<BackupReader>> open(const UniqueFd& fd, const std::string& path,
                                                    const SecretBuffer& secret);
  ~BackupReader() { sodium_memzero(&stream_, sizeof stream_); }

  const BackupHead& head() const { return whole_.head; }
  const WholeHead& whole_head() const { return whole_; }
  const std::string& path() const { return path_; }
  // Of the body, read so far.
  std::uint64_t octets() const { return head().body_bytes - left_; }
  // False at the end. The entry is good until the next call. Error: damaged.
  Result<bool> next(BackupEntry& entry);

 private:
  BackupReader(const UniqueFd& fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Result<void> begin(const SecretBuffer& secret);
  Result<void> read_body(MutableByteSpan out);
  // The first so many octets of this entry are there.
  Result<void> have(std::size_t octets);
  Result<void> decrypt_chunk();
  struct Place {
    std::size_t at = 0, octets = 0;
  };
  // What has its length in front of it, behind the first `at` octets of this entry.
  Result<Place> find_sized(std::size_t at, std::size_t most);
  Result<void> end(const BackupEntry& entry);
  ByteSpan of_entry(const Place& place) const {
    return ByteSpan(plain_).subspan(at_ + place.at, place.octets);
  }
  Error damaged(const std::string& what) const { return backup_damaged(path_, what); }

  const UniqueFd& fd_;
  const std::string path_;
  WholeHead whole_;
  crypto_secretstream_xchacha20poly1305_state stream_;
  crypto_generichash_state digest_;
  Bytes sealed_;
  SecretVector plain_;
  std::size_t at_ = 0, entry_bytes_ = 0;  // where this entry stands in it
  std::uint64_t left_ = 0;                // of the body, in the file
  bool final_ = false;                    // its last chunk was read
  std::uint64_t entries_ = 0;
};

}  // namespace tkdc
