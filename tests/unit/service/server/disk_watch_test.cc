// SPDX-License-Identifier: Apache-2.0
#include "service/server/disk_watch.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch_dir.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

TEST(DiskWatch, LittleRoomIsATenthOrAGibibyte) {
  EXPECT_EQ(disk_alarm({}), "");
  EXPECT_EQ(disk_alarm({{"store", "/s", 10 * kMiB, 100 * kMiB}}), "");
  EXPECT_EQ(disk_alarm({{"store", "/s", 9 * kMiB, 100 * kMiB}}),
            "the disk of its store (/s) has 9 of 100 MiB left: when it is full no ticket is "
            "issued");
  EXPECT_EQ(disk_alarm({{"store", "/s", 1024 * kMiB, 100'000 * kMiB}}), "");
}

TEST(DiskWatch, AFullMapStopsNewKeysAlone) {
  EXPECT_EQ(disk_alarm({{"store map", "/s/data.mdb", kMiB, 64 * kMiB}}),
            "the store's map ([store] map_size_mib) has 1 of 64 MiB left: when it is full no key "
            "is made");
}

class DiskWatchTest : public ScratchDir {};

TEST_F(DiskWatchTest, TheMapsRoomIsWhatItsFileMayGrow) {
  const std::string& store = directory_;
  const auto map_of = [&](std::uint64_t bytes) {
    DiskRoom found;
    for (const DiskRoom& room : disk_rooms(store, bytes, store + "/audit.jsonl"))
      if (room.what == "store map") found = room;
    return found;
  };
  EXPECT_EQ(map_of(4 * kMiB).path, "") << "there is no store yet";
  std::filesystem::resize_file(write("data.mdb", ""), 3 * kMiB);
  EXPECT_EQ(map_of(4 * kMiB).free_bytes, kMiB);
  EXPECT_EQ(map_of(4 * kMiB).total_bytes, 4 * kMiB);
  EXPECT_EQ(map_of(2 * kMiB).free_bytes, 0u) << "a map that was made smaller";
}

TEST_F(DiskWatchTest, ALogKeepsNoneOfASmallDisk) {
  const std::string log = directory_ + "/audit.jsonl";
  std::uint64_t all = 0;
  for (const DiskRoom& room : disk_rooms(directory_, kMiB, log))
    if (room.what == "audit log") all = room.total_bytes;
  ASSERT_GT(all, 0u);
  EXPECT_EQ(audit_room(log, all / 16), all / 16);
  EXPECT_EQ(audit_room(log, all / 16 + 1), 0u);
  EXPECT_EQ(audit_room("/nowhere/at/all/audit.jsonl", 1), 0u);
}

}  // namespace
}  // namespace tkdc
