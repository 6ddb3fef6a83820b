// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/roster.h"

#include <gtest/gtest.h>

#include "sample.h"
#include "tools/setup/configuration.h"

namespace tkdc::setup {
namespace {

class RosterTest : public testing::Test {
 protected:
  RosterTest() {
    for (int party = 0; party < 3; ++party) add("s" + std::to_string(party), sample::server(party));
    add("a", sample::agent("agent-kdc", "kdc", 7));
    add("b", sample::agent("agent-admin", "admin", 8));
  }
  void add(const std::string& path, const Introduction& introduction) {
    all_.push_back({path, "", introduction});
  }
  ServerPart& server(int party) {
    return std::get<ServerPart>(all_[static_cast<std::size_t>(party)].introduction.part);
  }
  Introduction& at(std::size_t index) { return all_[index].introduction; }
  void expect_refused(const std::vector<std::string>& words) {
    auto roster = make_roster(all_);
    ASSERT_FALSE(roster.ok());
    for (const std::string& word : words)
      EXPECT_NE(roster.error().message.find(word), std::string::npos) << roster.error().message;
  }
  std::vector<IntroductionFile> all_;
};

TEST_F(RosterTest, OrdersItsMembers) {
  std::swap(all_[0], all_[2]);
  auto roster = make_roster(all_);
  ASSERT_TRUE(roster.ok()) << roster.error().message;
  for (int party = 0; party < 3; ++party)
    EXPECT_EQ(roster->servers[static_cast<std::size_t>(party)].server()->party, party);
  ASSERT_EQ(roster->agents.size(), 2u);
  EXPECT_EQ(roster->agents[0].name(), "agent-admin");
}

TEST_F(RosterTest, ARealmMayBeOnTwoServers) {
  at(0).servers = 2;
  expect_refused({"s0", "different numbers of servers: 2 and 3"});
  all_.erase(all_.begin() + 2);
  for (IntroductionFile& one : all_) one.introduction.servers = 2;
  for (int party = 0; party < 2; ++party) server(party).lanes = 1;
  const auto roster = make_roster(all_);
  ASSERT_TRUE(roster.ok()) << roster.error().message;
  EXPECT_EQ(roster->servers.size(), 2u);
  const std::string text = server_toml(*roster, 0, "10.0.1.1", {});
  EXPECT_NE(text.find("\nparties = 2\nparty = 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n[[peers]]\nparty = 1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("party = 2"), std::string::npos) << text;
  const std::string of_agent = agent_toml(*roster, roster->agents[0], {});
  EXPECT_NE(of_agent.find("[[servers]]\nparty = 1"), std::string::npos);
  EXPECT_EQ(of_agent.find("party = 2"), std::string::npos);
  all_.erase(all_.begin() + 1);
  expect_refused({"server 1", "both servers' are needed"});
}

TEST_F(RosterTest, SeveralKdcHostsHaveAgentsOfTheirOwn) {
  add("c", sample::agent("kdc2", "kdc", 9));
  add("d", sample::agent("kdc2-admin", "admin", 10));
  auto roster = make_roster(all_);
  ASSERT_TRUE(roster.ok()) << roster.error().message;
  ASSERT_EQ(roster->agents.size(), 4u);
  const std::string text = server_toml(*roster, 0, "10.0.1.1", {});
  for (const char* host : {"10.0.1.8", "10.0.1.9", "10.0.1.10", "10.0.1.11"})
    EXPECT_NE(text.find(std::string("\nhost = \"") + host + "\"\n"), std::string::npos) << text;
  add("e", sample::agent("kdc2", "kdc", 11));
  expect_refused({"c", "e", "both introduce kdc2"});
}

TEST_F(RosterTest, WhatMembersWereStandsBesideWhatTheyAre) {
  std::vector<IntroductionFile> former = {all_[1], all_[3]};
  at(1).made_s += 1;
  at(1).curve_public_key = new_curve_keys()->public_text;
  server(1).certificate_sha256.fill(0x41);
  at(3).made_s += 1;
  at(3).curve_public_key = new_curve_keys()->public_text;
  auto roster = make_roster(all_);
  ASSERT_TRUE(roster.ok()) << roster.error().message;
  ASSERT_TRUE(add_former(*roster, former).ok());
  const std::string text = server_toml(*roster, 0, "10.0.1.1", {});
  EXPECT_NE(text.find("\ncertificate_sha256 = \"4141"), std::string::npos) << text;
  EXPECT_NE(text.find("\nformer_certificate_sha256 = \"2121"), std::string::npos) << text;
  EXPECT_NE(text.find("\nformer_curve_public_key = \"" + former[1].introduction.curve_public_key),
            std::string::npos)
      << text;
  const std::string of_agent = agent_toml(*roster, at(4), {});
  EXPECT_NE(
      of_agent.find("\nformer_curve_public_key = \"" + former[0].introduction.curve_public_key),
      std::string::npos)
      << of_agent;
  EXPECT_EQ(of_agent.find(former[1].introduction.curve_public_key), std::string::npos);

  // Another identity is another member, whose keys are good for nothing.
  at(1).identity.fill(9);
  roster = make_roster(all_);
  ASSERT_TRUE(roster.ok() && add_former(*roster, {former[0]}).ok());
  EXPECT_TRUE(roster->former.empty());
  former[0].introduction.curve_public_key = at(2).curve_public_key;
  EXPECT_FALSE(add_former(*roster, former).ok());
}

TEST_F(RosterTest, NamesTheServerThatIsMissing) {
  all_.erase(all_.begin() + 1);
  expect_refused({"server 1", "missing"});
}

TEST_F(RosterTest, RefusesTwoInstallations) {
  at(3).installation.fill(0x12);
  expect_refused({"s0", "a (agent-kdc)", "different installations", "1111", "1212"});
}

TEST_F(RosterTest, RefusesTwoRealms) {
  at(2).realm = "OTHER.TEST";
  expect_refused({"s2", "different realms", "EXAMPLE.TEST", "OTHER.TEST"});
}

TEST_F(RosterTest, RefusesTwoSecurityModes) {
  at(2).security = Security::kSemiHonest;
  expect_refused({"s2", "malicious", "semi-honest"});
}

TEST_F(RosterTest, RefusesOtherNumbersOfLanes) {
  server(1).lanes = 3;
  expect_refused({"s1", "lanes", "2 and 3"});
}

TEST_F(RosterTest, OfTwoByOneServerNamesTheOlder) {
  Introduction again = sample::server(1);
  again.made_s += 3600;
  again.host = "10.9.9.9";
  add("new", again);
  expect_refused({"s1 and new both introduce server1", "s1, made", "is the older one"});
}

TEST_F(RosterTest, RefusesOneHostTwice) {
  at(2).host = at(0).host;
  expect_refused({"s0 (server0) and s2 (server2) are both on 10.0.1.1"});
}

TEST_F(RosterTest, RefusesKeysOfTwo) {
  const auto before = all_;
  at(4).curve_public_key = at(1).curve_public_key;
  expect_refused({"s1", "b (agent-admin)", "CURVE key"});
  all_ = before;
  at(3).identity = at(0).identity;
  expect_refused({"s0", "a (agent-kdc)", "identity"});
  all_ = before;
  server(2).certificate_sha256 = server(0).certificate_sha256;
  expect_refused({"s0", "s2", "certificate"});
  all_ = before;
  server(2).approver->public_key = server(0).approver->public_key;
  expect_refused({"s0", "s2", "approver's key"});
  all_ = before;
  server(2).approver->name = server(0).approver->name;
  expect_refused({"both name the approver approver0"});
  all_ = before;
  EXPECT_TRUE(make_roster(all_).ok()) << "the control";
}

TEST_F(RosterTest, AgentsMayShareAHostAndNeedNoApprover) {
  at(4).host = at(3).host;
  server(1).approver.reset();
  EXPECT_TRUE(make_roster(all_).ok());
}

}  // namespace
}  // namespace tkdc::setup
