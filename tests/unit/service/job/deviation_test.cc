// SPDX-License-Identifier: Apache-2.0
// A server that changes what it sends: no answer leaves any server, and the
// job services say that the session ended by a deviation, not by a broken wire.
#include <atomic>

#include "lane_packet.h"
#include "three_services.h"
#include "two_times_leader.h"

namespace tkdc {
namespace {

// Changes one octet of party 1's layer messages once it is told to.
class LyingRing final : public MemoryRing {
 public:
  std::atomic<bool> armed{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    // The job's admission is over by then, and its thousands of rounds are not.
    constexpr int kPacket = 40;
    if (armed && from == 1 && to == Neighbour::kPrev && ++sent_ == kPacket) packet.back() ^= 0x10;
    deliver(from, to, std::move(packet));
  }

 private:
  std::atomic<int> sent_{0};
};

TEST(Deviation, TwoFacedManifestsAreFound) {
  auto ring = std::make_shared<test::TwoTimesLeader>();
  ThreeServices s(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
  KeyRef key = s.make_key("host/a.test@A.TEST", 18, {});
  ring->armed = true;
  Answer answer = s.run({TKDC_OP_SEAL, key, usage::kTicket, {}, some_bytes(40)});
  for (const JobReply& reply : answer.reply) EXPECT_TRUE(reply.output.empty());
  s.stop_session();
  int latched = 0;
  for (int p = 0; p < 3; ++p)
    if (auto deviation = s.service(p).deviation()) {
      ++latched;
      EXPECT_NE(deviation->find("told different things"), std::string::npos) << *deviation;
    }
  // The first to see it ends the session, perhaps before another has got what shows it: that one
  // hears it in the next handshake (tests/unit/attack).
  EXPECT_GE(latched, 1);
}

// Whole, and the head of one in two parts.
class Deviations : public testing::TestWithParam<Part> {};

TEST_P(Deviations, EndTheSessionWithoutAnAnswer) {
  auto ring = std::make_shared<LyingRing>();
  ThreeServices s(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
  KeyRef key = s.make_key("host/a.test@A.TEST", 18, {});
  ring->armed = true;
  const CheckTotals good = s.service(0).status().checks;
  Answer answer = s.run({TKDC_OP_SEAL, key, usage::kTicket, encode(GetParam()), some_bytes(200)});
  EXPECT_EQ(s.service(0).status().checks.microseconds, good.microseconds)
      << "a check that was not found good";
  for (const JobReply& reply : answer.reply) {
    EXPECT_EQ(reply.status, TKDC_STATUS_UNAVAILABLE);
    EXPECT_TRUE(reply.output.empty());
  }
  s.stop_session();
  int latched = 0;
  for (int p = 0; p < 3; ++p)
    if (auto deviation = s.service(p).deviation()) {
      ++latched;
      EXPECT_NE(deviation->find("lane 0"), std::string::npos) << *deviation;
    }
  // A liar that does not adapt its own state is seen by one server, when what the
  // two holders of a component say about it differs; one latched server stops all.
  EXPECT_GE(latched, 1);
}

INSTANTIATE_TEST_SUITE_P(Parts, Deviations, testing::Values(Part{}, Part{Part::Kind::kHead}));

TEST(Deviation, IsNotSeenWhereNobodyLies) {
  ThreeServices s(1);
  KeyRef key = s.make_key("host/a.test@A.TEST", 18, {});
  EXPECT_EQ(s.run({TKDC_OP_SEAL, key, usage::kTicket, {}, some_bytes(40)}).status(),
            TKDC_STATUS_OK);
  s.stop_session();
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(s.service(p).deviation());
}

}  // namespace
}  // namespace tkdc
