// SPDX-License-Identifier: Apache-2.0
// The agent with three honest servers: operations, privacy of the shares,
// pipelining, two agents, status and log.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "test_agent.h"

namespace tkdc::agent {
namespace {

class AgentTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& text : servers_.complaints()) ADD_FAILURE() << text;
  }
  FakeServers servers_;
  TestAgent agent_{servers_};
  TestClient client_{agent_.socket()};
};

TEST_F(AgentTest, HelloNamesSecurityAndInstallation) {
  TestReply reply = client_.call(TKDC_OP_HELLO, SecretVector{TKDC_ROLE_KDC});
  Reader r(reply.body);
  EXPECT_EQ(r.text(100), "malicious");
  InstallationId installation{};
  r.array(installation);
  EXPECT_TRUE(r.complete());
  EXPECT_EQ(installation, agent_.installation());
}

TEST_F(AgentTest, SealOpenMacVerify) {
  KeyRef key = test_key(agent_);
  SecretVector data = octets_of("a ticket's enciphered part");
  TestReply sealed = client_.call(TKDC_OP_SEAL, use_body(key, 2, data));
  ASSERT_EQ(sealed.status(), TKDC_STATUS_OK) << sealed.text();
  EXPECT_EQ(sealed.bytes(), fake_seal(data));
  EXPECT_EQ(client_.call(TKDC_OP_OPEN, use_body(key, 2, sealed.bytes())).bytes(), data);

  SecretVector forged = sealed.bytes();
  forged[3] ^= 1;
  forged.back() ^= 1;
  TestReply opened = client_.call(TKDC_OP_OPEN, use_body(key, 2, forged));
  EXPECT_EQ(opened.status(), TKDC_STATUS_INTEGRITY);
  EXPECT_FALSE(opened.text().empty());

  SecretVector checksum = client_.call(TKDC_OP_MAC, use_body(key, 17, data)).bytes();
  EXPECT_EQ(checksum, fake_mac(data));
  EXPECT_EQ(client_.call(TKDC_OP_VERIFY, verify_body(key, 17, data, checksum)).status(),
            TKDC_STATUS_OK);
  checksum[0] ^= 1;
  EXPECT_EQ(client_.call(TKDC_OP_VERIFY, verify_body(key, 17, data, checksum)).status(),
            TKDC_STATUS_INTEGRITY);
}

TEST_F(AgentTest, EmptyAndLargestInputs) {
  KeyRef key = test_key(agent_);
  for (std::size_t bytes : {std::size_t{0}, std::size_t{TKDC_WIRE_DATA_MAX_BYTES - 28}}) {
    SecretVector data(bytes, 0x5a);
    TestReply sealed = client_.call(TKDC_OP_SEAL, use_body(key, 2, data));
    ASSERT_EQ(sealed.status(), TKDC_STATUS_OK) << sealed.text();
    EXPECT_EQ(client_.call(TKDC_OP_OPEN, use_body(key, 2, sealed.bytes())).bytes(), data);
  }
}

TEST_F(AgentTest, LifeOfAKey) {
  SecretVector imported(32, 0x77);
  TestReply staged = client_.call(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_IMPORTED, imported));
  ASSERT_EQ(staged.status(), TKDC_STATUS_OK) << staged.text();
  ASSERT_EQ(staged.body.size(), 16u);
  KeyRef key = test_key(agent_);
  std::copy(staged.body.begin(), staged.body.end(), key.id.begin());
  std::string name = "host/www.example.test@EXAMPLE.TEST";
  crypto_hash_sha256(key.principal.data(), reinterpret_cast<const std::uint8_t*>(name.data()),
                     name.size());
  EXPECT_EQ(client_.call(TKDC_OP_BIND, bind_body(key, name)).status(), TKDC_STATUS_OK);
  EXPECT_EQ(client_.call(TKDC_OP_EXPORT, SecretVector(key.id.begin(), key.id.end())).bytes(),
            octets_of("sixteen octets!!"));
  EXPECT_EQ(client_.call(TKDC_OP_DESTROY, key_body(key)).status(), TKDC_STATUS_OK);

  auto view = servers_.view(1);
  ASSERT_EQ(view.size(), 4u);
  EXPECT_EQ(view[0].key.id, key.id);
  EXPECT_EQ(view[0].public_data, Bytes{TKDC_ORIGIN_IMPORTED});
  EXPECT_EQ(view[1].public_data, Bytes(name.begin(), name.end()));
  EXPECT_EQ(view[1].key.principal, key.principal);
}

// Two of three components are independent of the input: they never add up to
// it, nor does either of them repeat for the same input.
TEST_F(AgentTest, NoServersViewShowsTheInput) {
  KeyRef key = test_key(agent_);
  SecretVector secret = octets_of("session key 0123456789abcdef");
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(client_.call(TKDC_OP_SEAL, use_body(key, 2, secret)).status(), TKDC_STATUS_OK);
  for (int party = 0; party < 3; ++party) {
    std::set<std::string> seen;
    for (const JobRequest& request : servers_.view(party)) {
      SecretVector sum = request.component[0];
      ASSERT_EQ(sum.size(), secret.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= request.component[1][i];
      EXPECT_NE(sum, secret);
      SecretVector frame = encode(request);
      EXPECT_EQ(std::search(frame.begin(), frame.end(), secret.begin(), secret.begin() + 4),
                frame.end());
      for (const SecretVector& component : request.component)
        EXPECT_TRUE(seen.insert({component.begin(), component.end()}).second);
    }
  }
}

TEST_F(AgentTest, FiveThousandPipelined) {
  constexpr int kRequests = 5'000;
  KeyRef key = test_key(agent_);
  ASSERT_EQ(client_.call(TKDC_OP_MAC, use_body(key, 1, {})).status(), TKDC_STATUS_OK);
  std::map<std::uint64_t, SecretVector> expected;
  auto start = Clock::now();
  std::thread sender([&] {
    for (std::uint64_t i = 0; i < kRequests; ++i)
      client_.send(TKDC_OP_SEAL, use_body(key, 2, octets_of("ticket " + std::to_string(i))),
                   60'000);
  });
  for (std::uint64_t i = 0; i < kRequests; ++i)
    expected[i + 2] = fake_seal(octets_of("ticket " + std::to_string(i)));
  for (int i = 0; i < kRequests; ++i) {
    auto reply = client_.receive(60'000);
    ASSERT_TRUE(reply.has_value()) << i;
    ASSERT_EQ(reply->status(), TKDC_STATUS_OK) << reply->text();
    auto it = expected.find(reply->header.id);
    ASSERT_NE(it, expected.end());
    EXPECT_EQ(reply->bytes(), it->second);
    expected.erase(it);
  }
  sender.join();
  double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  RecordProperty("ms", std::to_string(ms));
  EXPECT_TRUE(expected.empty());
}

TEST_F(AgentTest, TwoAgentsAtOnce) {
  TestAgent other(servers_);
  TestClient guest(other.socket());
  for (int i = 0; i < 200; ++i) {
    client_.send(TKDC_OP_MAC, use_body(test_key(agent_), 1, octets_of(std::to_string(i))));
    guest.send(TKDC_OP_MAC, use_body(test_key(other), 1, octets_of("g" + std::to_string(i))));
  }
  for (int i = 0; i < 200; ++i) {
    auto mine = client_.receive();
    auto theirs = guest.receive();
    ASSERT_TRUE(mine && theirs);
    EXPECT_EQ(mine->bytes(), fake_mac(octets_of(std::to_string(mine->header.id - 1))));
    EXPECT_EQ(theirs->bytes(), fake_mac(octets_of("g" + std::to_string(theirs->header.id - 1))));
  }
}

TEST_F(AgentTest, ASecondAgentOnTheSameSocketIsRefused) {
  auto listener = Listener::open(agent_.socket(), "");
  ASSERT_FALSE(listener.ok());
  EXPECT_NE(listener.error().message.find("another agent"), std::string::npos);
}

TEST_F(AgentTest, ServersHearOfOneThatNobodyAsks) {
  for (int ms = 0; ms < 5'000 && servers_.statuses_seen() < 3; ms += 10) usleep(10'000);
  EXPECT_EQ(servers_.statuses_seen(), 3u) << "each of them once";
  sleep(2);
  EXPECT_EQ(servers_.statuses_seen(), 3u) << "and not again so soon";
}

TEST_F(AgentTest, StatusTellsAboutAllThree) {
  client_.call(TKDC_OP_MAC, use_body(test_key(agent_), 1, {}));
  auto document = nlohmann::json::parse(client_.call(TKDC_OP_STATUS, {}).bytes());
  EXPECT_EQ(document["security"], "malicious");
  EXPECT_EQ(document["agent"]["name"], "agent-test");
  EXPECT_EQ(document["counters"]["ok"], 1);
  ASSERT_EQ(document["servers"].size(), 3u);
  for (int party = 0; party < 3; ++party) {
    const auto& server = document["servers"][std::size_t(party)];
    EXPECT_EQ(server["party"], party);  // whatever the server says about itself
    EXPECT_EQ(server["address"], servers_.addresses()[std::size_t(party)]);
    EXPECT_EQ(server["reachable"], true);
    EXPECT_EQ(server["session_up"], true);
    EXPECT_EQ(server["backend"], "scalar");
  }
}

TEST_F(AgentTest, OperationsLogHasOneLinePerOperation) {
  client_.call(TKDC_OP_SEAL, use_body(test_key(agent_), 2, SecretVector(100)));
  client_.call(TKDC_OP_OPEN, use_body(test_key(agent_), 3, SecretVector(100)));
  agent_.stop();
  std::ifstream file(agent_.operations_log());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["op"], "seal");
  EXPECT_EQ(lines[0]["usage"], 2);
  EXPECT_EQ(lines[0]["key"], "11111111");
  EXPECT_EQ(lines[0]["enctype"], 18);
  EXPECT_EQ(lines[0]["input"], 100);
  EXPECT_EQ(lines[0]["blocks"], 12);
  EXPECT_EQ(lines[0]["rounds"], 60);
  EXPECT_EQ(lines[0]["bytes_per_party"], 6048);
  EXPECT_EQ(lines[0]["status"], "ok");
  EXPECT_GT(lines[0]["ms"], 0.0);
  EXPECT_EQ(lines[1]["status"], "integrity");
}

TEST(AgentRole, KdcRefusesToMakeAndRemoveKeys) {
  FakeServers servers;
  TestAgent agent(servers, {TKDC_ROLE_KDC, 100});
  TestClient client(agent.socket());
  EXPECT_EQ(client.call(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_DRAWN, {})).status(),
            TKDC_STATUS_DENIED);
  EXPECT_EQ(client.call(TKDC_OP_EXPORT, SecretVector(16)).status(), TKDC_STATUS_DENIED);
  EXPECT_EQ(client.call(TKDC_OP_BIND, bind_body(test_key(agent), "x")).status(),
            TKDC_STATUS_DENIED);
  EXPECT_EQ(client.call(TKDC_OP_DESTROY, key_body(test_key(agent))).status(), TKDC_STATUS_DENIED);
  EXPECT_EQ(client.call(TKDC_OP_MAC, use_body(test_key(agent), 1, {})).status(), TKDC_STATUS_OK);
  EXPECT_EQ(servers.jobs_seen(0), 1u);
}

TEST(AgentRole, AConnectionThatSaidKdcStaysKdc) {
  FakeServers servers;
  TestAgent agent(servers);
  TestClient client(agent.socket());
  client.call(TKDC_OP_HELLO, SecretVector{TKDC_ROLE_KDC});
  client.call(TKDC_OP_HELLO, SecretVector{TKDC_ROLE_ADMIN});
  EXPECT_EQ(client.call(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_DRAWN, {})).status(),
            TKDC_STATUS_DENIED);
}

}  // namespace
}  // namespace tkdc::agent
