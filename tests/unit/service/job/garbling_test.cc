// SPDX-License-Identifier: Apache-2.0
// Jobs by garbled circuits through whole job services, with streams between the three: results
// against libkrb5, which kinds are learned, what a head of two parts becomes, connections that are
// lost while instances are made and while a job runs, streams that break, and servers that differ.
#include "garbling_services.h"
#include "service/job/lane_load.h"
#include "support/file_digest.h"

namespace tkdc::garbling_lanes {
namespace {

TEST(GarblingInLanes, TheFirstOfAKindIsSharedAndTheNextAreGarbled) {
  for (const std::size_t lanes : {1u, 2u}) {
    GarblingServices e(lanes);
    test::Krb5Client whole(18, e.key);
    const Bytes data = some_bytes(40), plain = some_bytes(60);
    const Bytes sealed = whole.seal(1, plain);
    const ThreeServices::Job open{TKDC_OP_OPEN, e.user, 1, {}, sealed};
    const ThreeServices::Job seal{TKDC_OP_SEAL, e.user, 3, {}, plain};
    for (const auto& job : {e.mac(data), open, seal}) {
      const Answer answer = e.run(job);
      EXPECT_EQ(answer.status(), TKDC_STATUS_OK);
      EXPECT_GT(rounds(answer), kManyRounds);
    }
    ASSERT_TRUE(e.ready(3));
    const Answer summed = e.run(e.mac(data)), opened = e.run(open), closed = e.run(seal);
    EXPECT_EQ(summed.output(), e.checksum(data));
    EXPECT_EQ(opened.output(), plain);
    EXPECT_EQ(whole.open(3, closed.output()), plain);
    for (const Answer* answer : {&summed, &opened, &closed}) {
      EXPECT_EQ(answer->status(), TKDC_STATUS_OK);
      EXPECT_LE(rounds(*answer), kFewRounds);
    }
    // One that is forged is refused, as by sharing.
    Bytes forged = sealed;
    forged[20] ^= 1;
    const Answer refused = e.run({TKDC_OP_OPEN, e.user, 1, {}, forged});
    EXPECT_EQ(refused.status(), TKDC_STATUS_INTEGRITY);
    EXPECT_LE(rounds(refused), kFewRounds);
    // What was taken is made again.
    ASSERT_TRUE(e.ready(3));
    EXPECT_EQ(e.service(0).status().garbled_jobs, 4u);
  }
}

// Of krbtgt's own form AES is garbled. Tickets whose lengths are near each other have one kind.
TEST(GarblingInLanes, KrbtgtsOwnForm) {
  GarblingServices e(2);
  const KeyRef own = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  const Bytes plain = some_bytes(700), longer = some_bytes(720);
  const auto with = [&](tkdc_wire_op op, std::uint32_t use, const Bytes& input) {
    return ThreeServices::Job{op, own, use, {}, input};
  };
  const Bytes first = e.run(with(TKDC_OP_SEAL, usage::kTicket, plain)).output();
  EXPECT_EQ(e.run(with(TKDC_OP_OPEN, usage::kTicket, first)).output(), plain);
  const Bytes sum = e.run(with(TKDC_OP_MAC, usage::kPacSignature, plain)).output();
  Bytes signed_plain = plain;
  signed_plain.insert(signed_plain.end(), sum.begin(), sum.end());
  EXPECT_EQ(e.run(with(TKDC_OP_VERIFY, usage::kPacSignature, signed_plain)).status(),
            TKDC_STATUS_OK);
  ASSERT_TRUE(e.ready(4));

  const Answer sealed = e.run(with(TKDC_OP_SEAL, usage::kTicket, longer));
  const Bytes ticket = sealed.output();
  const Answer opened = e.run(with(TKDC_OP_OPEN, usage::kTicket, ticket));
  EXPECT_EQ(opened.output(), longer);
  EXPECT_EQ(e.run(with(TKDC_OP_OPEN, usage::kTicket, first)).output(), plain);
  const Answer summed = e.run(with(TKDC_OP_MAC, usage::kPacSignature, plain));
  EXPECT_EQ(summed.output(), sum);
  const Answer verified = e.run(with(TKDC_OP_VERIFY, usage::kPacSignature, signed_plain));
  for (const Answer* answer : {&sealed, &opened, &summed, &verified}) {
    EXPECT_EQ(answer->status(), TKDC_STATUS_OK);
    EXPECT_LE(rounds(*answer), kFewRounds);
  }
  Bytes forged = ticket;
  forged.back() ^= 1;
  const Answer refused = e.run(with(TKDC_OP_OPEN, usage::kTicket, forged));
  EXPECT_EQ(refused.status(), TKDC_STATUS_INTEGRITY);
  EXPECT_LE(rounds(refused), kFewRounds);
  signed_plain.front() ^= 1;
  EXPECT_EQ(e.run(with(TKDC_OP_VERIFY, usage::kPacSignature, signed_plain)).status(),
            TKDC_STATUS_INTEGRITY);
  std::printf("rounds of seal, open, sign, verify: %u %u %u %u\n", rounds(sealed), rounds(opened),
              rounds(summed), rounds(verified));
}

// More at once than stand ready: the others by sharing, each with the same result.
TEST(GarblingInLanes, WhatFindsNoInstanceIsShared) {
  GarblingServices e;
  const Bytes data = some_bytes(33), sum = e.checksum(data);
  EXPECT_EQ(e.run(e.mac(data)).output(), sum);
  ASSERT_TRUE(e.ready(1));
  std::vector<JobName> names;
  for (int k = 0; k < 40; ++k) names.push_back(e.send(e.mac(data)));
  int garbled = 0;
  for (const JobName& name : names) {
    const Answer answer = e.wait(name);
    EXPECT_EQ(answer.output(), sum);
    garbled += rounds(answer) <= kManyRounds ? 1 : 0;
  }
  EXPECT_GE(garbled, 1);
  EXPECT_LT(garbled, 40);
  EXPECT_GE(e.service(0).status().garbled_missed, 1u);
}

// An agent that asks for a head gets the whole operation where an instance stands ready: no second
// job, as where a server has no parts. Else it gets the head.
TEST(GarblingInLanes, AHeadIsTheWholeOperation) {
  GarblingServices e;
  const Bytes data = some_bytes(200);
  const ThreeServices::Job head{TKDC_OP_MAC, e.ref, kUsage, encode(Part{Part::Kind::kHead}), data};
  EXPECT_EQ(e.run(head).output().size(), std::size_t{20});  // SHA-1's state, RFC 3174
  ASSERT_TRUE(e.ready(1));
  const std::size_t lines = e.audit(0).size();
  const Answer answer = e.run(head);
  EXPECT_EQ(answer.output(), e.checksum(data));
  EXPECT_LE(rounds(answer), kFewRounds);
  ASSERT_EQ(e.audit(0).size(), lines + 1);
  EXPECT_EQ(e.audit(0).back().find("\"head\""), std::string::npos);
}

// An agent whose copies differ learns that, and nobody's reserve is smaller.
TEST(GarblingInLanes, CopiesThatDifferTakeNoInstance) {
  GarblingServices e;
  const Bytes data = some_bytes(33);
  (void)e.run(e.mac(data));
  ASSERT_TRUE(e.ready(1));
  for (int liar = 0; liar < 3; ++liar)
    for (const std::size_t component : {0u, 1u}) {
      const Answer answer = e.run(e.mac(data), [&](int p, JobRequest& request) {
        if (p == liar) request.component[component][7] ^= 2;
      });
      EXPECT_EQ(answer.status(), TKDC_STATUS_INCONSISTENT);
    }
  EXPECT_EQ(e.service(0).status().garbled_jobs, 0u);
  EXPECT_EQ(e.run(e.mac(data)).output(), e.checksum(data));
}

TEST(GarblingInLanes, TheLeaderDecides) {
  GarblingServices e(1, Use::kAlways, Use::kNever);
  const Bytes data = some_bytes(33);
  for (int k = 0; k < 3; ++k) EXPECT_GT(rounds(e.run(e.mac(data))), kManyRounds);
  EXPECT_EQ(e.service(0).status().garbled_jobs, 0u);
}

// Where servers are far apart, or always: the first of a kind waits for its instance, also beside
// others, and where more come than stand ready.
TEST(GarblingInLanes, JobsWaitForWhatHasToBeMade) {
  for (const std::size_t lanes : {1u, 2u}) {
    GarblingServices e(lanes, Use::kAlways, Use::kAlways);
    std::vector<std::pair<JobName, Bytes>> sent;
    for (int k = 0; k < 12; ++k) {
      const Bytes data = some_bytes(40 + static_cast<std::size_t>(k % 3));
      sent.emplace_back(e.send(e.mac(data)), e.checksum(data));
    }
    for (const auto& [name, sum] : sent) {
      const Answer answer = e.wait(name);
      EXPECT_EQ(answer.status(), TKDC_STATUS_OK);
      EXPECT_EQ(answer.output(), sum);
    }
    ASSERT_TRUE(e.ready(3));
    EXPECT_EQ(e.service(0).status().garbled_jobs, 12u);
    // No circuit is so long: by sharing, and nobody waits for it.
    const Bytes longest = some_bytes(5000);
    const Answer answer = e.run(e.mac(longest));
    EXPECT_EQ(answer.output(), e.checksum(longest));
    EXPECT_GT(rounds(answer), kManyRounds);
    EXPECT_EQ(e.service(0).status().garbled_jobs, 12u);
  }
}

// Near each other, a lane that is busy takes none, so none is made beside its jobs.
TEST(GarblingInLanes, ABusyLaneShares) {
  constexpr double kHardlyBusy = 1e-9;
  GarblingServices e(1, Use::kAuto, Use::kAuto, std::chrono::hours(1), kNobody, kHardlyBusy);
  const Bytes data = some_bytes(33), sum = e.checksum(data);
  EXPECT_EQ(e.run(e.mac(data)).output(), sum);
  ASSERT_TRUE(e.ready(1));
  const std::uint64_t made = e.made();
  for (int k = 0; k < 3; ++k) {
    const Answer answer = e.run(e.mac(data));
    EXPECT_EQ(answer.output(), sum);
    EXPECT_GT(rounds(answer), kManyRounds);
  }
  EXPECT_EQ(e.made(), made);
}

TEST(LaneLoad, IsOfLate) {
  using namespace std::chrono_literals;
  LaneLoad load;
  EXPECT_EQ(load.part(), 0);
  for (int k = 0; k < 5000; ++k) load.pass(2ms, true);
  EXPECT_GT(load.part(), 0.98);
  for (int k = 0; k < 5000; ++k) load.pass(2ms, k % 4 == 0);
  EXPECT_NEAR(load.part(), 0.25, 0.02);
  load.pass(1h, false);
  EXPECT_EQ(load.part(), 0);
  load.pass(-1ms, true);
  EXPECT_EQ(load.part(), 0);
}

TEST(GarblingInLanes, FarServersWaitByThemselves) {
  GarblingServices e(1, Use::kAuto, Use::kAuto, {});
  const Bytes data = some_bytes(40);
  EXPECT_EQ(e.run(e.mac(data)).output(), e.checksum(data));
  EXPECT_EQ(e.service(0).status().garbled_jobs, 1u);
}

// Near each other nothing is even learned, so nothing is made.
TEST(GarblingInLanes, OfFarServersAloneAreNotForNearOnes) {
  const Bytes data = some_bytes(40);
  for (const bool far : {false, true}) {
    GarblingServices e(1, Use::kFar, Use::kFar,
                       std::chrono::microseconds(far ? 0 : GarblingOptions().far.count()));
    for (std::uint64_t k = 1; k <= 2; ++k) {
      const Answer answer = e.run(e.mac(data));
      EXPECT_EQ(answer.output(), e.checksum(data));
      EXPECT_TRUE(far || rounds(answer) > kManyRounds);  // who waits, waits for many
      for (int p = 0; p < 3; ++p) {
        const JobServiceStatus now = e.service(p).status();
        EXPECT_EQ(now.garbled_jobs, far ? k : 0);
        EXPECT_EQ(now.garbled_kinds, far ? 1u : 0u);
        EXPECT_EQ(now.garbled_made > 0, far);
      }
    }
  }
}

// Connections are lost while jobs wait for instances, wherever their making is by then.
TEST(GarblingInLanes, WhoWaitsGoesOnOverNewConnections) {
  GarblingServices e(1, Use::kAlways, Use::kAlways);
  e.holds = true;
  for (int round = 0; round < 25; ++round) {
    const Bytes data = some_bytes(30 + static_cast<std::size_t>(round) % 12),
                sum = e.checksum(data);
    e.lose_connections(4, std::chrono::milliseconds(7 * (round % 9)), data, sum);
  }
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(e.service(p).deviation());
  e.holds = false;
}

// One server has other connections already, and loses them before the others have any: the three
// still find each other's streams afterwards.
TEST(GarblingInLanes, OneThatMetNobodyIsNotApartForEver) {
  GarblingServices e(1, Use::kAlways, Use::kAlways);
  e.holds = true;
  const Bytes first = some_bytes(50), other = some_bytes(51);
  EXPECT_EQ(e.run(e.mac(first)).output(), e.checksum(first));
  e.close_links("the network is gone");
  e.join();
  auto ring = MemoryRing::create();
  e.go_on_alone(1, ring);
  ring->link(0)->abort("it met nobody");
  e.join();
  e.go_on();
  EXPECT_EQ(e.run(e.mac(other)).output(), e.checksum(other));
  ASSERT_TRUE(e.ready(2));
  EXPECT_EQ(e.service(0).status().garbled_jobs, 2u);
  e.holds = false;
}

// A stream that fails at one server alone, while the others are through with the instance; and jobs
// after it, each of which has the three try again.
TEST(GarblingInLanes, OneStreamAloneBreaks) {
  GarblingServices e(1, Use::kAlways, Use::kAlways);
  const Bytes data = some_bytes(50), sum = e.checksum(data);
  EXPECT_EQ(e.run(e.mac(data)).output(), sum);
  ASSERT_TRUE(e.ready(1));
  e.break_one_stream("a wire was cut");
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(e.run(e.mac(data)).output(), sum);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(e.service(p).status().session_up);
    EXPECT_FALSE(e.service(p).deviation());
  }
}

// Streams that break while jobs wait: they are computed by sharing.
TEST(GarblingInLanes, WhoWaitsForBrokenStreamsIsShared) {
  GarblingServices e(1, Use::kAlways, Use::kAlways);
  const Bytes data = some_bytes(50), sum = e.checksum(data);
  std::vector<JobName> names;
  for (int k = 0; k < 3; ++k) names.push_back(e.send(e.mac(data)));
  e.break_streams("a wire was cut");
  for (const JobName& name : names) EXPECT_EQ(e.wait(name).output(), sum);
  EXPECT_EQ(e.run(e.mac(data)).output(), sum);
  EXPECT_EQ(e.service(0).status().garbled_jobs, 0u);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(e.service(p).deviation());
}

// Connections are lost again and again, while instances are made and while jobs run.
TEST(GarblingInLanes, GoesOnOverNewConnections) {
  GarblingServices e;
  e.holds = true;
  const Bytes data = some_bytes(50), sum = e.checksum(data);
  EXPECT_EQ(e.run(e.mac(data)).output(), sum);
  for (int round = 0; round < 12; ++round) {
    // Wherever the making is by then.
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * round));
    e.lose_connections(6, {}, data, sum);
  }
  ASSERT_TRUE(e.ready(1));
  EXPECT_LE(rounds(e.run(e.mac(data))), kFewRounds);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(e.service(p).deviation());
  e.holds = false;
}

// Streams that break by themselves: the session lives on, what is ready serves, and then sharing.
TEST(GarblingInLanes, ABrokenStreamEndsTheMakingAlone) {
  GarblingServices e;
  const Bytes data = some_bytes(50), sum = e.checksum(data);
  EXPECT_EQ(e.run(e.mac(data)).output(), sum);
  ASSERT_TRUE(e.ready(1));
  e.break_streams("a wire was cut");
  bool shared = false;
  for (int k = 0; k < 20 && !shared; ++k) {
    const Answer answer = e.run(e.mac(data));
    EXPECT_EQ(answer.output(), sum);
    shared = rounds(answer) > kManyRounds;
  }
  EXPECT_TRUE(shared);
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(e.service(p).status().session_up);
    EXPECT_FALSE(e.service(p).deviation());
  }
  std::lock_guard lock(e.troubles_mutex);
  EXPECT_GE(e.troubles.size(), 1u);
}

// Each session has its own keys, and begins its reserve anew. Circuits are laid out no second time.
TEST(GarblingInLanes, ASessionsReserveEndsWithIt) {
  GarblingServices e;
  const Bytes data = some_bytes(50);
  (void)e.run(e.mac(data));
  ASSERT_TRUE(e.ready(1));
  e.restart(3, [](int) {});
  EXPECT_TRUE(e.ready(0));
  EXPECT_GT(rounds(e.run(e.mac(data))), kManyRounds);
  ASSERT_TRUE(e.ready(1));
  EXPECT_EQ(e.run(e.mac(data)).output(), e.checksum(data));
  for (int p = 0; p < 3; ++p) EXPECT_EQ(e.service(p).status().garbled_layouts, 1u);
}

// What servers say in the handshake: other bounds, other messages, other circuits; not their build.
TEST(GarblingInLanes, IsAgreedBetweenServersThatMakeTheSame) {
  GarblingOptions options;
  const OfferedProtocol one = LaneGarbling::offered(options);
  EXPECT_EQ(one,
            LaneGarbling::offered(options, test::digest_of_file(TKDC_THREEGARBLE_WIRE_FORMAT_FILE),
                                  test::digest_of_file(TKDC_CIRCUITS_WIRE_FORMAT_FILE)))
      << "of the files alone";
  EXPECT_NE(LaneGarbling::offered(options, 1, 2), LaneGarbling::offered(options, 3, 2));
  EXPECT_NE(LaneGarbling::offered(options, 1, 2), LaneGarbling::offered(options, 1, 3));
  options.octets_per_s = 1'000;  // each server's own
  EXPECT_EQ(one, LaneGarbling::offered(options));
  ++options.instances;
  EXPECT_NE(one, LaneGarbling::offered(options));
  --options.instances;
  options.most_bytes *= 2;
  EXPECT_NE(one, LaneGarbling::offered(options));
}

}  // namespace
}  // namespace tkdc::garbling_lanes
