// SPDX-License-Identifier: Apache-2.0
// One key's or one agent's flood, and what two servers have ready: it leaves some to others, is
// served nevertheless, and the status says how often.
#include "service/pair/pair_circuit_choice.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using namespace std::chrono_literals;
using Answer = InstanceQuotas::Answer;

// Alice's operations and bob's are of one kind. It has to stand ready for the test to begin.
class FloodedRealm {
 public:
  static constexpr std::size_t kAtLeast = 4;

  FloodedRealm() : two(512), whole(kEnctype, key_) {
    alice = two.make_key("alice@R", kEnctype, key_);
    bob = two.make_key("bob@R", kEnctype, key_);
    own = two.make_key("krbtgt/R@R", kEnctype, key_);
    two.restart();  // which forgets the circuits that a key is made by
  }
  PairJobsStatus status(std::size_t p = 0) { return *two.service(p).status().pair; }
  // Both have asked, so nobody is alone; and as many are wanted as there may be.
  void fill(const std::function<void()>& ask) {
    for (std::size_t k = 0; k < PairReserve::kMostOfKind; ++k) ask();
    std::size_t last = 0;
    auto since = std::chrono::steady_clock::now();
    const auto rests = [&] {
      const std::size_t now = status().prepared;
      if (now != std::exchange(last, now)) since = std::chrono::steady_clock::now();
      return now >= kAtLeast && std::chrono::steady_clock::now() - since > 2s;
    };
    for (int k = 0; k < 8000 && !rests(); ++k) std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(rests());
  }
  // Whether it found its circuit ready.
  bool mac(const KeyRef& by, std::uint64_t agent = 7) {
    two.agent = agent;
    const std::uint64_t found = status().found;
    const std::uint32_t usage = by.id == own.id ? kPacSignature : 56;
    const auto out = two.ask({TKDC_OP_MAC, by, usage, {}, plain_});
    EXPECT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(out.output, whole.checksum(usage, plain_));
    return status().found > found;
  }

  TwoServices two;
  KeyRef alice, bob, own;

 private:
  static constexpr std::uint32_t kPacSignature = 17;
  const Bytes key_ = random_octets(16), plain_ = random_octets(40);

 public:
  test::Krb5Client whole;
};

TEST(PairQuotas, AKeysFloodLeavesSomeToOthers) {
  FloodedRealm of;
  of.fill([&] {
    of.mac(of.alice);
    of.mac(of.bob);
  });
  std::size_t found = 0;
  constexpr std::size_t kTurns = 8, kFlood = 12 * kTurns;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    for (std::size_t k = 0; k < kFlood / kTurns; ++k) found += of.mac(of.alice) ? 1 : 0;
    EXPECT_TRUE(of.mac(of.bob)) << "one was left, and is made again while the flood lasts: "
                                << turn;
  }
  EXPECT_GE(found, FloodedRealm::kAtLeast / 2);
  EXPECT_LT(found, kFlood);
  EXPECT_GE(of.status(0).key_had, kFlood - found);
  EXPECT_EQ(of.status(1).key_had, 0u) << "the leader counts";
  EXPECT_TRUE(of.two.service(0).status().garbled_agents_had.empty());
  EXPECT_FALSE(of.two.is_over());
}

// Of krbtgt's key, which is every login's.
TEST(PairQuotas, AnAgentsFloodLeavesSomeToOthers) {
  constexpr std::uint64_t kFloods = 8, kQuiet = 7;
  FloodedRealm of;
  of.fill([&] {
    of.mac(of.own, kFloods);
    of.mac(of.own, kQuiet);
  });
  for (int k = 0; k < 24; ++k) of.mac(of.own, kFloods);
  EXPECT_TRUE(of.mac(of.own, kQuiet)) << "one was left";
  const auto had = of.two.service(0).status().garbled_agents_had;
  ASSERT_EQ(had.size(), 1u);
  EXPECT_EQ(had.begin()->first, kFloods);
  EXPECT_EQ(of.status(0).key_had, 0u);
  EXPECT_FALSE(of.two.is_over());
}

// ---- parts

struct Choice {
  PairCircuitChoice choice;
  std::map<std::string, std::size_t> ready;
  std::uint64_t number = 0;

  // Which of the job's circuits are made for it; what it takes is gone.
  std::uint8_t take(std::uint8_t principal, const std::vector<std::string>& kinds,
                    bool by_circuits = true, PairHeld held = PairHeld::kRecord) {
    PairJob of;
    of.job = std::make_unique<Job>();
    of.job->request.name = {7, 1, ++number};
    auto record = std::make_shared<KeyRecord>();
    record->key_class = KeyClass::kService;
    record->ref.principal[0] = principal;
    of.job->found.record = record;
    of.kinds = kinds;
    if (kinds.size() == 3) of.derivation.emplace();
    const std::uint8_t made = choice.made_for(of, held, [&](const std::string& kind) {
      return PairCircuitChoice::Supply{ready[kind], 6};
    });
    choice.settle(of.job->request.name, by_circuits);
    for (std::size_t k = 0; by_circuits && k < kinds.size(); ++k)
      if ((made >> k & 1) == 0 && ready[kinds[k]] > 0) --ready[kinds[k]];
    return made;
  }
};

TEST(PairCircuitChoices, AKeyLeavesHalfOfEachKind) {
  Choice of;
  of.ready = {{"prf", 6}, {"keys", 6}, {"open", 6}};
  EXPECT_EQ(of.take('b', {"other"}), 0);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(of.take('a', {"open"}), 0);
  EXPECT_EQ(of.choice.answer(), Answer::kGranted);
  EXPECT_EQ(of.take('a', {"open"}), 1);
  EXPECT_EQ(of.choice.answer(), Answer::kKeyHad);
  EXPECT_EQ(of.take('a', {"prf", "keys", "open"}), 4) << "of the others it has taken none";
  EXPECT_EQ(of.take('b', {"open"}), 0);
  EXPECT_EQ(of.ready["open"], 2u);
}

// What did not go by its circuits has taken none, and PRF+ that was kept takes none.
TEST(PairCircuitChoices, WhatIsNotTakenDoesNotCount) {
  Choice of;
  of.ready = {{"prf", 1}, {"keys", 6}, {"open", 6}};
  EXPECT_EQ(of.take('b', {"other"}), 0);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(of.take('a', {"open"}, false), 0);
  EXPECT_EQ(of.take('a', {"prf", "keys", "open"}), 0);
  EXPECT_EQ(of.ready["prf"], 0u);
  EXPECT_EQ(of.take('a', {"prf", "keys", "open"}), 1) << "it has had the only one";
  EXPECT_EQ(of.take('a', {"prf", "keys", "open"}, false, PairHeld::kPrf), 0);
}

}  // namespace
}  // namespace tkdc
