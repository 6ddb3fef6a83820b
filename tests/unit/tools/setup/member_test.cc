// SPDX-License-Identifier: Apache-2.0
// A member's own folder: what is in it, and that nothing of it is taken for another's.
#include "tools/setup/member.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sample.h"
#include "support/scratch.h"
#include "tools/setup/configuration.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class MemberTest : public testing::Test {
 protected:
  ~MemberTest() override { fs::remove_all(folder_); }
  std::string make(const std::string& name, const Introduction& introduction) {
    const std::string target = folder_ + "/" + name;
    auto tree = Tree::begin(target);
    EXPECT_TRUE(tree.ok());
    auto text = write_member(*tree, introduction);
    EXPECT_TRUE(text.ok());
    EXPECT_TRUE(tree->publish().ok());
    EXPECT_EQ(slurp(target + "/" + introduction_file_name(introduction)), *text);
    return target;
  }
  void expect_refused(const std::string& folder, const std::string& word) {
    auto read = read_member(folder);
    ASSERT_FALSE(read.ok()) << word;
    EXPECT_NE(read.error().message.find(word), std::string::npos) << read.error().message;
  }
  const std::string folder_ = test::make_scratch("member");
};

TEST_F(MemberTest, HasItsSecretsForItselfAlone) {
  const std::string server = make("server", sample::server(1));
  const std::set<std::string> secret = {"curve.key", "tls.key.pem", "store.key", "identity.key"};
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(server)) {
    struct stat info {};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    found.insert(entry.path().filename().string());
    const bool handed_on = entry.path().extension() == ".introduction";
    EXPECT_EQ(info.st_mode & 07777, handed_on ? 0644u : 0600u) << entry.path();
  }
  std::set<std::string> expected = secret;
  expected.insert({"tls.cert.pem", "server1.introduction"});
  EXPECT_EQ(found, expected);
  auto read = read_member(server);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->introduction.name(), "server1");
}

TEST_F(MemberTest, IsRefusedWithAnothersFiles) {
  const std::string a = make("a", sample::server(1)), b = make("b", sample::server(1));
  for (const char* name : {"curve.key", "identity.key", "tls.cert.pem"}) {
    const std::string mine = a + "/" + name, kept = mine + ".kept";
    fs::rename(mine, kept);
    fs::copy_file(b + "/" + name, mine);
    expect_refused(a, std::string(name) + " is not that of the introduction");
    fs::remove(mine);
    expect_refused(a, name);
    fs::rename(kept, mine);
    EXPECT_TRUE(read_member(a).ok()) << "the control";
  }
}

TEST_F(MemberTest, IsRefusedWithNoneOrTwoIntroductions) {
  const std::string a = make("a", sample::agent("agent-kdc", "kdc", 7));
  const std::string own = a + "/agent-kdc.introduction";
  fs::copy_file(own, a + "/other.introduction");
  expect_refused(a, "2 .introduction files");
  fs::remove(a + "/other.introduction");
  fs::remove(own);
  expect_refused(a, "tkdc init --party");
  expect_refused(a + "/nowhere", "No such file");
}

TEST_F(MemberTest, KeepsWhatWasConfirmed) {
  const std::string a = make("a", sample::server(0));
  ASSERT_TRUE(read_confirmed(a).ok());
  EXPECT_TRUE(read_confirmed(a)->empty());
  Introduction other = sample::server(1);
  IntroductionFile file{"x", encode(other, sample::seed_of(1)), other};
  ASSERT_TRUE(keep_confirmed(a, file).ok());
  other.made_s += 1;
  file = {"y", encode(other, sample::seed_of(1)), other};
  ASSERT_TRUE(keep_confirmed(a, file).ok());
  auto kept = read_confirmed(a);
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(kept->size(), 1u);
  EXPECT_EQ(kept->front().text, file.text);
  std::ofstream(a + "/introductions/server1.introduction") << "garbage\n";
  EXPECT_FALSE(read_confirmed(a).ok());
}

TEST(LayoutTest, IsTheUnitsBelowEtc) {
  EXPECT_EQ(layout_of("/etc/tkdc/server0").store, "/var/lib/tkdc/server0/store");
  EXPECT_EQ(layout_of("/etc/tkdc/x/../server0/").audit, "/var/lib/tkdc/server0/audit.jsonl");
  EXPECT_EQ(layout_of("/etc/tkdc/agent-kdc").socket, "/run/tkdc/agent-kdc/agent.sock");
  EXPECT_EQ(layout_of("/etc/tkdc/agent-kdc").socket_group, "tkdc-agent-kdc");
  EXPECT_EQ(layout_of("/etc/tkdc").store, "store");
  EXPECT_EQ(layout_of("/srv/etc/tkdc/server0").store, "store");
  EXPECT_EQ(layout_of("new").socket_group, "");
}

}  // namespace
}  // namespace tkdc::setup
