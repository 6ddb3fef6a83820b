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
#include "tools/setup/renewal.h"

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
  auto former = read_former(a);
  ASSERT_TRUE(former.ok());
  ASSERT_EQ(former->size(), 1u) << "the one of before, by the same identity";
  EXPECT_LT(former->front().introduction.made_s, other.made_s);
  ASSERT_TRUE(keep_confirmed(a, file).ok());
  EXPECT_EQ(read_former(a)->size(), 1u) << "once more is no change";
  other.made_s += 1;
  other.identity = identity_of(sample::seed_of(5));
  file = {"z", encode(other, sample::seed_of(5)), other};
  ASSERT_TRUE(keep_confirmed(a, file).ok());
  EXPECT_TRUE(read_former(a)->empty()) << "another identity";
  other.made_s += 1;
  ASSERT_TRUE(keep_confirmed(a, {"z", encode(other, sample::seed_of(5)), other}).ok());
  EXPECT_EQ(read_former(a)->size(), 1u);
  ASSERT_TRUE(forget_former(a).ok());
  EXPECT_TRUE(read_former(a)->empty());
  std::ofstream(a + "/introductions/server1.introduction") << "garbage\n";
  EXPECT_FALSE(read_confirmed(a).ok());
}

TEST_F(MemberTest, ChangesItsKeysInTwoSteps) {
  for (const Introduction& introduction :
       {sample::server(1), sample::agent("agent-kdc", "kdc", 7)}) {
    const std::string a = make(introduction.name(), introduction);
    const auto before = read_member(a);
    ASSERT_TRUE(before.ok());
    EXPECT_FALSE(read_next(a, before->introduction).ok());
    EXPECT_FALSE(take_renewal(a).ok()) << "nothing was drawn";
    auto renewal = draw_renewal(a, *before, "");
    ASSERT_TRUE(renewal.ok()) << renewal.error().message;
    ASSERT_TRUE(write_renewal(a, *renewal).ok());
    EXPECT_FALSE(write_renewal(a, *renewal).ok()) << "not twice";
    EXPECT_EQ(read_member(a)->text, before->text) << "those of now stay in use";
    auto next = read_next(a, before->introduction);
    ASSERT_TRUE(next.ok()) << next.error().message;
    EXPECT_EQ(next->introduction.identity, before->introduction.identity);
    EXPECT_GT(next->introduction.made_s, before->introduction.made_s);
    EXPECT_NE(next->introduction.curve_public_key, before->introduction.curve_public_key);

    // A crash after the first one: done again.
    fs::rename(a + "/next/curve.key", a + "/curve.key");
    EXPECT_FALSE(read_member(a).ok()) << "neither the former nor the next";
    ASSERT_TRUE(take_renewal(a).ok());
    auto after = read_member(a);
    ASSERT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(after->text, next->text);
    EXPECT_FALSE(fs::exists(a + "/next"));
    if (const ServerPart* server = after->introduction.server()) {
      EXPECT_NE(server->certificate_sha256, before->introduction.server()->certificate_sha256);
      EXPECT_EQ(server->approver->name, "approver1");
    }
  }
}

TEST_F(MemberTest, TakesNothingButKeys) {
  const std::string a = make("a", sample::server(1));
  auto own = read_member(a);
  ASSERT_TRUE(write_renewal(a, *draw_renewal(a, *own, "")).ok());
  std::ofstream(a + "/next/store.key") << "somebody's";
  EXPECT_FALSE(take_renewal(a).ok());
  fs::remove(a + "/next/store.key");
  EXPECT_TRUE(take_renewal(a).ok());
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
