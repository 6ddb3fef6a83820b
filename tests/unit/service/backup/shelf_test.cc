// SPDX-License-Identifier: Apache-2.0
// Which backups of a folder are stale, and which retention leaves over.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "scratch_backup.h"
#include "service/backup/backup_shelf.h"
#include "service/backup/backup_writer.h"

namespace tkdc {
namespace {

class Shelf : public ScratchBackup {
 protected:
  void put(int party, std::uint32_t epoch, std::uint64_t generation, std::uint64_t made_at_s,
           std::uint32_t era = 0) {
    const std::string path = folder_ + "/" + std::to_string(party) + "-" +
                             std::to_string(generation) + std::string(kBackupEnding);
    auto writer = BackupWriter::create(path, backup_public_key(secret_));
    ASSERT_TRUE(writer.ok());
    BackupHead head;
    head.installation = options_.installation;
    head.party = party;
    head.refresh_epoch = epoch;
    head.era = era;
    head.generation = generation;
    head.made_at_s = made_at_s;
    ASSERT_TRUE((*writer)->finish(head).ok());
  }
  // "party:generation", with "!" where it is stale.
  static std::string words(const std::vector<ShelvedBackup>& shelf) {
    std::string out;
    for (const ShelvedBackup& one : shelf)
      out += one.trouble.empty()
                 ? std::to_string(one.head.party) + ":" + std::to_string(one.head.generation) +
                       (one.stale ? "! " : " ")
                 : "? ";
    return out;
  }
};

TEST_F(Shelf, TheNewestComesFirstAndOlderEpochsAreStale) {
  put(1, 0, 90, kNow - 50);
  put(1, 1, 7, kNow - 30);  // repaired: it counts anew
  put(1, 1, 9, kNow - 20);
  put(2, 0, 80, kNow - 10);  // another server's, which alone says nothing of a refresh
  write_octets(folder_ + "/x" + std::string(kBackupEnding), octets("no backup"));
  write_octets(folder_ + "/another file", octets("no backup"));
  auto shelf = look_at_backups(folder_);
  ASSERT_TRUE(shelf.ok()) << shelf.error().message;
  EXPECT_EQ(words(*shelf), "1:9 1:7 1:90! 2:80 ? ");
}

// All three were restored, of backups of before: what was made of the stores that they left is
// over.
TEST_F(Shelf, ALaterEraIsNewerThanWhateverWasBefore) {
  put(1, 0, 90, kNow - 50);
  put(1, 1, 95, kNow - 40);
  put(1, 0, 7, kNow - 30, 1);
  put(1, 0, 9, kNow - 20, 1);
  auto shelf = look_at_backups(folder_);
  ASSERT_TRUE(shelf.ok()) << shelf.error().message;
  EXPECT_EQ(words(*shelf), "1:9 1:7 1:95! 1:90 ");
  EXPECT_EQ(words(to_remove(*shelf, {2, 0}, kNow)), "1:95! 1:90 ");
}

TEST_F(Shelf, DraftsThatNobodyWritesToAreLeft) {
  const std::string now = folder_ + "/now" + std::string(kBackupDraftEnding),
                    old = folder_ + "/old" + std::string(kBackupDraftEnding);
  for (const std::string& path : {now, old, folder_ + "/old.partial"})
    write_octets(path, octets("a part"));
  put(1, 0, 5, kNow);
  const auto seen = std::chrono::system_clock::now().time_since_epoch();
  const auto at =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(seen).count());
  EXPECT_TRUE(left_drafts(folder_, at + 86'000).empty());
  std::filesystem::last_write_time(
      old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  EXPECT_EQ(left_drafts(folder_, at + 60), std::vector{old});
  EXPECT_TRUE(left_drafts(folder_ + "/none", at).empty());
}

TEST_F(Shelf, ADamagedOneIsSeenWithoutAKey) {
  put(1, 0, 5, kNow);
  const std::string path = folder_ + "/1-5" + std::string(kBackupEnding);
  Bytes octets = octets_in(path);
  octets.back() ^= 1;
  write_octets(path, octets);
  auto shelf = look_at_backups(folder_);
  ASSERT_TRUE(shelf.ok());
  ASSERT_EQ(shelf->size(), 1u);
  EXPECT_NE((*shelf)[0].trouble.find("damaged"), std::string::npos);
  // It is nobody's to remove, nor does it count.
  EXPECT_TRUE(to_remove(*shelf, {1, 0}, kNow).empty());
}

TEST_F(Shelf, SoManyOfEachServerStay) {
  for (std::uint64_t n = 1; n <= 4; ++n) put(1, 2, n, kNow - 100 + n);
  put(2, 2, 1, kNow);
  auto shelf = look_at_backups(folder_);
  ASSERT_TRUE(shelf.ok());
  EXPECT_EQ(words(to_remove(*shelf, {2, 0}, kNow)), "1:2 1:1 ");
  EXPECT_EQ(words(to_remove(*shelf, {4, 0}, kNow)), "");
}

TEST_F(Shelf, StaleOnesGoAtAnAgeHoweverManyAreKept) {
  put(1, 0, 1, kNow - 1'000);
  put(1, 0, 2, kNow - 10);
  put(1, 1, 3, kNow);
  auto shelf = look_at_backups(folder_);
  ASSERT_TRUE(shelf.ok());
  EXPECT_EQ(words(to_remove(*shelf, {9, 0}, kNow)), "1:2! 1:1! ");
  EXPECT_EQ(words(to_remove(*shelf, {9, 500}, kNow)), "1:1! ");
  EXPECT_EQ(words(to_remove(*shelf, {9, 5'000}, kNow)), "");
}

TEST_F(Shelf, SeveralServersInOneFolderAreSeen) {
  put(1, 0, 1, kNow);
  put(1, 0, 2, kNow);
  write_octets(folder_ + "/x" + std::string(kBackupEnding), octets("no backup"));
  EXPECT_FALSE(of_several_servers(look_at_backups(folder_).value()));
  put(2, 0, 3, kNow);
  EXPECT_TRUE(of_several_servers(look_at_backups(folder_).value()));
}

// As right after a refresh, before the next backup.
TEST_F(Shelf, AllOfBeforeAreKnownByTheStoresEpoch) {
  put(1, 0, 1, kNow - 30);
  put(1, 1, 2, kNow - 20);
  put(2, 0, 3, kNow - 10);  // another server's
  write_octets(folder_ + "/x" + std::string(kBackupEnding), octets("no backup"));
  const auto shelf = look_at_backups(folder_).value();
  const auto stale = [&](std::uint32_t epoch) {
    return words(of_another_epoch(shelf, options_.installation, 1, epoch));
  };
  EXPECT_EQ(stale(2), "1:2! 1:1! ");
  EXPECT_EQ(stale(1), "1:1! ");
  InstallationId another = options_.installation;
  another[0] ^= 1;
  EXPECT_EQ(words(of_another_epoch(shelf, another, 1, 2)), "");
}

TEST_F(Shelf, NoFolderIsAnError) { EXPECT_FALSE(look_at_backups(folder_ + "/none").ok()); }

}  // namespace
}  // namespace tkdc
