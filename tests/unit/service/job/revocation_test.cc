// SPDX-License-Identifier: Apache-2.0
// Windows of sealing that are revoked: the set, who may revoke and who lift, and three
// whole servers, of which one alone revokes.
#include "lane_packet.h"
#include "service/sealing/nonce.h"
#include "service/sealing/revocation_notice.h"
#include "three_services.h"

namespace tkdc {
namespace {

constexpr std::uint32_t kNow = 1'000'000;

SealWindows windows_of(std::initializer_list<SealWindow> list) {
  SealWindows out;
  for (const SealWindow& w : list) out.add(w);
  return out;
}

TEST(SealWindows, WindowsThatTouchAreOne) {
  SealWindows w = windows_of({{10, 20}, {40, 50}});
  EXPECT_FALSE(w.add({12, 20}));
  EXPECT_FALSE(w.add({21, 20}));
  EXPECT_TRUE(w.add({21, 25}));
  EXPECT_EQ(w.list(), (std::vector<SealWindow>{{10, 25}, {40, 50}}));
  EXPECT_TRUE(w.add({5, 60}));
  EXPECT_EQ(w.list(), (std::vector<SealWindow>{{5, 60}}));
  EXPECT_TRUE(w.contains(5) && w.contains(60));
  EXPECT_FALSE(w.contains(4) || w.contains(61));
  EXPECT_EQ(w.until(30).list(), (std::vector<SealWindow>{{5, 30}}));
  EXPECT_TRUE(w.until(4).empty());
  EXPECT_FALSE(w.forget_before(60));
  EXPECT_TRUE(w.forget_before(61));
  EXPECT_TRUE(w.empty());
}

// Against a plain set of units; beyond the bound more is revoked, never less.
TEST(SealWindows, AreTheUnionOfWhatWasAdded) {
  std::mt19937_64 rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    SealWindows windows;
    std::set<std::uint32_t> units;
    // With 100 units there is no room for more than kMax windows.
    const std::uint32_t span = trial % 2 == 0 ? 100 : 4000;
    for (int k = 0; k < (span == 100 ? trial : 200); ++k) {
      const auto from = static_cast<std::uint32_t>(rng() % span);
      const auto to = from + static_cast<std::uint32_t>(rng() % 3);
      windows.add({from, to});
      for (std::uint32_t u = from; u <= to; ++u) units.insert(u);
    }
    ASSERT_LE(windows.list().size(), SealWindows::kMax);
    for (std::size_t k = 1; k < windows.list().size(); ++k)
      ASSERT_GT(windows.list()[k].from, windows.list()[k - 1].to + 1);
    bool joined = false;
    for (std::uint32_t u = 0; u < span + 3; ++u) {
      ASSERT_TRUE(!units.contains(u) || windows.contains(u)) << u;
      joined |= windows.contains(u) && !units.contains(u);
    }
    EXPECT_EQ(joined, span == 4000);
  }
}

TEST(SealWindows, WhatIsNoListIsRefused) {
  RevocationState state{windows_of({{1, 2}, {5, 9}}), true}, read;
  Bytes good;
  put_revocations(good, state);
  Reader all(good);
  EXPECT_TRUE(get_revocations(all, read));
  EXPECT_EQ(read, state);
  for (std::size_t n = 0; n < good.size(); ++n) {
    Reader in(ByteSpan(good).first(n));
    EXPECT_FALSE(get_revocations(in, read)) << n;
  }
  auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes bad = good;
    bad[at] = value;
    Reader in(bad);
    return get_revocations(in, read);
  };
  EXPECT_FALSE(with(0, 2));
  EXPECT_FALSE(with(1, 1)) << "more windows than may be";
  EXPECT_FALSE(with(7, 1)) << "past the nonce's field";
  EXPECT_FALSE(with(6, 3)) << "ends before it begins";
}

class RevocationsTest : public testing::Test {
 protected:
  ThreeServices e_{1};
  Revocations mine_{e_.store(0)};
  const SealWindow window_{kNow - 100, kNow - 50};
  const RevocationState none_;
  const RevocationState held_{windows_of({window_}), false}, agreed_{windows_of({window_}), true};

  void SetUp() override {
    e_.stop_session();
    ASSERT_TRUE(mine_.load().ok());
  }
  void heard(std::size_t which, const RevocationState& said, std::uint32_t now) {
    word(which, ++version_, said, now);
  }
  void word(std::size_t which, std::uint64_t version, const RevocationState& said,
            std::uint32_t now = kNow) {
    std::array<std::optional<Revocations::Word>, 2> words;
    words[which] = Revocations::Word{version, said};
    mine_.heard(words, now);
  }
  std::uint64_t version_ = 0;
  bool revokes() const { return mine_.state().windows.contains(kNow - 60); }
};

TEST_F(RevocationsTest, OneRevokesAndOnlyAllThreeLift) {
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  EXPECT_TRUE(revokes());
  heard(0, none_, kNow);
  heard(1, none_, kNow);
  EXPECT_TRUE(revokes()) << "the others need not know it";
  heard(0, agreed_, kNow);
  heard(1, agreed_, kNow);
  EXPECT_TRUE(revokes()) << "the others cannot lift it here";
  heard(1, held_, kNow);
  ASSERT_TRUE(mine_.lift().ok());
  EXPECT_TRUE(revokes()) << "one of them has not agreed";
  EXPECT_EQ(mine_.agrees(0), true);
  EXPECT_EQ(mine_.agrees(1), false);
  heard(1, agreed_, kNow);
  EXPECT_FALSE(revokes());
  heard(1, agreed_, kNow);
  EXPECT_FALSE(revokes()) << "who lifts later brings it not back";
}

TEST_F(RevocationsTest, WhatPeersSayIsKeptButNotOfTheFuture) {
  heard(0, agreed_, kNow);
  EXPECT_FALSE(revokes());
  heard(0, {windows_of({{kNow - 100, SealWindows::kEnd - 1}}), false}, kNow);
  EXPECT_TRUE(revokes());
  EXPECT_TRUE(mine_.state().windows.contains(kNow + 2 * kClockSkewUnits));
  EXPECT_FALSE(mine_.state().windows.contains(kNow + 2 * kClockSkewUnits + 1));
  heard(0, none_, kNow);
  EXPECT_TRUE(revokes()) << "who revoked it cannot lift it here";
  EXPECT_FALSE(mine_.revoke({kNow, kNow + 1}, kNow).ok());
  EXPECT_FALSE(mine_.revoke({5, 4}, kNow).ok());
}

// A label is the first server's time, which may differ from the revoking one's.
TEST_F(RevocationsTest, ReachAsFarAsTheClocksMayDiffer) {
  ASSERT_TRUE(mine_.revoke({kNow - 10, kNow}, kNow).ok());
  EXPECT_EQ(mine_.state().windows,
            windows_of({{kNow - 10 - kClockSkewUnits, kNow + kClockSkewUnits}}));
  EXPECT_EQ(with_skew({1, SealWindows::kEnd - 2}), (SealWindow{0, SealWindows::kEnd - 1}));
  EXPECT_EQ(sealed_at_of(0), 0u) << "a clock that lost its battery";
  EXPECT_EQ(sealed_at_of(static_cast<std::int64_t>(kSealedAtOriginS) + 129), 2u);
}

TEST_F(RevocationsTest, ANewWindowEndsTheAgreement) {
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  ASSERT_TRUE(mine_.lift().ok());
  heard(0, {windows_of({window_, {5, 6}}), false}, kNow);
  EXPECT_FALSE(mine_.state().lift);
  heard(0, agreed_, kNow);
  heard(1, agreed_, kNow);
  EXPECT_TRUE(revokes());
  ASSERT_TRUE(mine_.lift().ok());
  EXPECT_FALSE(revokes());
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  ASSERT_TRUE(mine_.lift().ok());
  EXPECT_FALSE(revokes());
}

TEST_F(RevocationsTest, AnOlderWordOnAnotherLaneIsIgnored) {
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  word(0, 5, held_);
  word(1, 5, agreed_);
  word(0, 4, none_);
  word(0, 5, none_);
  ASSERT_TRUE(mine_.lift().ok());
  EXPECT_TRUE(revokes());
  word(0, 6, agreed_);
  EXPECT_FALSE(revokes());
}

TEST_F(RevocationsTest, AnotherSessionsWordsDoNotCount) {
  heard(0, none_, kNow);
  heard(1, none_, kNow);
  mine_.forget_peers();
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  ASSERT_TRUE(mine_.lift().ok());
  EXPECT_TRUE(revokes());
  EXPECT_EQ(mine_.agrees(0), std::nullopt);
}

TEST_F(RevocationsTest, SurvivesARestartAndEndsWithItsTickets) {
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  heard(1, {windows_of({{7, 9}}), false}, kNow);
  EXPECT_TRUE(mine_.unwritten());
  mine_.keep();
  EXPECT_FALSE(mine_.unwritten());
  ASSERT_TRUE(mine_.lift().ok());
  Revocations again(e_.store(0));
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(again.state(), mine_.state());
  EXPECT_TRUE(again.state().lift);
  again.keep();
  EXPECT_EQ(again.state().windows.list().size(), 2u) << "no three have agreed on a time yet";
  again.agreed(9 + kMaxTicketAgeUnits);
  again.keep();
  EXPECT_EQ(again.state().windows.list().size(), 2u);
  again.agreed(10 + kMaxTicketAgeUnits);
  again.agreed(3);
  again.keep();
  EXPECT_EQ(again.state().windows, windows_of({with_skew(window_)}));
  ASSERT_TRUE(mine_.load().ok());
  EXPECT_EQ(mine_.state(), again.state());
}

TEST_F(RevocationsTest, WhatCannotBeWrittenIsInForceAndSaidToBeUnwritten) {
  e_.disk(0).full = true;
  EXPECT_FALSE(mine_.revoke(window_, kNow).ok());
  EXPECT_TRUE(revokes());
  EXPECT_TRUE(mine_.unwritten());
  const std::uint64_t version = mine_.version();
  EXPECT_FALSE(mine_.revoke(window_, kNow).ok()) << "as the server asks each second";
  EXPECT_EQ(mine_.version(), version) << "nothing new to tell the others";
  mine_.keep();
  EXPECT_TRUE(mine_.unwritten());
  EXPECT_FALSE(mine_.lift().ok());
  EXPECT_FALSE(mine_.state().lift);
  e_.disk(0).full = false;
  mine_.keep();
  EXPECT_FALSE(mine_.unwritten());
  Revocations again(e_.store(0));
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(again.state(), mine_.state());
  ASSERT_TRUE(e_.store(0).set_revoked(Bytes{9}).ok());
  EXPECT_FALSE(Revocations(e_.store(0)).load().ok()) << "corrupt";
}

// Who waits for the disk with what lanes need locked would not come back from the hook.
TEST_F(RevocationsTest, LanesGoOnWhileTheDiskIsWaitedFor) {
  const RevocationState more{windows_of({{5, 6}}), false};
  e_.disk(0).revoked_hook = [&] { heard(1, more, kNow); };
  ASSERT_TRUE(mine_.revoke(window_, kNow).ok());
  EXPECT_TRUE(mine_.state().windows.contains(5));
  EXPECT_TRUE(mine_.unwritten()) << "what came meanwhile is not on disk";

  const RevocationState yet_more{windows_of({{50, 60}}), false};
  e_.disk(0).revoked_hook = [&] { heard(1, yet_more, kNow); };
  EXPECT_FALSE(mine_.lift().ok());
  EXPECT_FALSE(mine_.state().lift) << "a window that came meanwhile is not agreed to";
  EXPECT_TRUE(mine_.unwritten());

  e_.disk(0).revoked_hook = nullptr;
  mine_.keep();
  EXPECT_FALSE(mine_.unwritten());
  Revocations again(e_.store(0));
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(again.state(), mine_.state());
  EXPECT_EQ(again.state().windows.list().size(), 3u);
}

// More than 64 would, joined as they come, be joined otherwise at each server.
TEST(SealWindows, AUnionDoesNotDependOnTheOrder) {
  std::mt19937_64 rng(5);
  for (int trial = 0; trial < 20; ++trial) {
    SealWindows sets[3];
    std::uint32_t at = 0;
    for (int k = 0; k < 66; ++k) {
      at += 3 + static_cast<std::uint32_t>(rng() % 40);
      sets[k % 3].add({at, at});
    }
    const SealWindows all = SealWindows::united({&sets[0], &sets[1], &sets[2]});
    EXPECT_EQ(all.list().size(), SealWindows::kMax);
    EXPECT_EQ(all, SealWindows::united({&sets[2], &sets[0], &sets[1]}));
    EXPECT_EQ(all, SealWindows::united({&sets[1], &sets[2], &sets[0]}));
    EXPECT_EQ(all, SealWindows::united({&all, &sets[2], &sets[1]})) << "nothing new";
  }
}

// Too many windows are joined, and by all three in the same way.
TEST(Revocation, ThreeLanesComeToTheSameWindows) {
  ThreeServices e(1);
  e.stop_session();
  std::mt19937_64 rng(8);
  std::vector<std::uint32_t> added;
  std::unique_ptr<Revocations> held[3];
  std::unique_ptr<RevocationNotice> lane[3];
  for (int p = 0; p < 3; ++p) {
    held[p] = std::make_unique<Revocations>(e.store(p));
    ASSERT_TRUE(held[p]->load().ok());
    lane[p] = std::make_unique<RevocationNotice>(*held[p], p);
    for (int k = 0; k < 30; ++k) {
      const auto at = static_cast<std::uint32_t>(rng() % kNow);
      ASSERT_TRUE(held[p]->revoke({at, at + 5}, kNow + 10).ok());
      added.push_back(at);
    }
  }
  for (int tick = 0; tick < 3; ++tick) {
    std::optional<Revocations::Word> said[3];
    for (int p = 0; p < 3; ++p) said[p] = lane[p]->say();
    for (int p = 0; p < 3; ++p) lane[p]->hear(said[(p + 2) % 3], said[(p + 1) % 3]);
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(lane[p]->windows(), lane[0]->windows());
      EXPECT_EQ(held[p]->state(), held[0]->state()) << "they keep the same, too";
      for (std::uint32_t at : added) EXPECT_TRUE(lane[p]->windows().contains(at));
    }
  }
  EXPECT_EQ(lane[0]->windows().list().size(), SealWindows::kMax);
}

TEST(Revocation, OneServerRevokesForAllAndTheCohortGoesOn) {
  ThreeServices e(2);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {}), host = e.make_key("host/a@R", 18, {});
  const Bytes plain = some_bytes(100);
  const Bytes ticket = e.run({TKDC_OP_SEAL, tgt, 2, {}, plain}).output();
  const Bytes other = e.run({TKDC_OP_SEAL, host, 2, {}, plain}).output();
  const ThreeServices::Job open = {TKDC_OP_OPEN, tgt, 2, {}, ticket};
  const std::uint32_t now = sealed_at_now();

  ASSERT_TRUE(e.service(1).revoke({now - 1000, now - 500}).ok());
  EXPECT_EQ(e.run(open).output(), plain) << "sealed at another time";
  ASSERT_TRUE(e.service(1).revoke({now - 10, now}).ok());
  const JobName beside = e.send({TKDC_OP_OPEN, host, 2, {}, other});
  const Answer refused = e.run(open);
  EXPECT_EQ(refused.status(), TKDC_STATUS_INTEGRITY);
  EXPECT_NE(refused.reply[0].message.find("revoked"), std::string::npos);
  EXPECT_EQ(e.wait(beside).output(), plain) << "a service's key has no times";
  const Answer unsealed = e.run({TKDC_OP_SEAL, tgt, 2, {}, plain});
  EXPECT_EQ(unsealed.status(), TKDC_STATUS_UNAVAILABLE) << "it would be refused at once";
  EXPECT_NE(unsealed.reply[1].message.find("revoked by an administrator"), std::string::npos);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, host, 2, {}, plain}).status(), TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(e.service(p).status().tickets_revoked, 1u);
    std::size_t noted = 0;
    for (const std::string& line : e.audit(p))
      noted += line.find("ticket of a revoked window") != std::string::npos;
    EXPECT_EQ(noted, 1u);
  }

  for (int p = 0; p < 3; ++p)
    EXPECT_EQ(e.service(p).status().revoked.windows.list().size(), 2u) << p << " keeps them";
  ASSERT_TRUE(e.service(1).lift_revocations().ok());
  ASSERT_TRUE(e.service(2).lift_revocations().ok());
  e.make_key("host/c@R", 18, {});
  EXPECT_EQ(e.run(open).status(), TKDC_STATUS_INTEGRITY) << "server 0 has not agreed";
  ASSERT_TRUE(e.service(0).lift_revocations().ok());
  e.make_key("host/d@R", 18, {});
  EXPECT_EQ(e.run(open).output(), plain);
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(e.service(p).status().revoked.windows.empty()) << p;
}

// Server 1 shows its windows to one neighbour and hides them from the other: no ticket
// of theirs is opened, and nobody hangs.
class OneSidedTeller final : public MemoryRing {
 public:
  std::atomic<bool> armed{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    auto whole =
        from == 1 && to == Neighbour::kNext && armed ? test::parse_packet(packet) : std::nullopt;
    auto said = whole ? test::said_in(*whole) : std::nullopt;
    if (said && said->revoked && armed.exchange(false)) {
      said->revoked.reset();
      packet = test::with(packet, *said);
    }
    deliver(from, to, std::move(packet));
  }
};

TEST(Revocation, ToldToOneNeighbourOnlyNoTicketIsOpened) {
  auto ring = std::make_shared<OneSidedTeller>();
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, ring);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  const Bytes ticket = e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}).output();
  ring->armed = true;
  const std::uint32_t now = sealed_at_now();
  ASSERT_TRUE(e.service(1).revoke({now - 10, now}).ok());
  const Answer answer = e.run({TKDC_OP_OPEN, tgt, 2, {}, ticket});
  EXPECT_FALSE(ring->armed) << "the windows were hidden";
  for (const JobReply& reply : answer.reply) EXPECT_NE(reply.status, TKDC_STATUS_OK);
}

}  // namespace
}  // namespace tkdc
