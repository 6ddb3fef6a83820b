// SPDX-License-Identifier: Apache-2.0
// What servers count: a key's seals, how often a key is asked for, and login replies
// that nobody asked for.
#include "service/admit/preauth_watch.h"
#include "service/sealing/seal_counts.h"
#include "support/krb5_client.h"
#include "three_services.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kStep = SealCounts::kStep;

TEST(SealLimit, AKeyStopsAtItsLimitAndOthersGoOn) {
  ThreeServices e(1, 1, kStep + 3);
  KeyRef worn = e.make_key("krbtgt/R@R", 18, {}), fresh = e.make_key("krbtgt/S@S", 18, {});
  KeyRef service = e.make_key("host/a@R", 18, {});
  // As after a restart: all but three may have been used.
  for (int p = 0; p < 3; ++p) ASSERT_TRUE(e.store(p).set_seal_mark(worn.id, kStep).ok());
  const ThreeServices::Job seal{TKDC_OP_SEAL, worn, 2, {}, some_bytes(100)};
  Bytes ticket;
  for (int k = 0; k < 3; ++k) {
    Answer answer = e.run(seal);
    ASSERT_EQ(answer.status(), TKDC_STATUS_OK) << k;
    ticket = answer.output();
  }
  EXPECT_TRUE(e.service(0).status().seals_near_limit);
  Answer refused = e.run(seal);
  EXPECT_EQ(refused.status(), TKDC_STATUS_LIMIT);
  EXPECT_NE(refused.reply[0].message.find("2^38"), std::string::npos) << refused.reply[0].message;
  EXPECT_EQ(e.run({TKDC_OP_OPEN, worn, 2, {}, ticket}).status(), TKDC_STATUS_OK)
      << "its tickets stay good";
  EXPECT_EQ(e.run({TKDC_OP_SEAL, fresh, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
  for (std::uint64_t k = 0; k < 5; ++k)
    EXPECT_EQ(e.run({TKDC_OP_SEAL, service, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK)
        << "RFC 3962 keys have no such limit";
}

TEST(SealLimit, OneServersCountIsEnough) {
  ThreeServices e(1, 1, kStep);
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  ASSERT_TRUE(e.store(2).set_seal_mark(ref.id, kStep).ok());
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_LIMIT);
}

TEST(SealLimit, AFullDiskStopsLoginsOnlyNearTheLimit) {
  constexpr std::uint64_t kSmall = 8 * kStep;
  ThreeServices e(1);
  KeyRef young = e.make_key("krbtgt/R@R", 18, {}), old = e.make_key("krbtgt/S@S", 18, {});
  ASSERT_TRUE(e.disk(0).set_seal_mark(old.id, kSmall / 2).ok());
  e.disk(0).full = true;
  SealCounts counts(e.disk(0), kSmall);
  EXPECT_TRUE(counts.may_seal(young.id).value());
  EXPECT_FALSE(counts.may_seal(old.id).ok());
  e.disk(0).full = false;
  EXPECT_TRUE(counts.may_seal(old.id).value());
}

TEST(SealLimit, TheMarkOnDiskIsNeverPassedAndARestartCostsOneStep) {
  ThreeServices e(1);
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  SealCounts counts(e.store(0));
  for (std::uint64_t done = 0; done < 2 * kStep; ++done) {
    ASSERT_TRUE(counts.may_seal(ref.id).value());
    counts.sealed(ref.id);
    if (done % 4096 == 0) {
      ASSERT_GT(e.store(0).seal_mark(ref.id).value(), done) << "a crash would lose seals";
    }
    if (done % (kStep / 4) == 0) counts.reserve();
  }
  const std::uint64_t mark = e.store(0).seal_mark(ref.id).value();
  EXPECT_LE(mark, 3 * kStep);
  SealCounts again(e.store(0));
  ASSERT_TRUE(again.may_seal(ref.id).value());
  EXPECT_EQ(again.most(), mark);
  EXPECT_EQ(e.store(0).seal_mark(ref.id).value(), mark + kStep);
}

// Else a warning would stand until a restart, whatever was done.
TEST(SealLimit, AKeyThatWasReplacedIsCountedForAWhile) {
  constexpr std::chrono::milliseconds kAWhile{1500};
  ThreeServices e(1);
  const KeyRef former = e.make_key("krbtgt/R@R", 18, {}), now = e.make_key("krbtgt/R@R", 18, {});
  ASSERT_TRUE(e.store(0).set_seal_mark(former.id, 5 * kStep).ok());
  SealCounts counts(e.store(0), SealCounts::kLimit, kAWhile);
  for (const KeyRef& ref : {former, now}) {
    ASSERT_TRUE(counts.may_seal(ref.id).value());
    counts.sealed(ref.id);
  }
  EXPECT_EQ(counts.most(), 5 * kStep + 1);
  std::this_thread::sleep_for(kAWhile);
  ASSERT_TRUE(counts.may_seal(now.id).value());
  EXPECT_EQ(counts.most(), 1u);
}

// It seals nothing, and the warning stands as long as it is asked to.
TEST(SealLimit, AKeyAtItsLimitIsCountedWhileItIsAskedFor) {
  constexpr std::chrono::milliseconds kAWhile{300};
  ThreeServices e(1);
  const KeyRef key = e.make_key("krbtgt/R@R", 18, {});
  ASSERT_TRUE(e.store(0).set_seal_mark(key.id, SealCounts::kLimit).ok());
  SealCounts counts(e.store(0), SealCounts::kLimit, kAWhile);
  EXPECT_FALSE(counts.may_seal(key.id).value());
  std::this_thread::sleep_for(kAWhile);
  EXPECT_EQ(counts.most(), 0u);
  EXPECT_FALSE(counts.may_seal(key.id).value());
  EXPECT_EQ(counts.most(), SealCounts::kLimit);
}

// One operation in 1,000 s: what the test's own time brings back does not matter.
constexpr double kHardlyEver = 0.001;

TEST(RateLimit, OneServersLimitDropsTheJobAtAllThreeAndNoOther) {
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& o) {
                    if (o.party == 2) o.limits.user_key = {kHardlyEver, 5};
                  });
  KeyRef alice = e.make_key("alice@R", 18, {}), bob = e.make_key("bob@R", 18, {});
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  std::vector<JobName> names;
  for (int k = 0; k < 8; ++k) names.push_back(e.send({TKDC_OP_SEAL, alice, 3, {}, some_bytes(60)}));
  int done = 0, refused = 0;
  for (const JobName& name : names) {
    const Answer answer = e.wait(name);
    done += answer.status() == TKDC_STATUS_OK;
    refused += answer.status() == TKDC_STATUS_LIMIT;
    if (answer.reply[2].status == TKDC_STATUS_LIMIT) {
      EXPECT_NE(answer.reply[2].message.find("limits.user_key_per_s"), std::string::npos);
      EXPECT_EQ(answer.reply[0].message, "") << "one cause, of the server that knows it";
    }
  }
  EXPECT_EQ(done, 5);
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, bob, 3, {}, some_bytes(60)}).status(), TKDC_STATUS_OK);
  for (int k = 0; k < 7; ++k)
    EXPECT_EQ(e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(60)}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.service(2).status().keys_limited, 3u);
  EXPECT_EQ(e.service(0).status().keys_limited, 0u);
}

TEST(RateLimit, AnAgentsLimitCountsAllThatItAsks) {
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& o) {
                    o.limits.agent = {kHardlyEver, 6};
                  });
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});  // STAGE and BIND
  const ThreeServices::Job seal = {TKDC_OP_SEAL, tgt, 2, {}, some_bytes(60)};
  for (int k = 0; k < 3; ++k) EXPECT_EQ(e.run(seal).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, tgt, 3, {}, some_bytes(60)}).status(), TKDC_STATUS_DENIED);
  const Answer refused = e.run(seal);
  EXPECT_EQ(refused.status(), TKDC_STATUS_LIMIT);
  EXPECT_NE(refused.reply[1].message.find("limits.agent_per_s"), std::string::npos);
  for (int p = 0; p < 3; ++p) {
    const JobServiceStatus status = e.service(p).status();
    EXPECT_EQ(status.agents_limited, 1u);
    ASSERT_EQ(status.agents.size(), 1u);
    EXPECT_EQ(status.agents[0].asked, 7u);
    EXPECT_EQ(status.agents[0].refused, 1u);
  }
}

// A job that another server has not got yet is named again, and counted once.
TEST(RateLimit, AJobThatIsNamedAgainCountsOnce) {
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& o) {
                    o.limits.user_key = {kHardlyEver, 2};
                  });
  KeyRef alice = e.make_key("alice@R", 18, {});
  const ThreeServices::Job seal = {TKDC_OP_SEAL, alice, 3, {}, some_bytes(60)};
  const auto asked = [&] { return e.service(0).status().agents.at(0).asked; };
  const std::uint64_t before = asked();
  // The others get it once server 0 has counted it, and so has to name it again.
  const JobName late = e.send(seal, [&](int p, JobRequest&) {
    while (p == 1 && asked() == before) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  EXPECT_EQ(e.wait(late).status(), TKDC_STATUS_OK);
  EXPECT_EQ(asked(), before + 1);
  EXPECT_EQ(e.run(seal).status(), TKDC_STATUS_OK) << "named twice, it took one";
  EXPECT_EQ(e.run(seal).status(), TKDC_STATUS_LIMIT);
}

// Idle or busy: a session may last for months.
TEST(AuditHeads, AreToldAgainAndAgainOnLaneZero) {
  ThreeServices e(2, 1, SealCounts::kLimit, 300);
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(2'600));
  for (int k = 0; k < 10; ++k)
    EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(e.heard(p, p).empty());
    for (int q : {(p + 1) % 3, (p + 2) % 3}) {
      const auto heads = e.heard(p, q);
      ASSERT_GE(heads.size(), 2u) << p << " of " << q;
      EXPECT_LE(heads.size(), 10u) << p << " of " << q;
      for (std::size_t k = 0; k < heads.size(); ++k) {
        EXPECT_EQ(heads[k].lines, k + 1);
        EXPECT_EQ(heads[k].hash[31], q);
      }
    }
  }
}

TEST(UnheraldedLogins, EachServerCountsThemAndWritesThemDown) {
  ThreeServices e;
  Bytes key = some_bytes(32);
  KeyRef alice = e.make_key("alice@R", 18, key), bob = e.make_key("bob@R", 18, some_bytes(32));
  // The servers' own RFC 3962 is as good as a client's: usage 1 is not theirs to
  // seal, so the timestamp comes from libkrb5.
  Bytes sent = test::Krb5Client(18, key).seal(1, Bytes(28));

  auto reply_to = [&](const KeyRef& user) {
    EXPECT_EQ(e.run({TKDC_OP_SEAL, user, 3, {}, some_bytes(60)}).status(), TKDC_STATUS_OK);
    return e.service(1).status().logins_unheralded;
  };
  ASSERT_EQ(e.run({TKDC_OP_OPEN, alice, 1, {}, sent}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(reply_to(alice), 0u);
  EXPECT_EQ(reply_to(alice), 1u) << "one timestamp, one reply";
  EXPECT_EQ(reply_to(bob), 2u);
  sent[30] ^= 1;
  ASSERT_EQ(e.run({TKDC_OP_OPEN, alice, 1, {}, sent}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(reply_to(alice), 3u) << "a wrong password opens nothing";
  for (int p = 0; p < 3; ++p) {
    std::size_t recorded = 0;
    for (const std::string& line : e.audit(p))
      recorded += line.find("login reply without preauthentication") != std::string::npos;
    EXPECT_EQ(recorded, 3u);
  }
}

TEST(UnheraldedLogins, TheWindowEndsAndTheMapIsBounded) {
  PreauthWatch watch;
  const auto now = PreauthWatch::Clock::now();
  PrincipalDigest one{};
  watch.opened(one, now);
  EXPECT_FALSE(watch.sealed(one, now + PreauthWatch::kWindow + std::chrono::seconds(1)));
  EXPECT_FALSE(watch.sealed(one, now)) << "too old is gone";
  for (std::size_t k = 0; k < PreauthWatch::kMaxPrincipals + 10; ++k) {
    PrincipalDigest other{};
    std::memcpy(other.data(), &k, sizeof k);
    watch.opened(other, now + std::chrono::milliseconds(k));
  }
  EXPECT_LE(watch.principals(), PreauthWatch::kMaxPrincipals);
}

}  // namespace
}  // namespace tkdc
