// SPDX-License-Identifier: Apache-2.0
// Keys of two servers from STAGE to DESTROY, and over sessions and restarts.
#include <atomic>

#include "base/hex.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using test::Krb5Client;

TwoServices::Job on_key(tkdc_wire_op op, const KeyRef& ref) {
  return {op, ref, 0, {}, {}, AgentRole::kAdmin};
}

TEST(PairKeysOfServers, DrawnExportedBoundUsedAndDestroyed) {
  TwoServices two(512, not_ahead);
  KeyRef ref = two.stage(kEnctype, {});
  const auto exported = two.ask(on_key(TKDC_OP_EXPORT, ref));
  ASSERT_EQ(exported.both(), TKDC_STATUS_OK) << exported.message[0];
  const Bytes key = exported.output;
  KeyRef longer = two.stage(kEnctype, {});
  longer.enctype = 18;
  EXPECT_EQ(two.ask(on_key(TKDC_OP_EXPORT, longer)).both(), TKDC_STATUS_BAD_REQUEST);
  ASSERT_EQ(key.size(), 16u);
  EXPECT_EQ(two.ask(on_key(TKDC_OP_EXPORT, ref)).both(), TKDC_STATUS_DENIED) << "once";
  ASSERT_EQ(two.bind(ref, "host/x@R").both(), TKDC_STATUS_OK);

  Krb5Client whole(kEnctype, key);
  const Bytes plain = random_octets(40);
  const auto sealed = two.ask({TKDC_OP_SEAL, ref, 2, {}, plain});
  ASSERT_EQ(sealed.both(), TKDC_STATUS_OK) << sealed.message[0];
  EXPECT_EQ(whole.open(2, sealed.output), plain);
  Bytes checked = plain;
  const Bytes sum = whole.checksum(17, plain);
  checked.insert(checked.end(), sum.begin(), sum.end());
  EXPECT_EQ(two.ask({TKDC_OP_VERIFY, ref, 17, {}, checked}).both(), TKDC_STATUS_OK);
  checked.back() ^= 1;
  EXPECT_EQ(two.ask({TKDC_OP_VERIFY, ref, 17, {}, checked}).both(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(two.ask({TKDC_OP_OPEN, ref, 3, {}, plain}).both(), TKDC_STATUS_DENIED);

  EXPECT_EQ(two.ask(on_key(TKDC_OP_DESTROY, ref)).both(), TKDC_STATUS_OK);
  EXPECT_EQ(two.ask({TKDC_OP_SEAL, ref, 2, {}, plain}).both(), TKDC_STATUS_UNKNOWN_KEY);
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(two.store(p).count(), 0u);
    EXPECT_FALSE(two.audit(p).empty());
    for (const std::string& line : two.audit(p))
      for (const Bytes& secret : {key, plain})
        EXPECT_EQ(line.find(to_hex(secret)), std::string::npos) << line;
  }
}

TEST(PairKeysOfServers, ComparedAndNotMoreThanThat) {
  TwoServices two(512, not_ahead);
  const Bytes key = random_octets(16);
  const KeyRef bound = two.make_key("alice@R", kEnctype, key);
  Bytes other = key;
  other[15] ^= 0x80;
  for (const Bytes& one : {key, other}) {
    const KeyRef staged = two.stage(kEnctype, one);
    TwoServices::Job job = on_key(TKDC_OP_EQUAL, bound);
    job.opened.assign(staged.id.begin(), staged.id.end());
    const auto out = two.ask(job);
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    ASSERT_TRUE(out.alike);
    EXPECT_EQ(out.reply[0].output, SecretVector{one == key ? std::uint8_t{1} : std::uint8_t{0}});
    KeyRef for_another = staged;
    EXPECT_EQ(two.bind(for_another, "bob@R").both(), TKDC_STATUS_DENIED);
  }
}

// The link breaks amid a comparison: one server may have noted it, and the other not. So neither
// has the staged key any more, and who has another one staged and bound meets no difference.
TEST(PairKeysOfServers, AStagedKeyIsGoneWhereItsJobEndedTheSession) {
  std::atomic<int> left{-1}, sent{0};
  std::function<void()> breaks;
  TwoServices two(1024, not_ahead, nullptr, [&](std::size_t, ByteSpan) {
    ++sent;
    if (left >= 0 && left-- == 0) breaks();
  });
  breaks = [&] { two.break_link(); };
  const Bytes key = random_octets(16);
  const KeyRef bound = two.make_key("alice@R", kEnctype, key);
  const auto compare = [&](const KeyRef& staged) {
    TwoServices::Job job = on_key(TKDC_OP_EQUAL, bound);
    job.opened.assign(staged.id.begin(), staged.id.end());
    return two.ask_once(job);
  };
  const KeyRef first = two.stage(kEnctype, key);
  sent = 0;
  ASSERT_EQ(compare(first).both(), TKDC_STATUS_OK);
  const int all = sent;
  KeyRef staged = two.stage(kEnctype, key);
  left = all / 2;
  const auto broken = compare(staged);
  ASSERT_NE(broken.status[0], TKDC_STATUS_OK) << "the control: it broke amid it";
  two.join();
  two.start_session();
  EXPECT_EQ(two.bind(staged, "alice@R").both(), TKDC_STATUS_UNKNOWN_KEY);
  KeyRef anew = two.stage(kEnctype, key);
  EXPECT_EQ(two.bind(anew, "alice@R").both(), TKDC_STATUS_OK);
  EXPECT_FALSE(two.service(0).deviation() || two.service(1).deviation());
}

// A key that one server alone has staged, as where the other one was started again, goes when an
// agent asks for it; a bound one does not.
TEST(PairKeysOfServers, WhatOneAloneHasStagedIsRemoved) {
  TwoServices two(512, not_ahead);
  const TwoServices::Edit unlike = [](std::size_t p, JobRequest& job) {
    job.key.id[0] ^= static_cast<std::uint8_t>(p);
  };
  const KeyRef bound = two.make_key("alice@R", kEnctype, random_octets(16));
  EXPECT_EQ(two.ask(on_key(TKDC_OP_DESTROY, bound), unlike).both(), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(two.ask(on_key(TKDC_OP_DESTROY, bound)).both(), TKDC_STATUS_OK) << "the control";
  const KeyRef staged = two.stage(kEnctype, {});
  EXPECT_EQ(two.ask(on_key(TKDC_OP_DESTROY, staged), unlike).both(), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(two.ask(on_key(TKDC_OP_DESTROY, staged)).both(), TKDC_STATUS_INCONSISTENT)
      << "server 1 has it still";
  EXPECT_EQ(two.ask(on_key(TKDC_OP_DESTROY, staged)).both(), TKDC_STATUS_UNKNOWN_KEY);
}

// What was dealt for another session is dead; an agent that deals again is served, with a key that
// was made in an earlier session, and after a restart of both.
TEST(PairKeysOfServers, OutliveSessions) {
  TwoServices two(1024, not_ahead);
  const Bytes key = random_octets(16), plain = random_octets(20);
  Krb5Client whole(kEnctype, key);
  const KeyRef ref = two.make_key("alice@R", kEnctype, key);
  const TwoServices::Job seal{TKDC_OP_SEAL, ref, 3, {}, plain};
  const PairJobsStatus before = *two.service(0).status().pair;
  for (const bool restarts : {false, true}) {
    two.break_link();
    two.join();
    EXPECT_FALSE(two.service(0).deviation() || two.service(1).deviation());
    if (restarts) {
      two.restart([&](std::size_t p) {
        two.close_store(p);
        two.open_store(p);
      });
    } else {
      two.start_session();
    }
    const auto old = two.ask_once(seal);
    EXPECT_EQ(old.both(), TKDC_STATUS_DEAL_AGAIN);
    EXPECT_EQ(old.reply[0].output, old.reply[1].output);
    EXPECT_EQ(old.reply[0].output.size(), 16u);
    const auto anew = two.ask(seal);
    ASSERT_EQ(anew.both(), TKDC_STATUS_OK) << anew.message[0];
    EXPECT_EQ(whole.open(3, anew.output), plain);
  }
  const PairJobsStatus after = *two.service(0).status().pair;
  EXPECT_EQ(after.pools, before.pools);
  EXPECT_LT(after.pool_left, before.pool_left) << "no session begins where another one began";
}

// What is under way comes to its end, and nobody takes the other one's stop for a lie.
TEST(PairKeysOfServers, AStopWaitsForWhatIsUnderWay) {
  for (const std::size_t p : {0, 1}) {
    TwoServices two(512);
    KeyRef ref = two.stage(kEnctype, {});
    std::thread stops([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      two.service(p).stop();
    });
    EXPECT_EQ(two.bind(ref, "host/x@R").both(), TKDC_STATUS_OK);
    stops.join();
    two.join();
    for (const std::size_t q : {0, 1}) EXPECT_FALSE(two.service(q).deviation()) << two.ended(q);
  }
}

TEST(PairKeysOfServers, ADealServesOnce) {
  TwoServices two(512, not_ahead);
  const KeyRef ref = two.make_key("alice@R", kEnctype, random_octets(16));
  const TwoServices::Job seal{TKDC_OP_SEAL, ref, 3, {}, random_octets(20)};
  SecretVector dealt[2];
  ASSERT_EQ(two.ask(seal, [&](std::size_t p, JobRequest& job) { dealt[p] = job.dealt; }).both(),
            TKDC_STATUS_OK);
  const auto again =
      two.ask_once(seal, [&](std::size_t p, JobRequest& job) { job.dealt = dealt[p]; });
  EXPECT_EQ(again.both(), TKDC_STATUS_BAD_REQUEST) << "its number is another job's";
  EXPECT_TRUE(again.reply[0].output.empty());
}

// The next session makes another pool, and keys of both serve.
TEST(PairKeysOfServers, APoolThatIsNearlyUsedUpIsFollowedByAnother) {
  TwoServices two(384, not_ahead);
  const Bytes key = random_octets(16), plain = random_octets(4);
  const KeyRef first = two.make_key("alice@R", kEnctype, key);
  two.deadline_ms = 1000;
  for (int k = 0; k < 300 && two.is_up(); ++k)
    (void)two.serves_or_ends(
        {TKDC_OP_STAGE, new_key(kEnctype), 0, {TKDC_ORIGIN_DRAWN}, {}, AgentRole::kAdmin},
        [](const Bytes&) {});
  two.deadline_ms = 50'000;
  two.join();
  EXPECT_NE(two.ended(0).find("makes another"), std::string::npos) << two.ended(0);
  EXPECT_FALSE(two.service(0).deviation() || two.service(1).deviation());
  two.start_session();
  const KeyRef second = two.make_key("bob@R", kEnctype, key);
  EXPECT_EQ(two.service(1).status().pair->pools, 2u);
  Krb5Client whole(kEnctype, key);
  for (const KeyRef& ref : {first, second}) {
    const auto out = two.ask({TKDC_OP_SEAL, ref, 3, {}, plain});
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(whole.open(3, out.output), plain);
  }
}

TEST(PairKeysOfServers, PrepareWhatIsAskedForWhileTheyAreIdle) {
  TwoServices two;
  const KeyRef ref = two.make_key("alice@R", kEnctype, random_octets(16));
  const TwoServices::Job mac{TKDC_OP_MAC, ref, 56, {}, random_octets(4)};
  ASSERT_EQ(two.ask(mac).both(), TKDC_STATUS_OK);
  const auto of = [&] { return *two.service(1).status().pair; };
  const std::uint64_t missed = of().missed;
  for (int k = 0; k < 2000 && of().prepared < 5; ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(of().prepared, 5u);  // of BIND, and of the MAC
  ASSERT_EQ(two.ask(mac).both(), TKDC_STATUS_OK);
  EXPECT_EQ(of().missed, missed);
  EXPECT_GE(of().found, 1u);
}

}  // namespace
}  // namespace tkdc
