// SPDX-License-Identifier: Apache-2.0
// Golden traces of whole lanes: in which tick which party sends how much to whom, from the start of
// a session until its jobs are answered; and what servers and agents say to each other. With the
// traces of the protocols they are the wire format (session/wire_format.h).
#include <gtest/gtest.h>

#include "golden.h"
#include "lane/ticker.h"
#include "service/job/three_services.h"
#include "service/wire/message.h"

namespace tkdc {
namespace {

using test::expect_control;
using test::Hashes;

void add_number(test::TraceHash& hash, std::uint64_t number) {
  Bytes octets;
  Writer(octets).u64(number);
  hash.add(octets);
}

// Sides and lengths, which no key, time or name changes. Not of what follows the jobs: how many
// masks a lane makes before it is looked at depends on the machine.
class ShapeRing final : public MemoryRing {
 public:
  explicit ShapeRing(std::uint32_t ticks) : ticks_(ticks) {}
  Hashes hashes;
  std::atomic<std::uint32_t> last{0};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    const std::uint32_t tick = Reader(packet).u32();
    if (from == 0) last = tick;
    if (tick < ticks_) note(from, to, packet);
    deliver(from, to, std::move(packet));
  }

 private:
  void note(int from, Neighbour to, const SecretVector& packet) {
    test::TraceHash& hash = hashes[static_cast<std::size_t>(from)];
    add_number(hash, static_cast<std::uint64_t>(to));
    add_number(hash, packet.size());
  }

  const std::uint32_t ticks_;
};

// A lane by replicated sharing, with masks for so many blocks; or by none that hides anything,
// which shows what lanes send whatever protocol computes.
struct LaneTrace {
  const char* name;
  const char* protocol;
  std::size_t masked_blocks;
  std::uint32_t ticks;  // of the jobs, with their checks
};

class LaneGolden : public testing::TestWithParam<LaneTrace> {};

// The jobs wait when the session begins, so that one manifest names them.
TEST_P(LaneGolden, FromASessionsStartToItsJobsAnswers) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& options) {
                    options.protocols = rep3_offer(GetParam().masked_blocks);
                    options.protocols.push_back(std::make_shared<const PlaintextOffer>());
                    options.clock_every = std::chrono::hours(1);
                  });
  e.close_links("a session of this protocol begins");
  e.join();
  e.protocols = {GetParam().protocol};
  e.start_session(nullptr);
  const KeyRef tgt = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  const KeyRef user18 = e.make_key("alice@A.TEST", 18, Bytes(32, 1));
  const KeyRef host20 = e.make_key("host/b.test@A.TEST", 20, Bytes(32, 2));
  settled(e);
  e.close_links("the session ends");
  e.join();
  std::vector<JobName> jobs;
  for (const ThreeServices::Job& job :
       {ThreeServices::Job{TKDC_OP_SEAL, tgt, 2, {}, Bytes(300, 3)},
        ThreeServices::Job{TKDC_OP_SEAL, user18, 3, {}, Bytes(200, 4)},
        ThreeServices::Job{TKDC_OP_MAC, host20, 17, {}, Bytes(100, 5)}})
    jobs.push_back(e.send(job));
  auto ring = std::make_shared<ShapeRing>(GetParam().ticks);
  e.start_session(ring);
  for (const JobName& job : jobs) EXPECT_EQ(e.wait(job).status(), TKDC_STATUS_OK);
  EXPECT_GT(ring->last, GetParam().ticks) << "shorter than what is compared";
  settled(e);
  expect_lane(GetParam().name, GetParam().protocol, ring->hashes);
}

constexpr LaneTrace kTraces[] = {
    {"masks-0", "rep3", 0, 2'400}, {"masks-128", "rep3", 128, 2'400}, {"lane", "plaintext", 0, 8}};
INSTANTIATE_TEST_SUITE_P(Traces, LaneGolden, testing::ValuesIn(kTraces));

// What goes first over connections that take the place of lost ones.
TEST(ControlGolden, WhatALaneLacks) {
  Hashes hashes;
  for (int p = 0; p < 3; ++p) {
    auto ring = MemoryRing::create();
    std::unique_ptr<Link> links[3];
    for (int q = 0; q < 3; ++q) links[q] = ring->link(q);
    Lane lane(p, Security::kMalicious);
    Rep3 rep3(lane, Representation::kBytes, PairwiseKeys());
    Ticker ticker(lane);
    ticker.begin(true, {{1, 2, 3}, {4}, {5, 6}});
    const int next = (p + 1) % 3, prev = (p + 2) % 3;
    ASSERT_TRUE(links[next]->send(Neighbour::kPrev, Bytes(8)).ok());
    ASSERT_TRUE(links[prev]->send(Neighbour::kNext, Bytes(8)).ok());
    ASSERT_TRUE(ticker.go_on(*links[p]).ok());
    for (int packet = 0; packet < 2; ++packet) {
      auto to_next = links[next]->receive(Neighbour::kPrev, 0);
      auto to_prev = links[prev]->receive(Neighbour::kNext, 0);
      ASSERT_TRUE(to_next.ok() && to_prev.ok());
      hashes[static_cast<std::size_t>(p)].add(*to_next);
      hashes[static_cast<std::size_t>(p)].add(*to_prev);
    }
  }
  expect_control("lacks", hashes);
}

TEST(ControlGolden, RequestsAndReplies) {
  Hashes hashes;
  for (std::uint8_t p = 0; p < 3; ++p) {
    JobRequest request;
    request.name = {7, 8, 9};
    request.op = TKDC_OP_SEAL;
    request.key.id.fill(0x11);
    request.key.installation.fill(0x22);
    request.key.principal.fill(0x33);
    request.key.kvno = 4;
    request.key.enctype = 18;
    request.usage = 2;
    request.deadline_ms = 5'000;
    request.protocol = "rep3";
    request.public_data = {1, 2, 3};
    request.component[0].assign(40, p);
    request.component[1].assign(40, static_cast<std::uint8_t>((p + 1) % 3));
    JobReply reply;
    reply.run = 8;
    reply.number = 9;
    reply.status = TKDC_STATUS_OK;
    reply.message = "as it should be";
    reply.output.assign(40, p);
    reply.next_output.fill(0x44);
    reply.cost.rounds = 56;
    hashes[p].add(encode(request));
    hashes[p].add(encode(reply));
  }
  expect_control("messages", hashes);
}

}  // namespace
}  // namespace tkdc
