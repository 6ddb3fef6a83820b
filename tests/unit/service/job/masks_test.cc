// SPDX-License-Identifier: Apache-2.0
// ThreeServices whose lanes make masks while they are idle, and use them for small cohorts.
#include <atomic>

#include "lane_packet.h"
#include "three_services.h"
#include "two_times_leader.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlocks = 128;
// Masks of a state in a lane's full pool.
constexpr std::uint64_t kFull = 14 * kBlocks;

struct WithMasks : ThreeServices {
  explicit WithMasks(Security security, std::size_t lanes = 1,
                     std::shared_ptr<MemoryRing> first_ring = nullptr)
      : ThreeServices(lanes, 1, std::uint64_t{1} << 38, 0, security, std::move(first_ring),
                      [](JobServiceOptions& options) { options.protocols = rep3_offer(kBlocks); }) {
  }

  // Until at least that many were made at all three.
  bool made(std::uint64_t masks) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int p = 0; p < 3;) {
      if (service(p).status().masks_made >= masks) {
        ++p;
        continue;
      }
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
};

class Masks : public testing::TestWithParam<Security> {};

TEST_P(Masks, IdleLanesMakeThemAndSmallCohortsUseThem) {
  WithMasks e(GetParam());
  ASSERT_TRUE(e.made(kFull));
  EXPECT_EQ(settled(e).masks_held, kFull);
  KeyRef host = e.make_key("host/a.test@A.TEST", 18, {});
  KeyRef tgt = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  std::uint64_t before = e.service(0).status().masked_blocks;
  for (const auto& [key, usage] : {std::pair(&host, usage::kTicket), std::pair(&tgt, 2u)}) {
    const Bytes plain = some_bytes(309);
    const Bytes sealed = e.run({TKDC_OP_SEAL, *key, usage, {}, plain}).output();
    const Bytes opened = e.run({TKDC_OP_OPEN, *key, usage, {}, sealed}).output();
    EXPECT_TRUE(key != &tgt || opened == plain);
    const JobServiceStatus now = settled(e);
    EXPECT_GT(now.masked_blocks, before);
    before = now.masked_blocks;
  }
  // What was used is made again when the lane is idle: exactly that, since the pool is bounded.
  EXPECT_TRUE(e.made(kFull + 100));
  const JobServiceStatus now = settled(e);
  EXPECT_EQ(now.jobs_failed(), 0u);
  EXPECT_LE(now.masks_held, kFull);
  EXPECT_GT(now.masks_held, 0u);
  e.stop_session();
  EXPECT_EQ(e.service(0).status().masks_held, 0u) << "they go with the session";
}

// Sealing and opening a ticket of 309 octets, 21 blocks of AES-256: 57 and 59 rounds in layers,
// and in malicious mode 10 of verification. A job that comes while masks are being made may
// find too few, so it is asked for again until there are.
TEST_P(Masks, ATicketTakesAFewRounds) {
  const bool malicious = GetParam() == Security::kMalicious;
  const std::uint32_t seal_rounds = malicious ? 28 : 15, open_rounds = malicious ? 30 : 17;
  WithMasks e(GetParam());
  KeyRef tgt = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  const Bytes plain = some_bytes(309);
  auto rounds_reach = [&](const ThreeServices::Job& job, std::uint32_t wanted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (e.run(job).reply[0].cost.rounds != wanted) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      settled(e);
    }
    return true;
  };
  EXPECT_TRUE(rounds_reach({TKDC_OP_SEAL, tgt, 2, {}, plain}, seal_rounds));
  const Bytes ticket = e.run({TKDC_OP_SEAL, tgt, 2, {}, plain}).output();
  EXPECT_TRUE(rounds_reach({TKDC_OP_OPEN, tgt, 2, {}, ticket}, open_rounds));
  settled(e);
}

// A pool that runs empty under many jobs: the same answers, by layers.
TEST_P(Masks, JobsThatFindNoneAreAnsweredAllTheSame) {
  WithMasks e(GetParam(), 2);
  KeyRef tgt = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  std::vector<JobName> names;
  std::vector<Bytes> plain;
  for (int k = 0; k < 40; ++k) {
    plain.push_back(some_bytes(16 + static_cast<std::size_t>(k)));
    names.push_back(e.send({TKDC_OP_SEAL, tgt, 2, {}, plain.back()}));
    if (k % 7 == 0) e.wait(e.send({TKDC_OP_SEAL, tgt, 2, {}, plain.back()}));
  }
  std::vector<Bytes> sealed;
  for (const JobName& name : names) sealed.push_back(e.wait(name).output());
  for (std::size_t k = 0; k < names.size(); ++k)
    EXPECT_EQ(e.run({TKDC_OP_OPEN, tgt, 2, {}, sealed[k]}).output(), plain[k]) << k;
  // A lane of these links that is at work does not notice at once that another has stopped.
  settled(e);
}

INSTANTIATE_TEST_SUITE_P(Modes, Masks, testing::Values(Security::kSemiHonest, Security::kMalicious),
                         [](const auto& mode) {
                           return mode.param == Security::kMalicious ? "Malicious" : "SemiHonest";
                         });

TEST(MasksOff, NoneAreMadeUnlessAskedFor) {
  ThreeServices e(1);
  KeyRef tgt = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  EXPECT_EQ(e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(40)}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(settled(e).masks_made, 0u);
  EXPECT_EQ(settled(e).masked_blocks, 0u);
}

// Where the leader is two-faced, nothing that was masked leaves an honest server.
TEST(MasksDeviation, JobsAreComparedBeforeTheFirstMaskedValue) {
  auto ring = std::make_shared<test::TwoTimesLeader>();
  WithMasks e(Security::kMalicious, 1, ring);
  KeyRef host = e.make_key("host/a.test@A.TEST", 18, {});
  const std::uint64_t before = e.service(0).status().masks_made;
  ASSERT_TRUE(e.made(std::max(before, kFull)));
  const std::uint64_t masked = settled(e).masked_blocks;
  ring->armed = true;
  Answer answer = e.run({TKDC_OP_SEAL, host, usage::kTicket, {}, some_bytes(40)});
  for (const JobReply& reply : answer.reply) EXPECT_TRUE(reply.output.empty());
  e.stop_session();
  int latched = 0;
  for (int p = 0; p < 3; ++p) {
    if (auto deviation = e.service(p).deviation()) {
      ++latched;
      EXPECT_NE(deviation->find("told different things"), std::string::npos) << *deviation;
    }
    EXPECT_EQ(e.service(p).status().masked_blocks, masked);
  }
  EXPECT_GE(latched, 1);
}

// One octet of what a server sends while masks are made: caught, and no mask of that
// chunk enters a pool.
class LyingRing final : public MemoryRing {
 public:
  std::atomic<int> lies{1};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    constexpr std::size_t kLayer = 900;  // the products of a chunk's masks
    if (from == 1 && to == Neighbour::kPrev && packet.size() > kLayer && lies.fetch_sub(1) == 1)
      packet.back() ^= 1;
    deliver(from, to, std::move(packet));
  }
};

TEST(MasksDeviation, AWrongMaskNeverEntersAPool) {
  auto ring = std::make_shared<LyingRing>();
  WithMasks e(Security::kMalicious, 1, ring);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto ended = [&] {
    if (ring->lies > 0) return false;  // perhaps not begun
    for (int p = 0; p < 3; ++p)
      if (e.service(p).status().session_up) return false;
    return true;
  };
  while (!ended() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(ended());
  e.stop_session();
  int latched = 0;
  for (int p = 0; p < 3; ++p) {
    latched += e.service(p).deviation() ? 1 : 0;
    EXPECT_EQ(e.service(p).status().masks_made, 0u);
  }
  EXPECT_GE(latched, 1);
}

}  // namespace
}  // namespace tkdc
