// SPDX-License-Identifier: Apache-2.0
// The import's journal: what it gives back after any end of the program that wrote it.
#include "migrate/journal.h"

#include <gtest/gtest.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/scratch.h"

namespace tkdc::migrate {
namespace {

constexpr std::uint8_t kHere[TKDC_WIRE_INSTALLATION_BYTES] = {1, 2, 3};
constexpr std::uint8_t kElsewhere[TKDC_WIRE_INSTALLATION_BYTES] = {9};

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() {
    EXPECT_GE(sodium_init(), 0);
    directory_ = test::make_scratch("journal-test");
    path_ = directory_ / "journal";
  }
  ~JournalTest() override { std::filesystem::remove_all(directory_); }

  static JournalKey key(std::uint8_t id, const std::string& principal) {
    JournalKey out;
    std::memset(out.key.key_id, id, sizeof out.key.key_id);
    std::memcpy(out.key.installation, kHere, sizeof kHere);
    out.key.kvno = id + 1u;
    out.key.enctype = 18;
    out.principal = principal;
    return out;
  }

  void write(const std::vector<JournalKey>& keys) {
    auto journal = Journal::open(path_, kHere);
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    for (const JournalKey& k : keys) ASSERT_TRUE((*journal)->add(k).ok());
    ASSERT_TRUE((*journal)->sync().ok());
  }

  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set_text(const std::string& text) const { std::ofstream(path_) << text; }

  std::string refusal(const std::uint8_t* installation = kHere) const {
    auto journal = Journal::open(path_, installation);
    return journal.ok() ? "" : journal.error().message;
  }

  std::filesystem::path directory_, path_;
};

bool same(const JournalKey& a, const JournalKey& b) {
  return std::memcmp(&a.key, &b.key, sizeof a.key) == 0 && a.principal == b.principal;
}

TEST_F(JournalTest, GivesBackWhatWasAdded) {
  const std::vector<JournalKey> keys = {key(7, "alice@A.TEST"), key(200, R"(a\ b\nc/d@A.TEST)"),
                                        key(8, "name with blanks@A.TEST")};
  write({keys[0]});
  write({keys[1], keys[2]});
  auto journal = Journal::open(path_, kHere);
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  ASSERT_EQ((*journal)->keys().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same((*journal)->keys()[i], keys[i])) << i;
}

TEST_F(JournalTest, IsForItsOwnerOnly) {
  write({});
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// Killed at any octet of its last write: whole lines count, and writing goes on.
TEST_F(JournalTest, CutAtAnyOctet) {
  write({key(7, "alice@A.TEST"), key(8, "bob@A.TEST")});
  const std::string whole = text();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    set_text(whole.substr(0, size));
    const auto lines = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
    write({key(9, "carol@A.TEST")});
    auto journal = Journal::open(path_, kHere);
    ASSERT_TRUE(journal.ok()) << size << ": " << journal.error().message;
    ASSERT_EQ((*journal)->keys().size(), (lines == 0 ? 0 : lines - 1) + 1) << size;
    EXPECT_TRUE(same((*journal)->keys().back(), key(9, "carol@A.TEST"))) << size;
  }
}

TEST_F(JournalTest, RefusesWhatItDidNotWrite) {
  write({key(7, "alice@A.TEST")});
  const std::string good = text();
  for (const char* line :
       {"key 00 1 18 alice@A.TEST\n", "key zz07070707070707070707070707070707 1 18 a@A\n",
        "key 07070707070707070707070707070707 1 18 \n", "\n", "done\n",
        "key 07070707070707070707070707070707 4294967296 18 a@A.TEST\n",
        "key 07070707070707070707070707070707 1 -18 a@A.TEST\n",
        "key 07070707070707070707070707070707\n"}) {
    set_text(good + line);
    EXPECT_NE(refusal().find(":3: damaged"), std::string::npos) << line << refusal();
  }
  set_text("something else\n");
  EXPECT_NE(refusal(), "");
}

TEST_F(JournalTest, RefusesAnotherInstallations) {
  write({key(7, "alice@A.TEST")});
  EXPECT_EQ(refusal(), "");
  EXPECT_NE(refusal(kElsewhere).find("installation"), std::string::npos);
}

TEST_F(JournalTest, IsOneImportsAtATime) {
  auto first = Journal::open(path_, kHere);
  ASSERT_TRUE(first.ok());
  EXPECT_NE(refusal().find("another import"), std::string::npos);
  ASSERT_TRUE((*first)->remove().ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// One that removes the file between another's opening and locking it leaves it no lock on
// a file that is gone: what is written can be read where it belongs.
TEST_F(JournalTest, IsWhereItsPathSays) {
  std::atomic<int> had = 0;
  const auto again_and_again = [&] {
    for (int i = 0; i < 2000; ++i) {
      auto journal = Journal::open(path_, kHere);
      if (!journal) continue;  // the other has it
      ++had;
      ASSERT_TRUE((*journal)->add(key(7, "alice@A.TEST")).ok());
      ASSERT_TRUE((*journal)->sync().ok());
      ASSERT_NE(text().find("alice"), std::string::npos);
      ASSERT_TRUE((*journal)->remove().ok());
    }
  };
  std::thread other(again_and_again);
  again_and_again();
  other.join();
  EXPECT_GT(had, 100);
}

TEST_F(JournalTest, TakesNoNameThatIsMoreThanALine) {
  auto journal = Journal::open(path_, kHere);
  ASSERT_TRUE(journal.ok());
  for (const char* name : {"two\nlines@A.TEST", "a\rb@A.TEST", "\x7f@A.TEST", "\x01@A.TEST"})
    EXPECT_FALSE((*journal)->add(key(7, name)).ok()) << name;
  EXPECT_TRUE((*journal)->add(key(7, "Zo\xc3\xab@A.TEST")).ok());
  EXPECT_EQ((*journal)->keys().size(), 1u);
}

TEST_F(JournalTest, KnowsItsInstallation) {
  auto journal = Journal::open(path_, kHere);
  ASSERT_TRUE(journal.ok());
  EXPECT_TRUE((*journal)->is_of(kHere));
  EXPECT_FALSE((*journal)->is_of(kElsewhere));
}

TEST_F(JournalTest, IsARegularFileOfItsUser) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(refusal().find("regular file"), std::string::npos);
  std::filesystem::remove(path_);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write({});
  ASSERT_EQ(::chown(path_.c_str(), 1, 1), 0);
  EXPECT_NE(refusal().find("of this user"), std::string::npos);
}

TEST_F(JournalTest, FollowsNoLink) {
  std::filesystem::create_symlink(directory_ / "elsewhere", path_);
  EXPECT_NE(refusal(), "");
}

}  // namespace
}  // namespace tkdc::migrate
