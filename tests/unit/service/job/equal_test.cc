// SPDX-License-Identifier: Apache-2.0
// Comparing a new key with one that a principal has or had: what is answered, to whom, how
// often, and what a server that lies achieves.
#include "service/lifecycle/equal.h"

#include <atomic>

#include "enctype.h"
#include "service/admit/equal_limit.h"
#include "three_services.h"

namespace tkdc {
namespace {

ThreeServices::Job equal_job(const KeyRef& bound, const KeyRef& staged) {
  return {TKDC_OP_EQUAL,    bound, 0, Bytes(staged.id.begin(), staged.id.end()), {},
          AgentRole::kAdmin};
}

tkdc_status status_of(ThreeServices& e, const ThreeServices::Job& job) {
  return e.run(job).status();
}

Bytes with_flipped_bit(Bytes key, std::size_t bit) {
  key[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  return key;
}

TEST(Equal, TellsSameKeysFromOthersInEveryEnctype) {
  for (std::uint32_t enctype : {17u, 18u, 19u, 20u}) {
    ThreeServices e(1);
    const std::size_t bytes = tkdc_enctype_of(enctype)->key_bytes;
    const Bytes key = some_bytes(bytes);
    const KeyRef bound = e.make_key("alice@R", enctype, key);
    EXPECT_EQ(e.run(equal_job(bound, e.stage(enctype, key))).output(), Bytes{1}) << enctype;
    for (std::size_t bit : {std::size_t{0}, std::size_t{127}, 8 * bytes - 1}) {
      const KeyRef other = e.stage(enctype, with_flipped_bit(key, bit));
      EXPECT_EQ(e.run(equal_job(bound, other)).output(), Bytes{0}) << enctype << " bit " << bit;
    }
  }
}

TEST(Equal, IsRefusedAcrossPrincipalsAndToWhoMayNotAsk) {
  ThreeServices e(1);
  const Bytes key = some_bytes(32);
  const KeyRef alice = e.make_key("alice@R", 18, key), bob = e.make_key("bob@R", 18, key);
  const KeyRef tgt = e.make_key("krbtgt/R@R", 18, key);
  const KeyRef staged = e.stage(18, key);

  ThreeServices::Job by_kdc = equal_job(alice, staged);
  by_kdc.role = AgentRole::kKdc;
  EXPECT_EQ(status_of(e, by_kdc), TKDC_STATUS_DENIED);
  EXPECT_EQ(status_of(e, equal_job(tgt, staged)), TKDC_STATUS_DENIED) << "the realm's krbtgt";

  ASSERT_EQ(e.run(equal_job(alice, staged)).output(), Bytes{1});
  EXPECT_EQ(status_of(e, equal_job(bob, staged)), TKDC_STATUS_DENIED) << "it is alice's now";
  KeyRef as_bob = staged;
  as_bob.principal = digest_of("bob@R");
  EXPECT_EQ(status_of(e, ThreeServices::bind_job(as_bob, "bob@R")), TKDC_STATUS_DENIED);
  KeyRef as_alice = staged;
  as_alice.principal = digest_of("alice@R");
  EXPECT_EQ(status_of(e, ThreeServices::bind_job(as_alice, "alice@R")), TKDC_STATUS_OK);
  EXPECT_EQ(status_of(e, equal_job(alice, as_alice)), TKDC_STATUS_UNKNOWN_KEY) << "bound by now";
  KeyRef swapped = alice;
  swapped.principal = bob.principal;
  EXPECT_EQ(status_of(e, equal_job(swapped, e.stage(18, key))), TKDC_STATUS_UNKNOWN_KEY);

  const ThreeServices::Edit by_another = [](int, JobRequest& r) { r.name.agent = 8; };
  const KeyRef foreign = e.stage(18, key, by_another);
  EXPECT_EQ(status_of(e, equal_job(alice, foreign)), TKDC_STATUS_UNKNOWN_KEY);
}

TEST(Equal, TakesImportedKeysOfItsEnctypeOnly) {
  ThreeServices e(1);
  const KeyRef alice = e.make_key("alice@R", 18, some_bytes(32));
  EXPECT_EQ(status_of(e, equal_job(alice, e.stage(18, {}))), TKDC_STATUS_DENIED) << "a drawn one";
  EXPECT_EQ(status_of(e, equal_job(alice, e.stage(17, some_bytes(16)))), TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(status_of(e, equal_job(alice, e.stage(20, some_bytes(32)))), TKDC_STATUS_BAD_REQUEST);
  const KeyRef staged = e.stage(18, some_bytes(32));
  KeyRef unknown = alice;
  unknown.id[0] ^= 1;
  EXPECT_EQ(status_of(e, equal_job(unknown, staged)), TKDC_STATUS_UNKNOWN_KEY);
  for (std::size_t bytes : {std::size_t{0}, std::size_t{15}, std::size_t{17}}) {
    ThreeServices::Job job = equal_job(alice, staged);
    job.opened.resize(bytes);
    EXPECT_EQ(status_of(e, job), TKDC_STATUS_BAD_REQUEST) << bytes;
  }
  ThreeServices::Job with_input = equal_job(alice, staged);
  with_input.input = some_bytes(32);
  EXPECT_EQ(status_of(e, with_input), TKDC_STATUS_BAD_REQUEST);
}

TEST(Equal, IsAuditedWithItsResult) {
  ThreeServices e(1);
  const Bytes key = some_bytes(32);
  const KeyRef alice = e.make_key("alice@R", 18, key);
  Answer same = e.run(equal_job(alice, e.stage(18, key)));
  ASSERT_EQ(same.output(), Bytes{1});
  EXPECT_EQ(same.reply[0].cost.message_bytes, 16u);
  ASSERT_EQ(e.run(equal_job(alice, e.stage(18, some_bytes(32)))).output(), Bytes{0});
  e.stop_session();
  for (int p = 0; p < 3; ++p) {
    int equal = 0, unequal = 0;
    for (const std::string& line : e.audit(p)) {
      if (line.find("\"operation\":\"equal\"") == std::string::npos) continue;
      equal += line.find("\"note\":\"equal\"") != std::string::npos;
      unequal += line.find("\"note\":\"not equal\"") != std::string::npos;
    }
    EXPECT_EQ(equal, 1) << p;
    EXPECT_EQ(unequal, 1) << p;
  }
}

TEST(Equal, IsLimitedForEachPrincipal) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& o) {
                    o.equal_burst = 3;
                    o.equal_every = std::chrono::hours(1);
                  });
  const KeyRef alice = e.make_key("alice@R", 18, some_bytes(32));
  const KeyRef bob = e.make_key("bob@R", 18, some_bytes(32));
  const KeyRef guess = e.stage(18, some_bytes(32));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(status_of(e, equal_job(alice, guess)), TKDC_STATUS_OK);
  EXPECT_EQ(status_of(e, equal_job(alice, guess)), TKDC_STATUS_LIMIT);
  EXPECT_EQ(status_of(e, equal_job(alice, e.stage(18, some_bytes(32)))), TKDC_STATUS_LIMIT);
  EXPECT_EQ(status_of(e, equal_job(bob, e.stage(18, some_bytes(32)))), TKDC_STATUS_OK);
  e.stop_session();
}

// The second waits while the first works on the same key, and is counted when it is its turn.
TEST(Equal, WhatWaitsForAnotherJobIsCountedForItsKeyAllTheSame) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& o) {
                    o.limits.user_key = {0.001, 1};
                  });
  const KeyRef alice = e.make_key("alice@R", 18, some_bytes(32));
  const KeyRef guesses[2] = {e.stage(18, some_bytes(32)), e.stage(18, some_bytes(32))};
  const JobName one = e.send(equal_job(alice, guesses[0])),
                two = e.send(equal_job(alice, guesses[1]));
  const std::set<tkdc_status> seen{e.wait(one).status(), e.wait(two).status()};
  EXPECT_EQ(seen, (std::set<tkdc_status>{TKDC_STATUS_OK, TKDC_STATUS_LIMIT}));
}

TEST(EqualLimit, GrowsBackWithTimeAndCannotBeWashedOut) {
  constexpr std::uint32_t kBurst = 4;
  constexpr std::chrono::seconds kEvery(10);
  EqualLimit limit(kBurst, kEvery);
  const auto now = EqualLimit::Clock::now();
  PrincipalDigest one{};
  for (std::uint32_t k = 0; k < kBurst; ++k) {
    ASSERT_TRUE(limit.may_compare(one, now)) << k;
    limit.compared(one, now);
  }
  EXPECT_FALSE(limit.may_compare(one, now));
  EXPECT_FALSE(limit.may_compare(one, now + kEvery - std::chrono::milliseconds(1)));
  EXPECT_TRUE(limit.may_compare(one, now + kEvery));
  PrincipalDigest other{};
  for (std::size_t k = 1; k < EqualLimit::kMaxPrincipals; ++k) {
    std::memcpy(other.data(), &k, sizeof k);
    ASSERT_TRUE(limit.may_compare(other, now));
    limit.compared(other, now);
  }
  other.fill(0xff);
  EXPECT_FALSE(limit.may_compare(other, now)) << "no room, and nobody is forgotten for it";
  EXPECT_FALSE(limit.may_compare(one, now));
  EXPECT_TRUE(limit.may_compare(other, now + kBurst * kEvery));
}

// Changes one octet of the n-th packet that party 1 sends to its previous neighbour once armed.
class LiesInComparison final : public MemoryRing {
 public:
  explicit LiesInComparison(int which) : which_(which) {}
  std::atomic<bool> armed{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    if (armed && from == 1 && to == Neighbour::kPrev && ++sent_ == which_) packet.back() ^= 0x10;
    deliver(from, to, std::move(packet));
  }

 private:
  const int which_;
  std::atomic<int> sent_{0};
};

// After the packets of admission (control_test changes those): the comparison's
// layer, and its verification.
TEST(Equal, AServerThatLiesIsFoundOrChangesNothing) {
  int found = 0;
  for (int packet = 5; packet <= 12; ++packet) {
    auto ring = std::make_shared<LiesInComparison>(packet);
    ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
    const Bytes key = some_bytes(32);
    const KeyRef alice = e.make_key("alice@R", 18, key);
    const KeyRef staged = e.stage(18, key);
    ring->armed = true;
    const Answer answer = e.run(equal_job(alice, staged));
    e.stop_session();
    for (const JobReply& reply : answer.reply)
      EXPECT_TRUE(reply.output.empty() || reply.status == TKDC_STATUS_OK) << packet;
    if (answer.reply[0].status == TKDC_STATUS_OK && answer.reply[1].status == TKDC_STATUS_OK &&
        answer.reply[2].status == TKDC_STATUS_OK) {
      EXPECT_EQ(answer.output(), Bytes{1}) << packet;
    }
    for (int p = 0; p < 3; ++p) found += e.service(p).deviation() ? 1 : 0;
  }
  EXPECT_GT(found, 0) << "no packet of the comparison was changed";
}

}  // namespace
}  // namespace tkdc
