// SPDX-License-Identifier: Apache-2.0
// Three parties in one process over real TLS on loopback.
#include "session/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <atomic>

#include "trio.h"

namespace tkdc {
namespace {

TEST(Mesh, ThreePartiesAgree) {
  Trio trio(2);
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(sessions[p]->party, p);
    EXPECT_EQ(sessions[p]->id, sessions[0]->id);
    EXPECT_EQ(sessions[p]->epoch, 1u);
    EXPECT_EQ(sessions[p]->lanes.size(), 2u);
    EXPECT_EQ(trio.store(p).epochs().reserved, 1u) << "stored before use";
    EXPECT_EQ(trio.store(p).epochs().used, 1u);
  }
}

TEST(Mesh, KeysAreSharedByTheTwoHoldersOnly) {
  Trio trio(2);
  auto first = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  std::set<Bytes> seen;
  for (int p = 0; p < 3; ++p) {
    for (std::size_t lane = 0; lane < 2; ++lane) {
      // k_{p+1}: `next` of P_p, `mine` of P_{p+1}.
      EXPECT_EQ(key_bytes(first[p]->lanes[lane].keys.next),
                key_bytes(first[(p + 1) % 3]->lanes[lane].keys.mine));
      seen.insert(key_bytes(first[p]->lanes[lane].keys.mine));
    }
  }
  EXPECT_EQ(seen.size(), 6u) << "three components on two lanes, all different";
  auto id = first[0]->id;
  first = {};
  auto second = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  EXPECT_NE(second[0]->id, id);
  EXPECT_EQ(second[0]->epoch, 2u);
  for (int p = 0; p < 3; ++p)
    for (std::size_t lane = 0; lane < 2; ++lane)
      EXPECT_TRUE(seen.insert(key_bytes(second[p]->lanes[lane].keys.mine)).second)
          << "a key of the session before";
}

TEST(Mesh, PacketsGoBothWays) {
  Trio trio(2);
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  for (std::size_t lane = 0; lane < 2; ++lane) {
    for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{16'380},
                              std::size_t{16'381}, std::size_t{300'000}}) {
      Bytes packet(bytes, static_cast<std::uint8_t>(lane + 1));
      for (int p = 0; p < 3; ++p)
        for (Neighbour side : {Neighbour::kPrev, Neighbour::kNext})
          ASSERT_TRUE(sessions[p]->lanes[lane].link->send(side, packet).ok());
      // All from one thread: what a socket did not take goes out in the receives.
      for (int round = 0, open = 6; open > 0 && round < 1000; ++round) {
        for (int p = 0; p < 3; ++p) (void)sessions[p]->lanes[lane].link->wait(1).ok();
        if (round < 20 && bytes > 100'000) continue;
        for (int p = 0; p < 3; ++p)
          for (Neighbour side : {Neighbour::kPrev, Neighbour::kNext}) {
            auto got = sessions[p]->lanes[lane].link->receive(side, 500);
            ASSERT_TRUE(got.ok()) << got.error().message;
            EXPECT_EQ(Bytes(got->begin(), got->end()), packet);
            open--;
          }
      }
    }
  }
}

TEST(Mesh, BytesOnlyWhenAllOfferThem) {
  Trio trio(1);
  for (int p = 0; p < 3; ++p) trio.options(p).representation = Representation::kBytes;
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  EXPECT_EQ(sessions[1]->representation, Representation::kBytes);

  Trio mixed(1);
  mixed.options(0).representation = Representation::kBytes;
  mixed.options(2).representation = Representation::kBytes;
  sessions = mixed.establish();
  ASSERT_EQ(mixed.errors(), "");
  for (int p = 0; p < 3; ++p) EXPECT_EQ(sessions[p]->representation, Representation::kPlanes);
}

// Otherwise one server could talk the others into what has nothing to verify.
TEST(Mesh, MaliciousSessionsRefusePlanes) {
  Trio trio(1);
  for (int p = 0; p < 3; ++p) {
    trio.options(p).security = Security::kMalicious;
    trio.options(p).representation = Representation::kBytes;
  }
  trio.options(1).representation = Representation::kPlanes;
  auto sessions = trio.establish(1'500);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(sessions[p].has_value());
  EXPECT_NE(trio.errors().find("planes"), std::string::npos) << trio.errors();
}

// Who offers what, and what all three then use; every party's lanes have it in their keys.
TEST(Mesh, ZeroSharesAreAgreed) {
  using enum ZeroOffer;
  struct Case {
    std::array<ZeroOffer, 3> offers;
    ZeroGenerator agreed;
  };
  const Case cases[] = {
      {{kAesCtr, kAesCtr, kAesCtr}, ZeroGenerator::kAesCtr},
      {{ZeroOffer::kChaCha20, ZeroOffer::kChaCha20, kAesCtr}, ZeroGenerator::kAesCtr},
      {{ZeroOffer::kChaCha20, ZeroOffer::kChaCha20, ZeroOffer::kChaCha20},
       ZeroGenerator::kChaCha20},
      {{ZeroOffer::kChaCha20, kAesCtr, kAesCtrOnly}, ZeroGenerator::kAesCtr},
      {{kAesCtr, kAesCtr, kChaCha20Only}, ZeroGenerator::kChaCha20},
  };
  for (const Case& one : cases) {
    Trio trio(2);
    for (int p = 0; p < 3; ++p) trio.options(p).zero_shares = one.offers[p];
    auto sessions = trio.establish();
    ASSERT_EQ(trio.errors(), "");
    for (const auto& session : sessions) {
      EXPECT_EQ(session->zero_generator, one.agreed);
      for (const LaneLink& lane : session->lanes) EXPECT_EQ(lane.keys.zero_generator, one.agreed);
    }
  }
}

TEST(Mesh, TwoPartsAreAllowedByAllThreeOrNot) {
  for (int forbids : {-1, 0, 1, 2}) {
    Trio trio(1);
    for (int p = 0; p < 3; ++p) trio.options(p).two_parts = p != forbids;
    auto sessions = trio.establish();
    ASSERT_EQ(trio.errors(), "");
    for (const auto& session : sessions) EXPECT_EQ(session->two_parts, forbids == -1) << forbids;
  }
}

TEST(ZeroGenerator, TheRuleOverAllOffers) {
  using enum ZeroOffer;
  constexpr ZeroOffer kAll[] = {kAesCtr, kChaCha20, kAesCtrOnly, kChaCha20Only};
  for (ZeroOffer a : kAll)
    for (ZeroOffer b : kAll)
      for (ZeroOffer c : kAll) {
        const std::array<ZeroOffer, 3> offers = {a, b, c};
        const auto all = [&](ZeroOffer what) { return a == what && b == what && c == what; };
        const auto has = [&](ZeroOffer what) { return std::ranges::count(offers, what) > 0; };
        const bool possible = can_agree(a, b) && can_agree(b, c) && can_agree(a, c);
        EXPECT_EQ(possible, !(has(kAesCtrOnly) && has(kChaCha20Only)));
        if (!possible) continue;
        const bool chacha = has(kChaCha20Only) || all(kChaCha20);
        EXPECT_EQ(agreed_generator(offers) == ZeroGenerator::kChaCha20, chacha);
      }
  EXPECT_EQ(zero_offer_of("auto", false), kAesCtr);
  EXPECT_EQ(zero_offer_of("auto", true), kChaCha20);
  for (bool gpu : {false, true}) {
    EXPECT_EQ(zero_offer_of("aes-ctr", gpu), kAesCtrOnly);
    EXPECT_EQ(zero_offer_of("chacha20", gpu), kChaCha20Only);
  }
}

TEST(Mesh, ASessionHasTheProtocolsOfAllThree) {
  Trio trio(1);
  trio.options(0).protocols = {{"plaintext", 1}, {"rep3", 7}, {"lookup", 1}};
  trio.options(1).protocols = {{"rep3", 7}, {"plaintext", 1}};
  trio.options(2).protocols = {{"plaintext", 1}, {"rep3", 7}};
  auto sessions = trio.establish();
  for (int p = 0; p < 3; ++p) {
    ASSERT_TRUE(sessions[p].has_value()) << trio.errors();
    EXPECT_EQ(sessions[p]->protocols, (std::vector<std::string>{"plaintext", "rep3"}));
  }
}

// Each two of them have one in common.
TEST(Mesh, NoProtocolOfAllThreeIsNoSession) {
  Trio trio(1);
  trio.options(0).protocols = {{"a", 1}, {"b", 1}};
  trio.options(1).protocols = {{"b", 1}, {"c", 1}};
  trio.options(2).protocols = {{"c", 1}, {"a", 1}};
  auto sessions = trio.establish(1'500);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(sessions[p].has_value());
  EXPECT_NE(trio.errors().find("but not all three"), std::string::npos) << trio.errors();
}

// A HELLO with an offer that no release knows is none.
TEST(Mesh, UnknownOffersAreNoHello) {
  Hello hello;
  hello.lanes = 1;
  hello.contribution.resize(kContributionBytes);
  hello.zero_shares = ZeroOffer::kChaCha20Only;
  auto good = decode_hello(encode_hello(hello));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->zero_shares, ZeroOffer::kChaCha20Only);
  hello.zero_shares = static_cast<ZeroOffer>(4);
  EXPECT_FALSE(decode_hello(encode_hello(hello)).ok());
  hello.zero_shares = ZeroOffer::kAesCtr;
  hello.two_parts = true;
  SecretVector octets = encode_hello(hello);
  ASSERT_TRUE(decode_hello(octets)->two_parts);
  const SecretVector without = encode_hello([&] {
    hello.two_parts = false;
    return hello;
  }());
  const auto at = std::ranges::mismatch(octets, without).in1;
  *at = 2;
  EXPECT_FALSE(decode_hello(octets).ok());
}

TEST(Mesh, DisagreementsNameBothValues) {
  struct Case {
    std::function<void(MeshOptions&)> change;  // of party 1
    std::vector<std::string> named;
  };
  const Case cases[] = {
      {[](MeshOptions& o) { o.installation.fill(0xab); },
       {"installation", std::string(32, '1'), "abababab"}},
      {[](MeshOptions& o) { o.security = Security::kMalicious; },
       {"security", "malicious", "semi-honest"}},
      {[](MeshOptions& o) { o.lanes = 2; }, {"lane count", "2", "1"}},
      {[](MeshOptions& o) { o.cohort_limit = 128; }, {"cohort limit", "128", "256"}},
      {[](MeshOptions& o) { o.wire_format = 4711; }, {"wire format", "4711", "42"}},
      {[](MeshOptions& o) { o.masked_blocks = 128; }, {"masked_blocks", "128", "0"}},
      {[](MeshOptions& o) { o.zero_shares = ZeroOffer::kChaCha20Only; },
       {"zero-shares by", "'chacha20'", "'aes-ctr'"}},
      {[](MeshOptions& o) {
         o.protocols = {{"plaintext", 1}};
       },
       {"protocols", "'plaintext'", "'rep3'", "one release", "take others"}},
      {[](MeshOptions& o) { o.protocols[0].wire_format = 8; }, {"protocols", "one release"}},
      {[](MeshOptions& o) { o.protocol_version = 77; }, {"protocol version", "77", "9"}},
  };
  for (const Case& one : cases) {
    Trio trio(1);
    trio.options(2).zero_shares = ZeroOffer::kAesCtrOnly;
    for (int p = 0; p < 3; ++p) trio.options(p).advice.protocols = "take others";
    one.change(trio.options(1));
    auto sessions = trio.establish(1'500);
    for (int p = 0; p < 3; ++p) EXPECT_FALSE(sessions[p].has_value()) << one.named[0];
    for (const std::string& word : one.named)
      EXPECT_NE(trio.errors().find(word), std::string::npos) << word << " in\n" << trio.errors();
    for (int p = 0; p < 3; ++p)
      EXPECT_EQ(trio.store(p).epochs(), Epochs()) << "refused before any write";
  }
}

TEST(Mesh, WrongPinIsRefusedOnBothSides) {
  // The dialler expects another certificate.
  Trio dialler(1);
  for (int p = 0; p < 3; ++p) dialler.options(p).advice.pin = "pin that one";
  for (MeshPeer& peer : dialler.options(0).peers)
    if (peer.party == 1) peer.pin.certificate.fill(7);
  dialler.establish(800);
  EXPECT_NE(dialler.errors().find("not the pinned one; pin that one"), std::string::npos)
      << dialler.errors();

  // The acceptor expects another certificate.
  Trio acceptor(1);
  for (int p = 0; p < 3; ++p) acceptor.options(p).advice.pin = "pin that one";
  for (MeshPeer& peer : acceptor.options(1).peers)
    if (peer.party == 0) peer.pin.certificate.fill(7);
  auto sessions = acceptor.establish(800);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(sessions[p].has_value());
  EXPECT_NE(acceptor.log().find("not the pinned one; pin that one"), std::string::npos)
      << acceptor.log();
  const std::string said = "did not call in time; somebody who called was refused: ";
  EXPECT_NE(acceptor.errors().find(said), std::string::npos) << acceptor.errors();
}

TEST(Mesh, APeerThatChangesItsCertificateIsTakenWithBoth) {
  // All know another one of party 1, and still the one that it shows.
  Trio trio(1);
  for (int p : {0, 2})
    for (MeshPeer& peer : trio.options(p).peers)
      if (peer.party == 1) {
        peer.pin.former = peer.pin.certificate;
        peer.pin.certificate.fill(7);
      }
  auto sessions = trio.establish();
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(sessions[p].has_value()) << trio.errors();
}

TEST(Mesh, PeersSwappedInTheConfiguration) {
  // Party 2's certificate under party 1's number: TLS itself refuses.
  Trio trio(1);
  std::swap(trio.options(0).peers[0].pin, trio.options(0).peers[1].pin);
  auto sessions = trio.establish(800);
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(sessions[p].has_value());
}

TEST(Mesh, RestartedPeerGetsANewSession) {
  Trio trio(2);
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  // Party 1 dies: its links close, the others notice.
  sessions[1].reset();
  auto lost = sessions[0]->lanes[1].link->receive(Neighbour::kNext, 2'000);
  EXPECT_FALSE(lost.ok());
  auto lost_too = sessions[2]->lanes[0].link->wait(2'000);
  EXPECT_FALSE(lost_too.ok());
  sessions = {};
  trio.restart(1);
  sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  EXPECT_EQ(sessions[0]->epoch, 2u);
}

TEST(Mesh, NewHelloEndsASessionWhoseConnectionsLookAlive) {
  Trio trio(1);
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  // Party 0's old sockets stay open, as after a power failure; it comes back.
  [[maybe_unused]] Session stale = std::move(*sessions[0]);
  std::thread again([&] { (void)trio.mesh(0).establish().ok(); });
  auto event = sessions[1]->lanes[0].link->wait(3'000);
  trio.mesh(0).stop();
  again.join();
  ASSERT_FALSE(event.ok());
  EXPECT_NE(event.error().message.find("party 0 asks for new connections"), std::string::npos)
      << event.error().message;
}

SessionId some_session(std::uint8_t octet) {
  SessionId id;
  id.fill(octet);
  return id;
}

TEST(Mesh, ASessionThatAllThreeHoldGoesOnOverNewConnections) {
  Trio trio(2);
  for (int p = 0; p < 3; ++p) trio.options(p).held = [] { return some_session(7); };
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(sessions[p]->goes_on);
    EXPECT_EQ(sessions[p]->id, some_session(7));
    EXPECT_FALSE(sessions[p]->forgotten_by);
    EXPECT_EQ(trio.store(p).epochs().reserved, 0u) << "no epoch is used up";
    ASSERT_EQ(sessions[p]->lanes.size(), 2u);
    for (LaneLink& lane : sessions[p]->lanes)
      ASSERT_TRUE(lane.link->send(Neighbour::kNext, Bytes(100'000)).ok());
  }
  for (auto& session : sessions)
    for (LaneLink& lane : session->lanes)
      EXPECT_EQ(lane.link->receive(Neighbour::kPrev, 2'000)->size(), 100'000u);
}

// Who has not got it may have been restarted, or hold another; its neighbours learn which it was.
TEST(Mesh, ASessionThatOneDoesNotHoldIsFollowedByANewOne) {
  for (std::uint8_t other : {0, 8}) {
    Trio trio(1);
    for (int p = 0; p < 3; ++p)
      trio.options(p).held = [p, other] { return some_session(p == 1 ? other : 7); };
    auto sessions = trio.establish();
    ASSERT_EQ(trio.errors(), "");
    for (int p = 0; p < 3; ++p) {
      EXPECT_FALSE(sessions[p]->goes_on);
      EXPECT_EQ(sessions[p]->id, sessions[0]->id);
      EXPECT_NE(sessions[p]->id, some_session(7));
      EXPECT_EQ(sessions[p]->epoch, 1u);
    }
    EXPECT_EQ(sessions[0]->forgotten_by, 1);
    EXPECT_FALSE(sessions[1]->forgotten_by) << "it holds none, or both others hold another";
    EXPECT_EQ(sessions[2]->forgotten_by, 1);
  }
}

TEST(Mesh, EachPartyHearsTheOthersOwnersNotes) {
  Trio trio(1);
  for (int p = 0; p < 3; ++p)
    trio.options(p).note = [p] {
      OwnersNote note;
      note.fill(static_cast<std::uint8_t>(p + 1));
      return note;
    };
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  for (int p = 0; p < 3; ++p)
    for (std::size_t q = 0; q < 3; ++q)
      EXPECT_EQ(sessions[static_cast<std::size_t>(p)]->notes[q],
                trio.options(static_cast<int>(q)).note());
}

// Two servers' lane 1 went another way in the session before: no new one, and both know why,
// whoever of them calls the other. The third is not told apart from a network that fails.
TEST(Mesh, TwoThatWereToldDifferentThingsRefuseEachOther) {
  for (int liar = 0; liar < 3; ++liar) {
    Trio trio(2);
    std::atomic<int> heard[3] = {};
    for (int p = 0; p < 3; ++p) {
      auto course = [p, liar](int lane) {
        CourseTail tail;
        tail.session.fill(1);
        tail.decisions = 1;
        tail.last.emplace_back();
        // The liar tells each what that one believes.
        if (lane == 1 && p == (liar + 1) % 3) tail.last[0][0] = 1;
        return tail;
      };
      trio.options(p).course = course;
      trio.options(p).hear_course = [p, liar, course, &heard](int lane, int party,
                                                              const CourseTail& theirs) {
        if (p == liar || party == liar || !contradict(course(lane), theirs)) return Result<void>{};
        heard[p]++;
        return Result<void>(fail("session: the courses differ"));
      };
    }
    auto sessions = trio.establish(3'000);
    for (const auto& session : sessions) EXPECT_FALSE(session) << liar;
    for (int p = 0; p < 3; ++p) EXPECT_EQ(heard[p] > 0, p != liar) << "liar " << liar << ": " << p;
  }
}

TEST(Mesh, StrangersDoNotDisturbASession) {
  Trio trio(1);
  auto sessions = trio.establish();
  ASSERT_EQ(trio.errors(), "");
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 200; ++i) {
    auto fd = start_dial("127.0.0.1:" + std::to_string(trio.mesh(0).port()));
    ASSERT_TRUE(fd.ok());
    if (i % 2 == 0 && wait_ready(fd->get(), POLLOUT, monotonic_ms() + 1'000)) {
      const char noise[] = "GET / HTTP/1.0\r\n\r\n";
      (void)!::send(fd->get(), noise, sizeof noise, MSG_NOSIGNAL);
    }
    strangers.push_back(std::move(*fd));
  }
  for (int p = 0; p < 3; ++p)
    ASSERT_TRUE(sessions[p]->lanes[0].link->send(Neighbour::kNext, Bytes(100)).ok());
  for (int p = 0; p < 3; ++p)
    EXPECT_TRUE(sessions[p]->lanes[0].link->receive(Neighbour::kPrev, 2'000).ok());
  // And with all of them connected a new session can still be made.
  sessions = {};
  sessions = trio.establish();
  EXPECT_EQ(trio.errors(), "");
}

TEST(Mesh, StopEndsAWaitingEstablish) {
  Trio trio(1);
  trio.create(10'000);
  Result<Session> result = fail("not run");
  std::thread alone([&] { result = trio.mesh(0).establish(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  long long before = monotonic_ms();
  trio.mesh(0).stop();
  alone.join();
  EXPECT_LT(monotonic_ms() - before, 1'000);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(trio.mesh(0).establish().ok());
}

TEST(Mesh, RetriesUntilTheThirdPartyIsThere) {
  Trio trio(2);
  trio.create(1'000);  // less than the third party's delay, enough for a slow machine's attempt
  std::array<std::optional<Session>, 3> sessions;
  std::vector<std::thread> threads;
  for (int p = 0; p < 3; ++p)
    threads.emplace_back([&, p] {
      if (p == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1'300));
      Backoff backoff;
      for (int i = 0; i < 40 && !sessions[p]; ++i) {
        auto made = trio.mesh(p).establish();
        if (made.ok())
          sessions[p] = std::move(*made);
        else
          std::this_thread::sleep_for(std::chrono::milliseconds(backoff.next_ms()));
      }
    });
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(sessions[0] && sessions[1] && sessions[2]);
  EXPECT_EQ(sessions[0]->id, sessions[2]->id);
  EXPECT_EQ(sessions[0]->epoch, sessions[1]->epoch);
}

}  // namespace
}  // namespace tkdc
