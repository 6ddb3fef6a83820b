// SPDX-License-Identifier: Apache-2.0
#include "service/backup/backup_reader.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/codec.h"
#include "base/hex.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

Result<std::unique_ptr<BackupReader>> BackupReader::open(const UniqueFd& fd,
                                                         const std::string& path,
                                                         const SecretBuffer& secret) {
  std::unique_ptr<BackupReader> out(new BackupReader(fd, path));
  if (auto begun = out->begin(secret); !begun.ok()) return begun.error();
  return out;
}

Result<void> BackupReader::begin(const SecretBuffer& secret) {
  auto whole = read_backup_head(fd_, path_);
  if (!whole.ok()) return whole.error();
  whole_ = std::move(*whole);
  const BackupPublicKey recipient = backup_public_key(secret);
  if (recipient != head().recipient)
    return fail(path_ + ": for another key, " + to_hex(head().recipient) + "; this one is " +
                to_hex(recipient));
  SecretBuffer own(crypto_kdf_KEYBYTES);
  if (crypto_box_seal_open(own.data(), whole_.sealed_key().data(), whole_.sealed_key().size(),
                           recipient.data(), secret.data()) != 0)
    return damaged("its own key does not open");
  const auto mac = backup_mac(own, whole_.authenticated());
  if (sodium_memcmp(mac.data(), whole_.mac().data(), mac.size()) != 0)
    return damaged("its head was changed");
  crypto_generichash_init(&digest_, nullptr, 0, sizeof BackupHead::body_digest);
  left_ = head().body_bytes;
  if (::lseek(fd_.get(), static_cast<off_t>(kBackupHeadBytes), SEEK_SET) < 0)
    return system_error(path_);
  Bytes header(crypto_secretstream_xchacha20poly1305_HEADERBYTES);
  if (auto read = read_body(header); !read.ok()) return read;
  const SecretBuffer key = backup_subkey(own, BackupSubkey::kBody);
  if (crypto_secretstream_xchacha20poly1305_init_pull(&stream_, header.data(), key.data()) != 0)
    return damaged("its body does not open");
  return {};
}

Result<void> BackupReader::read_body(MutableByteSpan out) {
  if (out.size() > left_) return damaged("it ends too soon");
  left_ -= out.size();
  const ByteSpan all = out;
  while (!out.empty()) {
    const ssize_t n = ::read(fd_.get(), out.data(), out.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path_);
    if (n == 0) return damaged("it ends too soon");
    out = out.subspan(static_cast<std::size_t>(n));
  }
  crypto_generichash_update(&digest_, all.data(), all.size());
  return {};
}

Result<void> BackupReader::decrypt_chunk() {
  if (final_ || left_ < kBackupTagBytes) return damaged("it ends too soon");
  sealed_.resize(std::min<std::uint64_t>(left_, kBackupChunkBytes + kBackupTagBytes));
  if (auto read = read_body(sealed_); !read.ok()) return read;
  plain_.erase(plain_.begin(), plain_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  const std::size_t before = plain_.size();
  plain_.resize(before + sealed_.size() - kBackupTagBytes);
  unsigned char tag = 0;
  if (crypto_secretstream_xchacha20poly1305_pull(&stream_, plain_.data() + before, nullptr, &tag,
                                                 sealed_.data(), sealed_.size(), nullptr, 0) != 0)
    return damaged("a part of it does not decrypt");
  final_ = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
  return {};
}

Result<void> BackupReader::have(std::size_t octets) {
  while (plain_.size() - at_ < octets)
    if (auto more = decrypt_chunk(); !more.ok()) return more;
  return {};
}

Result<BackupReader::Place> BackupReader::find_sized(std::size_t at, std::size_t most) {
  if (auto there = have(at + kLengthBytes); !there.ok()) return there.error();
  const std::size_t octets = Reader(of_entry({at, kLengthBytes})).u32();
  if (octets > most) return damaged("an entry is too long");
  if (auto there = have(at + kLengthBytes + octets); !there.ok()) return there.error();
  return Place{at + kLengthBytes, octets};
}

Result<bool> BackupReader::next(BackupEntry& entry) {
  at_ += std::exchange(entry_bytes_, 0);
  if (auto there = have(1); !there.ok()) return there.error();
  constexpr std::size_t kMost[] = {kMostEntryNameBytes, kMostEntryHeaderBytes, kMostEntryBytes};
  Place places[3];
  std::size_t bytes = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    auto place = find_sized(bytes, kMost[k]);
    if (!place.ok()) return place.error();
    places[k] = *place;
    bytes = place->at + place->octets;
  }
  entry_bytes_ = bytes;
  entry = {plain_[at_], of_entry(places[0]), of_entry(places[1]), of_entry(places[2])};
  if (entry.kind == kBackupEndKind) {
    if (auto ended = end(entry); !ended.ok()) return ended.error();
    return false;
  }
  ++entries_;
  return true;
}

Result<void> BackupReader::end(const BackupEntry& entry) {
  if (!final_ || left_ != 0 || at_ + entry_bytes_ != plain_.size())
    return damaged("it does not end at its end");
  if (entry.contents.size() != 8 || Reader(entry.contents).u64() != entries_)
    return damaged("it has not as many entries as it says");
  std::array<std::uint8_t, 32> digest{};
  crypto_generichash_final(&digest_, digest.data(), digest.size());
  if (digest != head().body_digest) return damaged("its digest is another");
  return {};
}

}  // namespace tkdc
