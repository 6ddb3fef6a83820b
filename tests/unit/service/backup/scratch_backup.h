// SPDX-License-Identifier: Apache-2.0
// A store, an administrator's key, and what backups of the one to the other are.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>

#include "service/backup/restore.h"
#include "service/backup/take_backup.h"
#include "service/store/repair_table.h"
#include "unit/service/store/refreshed_store.h"

namespace tkdc {

class ScratchBackup : public Refresh {
 protected:
  static constexpr std::uint64_t kNow = 1'790'000'000;

  ScratchBackup() : secret_(draw_backup_key()), folder_(directory_ + "/backups") {
    std::filesystem::create_directory(folder_);
  }

  // With something in each of its tables.
  void fill_store() {
    open();
    for (std::uint32_t n = 1; n <= 5; ++n) add(n);
    ASSERT_TRUE(store_->prepare(record(900)).ok());
    ASSERT_TRUE(store_->destroy(id_of(4)).ok());
    ASSERT_TRUE(store_->destroy(id_of(5)).ok());
    ASSERT_TRUE(store_->condemn(id_of(3)).ok());
    ASSERT_TRUE(store_->set_seal_mark(id_of(1), 77).ok());
    ASSERT_TRUE(store_->set_revoked(Bytes{1, 2, 3}).ok());
    ASSERT_TRUE(store_->macs()->set_keys(Bytes(40, 9)).ok());
    MacRow row;
    row.version = 1;
    for (SecretVector& tag : row.tag) tag.assign(32, 7);
    const NamedMacs rows[] = {{id_of(1), row}};
    ASSERT_TRUE(store_->macs()->put(rows).ok());
    const PeerCertificate peers[] = {{2, true, {1, 2, 3}}};
    ASSERT_TRUE(store_->repair()->set_peers(peers).ok());
    use_epochs(9);
  }
  void expect_filled() {
    EXPECT_EQ(store_->count(), 3u);
    for (std::uint32_t n = 1; n <= 3; ++n) {
      auto got = store_->get(id_of(n));
      ASSERT_TRUE(got.ok()) << got.error().message;
      ASSERT_NE(*got, nullptr) << n;
      for (int side : {0, 1})
        EXPECT_EQ((*got)->fields.at("base").component[side],
                  record(n).fields.at("base").component[side]);
    }
    EXPECT_EQ(store_->prepared().value(), std::vector<KeyId>{id_of(900)});
    EXPECT_EQ(store_->condemned().value(), std::vector<KeyId>{id_of(3)});
    EXPECT_TRUE(store_->buried(id_of(4)).value() && store_->buried(id_of(5)).value());
    EXPECT_EQ(store_->seal_mark(id_of(1)).value(), 77u);
    EXPECT_EQ(store_->revoked().value(), (Bytes{1, 2, 3}));
    EXPECT_EQ(store_->macs()->keys().value(), SecretVector(40, 9));
    EXPECT_EQ(store_->macs()->rows(), 1u);
    const auto peers = store_->repair()->peers().value();
    ASSERT_EQ(peers.size(), 1u);
    EXPECT_TRUE(peers[0].refused);
  }

  Result<TakenBackup> take(std::uint64_t now_s = kNow) {
    store_.reset();  // LMDB opens a file once in a process
    TakeOptions options;
    options.store = options_;
    options.folder = folder_;
    options.recipient = backup_public_key(secret_);
    options.files = {{"tkdc.toml", {'x', '\n'}}, {"curve.key", SecretVector(40, 'k')}};
    options.now_s = now_s;
    return take_backup(options, key_);
  }
  std::string taken(std::uint64_t now_s = kNow) {
    auto backup = take(now_s);
    EXPECT_TRUE(backup.ok()) << backup.error().message;
    return backup.ok() ? backup->path : "";
  }

  Result<BackupContents> check(const std::string& path, const SecretBuffer& secret) {
    auto fd = open_backup(path);
    if (!fd.ok()) return fd.error();
    auto reader = BackupReader::open(*fd, path, secret);
    if (!reader.ok()) return reader.error();
    return check_backup(**reader);
  }
  Result<BackupContents> check(const std::string& path) { return check(path, secret_); }

  RestoreOptions restore_options() const {
    RestoreOptions out;
    out.store = options_;
    out.now_s = kNow;
    return out;
  }
  Result<RestoredStore> restore(const std::string& path, const RestoreOptions& options) {
    store_.reset();
    auto fd = open_backup(path);
    if (!fd.ok()) return fd.error();
    auto reader = BackupReader::open(*fd, path, secret_);
    if (!reader.ok()) return reader.error();
    auto restore = Restore::begin(options, (*reader)->whole_head(), key_);
    if (!restore.ok()) return restore.error();
    return (*restore)->run(**reader);
  }
  Result<RestoredStore> restore(const std::string& path) {
    return restore(path, restore_options());
  }
  std::string why_not(const std::string& path, const RestoreOptions& options) {
    auto restored = restore(path, options);
    return restored.ok() ? "restored" : restored.error().message;
  }

  static Bytes octets_in(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write_octets(const std::string& path, ByteSpan octets) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(octets.data()),
              static_cast<std::streamsize>(octets.size()));
  }

  SecretBuffer secret_;
  const std::string folder_;
};

}  // namespace tkdc
