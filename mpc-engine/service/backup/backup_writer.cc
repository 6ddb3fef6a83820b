// SPDX-License-Identifier: Apache-2.0
#include "service/backup/backup_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/codec.h"
#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

Error taken(const std::string& path) {
  return fail(path + " was made meanwhile, by another run: run this one again");
}

}  // namespace

BackupWriter::BackupWriter(std::string path, UniqueFd fd, const BackupPublicKey& recipient)
    : path_(std::move(path)), fd_(std::move(fd)), recipient_(recipient), own_(32) {
  chunk_.reserve(kBackupChunkBytes);
}

BackupWriter::~BackupWriter() {
  sodium_memzero(&stream_, sizeof stream_);
  if (fd_) ::unlink(draft().c_str());
}

// A draft that is there is another run's, at work or killed: its name holds the second.
Result<std::unique_ptr<BackupWriter>> BackupWriter::create(const std::string& path,
                                                           const BackupPublicKey& recipient) {
  const std::string draft = path + ".partial";
  UniqueFd fd = create_file(draft);
  if (!fd) return errno == EEXIST ? taken(path) : system_error("cannot make " + draft);
  std::unique_ptr<BackupWriter> out(new BackupWriter(path, std::move(fd), recipient));
  if (auto begun = out->begin(); !begun.ok()) return begun.error();
  return out;
}

// The head's place is kept free.
Result<void> BackupWriter::begin() {
  randombytes_buf(own_.data(), own_.size());
  crypto_generichash_init(&digest_, nullptr, 0, sizeof BackupHead::body_digest);
  if (::lseek(fd_.get(), static_cast<off_t>(kBackupHeadBytes), SEEK_SET) < 0)
    return system_error(draft());
  const SecretBuffer key = backup_subkey(own_, BackupSubkey::kBody);
  Bytes header(crypto_secretstream_xchacha20poly1305_HEADERBYTES);
  crypto_secretstream_xchacha20poly1305_init_push(&stream_, header.data(), key.data());
  return write_body(header);
}

Result<void> BackupWriter::write_body(ByteSpan octets) {
  crypto_generichash_update(&digest_, octets.data(), octets.size());
  body_bytes_ += octets.size();
  while (!octets.empty()) {
    const ssize_t n = ::write(fd_.get(), octets.data(), octets.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error("cannot write " + draft());
    octets = octets.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> BackupWriter::encrypt_chunk(unsigned char tag) {
  sealed_.resize(chunk_.size() + kBackupTagBytes);
  crypto_secretstream_xchacha20poly1305_push(&stream_, sealed_.data(), nullptr, chunk_.data(),
                                             chunk_.size(), nullptr, 0, tag);
  chunk_.clear();
  return write_body(sealed_);
}

Result<void> BackupWriter::put_octets(ByteSpan octets) {
  while (!octets.empty()) {
    if (chunk_.size() == kBackupChunkBytes)
      if (auto done = encrypt_chunk(crypto_secretstream_xchacha20poly1305_TAG_MESSAGE); !done.ok())
        return done;
    const std::size_t some = std::min(octets.size(), kBackupChunkBytes - chunk_.size());
    chunk_.insert(chunk_.end(), octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(some));
    octets = octets.subspan(some);
  }
  return {};
}

Result<void> BackupWriter::put(const BackupEntry& entry) {
  if (entry.name.size() > kMostEntryNameBytes || entry.header.size() > kMostEntryHeaderBytes ||
      entry.contents.size() > kMostEntryBytes)
    return fail("a value of the store is too long for a backup");
  Bytes before;
  Writer w(before);
  w.u8(entry.kind);
  w.bytes(entry.name);
  w.bytes(entry.header);
  w.u32(static_cast<std::uint32_t>(entry.contents.size()));
  ++entries_;
  auto done = put_octets(before);
  return done.ok() ? put_octets(entry.contents) : done;
}

Result<void> BackupWriter::finish(BackupHead& head) {
  Bytes count;
  Writer(count).u64(entries_);
  auto done = put({kBackupEndKind, {}, {}, count});
  if (done.ok()) done = encrypt_chunk(crypto_secretstream_xchacha20poly1305_TAG_FINAL);
  if (done.ok()) done = write_head(head);
  if (!done.ok()) return done;
  if (!put_in_free_place(draft(), path_))
    return errno == EEXIST ? taken(path_) : system_error("cannot give " + path_ + " its name");
  fd_ = UniqueFd();
  return {};
}

Result<void> BackupWriter::write_head(BackupHead& head) {
  head.recipient = recipient_;
  head.body_bytes = body_bytes_;
  crypto_generichash_final(&digest_, head.body_digest.data(), head.body_digest.size());
  Bytes octets = encode_backup_fields(head);
  Bytes sealed(kBackupSealedKeyBytes);
  if (crypto_box_seal(sealed.data(), own_.data(), own_.size(), recipient_.data()) != 0)
    return fail("the public key for backups is none; make another by `tkdc backup key`");
  octets.insert(octets.end(), sealed.begin(), sealed.end());
  const auto mac = backup_mac(own_, octets);
  octets.insert(octets.end(), mac.begin(), mac.end());
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0 || !write_synced(fd_.get(), octets))
    return system_error("cannot write " + draft());
  return {};
}

}  // namespace tkdc
