// SPDX-License-Identifier: Apache-2.0
// The format of backups: as docs/backup.md has it, read by libsodium alone; and whatever is cut
// off, changed, or meant for another key is found.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/codec.h"
#include "scratch_backup.h"
#include "service/backup/backup_writer.h"

namespace tkdc {
namespace {

using BackupFileTest = ScratchBackup;

constexpr std::size_t kSealed = kBackupChunkBytes + 17;

// By the page, and nothing of ours but the numbers in it.
SecretVector open_by_hand(const Bytes& file, const SecretBuffer& secret) {
  const auto key = backup_public_key(secret);
  Bytes own(32), head(32), body(32), mac(32);
  EXPECT_EQ(crypto_box_seal_open(own.data(), file.data() + 167, 80, key.data(), secret.data()), 0);
  crypto_kdf_derive_from_key(head.data(), 32, 1, "tkdcback", own.data());
  crypto_kdf_derive_from_key(body.data(), 32, 2, "tkdcback", own.data());
  crypto_generichash(mac.data(), 32, file.data(), 247, head.data(), 32);
  EXPECT_TRUE(std::equal(mac.begin(), mac.end(), file.begin() + 247));
  crypto_secretstream_xchacha20poly1305_state state;
  crypto_secretstream_xchacha20poly1305_init_pull(&state, file.data() + 279, body.data());
  SecretVector out;
  for (std::size_t at = 279 + 24; at < file.size();) {
    const std::size_t some = std::min(file.size() - at, kSealed);
    SecretVector plain(some - 17);
    unsigned char tag = 0;
    EXPECT_EQ(crypto_secretstream_xchacha20poly1305_pull(&state, plain.data(), nullptr, &tag,
                                                         file.data() + at, some, nullptr, 0),
              0);
    at += some;
    EXPECT_EQ(tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL, at == file.size());
    out.insert(out.end(), plain.begin(), plain.end());
  }
  return out;
}

TEST_F(BackupFileTest, IsWhatThePageSays) {
  fill_store();
  const std::string path = taken();
  EXPECT_EQ(path, folder_ + "/server1-20260921T141320Z.tkdc-backup");
  const Bytes file = octets_in(path);
  EXPECT_EQ(std::string(file.begin(), file.begin() + 14), "tkdc backup 1\n");
  Reader head(ByteSpan(file).subspan(14, 167 - 14));
  EXPECT_TRUE(std::ranges::equal(head.raw(16), options_.installation));
  EXPECT_EQ(head.u8(), 1);     // party
  EXPECT_EQ(head.u32(), 0u);   // refresh epoch
  EXPECT_EQ(head.u32(), 0u);   // era
  EXPECT_GT(head.u64(), 10u);  // generation
  EXPECT_EQ(head.u64(), kNow);
  EXPECT_EQ(head.u64(), 3u);  // keys
  open();
  EXPECT_TRUE(std::ranges::equal(head.raw(32), store_->inventory().value()));
  EXPECT_TRUE(std::ranges::equal(head.raw(32), backup_public_key(secret_)));
  EXPECT_EQ(head.u64(), file.size() - 279);
  Bytes digest(32);
  crypto_generichash(digest.data(), 32, file.data() + 279, file.size() - 279, nullptr, 0);
  EXPECT_TRUE(std::ranges::equal(head.raw(32), digest));

  const SecretVector body = open_by_hand(file, secret_);
  Reader entries(body);
  std::size_t count = 0;
  std::string kinds;
  for (std::uint8_t kind = 0; (kind = entries.u8()) != 255; ++count) {
    kinds += std::to_string(kind) + " ";
    const std::string name = entries.text(64);
    (void)entries.bytes(64);
    const ByteSpan contents = entries.bytes(1 << 20);
    EXPECT_TRUE(name != "curve.key" || contents.size() == 40) << contents.size();
    ASSERT_FALSE(entries.failed());
  }
  // epoch, mac keys, peers, revoked; records; half made; destroyed; condemned; seals; MACs; files
  EXPECT_EQ(kinds, "1 1 1 1 2 2 2 3 4 4 5 6 7 32 32 ");
  EXPECT_EQ(entries.u32() + entries.u32(), 0u);
  EXPECT_EQ(entries.u32(), 8u);
  EXPECT_EQ(entries.u64(), count);
  EXPECT_TRUE(entries.complete());
}

TEST_F(BackupFileTest, SaysWhatItHolds) {
  fill_store();
  auto contents = check(taken());
  ASSERT_TRUE(contents.ok()) << contents.error().message;
  EXPECT_EQ(contents->records, 3u);
  EXPECT_EQ(contents->prepared, 1u);
  EXPECT_EQ(contents->tombstones, 2u);
  EXPECT_EQ(contents->condemned, 1u);
  EXPECT_EQ(contents->seals, 1u);
  EXPECT_EQ(contents->macs, 1u);
  EXPECT_EQ(contents->without_macs, 2u);
  ASSERT_EQ(contents->files.size(), 2u);
  EXPECT_EQ(contents->files[0].name, "curve.key");
}

TEST_F(BackupFileTest, NoKeyAndNoShareStandsInTheClear) {
  fill_store();
  const Bytes file = octets_in(taken());
  const SecretVector body = open_by_hand(file, secret_);
  const Bytes share(32, 2), names = {'u', 's', 'e', 'r', '1', '@'}, curve(40, 'k');
  for (const Bytes& what : {share, names, curve}) {
    EXPECT_TRUE(std::ranges::search(file, what).empty());
    // Control: they are in it.
    EXPECT_FALSE(std::ranges::search(body, what).empty());
  }
}

TEST_F(BackupFileTest, AnotherKeyIsNamed) {
  fill_store();
  const std::string path = taken();
  auto checked = check(path, draw_backup_key());
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("for another key"), std::string::npos);
}

// Over several chunks, one of them ended exactly by an entry.
class LongBackup : public BackupFileTest {
 protected:
  std::string write(const std::vector<std::size_t>& sizes) {
    const std::string path = folder_ + "/long" + std::string(kBackupEnding);
    std::filesystem::remove(path);
    auto writer = BackupWriter::create(path, backup_public_key(secret_));
    EXPECT_TRUE(writer.ok());
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const Bytes name = {static_cast<std::uint8_t>('a' + k)};
      EXPECT_TRUE((*writer)->put({9, name, {}, SecretVector(sizes[k], 0x5a)}).ok());
    }
    BackupHead head;
    EXPECT_TRUE((*writer)->finish(head).ok());
    return path;
  }
  // To the end, without a look at what the entries are.
  Result<std::size_t> read(const std::string& path) {
    auto fd = open_backup(path);
    if (!fd.ok()) return fd.error();
    auto reader = BackupReader::open(*fd, path, secret_);
    if (!reader.ok()) return reader.error();
    std::size_t octets = 0;
    for (BackupEntry entry;;) {
      auto more = (*reader)->next(entry);
      if (!more.ok()) return more.error();
      if (!*more) return octets;
      octets += entry.contents.size();
    }
  }
};

TEST_F(LongBackup, EntriesGoOverChunks) {
  constexpr std::size_t kFrame = 1 + 4 + 1 + 4 + 4, kEnd = 1 + 4 + 4 + 4 + 8;
  for (std::size_t more : {0u, 1u, 16u})
    for (std::size_t first :
         {kBackupChunkBytes - kFrame, kBackupChunkBytes - kFrame - kEnd, 3 * kBackupChunkBytes}) {
      auto octets = read(write({first + more, 5}));
      ASSERT_TRUE(octets.ok()) << octets.error().message;
      EXPECT_EQ(*octets, first + more + 5);
    }
}

TEST_F(LongBackup, WhatIsCutOffIsMissed) {
  const std::string path = write({3 * kBackupChunkBytes, 100});
  const Bytes whole = octets_in(path);
  ASSERT_TRUE(read(path).ok());
  std::vector<std::size_t> cuts = {
      0, 1, 13, 14, 30, 166, 167, 247, 278, 279, 279 + 23, 279 + 24, whole.size() - 1};
  for (std::size_t at = 279 + 24; at < whole.size(); at += kSealed)
    for (std::size_t cut : {at - 1, at, at + 1}) cuts.push_back(cut);
  for (std::size_t cut : cuts) {
    Bytes some(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
    write_octets(path, some);
    EXPECT_FALSE(read(path).ok()) << cut;
    // Also where the head has been made to agree with it, which only the key can do right.
    if (cut < 279) continue;
    for (int k = 0; k < 8; ++k)
      some[127 + static_cast<std::size_t>(k)] =
          static_cast<std::uint8_t>((cut - 279) >> (56 - 8 * k));
    write_octets(path, some);
    EXPECT_FALSE(read(path).ok()) << cut;
  }
  Bytes longer = whole;
  longer.push_back(0);
  write_octets(path, longer);
  EXPECT_FALSE(read(path).ok());
}

TEST_F(LongBackup, AChangedOctetIsSeenWhereverItIs) {
  const std::string path = write({2 * kBackupChunkBytes, 100});
  const Bytes whole = octets_in(path);
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < 279 + 24; ++at) places.push_back(at);
  for (std::size_t at = 279 + 24; at < whole.size(); at += kSealed / 3) places.push_back(at);
  places.push_back(whole.size() - 1);
  for (std::size_t at : places) {
    Bytes changed = whole;
    changed[at] ^= 0x10;
    write_octets(path, changed);
    auto done = read(path);
    ASSERT_FALSE(done.ok()) << at;
    EXPECT_EQ(done.error().message.find(path), 0u) << done.error().message;
  }
  write_octets(path, whole);
  EXPECT_TRUE(read(path).ok());
}

// Chunks of one backup in another order, or one of them left out.
TEST_F(LongBackup, ChunksKeepTheirOrder) {
  const std::string path = write({3 * kBackupChunkBytes});
  const Bytes whole = octets_in(path);
  Bytes changed = whole;
  const auto first = changed.begin() + 279 + 24;
  std::swap_ranges(first, first + kSealed, first + kSealed);
  write_octets(path, changed);
  EXPECT_FALSE(read(path).ok());
}

TEST_F(BackupFileTest, WhatTheHeadSaysIsCompared) {
  fill_store();
  store_.reset();
  // A writer that has the public key, and lies.
  auto forged = [&](const BackupHead& head, std::uint8_t kind, const Bytes& name,
                    const Bytes& contents) {
    const std::string path = folder_ + "/forged" + std::string(kBackupEnding);
    std::filesystem::remove(path);
    auto writer = BackupWriter::create(path, backup_public_key(secret_));
    Bytes epochs(28);
    EXPECT_TRUE((*writer)->put({1, octets("epoch"), {}, epochs}).ok());
    EXPECT_TRUE((*writer)->put({kind, name, {}, contents}).ok());
    BackupHead copy = head;
    EXPECT_TRUE((*writer)->finish(copy).ok());
    auto done = check(path);
    return done.ok() ? std::string("good") : done.error().message;
  };
  const auto says = [](const std::string& message, const char* what) {
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  BackupHead head;
  const Bytes id(16, 1), file(2, 'x'), up = {'.', '.', '/', 'x'};
  says(forged(head, 32, file, {}), "not what its head says");
  says(forged(head, 32, up, {}), "no file of a server's folder");
  says(forged(head, 2, id, {1, 2, 3}), "does not decode");
  says(forged(head, 7, id, {1}), "MACs do not decode");
  says(forged(head, 5, id, {}), "a key that is not there");
  says(forged(head, 6, id, {1}), "no count of seals");
  says(forged(head, 10, id, {}), "no such kind");
  const std::string pool = "pool/" + std::string(32, '0');
  const auto kept = [&](const std::string& name, std::size_t octets) {
    return forged(head, 9, Bytes(name.begin(), name.end()), Bytes(octets));
  };
  says(kept(pool + "/head", 25), "not what its head says");
  says(kept(pool + "/head", 24), "no value of two servers");
  says(kept(pool + "/next", 8), "no value of two servers");
  says(kept(pool + "/0000", 768), "no value of two servers");
  says(kept("move/state", 7), "no value of two servers");
  says(kept("move/" + std::string(32, '0'), 100), "no value of two servers");
  says(forged(head, 2, Bytes(15), {}), "no key's id");
  says(forged(head, 1, Bytes{'a'}, {}), "out of its order");
}

TEST_F(BackupFileTest, KeysAreFilesWithTheirNames) {
  const SecretVector secret = encode_backup_secret_key(secret_);
  const std::string text = encode_backup_public_key(backup_public_key(secret_));
  EXPECT_EQ(text.size(), 25u + 64 + 1);
  write_octets(directory_ + "/secret", secret);
  write_octets(directory_ + "/public", octets(text));
  std::filesystem::permissions(directory_ + "/secret", std::filesystem::perms(0600));
  auto again = read_backup_secret_key(directory_ + "/secret");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(std::memcmp(again->data(), secret_.data(), 32), 0);
  EXPECT_EQ(read_backup_public_key(directory_ + "/public").value(), backup_public_key(secret_));
  // One in the place of the other.
  EXPECT_FALSE(read_backup_public_key(directory_ + "/secret").ok());
  std::filesystem::permissions(directory_ + "/public", std::filesystem::perms(0600));
  EXPECT_FALSE(read_backup_secret_key(directory_ + "/public").ok());
  std::filesystem::permissions(directory_ + "/secret", std::filesystem::perms(0644));
  EXPECT_FALSE(read_backup_secret_key(directory_ + "/secret").ok());
}

// Their names tell a second.
TEST_F(BackupFileTest, AnotherRunOfTheSameSecondIsToBeRunAgain) {
  const std::string path = folder_ + "/taken" + std::string(kBackupEnding);
  auto writer = BackupWriter::create(path, backup_public_key(secret_));
  ASSERT_TRUE(writer.ok());
  std::ofstream(path) << "the other run's";
  BackupHead head;
  const auto done = (*writer)->finish(head);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, path + " was made meanwhile, by another run: run this one again");
  EXPECT_TRUE(std::ranges::equal(octets_in(path), octets("the other run's")));
}

TEST_F(BackupFileTest, TheDraftOfARunThatIsAtWorkStays) {
  const std::string path = folder_ + "/taken" + std::string(kBackupEnding);
  auto first = BackupWriter::create(path, backup_public_key(secret_));
  ASSERT_TRUE(first.ok());
  const auto second = BackupWriter::create(path, backup_public_key(secret_));
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("by another run: run this one again"), std::string::npos);
  BackupHead head;
  EXPECT_TRUE((*first)->finish(head).ok());
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace tkdc
