// SPDX-License-Identifier: Apache-2.0
// Clients that send nonsense, leave early, ask for too much or do not read.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "test_agent.h"

namespace tkdc::agent {
namespace {

// Milliseconds: for an agent that has to get through much before, on a busy machine.
constexpr std::uint32_t kPatient = 60'000;

class Clients : public testing::Test {
 protected:
  SecretVector mac_body(std::size_t bytes = 10) {
    return use_body(test_key(agent_), 1, SecretVector(bytes, 1));
  }
  bool agent_works() {
    TestClient client(agent_.socket());
    return client.call(TKDC_OP_MAC, mac_body()).status() == TKDC_STATUS_OK;
  }
  nlohmann::json counters() {
    TestClient client(agent_.socket());
    return nlohmann::json::parse(client.call(TKDC_OP_STATUS, {}).bytes())["counters"];
  }
  FakeServers servers_;
  TestAgent agent_{servers_, {TKDC_ROLE_ADMIN, 64}};
};

SecretVector header_octets(std::uint8_t op, std::uint32_t body_bytes, std::uint16_t status = 0) {
  tkdc_wire_header header{op, status, 7, body_bytes, 5'000};
  SecretVector octets(TKDC_WIRE_HEADER_BYTES);
  tkdc_wire_put_header(octets.data(), &header);
  return octets;
}

TEST_F(Clients, MalformedFramesDisconnect) {
  SecretVector bad_magic = header_octets(TKDC_OP_MAC, 0);
  bad_magic[0] ^= 1;
  SecretVector bad_version = header_octets(TKDC_OP_MAC, 0);
  bad_version[4] = 2;
  for (const SecretVector& octets :
       {bad_magic, bad_version, header_octets(TKDC_OP_MAC, TKDC_WIRE_BODY_MAX_BYTES + 1),
        header_octets(TKDC_OP_MAC, 0, TKDC_STATUS_DENIED), SecretVector(500, 0xaa)}) {
    TestClient client(agent_.socket());
    client.send_raw(octets);
    EXPECT_FALSE(client.receive(3'000).has_value());
    EXPECT_TRUE(client.closed());
  }
  EXPECT_TRUE(agent_works());
  EXPECT_EQ(counters()["malformed_requests"], 5);
}

TEST_F(Clients, WhoComesForTheStatusGetsNothingElse) {
  TestClient looker(agent_.status_socket());
  EXPECT_EQ(looker.call(TKDC_OP_MAC, mac_body()).status(), TKDC_STATUS_DENIED);
  EXPECT_EQ(looker.call(TKDC_OP_LIST, key_body(test_key(agent_))).status(), TKDC_STATUS_DENIED);
  EXPECT_EQ(looker.call(TKDC_OP_HELLO, SecretVector{TKDC_ROLE_ADMIN}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(looker.call(TKDC_OP_MAC, mac_body()).status(), TKDC_STATUS_DENIED);
  EXPECT_EQ(looker.call(TKDC_OP_STATUS, {}).status(), TKDC_STATUS_OK);
}

// Else who may only look could keep servers and the administrator's status busy.
TEST_F(Clients, TheServersAreAskedOnceForAllWhoLook) {
  constexpr int kLookers = 4, kEach = 10;
  std::vector<std::unique_ptr<TestClient>> lookers;
  for (int k = 0; k < kLookers; ++k)
    lookers.push_back(std::make_unique<TestClient>(agent_.status_socket()));
  const auto begun = std::chrono::steady_clock::now();
  const std::size_t before = servers_.statuses_seen();
  for (auto& looker : lookers)
    for (int k = 0; k < kEach; ++k) looker->send(TKDC_OP_STATUS, {});
  EXPECT_EQ(counters()["clients"], kLookers + 1);  // the administrator's finds its place
  for (auto& looker : lookers)
    for (int k = 0; k < kEach; ++k) {
      const auto reply = looker->receive();
      ASSERT_TRUE(reply.has_value());
      EXPECT_EQ(reply->status(), TKDC_STATUS_OK);
    }
  // One question of theirs for each second that passed, and the administrator's; three servers hear
  // each.
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
  EXPECT_LE(servers_.statuses_seen() - before, 3 * (3 + static_cast<std::size_t>(seconds.count())));
}

TEST_F(Clients, WellFramedNonsenseIsAnswered) {
  TestClient client(agent_.socket());
  EXPECT_EQ(client.call(200, {}).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(client.call(TKDC_OP_SEAL, SecretVector(5)).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(client.call(TKDC_OP_SEAL, SecretVector(TKDC_WIRE_BODY_MAX_BYTES)).status(),
            TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(client.call(TKDC_OP_HELLO, SecretVector{9}).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(client.call(TKDC_OP_STATUS, SecretVector(1)).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(client.call(TKDC_OP_MAC, mac_body(), 0).status(), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(client.call(TKDC_OP_MAC, mac_body()).status(), TKDC_STATUS_OK);
}

TEST_F(Clients, FramesMayArriveInPieces) {
  TestClient client(agent_.socket());
  SecretVector body = mac_body(3'000);
  SecretVector frame = header_octets(TKDC_OP_MAC, std::uint32_t(body.size()));
  frame.insert(frame.end(), body.begin(), body.end());
  for (std::size_t at = 0; at < frame.size();) {
    std::size_t n = std::min<std::size_t>(at < 30 ? 1 : 700, frame.size() - at);
    client.send_raw(ByteSpan(frame).subspan(at, n));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    at += n;
  }
  auto reply = client.receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status(), TKDC_STATUS_OK);
  EXPECT_EQ(reply->header.id, 7u);
}

TEST_F(Clients, LeavingWhileJobsArePendingHarmsNobody) {
  servers_.set_mood(1, Mood::kSilent);
  {
    TestClient client(agent_.socket());
    for (int i = 0; i < 60; ++i) client.send(TKDC_OP_MAC, mac_body(), 700);
    for (int party = 0; party < 3; ++party)
      while (servers_.jobs_seen(party) < 60) std::this_thread::yield();
  }
  servers_.set_mood(1, Mood::kHonest);
  std::this_thread::sleep_for(std::chrono::milliseconds(900));  // their deadline
  EXPECT_TRUE(agent_works());
  EXPECT_EQ(counters()["unavailable"], 60);
}

TEST_F(Clients, TooManyPendingAreRefused) {
  TestClient client(agent_.socket());
  ASSERT_EQ(client.call(TKDC_OP_MAC, mac_body()).status(), TKDC_STATUS_OK);
  servers_.set_mood(2, Mood::kSilent);
  for (int i = 0; i < 100; ++i) client.send(TKDC_OP_MAC, mac_body(), 1'500);
  int limited = 0;
  int unavailable = 0;
  for (int i = 0; i < 100; ++i) {
    auto reply = client.receive();
    ASSERT_TRUE(reply.has_value());
    limited += reply->status() == TKDC_STATUS_LIMIT;
    unavailable += reply->status() == TKDC_STATUS_UNAVAILABLE;
  }
  EXPECT_EQ(limited, 36);
  EXPECT_EQ(unavailable, 64);
  servers_.set_mood(2, Mood::kHonest);
  EXPECT_TRUE(agent_works());
}

// No operation gets round the limit, also not one that nothing is computed for.
// Full because a server hangs: lists are refused, and the status says which server it is.
TEST_F(Clients, WhenAllPlacesAreTakenStatusStillSaysWhy) {
  TestClient client(agent_.socket()), other(agent_.socket());
  ASSERT_EQ(client.call(TKDC_OP_MAC, mac_body()).status(), TKDC_STATUS_OK);
  const auto before = servers_.jobs_seen(0);
  servers_.set_mood(2, Mood::kSilent);
  for (int i = 0; i < 64; ++i) client.send(TKDC_OP_MAC, mac_body(), kPatient);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (servers_.jobs_seen(0) < before + 64 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  EXPECT_EQ(other.call(TKDC_OP_LIST, SecretVector(16)).status(), TKDC_STATUS_LIMIT);
  const auto status = other.call(TKDC_OP_STATUS, {}, 1'000);
  ASSERT_EQ(status.status(), TKDC_STATUS_OK);
  EXPECT_EQ(nlohmann::json::parse(status.bytes())["servers"][2]["trouble"],
            "connected, but does not answer");
}

// Each may hold three servers' answers: they are bounded, too, and counted as no operation.
TEST_F(Clients, StatusesHaveABoundOfTheirOwn) {
  ASSERT_TRUE(agent_works());  // and has all connections
  servers_.set_mood(2, Mood::kSilent);
  TestClient client(agent_.socket()), other(agent_.socket());
  for (std::size_t i = 0; i < kMaxPendingStatuses; ++i) client.send(TKDC_OP_STATUS, {}, 2'000);
  auto status = TKDC_STATUS_OK;
  for (int i = 0; i < 20 && status == TKDC_STATUS_OK; ++i)
    status = other.call(TKDC_OP_STATUS, {}, 20).status();
  EXPECT_EQ(status, TKDC_STATUS_LIMIT);
  servers_.set_mood(2, Mood::kHonest);
  for (std::size_t i = 0; i < kMaxPendingStatuses; ++i)
    ASSERT_TRUE(client.receive(kPatient).has_value());
  EXPECT_EQ(counters()["limit"], 0);
}

// The agent stops reading from it, or drops it when too much was already on
// its way: its memory does not grow, and everybody else goes on being served.
TEST_F(Clients, ASlowReaderIsHeldBackOrDropped) {
  // More than fits anywhere, even if all but a few are refused with 100 octets each.
  constexpr int kFar = 20'000;
  TestClient slow(agent_.socket());
  SecretVector body = use_body(test_key(agent_), 1, SecretVector(TKDC_WIRE_DATA_MAX_BYTES - 28));
  ASSERT_EQ(slow.call(TKDC_OP_SEAL, body, kPatient).status(), TKDC_STATUS_OK);
  std::atomic<int> sent{0};
  std::thread sender([&] {
    while (sent < kFar && !slow.broken()) {
      slow.send(TKDC_OP_SEAL, body, kPatient);
      ++sent;
    }
  });
  for (int before = -1; before != sent && !slow.broken();) {
    before = sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  // What the slow one has at the servers counts for all.
  TestClient other(agent_.socket());
  auto status = TKDC_STATUS_LIMIT;
  while (status == TKDC_STATUS_LIMIT)
    status = other.call(TKDC_OP_MAC, mac_body(), kPatient).status();
  EXPECT_EQ(status, TKDC_STATUS_OK);
  agent_.stop();
  sender.join();
  EXPECT_LT(sent, kFar);
}

TEST_F(Clients, TheSocketBelongsToItsOwner) {
  struct stat info {};
  ASSERT_EQ(::stat(agent_.socket().c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(agent_.operations_log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(ListenerTest, ReplacesADeadSocketAndGivesItToTheGroup) {
  TempFolder folder;
  std::string path = folder / "agent.sock";
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  auto listener = Listener::open(path, "root");
  if (::getuid() == 0) {
    ASSERT_TRUE(listener.ok()) << listener.error().message;
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0660u);
  }
  auto nobody = Listener::open(folder / "other.sock", "no-such-group");
  ASSERT_FALSE(nobody.ok());
  EXPECT_NE(nobody.error().message.find("socket_group"), std::string::npos);
}

// In a user namespace it stands for any group; here it is nogroup itself.
TEST(ListenerTest, NogroupIsAGroupLikeOthers) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, which gives files to groups";
  TempFolder folder;
  constexpr gid_t kNogroup = 65'534;
  ASSERT_EQ(::chown((folder / ".").c_str(), 0, kNogroup), 0);
  ASSERT_EQ(::chmod((folder / ".").c_str(), 02750), 0);
  for (SocketFor whom : {SocketFor::kClients, SocketFor::kMonitoring}) {
    const std::string path = folder / "status.sock";
    auto listener = Listener::open(path, "daemon", whom);
    ASSERT_TRUE(listener.ok()) << listener.error().message;
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_gid, ::getgrnam("daemon")->gr_gid);
  }
}

}  // namespace
}  // namespace tkdc::agent
