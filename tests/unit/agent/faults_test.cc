// SPDX-License-Identifier: Apache-2.0
// The agent with servers that lie, fall silent, go away and come back.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "test_agent.h"

namespace tkdc::agent {
namespace {

// A program that is no server, on a server's port.
class Impostor {
 public:
  explicit Impostor(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(std::uint16_t(std::stoi(address.substr(address.rfind(':') + 1))));
    int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    for (int tries = 0; tries < 200; ++tries) {  // the server lets go of the port soon
      if (::bind(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::listen(fd_, 4);
  }
  ~Impostor() { ::close(fd_); }

  bool serve_one() {
    pollfd item{fd_, POLLIN, 0};
    if (::poll(&item, 1, 10'000) != 1) return false;
    int peer = ::accept(fd_, nullptr, nullptr);
    constexpr char kText[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    bool sent = ::send(peer, kText, sizeof kText, MSG_NOSIGNAL) > 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(peer);
    return sent;
  }

 private:
  int fd_;
};

class Faults : public testing::Test {
 protected:
  TestReply mac(std::uint32_t deadline_ms = 5'000) {
    return client_.call(TKDC_OP_MAC, use_body(test_key(agent_), 1, octets_of("data")), deadline_ms);
  }
  nlohmann::json status() {
    return nlohmann::json::parse(client_.call(TKDC_OP_STATUS, {}).bytes());
  }
  bool works_within(std::chrono::seconds time) {
    for (auto end = Clock::now() + time; Clock::now() < end;)
      if (mac(1'000).status() == TKDC_STATUS_OK) return true;
    return false;
  }
  FakeServers servers_;
  TestAgent agent_{servers_};
  TestClient client_{agent_.socket()};
};

TEST_F(Faults, ALieInOutputOrDigestFailsClosed) {
  for (int party = 0; party < 3; ++party)
    for (Mood mood : {Mood::kWrongOutput, Mood::kWrongDigest, Mood::kShortOutput}) {
      servers_.set_mood(party, mood);
      TestReply reply = mac();
      EXPECT_EQ(reply.status(), TKDC_STATUS_INCONSISTENT) << party;
      EXPECT_FALSE(reply.text().empty());
      servers_.set_mood(party, Mood::kHonest);
    }
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  EXPECT_EQ(status()["counters"]["inconsistent"], 9);
}

TEST_F(Faults, RefusalsAreToldWithTheServersName) {
  servers_.set_mood(2, Mood::kRefuses, TKDC_STATUS_DENIED);
  TestReply reply = mac();
  EXPECT_EQ(reply.status(), TKDC_STATUS_INCONSISTENT) << "the two others did it";
  EXPECT_NE(reply.text().find("server 2 is faulty or changed"), std::string::npos);
  servers_.set_mood(1, Mood::kRefuses, TKDC_STATUS_DENIED);
  EXPECT_EQ(mac().status(), TKDC_STATUS_DENIED);
  servers_.set_mood(1, Mood::kHonest);
  servers_.set_mood(2, Mood::kRefuses, TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(mac().status(), TKDC_STATUS_UNAVAILABLE);
}

TEST_F(Faults, ASilentServerMeansUnavailableAtTheDeadline) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_mood(1, Mood::kSilent);
  auto start = Clock::now();
  TestReply reply = mac(300);
  auto took = Clock::now() - start;
  EXPECT_EQ(reply.status(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_NE(reply.text().find("server 1"), std::string::npos);
  EXPECT_GE(took, std::chrono::milliseconds(295));
  EXPECT_LT(took, std::chrono::milliseconds(1'500));

  auto document = status();
  EXPECT_EQ(document["servers"][0]["reachable"], true);
  EXPECT_EQ(document["servers"][1]["reachable"], false);
  EXPECT_TRUE(document["servers"][1].contains("trouble"));

  servers_.set_mood(1, Mood::kHonest);
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
}

// All are asked how they are one second after a job began, wherever the agent's own beat of a
// second stands then, so that a job of little more names who is silent.
TEST_F(Faults, WhoIsSilentIsAskedInTime) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_mood(1, Mood::kSilent);
  for (int phase = 0; phase < 2; ++phase) {
    const std::string why = mac(1'200).text();
    EXPECT_NE(why.find("server 1"), std::string::npos) << why;
    EXPECT_EQ(why.find("server 0"), std::string::npos) << why;
    EXPECT_EQ(why.find("server 2"), std::string::npos) << why;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

TEST_F(Faults, ADeadServerFailsWhatIsPendingAndIsFoundAgain) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_mood(0, Mood::kSilent);
  client_.send(TKDC_OP_MAC, use_body(test_key(agent_), 1, {}), 60'000);
  while (servers_.jobs_seen(0) < 2) std::this_thread::yield();
  servers_.set_running(0, false);
  auto reply = client_.receive(5'000);  // long before its deadline
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_NE(reply->text().find("server 0"), std::string::npos);

  servers_.set_mood(0, Mood::kHonest);
  servers_.set_running(0, true);
  EXPECT_TRUE(works_within(std::chrono::seconds(10)));
  EXPECT_TRUE(servers_.complaints().empty());
}

TEST_F(Faults, WithAServerAwayForLongJobsFailAtOnce) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_running(2, false);
  while (status()["servers"][2]["reachable"] == true) std::this_thread::yield();
  TestReply first = mac(60'000);  // at most the grace for reconnecting
  EXPECT_EQ(first.status(), TKDC_STATUS_UNAVAILABLE);
  auto start = Clock::now();
  EXPECT_EQ(mac(60'000).status(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(500));
  EXPECT_EQ(status()["servers"][2]["reachable"], false);
}

// ZeroMQ gives an endpoint up after a failed handshake; the agent does not.
TEST_F(Faults, AServerIsFoundAgainAfterAnotherProgramHeldItsPort) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_running(1, false);
  while (status()["servers"][1]["reachable"] == true) std::this_thread::yield();
  {
    Impostor impostor(servers_.addresses()[1]);
    ASSERT_TRUE(impostor.serve_one());
  }
  servers_.set_running(1, true);
  EXPECT_TRUE(works_within(std::chrono::seconds(20)));
}

// A program that was stopped: the kernel takes its connections. Nobody has to compare keys then.
TEST_F(Faults, AServerThatHangsIsToldFromOneWithAnotherKey) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_running(1, false);
  while (status()["servers"][1]["reachable"] == true) std::this_thread::yield();
  const Impostor mute(servers_.addresses()[1]);
  std::string trouble;
  for (auto end = Clock::now() + std::chrono::seconds(20);
       Clock::now() < end && trouble.find("says nothing") == std::string::npos;
       std::this_thread::sleep_for(std::chrono::milliseconds(50)))
    trouble = status()["servers"][1].value("trouble", "");
  EXPECT_NE(trouble.find("takes connections and says nothing"), std::string::npos) << trouble;
  EXPECT_EQ(trouble.find("curve_public_key"), std::string::npos) << trouble;
}

TEST_F(Faults, AShortAbsenceIsBridged) {
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_running(1, false);
  while (status()["servers"][1]["reachable"] == true) std::this_thread::yield();
  client_.send(TKDC_OP_MAC, use_body(test_key(agent_), 1, {}), 10'000);
  servers_.set_running(1, true);
  auto reply = client_.receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status(), TKDC_STATUS_OK) << reply->text();
}

TEST_F(Faults, GarbageAndRepeatedRepliesAreDropped) {
  servers_.set_mood(1, Mood::kRepeats);
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  servers_.set_mood(1, Mood::kGarbage);
  EXPECT_EQ(mac(300).status(), TKDC_STATUS_UNAVAILABLE);
  servers_.set_mood(1, Mood::kHonest);
  EXPECT_EQ(mac().status(), TKDC_STATUS_OK);
  auto counters = status()["counters"];
  EXPECT_EQ(counters["malformed_replies"], 1);
  EXPECT_GE(counters["late_replies"], 1);
}

TEST_F(Faults, StoppingAnswersWhatIsPending) {
  servers_.set_mood(0, Mood::kSilent);
  for (int i = 0; i < 50; ++i) client_.send(TKDC_OP_MAC, use_body(test_key(agent_), 1, {}), 60'000);
  while (servers_.jobs_seen(0) < 50) std::this_thread::yield();
  agent_.stop();
  for (int i = 0; i < 50; ++i) {
    auto reply = client_.receive(1'000);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->status(), TKDC_STATUS_UNAVAILABLE);
  }
  EXPECT_FALSE(client_.receive(1'000).has_value());
  EXPECT_TRUE(client_.closed());
  EXPECT_FALSE(std::filesystem::exists(agent_.socket()));
}

TEST(FaultsOfKeys, AServerWithAnotherKeyIsNotTalkedTo) {
  FakeServers real;
  FakeServers imposters;
  AgentConfig config;
  TempFolder folder;
  config.name = "agent-test";
  config.role = TKDC_ROLE_ADMIN;
  config.socket_path = folder / "agent.sock";
  char public_key[41];
  ASSERT_EQ(zmq_curve_keypair(public_key, reinterpret_cast<char*>(config.curve_secret_key.data())),
            0);
  for (std::size_t party = 0; party < 3; ++party)
    config.servers.push_back({real.addresses()[party], real.public_keys()[party]});
  config.servers[2].address = imposters.addresses()[2];
  auto agent = Agent::create(std::move(config));
  ASSERT_TRUE(agent.ok());
  std::thread thread([&] { EXPECT_TRUE(agent.value()->run().ok()); });
  {
    TestClient client(folder / "agent.sock");
    TestReply reply = client.call(TKDC_OP_EXPORT, SecretVector(16), 4'000);
    EXPECT_EQ(reply.status(), TKDC_STATUS_UNAVAILABLE);
    EXPECT_NE(reply.text().find("server 2"), std::string::npos);
    EXPECT_NE(reply.text().find("compare curve_public_key"), std::string::npos) << reply.text();
  }
  agent.value()->stop();
  thread.join();
  EXPECT_EQ(imposters.jobs_seen(2), 0u);
  EXPECT_EQ(real.jobs_seen(0), 0u);  // to all three or to none
}

}  // namespace
}  // namespace tkdc::agent
