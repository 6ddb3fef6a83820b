// SPDX-License-Identifier: Apache-2.0
// A refresh of two servers of which the other one, or the link between them, stands in the way.
#include "refreshing.h"

namespace tkdc {
namespace {

class PairRefreshPeerTest : public PairRefreshTest {
 protected:
  std::string trouble(std::size_t p) { return two.service(p).status().shares.trouble; }
  bool is_told(std::size_t p, const std::string& text) {
    const std::vector<std::string> told = two.troubles(p);
    return std::ranges::any_of(
        told, [&](const std::string& one) { return one.find(text) != std::string::npos; });
  }
  std::vector<KeyRef> make_keys(int count) {
    std::vector<KeyRef> out;
    for (int k = 0; k < count; ++k)
      out.push_back(two.make_key("u" + std::to_string(k) + "@R", kEnctype, random_octets(16)));
    return out;
  }
};

// Three times the link breaks while keys are prepared or moved, and both servers stay: that is no
// key's fault, none is left out, and the refresh comes to its end by itself.
TEST_F(PairRefreshPeerTest, ALinkThatBreaksIsNoKeysFault) {
  const std::vector<KeyRef> keys = make_keys(3);
  std::atomic<bool> armed{false};
  two.stop();
  two.store(1).read_hook = [&](KeyRecord&) {
    if (armed.exchange(false)) two.break_link();
  };
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  int broken = 0;
  for (; broken < 3; ++broken) {
    armed = true;
    pump_until([&] { return !armed; });
    pump_until([&] { return two.is_over(); });
  }
  EXPECT_EQ(refreshed(0).epoch, 0u) << "the control: it broke amid it";
  pump_until_it_serves(1);
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(trouble(p), "");
    EXPECT_FALSE(is_told(p, "sessions have ended while"));
    for (const KeyRef& ref : keys) EXPECT_EQ(record(p, ref).version, 2u);
  }
}

// Whichever of both does not remove its old pool, here for a change that is half made: both say so
// after a while, and nobody waits for ever.
TEST_F(PairRefreshPeerTest, AServerThatRemovesNothingIsSaid) {
  again = std::chrono::milliseconds(20);
  const KeyRef alice = make_keys(1)[0];
  for (const std::size_t p : {0, 1}) {
    const std::uint32_t epoch = refreshed(p).epoch;
    two.stop();
    KeyRecord half = record(p, alice);
    half.ref.id[0] ^= 1;
    half.version = 1;
    ASSERT_TRUE(two.store(p).prepare(half).ok());
    two.restart();
    two.service(1).ask_shares(ShareTask::kRefresh);
    pump_until([&] { return !trouble(0).empty() && !trouble(1).empty(); });
    for (const std::size_t q : {0, 1}) {
      EXPECT_NE(trouble(q).find("a pool of before"), std::string::npos) << trouble(q);
      EXPECT_TRUE(is_told(q, "a pool of before"));
    }
    EXPECT_EQ(refreshed(p).epoch, epoch);
    two.stop();
    ASSERT_TRUE(two.store(p).abandon(half.ref.id).ok());
    two.restart();
    pump_until_it_serves(epoch + 1);
  }
}

// A leader that is there and orders nothing is named by the other one.
TEST_F(PairRefreshPeerTest, ALeaderThatDoesNothingIsSaid) {
  make_keys(1);
  leads = false;
  again = std::chrono::milliseconds(10);
  restart();
  two.service(1).ask_shares(ShareTask::kRefresh);
  pump_until([&] { return !trouble(1).empty(); });
  EXPECT_NE(trouble(1).find("which leads"), std::string::npos) << trouble(1);
  EXPECT_FALSE(two.is_over()) << "keys serve on";
  leads = true;
  again = std::chrono::milliseconds(5000);
  restart();
  pump_until_it_serves(1);
  EXPECT_FALSE(is_told(0, "which leads"));
}

// Stores of two histories may have the same keys, versions and epochs, and yet no pool of both.
TEST_F(PairRefreshPeerTest, KeysOfAPoolThatTheOtherOneHasNotAreSaid) {
  make_keys(2);
  restart();
  pump_until([&] { return two.is_up(); });
  for (const std::size_t p : {0, 1}) EXPECT_TRUE(two.troubles(p).empty()) << "the control";
  two.stop();
  PairPools of(*two.store(1).values(), pair::Side::kEvaluator);
  ASSERT_TRUE(of.load().ok());
  for (const PairPools::Count& one : of.counts()) ASSERT_TRUE(of.erase(one.id).ok());
  two.restart();
  pump_until([&] { return is_told(0, "2 keys do not serve"); });
}

}  // namespace
}  // namespace tkdc
