// SPDX-License-Identifier: Apache-2.0
// Long messages under keys of RFC 3962: the servers' two parts and the agent's own between them are
// one operation to its client, and fail as one.
#include "agent/two_parts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "test_agent.h"

namespace tkdc::agent {
namespace {

SecretVector message_of(std::size_t bytes) {
  SecretVector out(bytes);
  randombytes_buf(out.data(), out.size());
  return out;
}

class TwoParts : public testing::Test {
 protected:
  TwoParts() { servers_.set_two_parts(true); }
  void TearDown() override {
    for (const std::string& text : servers_.complaints()) ADD_FAILURE() << text;
  }
  std::uint64_t send_mac(std::uint32_t deadline_ms) {
    return client_.send(TKDC_OP_MAC, use_body(key_, 56, message_of(300)), deadline_ms);
  }
  void wait_for_jobs(int party, std::size_t jobs) {
    while (servers_.jobs_seen(party) < jobs) std::this_thread::yield();
  }
  FakeServers servers_;
  TestAgent agent_{servers_};
  TestClient client_{agent_.socket()};
  KeyRef key_ = test_key(agent_);
};

TEST_F(TwoParts, AreOneResultAtEveryLength) {
  for (std::size_t bytes = 104; bytes <= 400; ++bytes) {
    const SecretVector data = message_of(bytes);
    EXPECT_EQ(client_.call(TKDC_OP_SEAL, use_body(key_, 3, data)).bytes(),
              fake_seal_in_two_parts(data))
        << bytes;
    if (bytes < 120) continue;
    EXPECT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 56, data)).bytes(),
              fake_mac_in_two_parts(data))
        << bytes;
  }
  const SecretVector longest = message_of(TKDC_WIRE_DATA_MAX_BYTES - 28);
  EXPECT_EQ(client_.call(TKDC_OP_SEAL, use_body(key_, 3, longest)).bytes(),
            fake_seal_in_two_parts(longest));
}

TEST_F(TwoParts, TheTailNamesItsHeadAndHasTheDigestAlone) {
  const SecretVector data = message_of(300);
  ASSERT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 56, data)).status(), TKDC_STATUS_OK);
  const auto view = servers_.view(2);
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(part_of(view[0]), Part{Part::Kind::kHead});
  EXPECT_EQ(part_of(view[1]), (Part{Part::Kind::kTail, view[0].name.number}));
  EXPECT_EQ(view[1].component[0].size(), kHashStateBytes);
  EXPECT_EQ(view[1].key, view[0].key);
  EXPECT_EQ(view[1].usage, 56u);
}

TEST_F(TwoParts, AreOneLineOfTheLogWithBothCosts) {
  client_.call(TKDC_OP_SEAL, use_body(key_, 3, message_of(300)));
  agent_.stop();
  std::ifstream file(agent_.operations_log());
  std::string line, more;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_FALSE(std::getline(file, more));
  const auto entry = nlohmann::json::parse(line);
  EXPECT_EQ(entry["rounds"], 2 * 60);
  EXPECT_EQ(entry["bytes_per_party"], 2 * 6048);
  EXPECT_EQ(entry["status"], "ok");
}

TEST_F(TwoParts, ShortMessagesOtherEnctypesAndOtherOperationsHaveNone) {
  KeyRef sha2 = key_;
  sha2.enctype = 20;
  client_.call(TKDC_OP_SEAL, use_body(key_, 3, message_of(103)));
  client_.call(TKDC_OP_MAC, use_body(key_, 56, message_of(119)));
  client_.call(TKDC_OP_OPEN, use_body(key_, 1, message_of(300)));
  client_.call(TKDC_OP_VERIFY, verify_body(key_, 17, message_of(300), message_of(12)));
  client_.call(TKDC_OP_SEAL, use_body(sha2, 3, message_of(300)));
  for (const JobRequest& request : servers_.view(0)) EXPECT_TRUE(request.public_data.empty());
  EXPECT_EQ(servers_.view(0).size(), 5u);
}

// The servers may do all of it although a head was asked for: another form, another version.
TEST_F(TwoParts, AreTheServersChoice) {
  servers_.set_two_parts(false);
  const SecretVector data = message_of(300);
  EXPECT_EQ(client_.call(TKDC_OP_SEAL, use_body(key_, 2, data)).bytes(), fake_seal(data));
  EXPECT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 17, data)).bytes(), fake_mac(data));
}

TEST_F(TwoParts, ALieInEitherPartFailsClosed) {
  for (const Mood mood : {Mood::kWrongOutput, Mood::kWrongDigest, Mood::kShortOutput}) {
    servers_.set_mood(1, mood);
    const std::size_t before = servers_.jobs_seen(0);
    EXPECT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 56, message_of(300))).status(),
              TKDC_STATUS_INCONSISTENT);
    EXPECT_EQ(servers_.jobs_seen(0), before + 1) << "no tail for a head that does not fit";
    servers_.set_tails(Tails::kLiedIn);
    EXPECT_EQ(client_.call(TKDC_OP_SEAL, use_body(key_, 3, message_of(300))).status(),
              TKDC_STATUS_INCONSISTENT);
    EXPECT_EQ(servers_.jobs_seen(0), before + 3) << "its head was good";
    servers_.set_tails(Tails::kAnswered);
    servers_.set_mood(1, Mood::kHonest);
  }
  servers_.set_tails(Tails::kRefused);
  const std::size_t before = servers_.jobs_seen(0);
  EXPECT_EQ(client_.call(TKDC_OP_SEAL, use_body(key_, 3, message_of(300))).status(),
            TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(servers_.jobs_seen(0), before + 2) << "a refused tail is not asked for again";
  servers_.set_tails(Tails::kAnswered);
  const SecretVector data = message_of(300);
  EXPECT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 56, data)).bytes(),
            fake_mac_in_two_parts(data));
}

TEST_F(TwoParts, TheDeadlineIsOfBothTogether) {
  ASSERT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 56, message_of(300))).status(),
            TKDC_STATUS_OK);
  servers_.set_tails(Tails::kSwallowed);
  servers_.set_head_delay(std::chrono::milliseconds(200));
  const auto start = Clock::now();
  const TestReply reply = client_.call(TKDC_OP_MAC, use_body(key_, 56, message_of(300)), 400);
  EXPECT_EQ(reply.status(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(395));
  const auto view = servers_.view(0);
  EXPECT_EQ(view.back().name.number, view[view.size() - 2].name.number + 1);
  EXPECT_LE(view.back().deadline_ms, 200u) << "what the head has left of it";
}

TEST_F(TwoParts, AServerLostBetweenThemFailsTheOperationAtOnce) {
  ASSERT_EQ(client_.call(TKDC_OP_MAC, use_body(key_, 56, message_of(300))).status(),
            TKDC_STATUS_OK);
  servers_.set_tails(Tails::kSwallowed);
  send_mac(60'000);
  wait_for_jobs(0, 4);
  servers_.set_running(0, false);
  const auto reply = client_.receive(5'000);  // long before its deadline
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status(), TKDC_STATUS_UNAVAILABLE);
}

}  // namespace
}  // namespace tkdc::agent
