// SPDX-License-Identifier: Apache-2.0
// Keys of a store that a restore ends are overwritten before they go: data.mdb may lie elsewhere.
#include <gtest/gtest.h>

#include "scratch_backup.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

class GoneKeys : public ScratchBackup {
 protected:
  // The file's octets, whatever becomes of its name.
  static Bytes left_of(std::ifstream& held) {
    return {std::istreambuf_iterator<char>(held), std::istreambuf_iterator<char>()};
  }
  std::string keys() const { return options_.path + "/keys"; }
};

TEST_F(GoneKeys, AreOverwrittenWhereTheirDatabaseIsMissing) {
  fill_store();
  const std::string path = taken();
  const std::size_t bytes = octets_in(keys()).size();
  ASSERT_GT(bytes, 0u);
  fs::copy_file(keys(), keys() + ".new");
  write_octets(options_.path + "/latched", Bytes(11, 'x'));
  fs::remove(options_.path + "/data.mdb");
  std::ifstream held(keys(), std::ios::binary), draft(keys() + ".new", std::ios::binary);
  const auto restored = restore(path);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->former, "");
  EXPECT_EQ(left_of(held), Bytes(bytes));
  EXPECT_EQ(left_of(draft), Bytes(bytes));
  EXPECT_EQ(octets_in(options_.path + "/latched"), Bytes(11, 'x')) << "the server's note is not";
  open();
  expect_filled();
}

TEST_F(GoneKeys, OfARestoreThatWasKilledAreOverwritten) {
  fill_store();
  const std::string path = taken(), draft = options_.path + ".restoring";
  const Bytes before = octets_in(keys());
  fs::create_directory(draft);
  fs::copy_file(keys(), draft + "/keys");
  std::ifstream held(draft + "/keys", std::ios::binary), serving(keys(), std::ios::binary);
  const auto restored = restore(path);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(left_of(held), Bytes(before.size()));
  EXPECT_EQ(left_of(serving), before) << "the control: the former store is kept";
  EXPECT_EQ(octets_in(restored->former + "/keys"), before);
}

}  // namespace
}  // namespace tkdc
