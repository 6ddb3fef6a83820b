// SPDX-License-Identifier: Apache-2.0
// The loop against a KDC in a thread of the test, on loopback.
#include "storm/storm.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "storm/fake_kdc.h"

namespace tkdc::storm {
namespace {

// Answers on UDP with what `answer` makes of a datagram; nothing when that is empty.
class Kdc {
 public:
  explicit Kdc(std::function<std::vector<Bytes>(ByteSpan)> answer) : answer_(std::move(answer)) {
    fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    socklen_t length = sizeof address;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin_port);
    timeval patience{0, 20'000};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  ~Kdc() {
    thread_.request_stop();
    thread_.join();
    close(fd_);
  }
  int port = 0;

 private:
  void serve(const std::stop_token& stop) {
    std::array<std::uint8_t, 4096> in;
    while (!stop.stop_requested()) {
      sockaddr_in from{};
      socklen_t length = sizeof from;
      auto* address = reinterpret_cast<sockaddr*>(&from);
      ssize_t n = recvfrom(fd_, in.data(), in.size(), 0, address, &length);
      if (n < 0) continue;
      for (const Bytes& packet : answer_({in.data(), static_cast<std::size_t>(n)}))
        sendto(fd_, packet.data(), packet.size(), 0, address, length);
    }
  }
  std::function<std::vector<Bytes>(ByteSpan)> answer_;
  int fd_;
  std::jthread thread_;
};

class StormTest : public testing::Test {
 protected:
  StormTest() {
    users = *derive_users({"u%d", 0, 4, "secret", 18}, "R");
    for (const User& user : users) keys.emplace_back(user.raw);
    workload.request = {"R", {18}, 0, 36'000};
  }

  // With keys of its own: a krb5_key keeps derived keys and is not for two threads.
  Bytes good(ByteSpan packet, const Key* krbtgt = nullptr) {
    FakeRequest request;
    if (!parse_as_request(packet, request)) return make_error("R", 60);
    auto number = static_cast<std::size_t>(request.client.back() - '0');
    return make_reply({false,
                       "R",
                       request.client,
                       request.service,
                       request.nonce,
                       {18, Bytes(32, 7)},
                       std::time(nullptr) + 36'000},
                      keys[number], krbtgt);
  }

  Counts run(Kdc& kdc, Schedule& schedule, StormTerms terms = {}, double noise_share = 0) {
    auto target = resolve("127.0.0.1:" + std::to_string(kdc.port));
    Workload work(workload, users);
    Transport transport(*target, false, 64);
    Noise noise(*target, noise_share);
    Storm storm(terms, work, transport, noise);
    storm.run(schedule, 0, recorder);
    return recorder.totals();
  }
  OpenSchedule open(double rate, Nanoseconds length) {
    Nanoseconds now = monotonic();
    return {rate, now, now + length, false, users.size()};
  }

  std::vector<User> users;
  std::vector<Key> keys;
  WorkloadTerms workload;
  Recorder recorder;
};

TEST_F(StormTest, EveryRequestIsAnsweredAndChecked) {
  Kdc kdc([this](ByteSpan packet) { return std::vector<Bytes>{good(packet)}; });
  auto schedule = open(500, 400 * kMs);
  Counts c = run(kdc, schedule);
  EXPECT_EQ(c.sent, 200U);
  EXPECT_EQ(c.ok, 200U);
  EXPECT_EQ(c.checked, 200U);
  EXPECT_EQ(c.wrong + c.lost + c.errors + c.unsent, 0U);
}

TEST_F(StormTest, SpoiledAnswersAreWrong) {
  int n = 0;
  Kdc kdc([&](ByteSpan packet) {
    Bytes reply = good(packet);
    if (++n % 2 == 0) reply.back() ^= 1;
    return std::vector<Bytes>{reply};
  });
  auto schedule = open(500, 200 * kMs);
  Counts c = run(kdc, schedule);
  EXPECT_EQ(c.wrong, 50U);
  EXPECT_EQ(c.ok, 50U);
  EXPECT_EQ(recorder.wrongs().at("reply does not open under the client's key"), 50U);
}

// Tickets under a service's key begin with an encrypted random block, those without all alike.
TEST_F(StormTest, ANonceThatComesTwiceIsWrong) {
  workload.fresh_tickets = true;
  for (bool fresh : {true, false}) {
    recorder = {};
    const Key krbtgt(random_key(18));
    Kdc kdc([&](ByteSpan packet) {
      return std::vector<Bytes>{good(packet, fresh ? &krbtgt : nullptr)};
    });
    auto schedule = open(500, 200 * kMs);
    Counts c = run(kdc, schedule);
    EXPECT_EQ(c.ok, fresh ? 100U : 1U);
    EXPECT_EQ(c.wrong, fresh ? 0U : 99U);
    EXPECT_EQ(recorder.wrongs().contains("a nonce for the second time"), !fresh);
  }
}

TEST_F(StormTest, LostDatagramsAreSentAgainAndTheWaitCounts) {
  int n = 0;
  Kdc kdc([&](ByteSpan packet) {
    return ++n % 4 == 1 ? std::vector<Bytes>{} : std::vector<Bytes>{good(packet)};
  });
  auto schedule = open(200, 200 * kMs);
  Counts c = run(kdc, schedule, {{50 * kMs, 100 * kMs, 200 * kMs}, 2 * kSecond, 1});
  EXPECT_EQ(c.ok, 40U);
  EXPECT_GE(c.retransmits, 10U);
  EXPECT_GE(recorder.latency().max(), 50'000);
}

TEST_F(StormTest, SilenceIsLost) {
  Kdc kdc([](ByteSpan) { return std::vector<Bytes>{}; });
  auto schedule = open(100, 100 * kMs);
  Counts c = run(kdc, schedule, {{30 * kMs}, 150 * kMs, 1});
  EXPECT_EQ(c.lost, 10U);
  EXPECT_EQ(c.retransmits, 10U);
}

// More are meant to be under way than there are sockets: the rest is counted.
TEST_F(StormTest, WhatCouldNotBeSentIsUnsent) {
  Kdc kdc([](ByteSpan) { return std::vector<Bytes>{}; });
  auto schedule = open(1000, 200 * kMs);
  Counts c = run(kdc, schedule, {{}, 300 * kMs, 1});
  EXPECT_EQ(c.sent + c.unsent, 200U);
  EXPECT_GE(c.unsent, 1U);
}

TEST_F(StormTest, ASecondAnswerIsNotTakenForTheNextClients) {
  Kdc kdc([this](ByteSpan packet) { return std::vector<Bytes>{good(packet), good(packet)}; });
  auto schedule = open(300, 300 * kMs);
  Counts c = run(kdc, schedule, {{}, kSecond, 2});
  EXPECT_EQ(c.ok, 90U);
  EXPECT_EQ(c.wrong, 0U);
}

TEST_F(StormTest, WrongPasswordsMustBeRefused) {
  workload.wrong_password_share = 1;
  {
    Kdc kdc([](ByteSpan) { return std::vector<Bytes>{make_error("R", 24)}; });
    auto schedule = open(100, 200 * kMs);
    Counts c = run(kdc, schedule);
    EXPECT_EQ(c.refused, 20U);
    EXPECT_EQ(c.errors, 0U);
  }
  Kdc careless([this](ByteSpan packet) { return std::vector<Bytes>{good(packet)}; });
  auto schedule = open(100, 200 * kMs);
  Counts c = run(careless, schedule);
  EXPECT_EQ(c.wrong, 20U);
  EXPECT_EQ(recorder.wrongs().at("a ticket for a wrong password"), 20U);
}

TEST_F(StormTest, ErrorsAreCountedByCode) {
  Kdc kdc([](ByteSpan) { return std::vector<Bytes>{make_error("R", 37)}; });
  auto schedule = open(100, 200 * kMs);
  EXPECT_EQ(run(kdc, schedule).errors, 20U);
  EXPECT_EQ(recorder.errors().at(37), 20U);
}

TEST_F(StormTest, NoiseChangesNothing) {
  std::atomic<int> bad = 0;
  Kdc kdc([&](ByteSpan packet) {
    FakeRequest request;
    if (!parse_as_request(packet, request)) ++bad;
    return std::vector<Bytes>{good(packet)};
  });
  auto schedule = open(300, 300 * kMs);
  Counts c = run(kdc, schedule, {}, 0.5);
  EXPECT_EQ(c.ok, 90U);
  EXPECT_GT(c.noise, 20U);
  EXPECT_GT(bad.load(), 5);
}

TEST_F(StormTest, ClosedUsersKeepTheirNumber) {
  Kdc kdc([this](ByteSpan packet) {
    usleep(2000);
    return std::vector<Bytes>{good(packet)};
  });
  Nanoseconds now = monotonic();
  ClosedSchedule schedule(3, 0, now, now + 200 * kMs);
  Counts c = run(kdc, schedule);
  EXPECT_EQ(c.ok, c.sent);
  EXPECT_GT(c.ok, 9U);
  EXPECT_LE(c.ok, 103U);
}

TEST(Targets, AreHostsWithPorts) {
  auto target = resolve("127.0.0.1:8888");
  ASSERT_TRUE(target);
  EXPECT_EQ(ntohs(reinterpret_cast<const sockaddr_in*>(&target->address)->sin_port), 8888);
  EXPECT_EQ(reinterpret_cast<const sockaddr_in*>(&resolve("127.0.0.1")->address)->sin_port,
            htons(88));
  EXPECT_TRUE(resolve("[::1]:99"));
  EXPECT_FALSE(resolve("127.0.0.1:port"));
}

}  // namespace
}  // namespace tkdc::storm
