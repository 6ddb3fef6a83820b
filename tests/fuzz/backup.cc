// SPDX-License-Identifier: Apache-2.0
// Backups, by the first octet: as they come, and entries of any kind in one that is sealed as it
// must be, as whoever has backup.pub can make it.
#include <sys/mman.h>
#include <unistd.h>

#include "base/durable_file.h"
#include "fuzz.h"
#include "service/backup/backup_check.h"
#include "service/store/inventory_hash.h"
#include "service/store/tables.h"

namespace {

using namespace tkdc;

constexpr const char* kPath = "backup";

const SecretBuffer& secret() {
  static const SecretBuffer one = [] {
    SecretBuffer out(kBackupKeyBytes);
    std::fill_n(out.data(), out.size(), std::uint8_t{7});
    return out;
  }();
  return one;
}

void check(ByteSpan file) {
  const UniqueFd fd(::memfd_create(kPath, MFD_CLOEXEC));
  fuzz::require(static_cast<bool>(fd) && write_synced(fd.get(), file));
  auto head = read_backup_head(fd, kPath);
  if (head.ok()) (void)compare_body_digest(fd, kPath, head->head).ok();
  auto reader = BackupReader::open(fd, kPath, secret());
  if (!reader.ok()) return;
  fuzz::require(head.ok() && head->octets == (*reader)->whole_head().octets);
  auto contents = check_backup(**reader);
  if (!contents.ok()) return;
  fuzz::require(compare_body_digest(fd, kPath, head->head).ok() && contents->records == 0);
  fuzz::require(contents->files.size() <= kMostBackupFiles);
  for (std::size_t k = 0; k < contents->files.size(); ++k) {
    fuzz::require(is_backup_file_name(contents->files[k].name));
    fuzz::require(k == 0 || contents->files[k - 1].name < contents->files[k].name);
  }
}

BackupHead of_an_empty_store() {
  BackupHead head;
  InventoryHash inventory;
  for (Tables::Table table : {Tables::kCommitted, Tables::kTombstones})
    inventory.begin_table(Tables::kNames[table]);
  head.inventory = inventory.finish(0);
  head.recipient = backup_public_key(secret());
  return head;
}

// In one chunk.
void well_sealed(ByteSpan entries) {
  static const SecretBuffer own(crypto_kdf_KEYBYTES);
  static const SecretBuffer body_key = backup_subkey(own, BackupSubkey::kBody);
  static const Bytes sealed = [] {
    Bytes out(kBackupSealedKeyBytes);
    const BackupPublicKey recipient = backup_public_key(secret());
    fuzz::require(crypto_box_seal(out.data(), own.data(), own.size(), recipient.data()) == 0);
    return out;
  }();
  static const BackupHead empty = of_an_empty_store();
  constexpr std::size_t kHeader = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
  entries = entries.first(std::min(entries.size(), kBackupChunkBytes));
  Bytes body(kHeader + entries.size() + kBackupTagBytes);
  crypto_secretstream_xchacha20poly1305_state stream;
  crypto_secretstream_xchacha20poly1305_init_push(&stream, body.data(), body_key.data());
  crypto_secretstream_xchacha20poly1305_push(&stream, body.data() + kHeader, nullptr,
                                             entries.data(), entries.size(), nullptr, 0,
                                             crypto_secretstream_xchacha20poly1305_TAG_FINAL);
  BackupHead head = empty;
  head.body_bytes = body.size();
  crypto_generichash(head.body_digest.data(), head.body_digest.size(), body.data(), body.size(),
                     nullptr, 0);
  Bytes file = encode_backup_fields(head);
  file.insert(file.end(), sealed.begin(), sealed.end());
  const auto mac = backup_mac(own, file);
  file.insert(file.end(), mac.begin(), mac.end());
  file.insert(file.end(), body.begin(), body.end());
  check(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  if (data[0] % 2 == 0)
    check(rest);
  else
    well_sealed(rest);
  return 0;
}
