// SPDX-License-Identifier: Apache-2.0
#include "service/server/backup_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/utc_time.h"
#include "scratch_dir.h"

namespace tkdc {
namespace {

constexpr std::int64_t kBackupDayS = 86'400, kBackupNow = 1'800'000'000;

class BackupWatch : public ScratchDir {
 protected:
  BackupWatch() {
    std::filesystem::create_directories(folder_ / "etc");
    std::filesystem::create_directories(folder_ / "var/backups");
  }
  void write(const std::string& name, std::int64_t at_s) {
    const std::string path = ScratchDir::write(name, "octets");
    const timespec times[2] = {{at_s, 0}, {at_s, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  nlohmann::json told(int parties = 3, const RefreshSeen& refresh = {}) const {
    nlohmann::json json = nlohmann::json::object();
    tell_backups(json,
                 backups_seen((folder_ / "etc/tkdc.toml").string(),
                              (folder_ / "var/store").string(), parties),
                 kBackupNow, refresh);
    return json;
  }

  const std::filesystem::path folder_{directory_};
};

TEST_F(BackupWatch, WhoHasNoKeyForBackupsIsNotAskedForAny) {
  write("var/backups/server0-x.tkdc-backup", kBackupNow - 30 * kBackupDayS);
  EXPECT_TRUE(told().empty());
}

TEST_F(BackupWatch, TheFirstNightMayCome) {
  write("etc/backup.pub", kBackupNow - 2 * kBackupDayS);
  EXPECT_TRUE(told().empty());
}

TEST_F(BackupWatch, NoneIsSpokenOf) {
  write("etc/backup.pub", kBackupNow - 4 * kBackupDayS);
  write("var/backups/notes.txt", kBackupNow - kBackupDayS);
  std::filesystem::create_directory(folder_ / "var/backups/a.tkdc-backup");
  EXPECT_NE(told()["backup_warning"].get<std::string>().find("there is no backup"),
            std::string::npos);
  std::filesystem::remove_all(folder_ / "var/backups");
  EXPECT_TRUE(told().contains("backup_warning"));
}

TEST_F(BackupWatch, TheNewestCounts) {
  write("etc/backup.pub", kBackupNow - 400 * kBackupDayS);
  write("var/backups/server0-a.tkdc-backup", kBackupNow - 9 * kBackupDayS);
  write("var/backups/server0-b.tkdc-backup", kBackupNow - 4 * kBackupDayS);
  EXPECT_NE(told()["backup_warning"].get<std::string>().find("2027-01-11"), std::string::npos)
      << told();
  write("var/backups/server0-c.tkdc-backup", kBackupNow - kBackupDayS);
  EXPECT_EQ(told()["backup_newest_s"], kBackupNow - kBackupDayS);
  EXPECT_FALSE(told().contains("backup_warning"));
}

// What is to be on another host, too.
TEST_F(BackupWatch, CopiesAreSpokenOfWhereTheyAreToBe) {
  write("etc/backup.pub", kBackupNow - 400 * kBackupDayS);
  write("var/backups/server0-a.tkdc-backup", kBackupNow - kBackupDayS);
  EXPECT_FALSE(told().contains("backup_warning"));
  write("etc/backup.copy", kBackupNow - 2 * kBackupDayS);
  EXPECT_FALSE(told().contains("backup_warning")) << "the first nights may come";
  write("etc/backup.copy", kBackupNow - 4 * kBackupDayS);
  const auto warned = [&](const std::string& words) {
    return told().value("backup_warning", "").find(words) != std::string::npos;
  };
  EXPECT_TRUE(warned("has come to another host yet")) << told();
  write("var/backups/copied", kBackupNow - 5 * kBackupDayS);
  EXPECT_TRUE(warned("has come to another host since")) << told();
  EXPECT_FALSE(warned("the newest backup"));
  write("var/backups/server0-a.tkdc-backup", kBackupNow - 9 * kBackupDayS);
  EXPECT_TRUE(warned("the newest backup") && warned(". And no backup of this server has come"));
  write("var/backups/copied", kBackupNow - kBackupDayS);
  EXPECT_FALSE(warned("another host")) << told();
}

// Nobody can rebuild a store of two servers: one is asked for from the first moment on.
TEST_F(BackupWatch, OneOfTwoServersIsToHaveOneAlways) {
  EXPECT_NE(told(2)["backup_warning"].get<std::string>().find("the only way back"),
            std::string::npos);
  write("etc/backup.pub", kBackupNow - 9 * kBackupDayS);
  EXPECT_TRUE(told(2).contains("backup_warning"));
  write("var/backups/server0-a.tkdc-backup", kBackupNow - kBackupDayS);
  EXPECT_FALSE(told(2).contains("backup_warning"));
  write("var/backups/server0-a.tkdc-backup", kBackupNow - 4 * kBackupDayS);
  EXPECT_TRUE(told(2).contains("backup_warning"));
}

// By whoever began it: the other one's backups serve no more either, however new they are.
TEST_F(BackupWatch, ARefreshOfTwoServersAsksForANewOne) {
  write("etc/backup.pub", kBackupNow - 9 * kBackupDayS);
  write("var/backups/server0-a.tkdc-backup", kBackupNow - 3600);
  EXPECT_FALSE(told(2).contains("backup_warning")) << "the control";
  const auto at = [](std::int64_t ago) { return static_cast<std::uint64_t>(kBackupNow - ago); };
  const auto warning = [&](const RefreshSeen& of) { return told(2, of)["backup_warning"].dump(); };
  EXPECT_NE(warning({at(7200), 0}).find("is under way since"), std::string::npos);
  EXPECT_NE(warning({at(60), at(4000)}).find("is under way since"), std::string::npos);
  EXPECT_NE(warning({0, at(3000)}).find("serves no more"), std::string::npos);
  EXPECT_FALSE(told(2, {0, at(4000)}).contains("backup_warning")) << "it was taken since";
}

// Its file was written behind the end, and what it holds is of before it.
TEST_F(BackupWatch, ABackupThatWasBegunBeforeARefreshsEndIsOfBefore) {
  const std::int64_t begun = kBackupNow - 3600;
  write("var/backups/server0-" + format_utc_compact(begun) + ".tkdc-backup", begun + 60);
  const auto ended = [&](std::int64_t at) {
    return told(2, {0, static_cast<std::uint64_t>(at)}).contains("backup_warning");
  };
  EXPECT_TRUE(ended(begun + 30));
  EXPECT_FALSE(ended(begun - 1));
}

// A refresh that lasts does not hide that no backups are made.
TEST_F(BackupWatch, AnOldOneIsSaidAmidARefreshToo) {
  write("var/backups/server0-a.tkdc-backup", kBackupNow - 9 * kBackupDayS);
  const auto since = static_cast<std::uint64_t>(kBackupNow - 60);
  const std::string warning = told(2, {since, 0})["backup_warning"].dump();
  EXPECT_NE(warning.find("its timer makes one each night"), std::string::npos) << warning;
  EXPECT_NE(warning.find("is under way since"), std::string::npos) << warning;
}

}  // namespace
}  // namespace tkdc
