// SPDX-License-Identifier: Apache-2.0
// A disk that does not sync the folder around a store: what is said to have changed is what has.
#include "service/backup/place_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

// The at-th fsync of this folder, and those behind it, are refused; 0: none is.
struct RefusedSync {
  std::string folder;
  int at = 0;
};
RefusedSync refused_sync;

}  // namespace

// In the kernel's place (CMakeLists.txt).
extern "C" {
int __real_fsync(int fd);
int __wrap_fsync(int fd) {
  char path[4096];
  const ssize_t n =
      refused_sync.at == 0
          ? 0
          : ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  const std::string name(path, static_cast<std::size_t>(n > 0 ? n : 0));
  if (n <= 0 || name != refused_sync.folder) return __real_fsync(fd);
  if (refused_sync.at > 1) {
    --refused_sync.at;
    return __real_fsync(fd);
  }
  errno = EIO;
  return -1;
}
}

namespace tkdc {
namespace {

namespace fs = std::filesystem;

class PlacedBesideAFault : public ::testing::Test {
 protected:
  PlacedBesideAFault() {
    char name[] = "/tmp/tkdc-place-XXXXXX";
    folder_ = fs::canonical(::mkdtemp(name)).string();
  }
  ~PlacedBesideAFault() override {
    refused_sync = {};
    fs::remove_all(folder_);
  }
  static void put(const std::string& folder, const std::string& text) {
    fs::create_directories(folder);
    std::ofstream(folder + "/data.mdb") << text;
  }
  std::string text_in(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + name + "/data.mdb").rdbuf();
    return text.str();
  }
  // What a restore does; the at-th sync of the folder around is refused.
  Result<PlacedStore> replaced(int at) {
    auto place = StorePlace::hold(folder_ + "/store");
    EXPECT_TRUE(place.ok());
    put(place->draft(), "new");
    refused_sync = {folder_, at};
    auto out = place->replace(folder_ + "/former");
    refused_sync = {};
    return out;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  std::string folder_;
};

TEST_F(PlacedBesideAFault, WhereThereWasNoneItIsThereAndNotOnDisk) {
  auto placed = replaced(1);
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_NE(placed->unsynced.find("cannot sync " + folder_ + ": Input/output error"),
            std::string::npos)
      << placed->unsynced;
  EXPECT_EQ(placed->former, "");
  EXPECT_EQ(text_in("store"), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(PlacedBesideAFault, BeforeTheExchangeNothingHasChanged) {
  put(folder_ + "/store", "old");
  EXPECT_FALSE(replaced(1).ok());
  EXPECT_EQ(text_in("store"), "old");
  EXPECT_EQ(entries(), 1u) << "no draft stays";
}

// The former one may be the store again after a loss of power: it keeps its server's notes, too.
TEST_F(PlacedBesideAFault, BehindTheExchangeItIsThereAndTheFormerOneWhole) {
  put(folder_ + "/store", "old");
  std::ofstream(folder_ + "/store/latched") << "a lie";
  auto placed = replaced(2);
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_NE(placed->unsynced.find("cannot sync"), std::string::npos);
  EXPECT_EQ(placed->former, folder_ + "/former");
  EXPECT_EQ(text_in("store"), "new");
  EXPECT_EQ(text_in("former"), "old");
  for (const char* folder : {"/store", "/former"})
    EXPECT_TRUE(fs::exists(folder_ + folder + "/latched")) << folder;
}

TEST_F(PlacedBesideAFault, WithoutOneAllIsOnDisk) {
  put(folder_ + "/store", "old");
  auto placed = replaced(0);
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ(placed->unsynced, "");
  EXPECT_EQ(text_in("store"), "new");
}

}  // namespace
}  // namespace tkdc
