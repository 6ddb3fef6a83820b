// SPDX-License-Identifier: Apache-2.0
// Root goes on as a store's owner, where nobody else could have named or laid what is there.
#include "tools/cli/owner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kService = 4'242, kOther = 4'243;

class OwnerOfStore : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, and other users beside it";
    char name[] = "/tmp/tkdc-owner-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    at_ = name;
    for (const char* folder : {"/etc", "/var", "/var/store", "/roots"})
      fs::create_directory(at_ + folder);
    std::ofstream(config()) << "x\n";
  }
  void TearDown() override {
    if (!at_.empty()) fs::remove_all(at_);
  }
  std::string config() const { return at_ + "/etc/tkdc.toml"; }
  std::string store() const { return at_ + "/var/store"; }
  void give(const char* what, uid_t user) {
    ASSERT_EQ(::lchown((at_ + what).c_str(), user, user), 0);
  }
  void give_all(uid_t user) {
    for (const char* what : {"/etc", "/etc/tkdc.toml", "/var", "/var/store"}) give(what, user);
  }
  std::string refused() const {
    auto owner = owner_of_store(config(), store());
    return owner ? "" : owner.error().message;
  }

  std::string at_;
};

TEST_F(OwnerOfStore, IsWhoHasTheConfiguration) {
  EXPECT_EQ(refused(), "");  // root's own
  give_all(kService);
  auto owner = owner_of_store(config(), store());
  ASSERT_TRUE(owner) << owner.error().message;
  EXPECT_EQ(owner->uid, kService);
  EXPECT_EQ(owner->gid, kService);
  fs::remove(store());  // lost
  owner = owner_of_store(config(), store());
  ASSERT_TRUE(owner) << owner.error().message;
  EXPECT_EQ(owner->uid, kService);
  give("/etc", 0);
  give("/etc/tkdc.toml", 0);
  EXPECT_EQ(refused(), "") << "root's configuration names a service's store";
}

TEST_F(OwnerOfStore, NobodyElseNamesIt) {
  for (const char* others : {"/etc", "/etc/tkdc.toml", "/var"})
    for (uid_t whose : {uid_t{0}, kService}) {
      give_all(whose);
      give(others, kOther);
      EXPECT_NE(refused().find("belongs to another user than " + at_ + others), std::string::npos)
          << whose << ": " << refused();
    }
}

// The account has the folder around its store.
TEST_F(OwnerOfStore, ALinkToRootsIsRefused) {
  give_all(kService);
  fs::remove(store());
  fs::create_symlink(at_ + "/roots", store());
  EXPECT_NE(refused().find("belongs to another user"), std::string::npos);
}

// What is changed between looking and going on gives nobody root.
TEST_F(OwnerOfStore, WhoWasSeenIsWhoGoesOn) {
  give_all(kService);
  auto owner = owner_of_store(config(), store());
  ASSERT_TRUE(owner) << owner.error().message;
  fs::remove(store());
  fs::create_symlink(at_ + "/roots", store());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool gave_up = become(*owner).ok() && ::getuid() == kService && ::geteuid() == kService &&
                         ::getegid() == kService && ::seteuid(0) != 0;
    ::_exit(gave_up ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tkdc::cli
