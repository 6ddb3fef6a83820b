// SPDX-License-Identifier: Apache-2.0
// Two parties in one process over real TLS on loopback: what they agree on, what each says when
// there is no session, and how one ends.
#include "session/pair_mesh.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "duo.h"
#include "link/socket.h"
#include "trio.h"

namespace tkdc {
namespace {

constexpr int kWaitMs = 3'000;

KeyId key(std::uint8_t octet) {
  KeyId id{};
  id.fill(octet);
  return id;
}

void prepare(MemoryStore& store, std::uint8_t octet) {
  KeyRecord record;
  record.ref.id = key(octet);
  ASSERT_TRUE(store.prepare(record).ok());
}

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

ByteSpan octets(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// What one end reads, or why not.
std::string hear(Session& session, std::size_t lane, std::size_t octets) {
  std::string out(octets, '?');
  MutableByteSpan to{reinterpret_cast<std::uint8_t*>(out.data()), out.size()};
  auto done = session.lanes[lane].streams->from_next->read(to, kWaitMs);
  return done.ok() ? out : done.error().message;
}

TEST(PairMesh, TwoPartiesAgreeAndTheirStreamsRunBothWays) {
  Duo duo(2);
  for (int p : {0, 1})
    duo.options(p).note = [p] {
      OwnersNote note;
      note.fill(static_cast<std::uint8_t>(p + 1));
      return note;
    };
  auto sessions = duo.establish();
  ASSERT_EQ(duo.errors(), "");
  EXPECT_EQ(sessions[0]->id, sessions[1]->id);
  EXPECT_NE(sessions[0]->id, SessionId{});
  for (int p : {0, 1}) {
    Session& session = *sessions[static_cast<std::size_t>(p)];
    EXPECT_EQ(session.party, p);
    EXPECT_EQ(session.security, Security::kMalicious);
    EXPECT_EQ(session.protocols, std::vector<std::string>{"pair"});
    EXPECT_FALSE(session.goes_on);
    EXPECT_EQ(session.epoch, 1u) << "its own count of sessions";
    EXPECT_EQ(duo.store(p).epochs().used, 1u);
    for (std::size_t q : {0u, 1u}) EXPECT_EQ(session.notes[q], duo.options(int(q)).note()) << q;
    ASSERT_EQ(session.lanes.size(), 2u);
    for (std::size_t lane : {0u, 1u}) {
      EXPECT_EQ(session.lanes[lane].link, nullptr);
      EXPECT_EQ(session.lanes[lane].streams->to_prev, nullptr);
      EXPECT_EQ(session.lanes[lane].streams->from_prev, nullptr);
      const std::string text = "party " + std::to_string(p) + " lane " + std::to_string(lane);
      ASSERT_TRUE(session.lanes[lane].streams->to_next->write(octets(text), kWaitMs).ok());
    }
  }
  for (std::size_t p : {0u, 1u})
    for (std::size_t lane : {0u, 1u})
      EXPECT_EQ(hear(*sessions[p], lane, 14),
                "party " + std::to_string(1 - p) + " lane " + std::to_string(lane));
}

// More than the packets of a handshake hold, written as soon as establish() returns.
TEST(PairMesh, AnEndMayBeWrittenToAtOnce) {
  Duo duo;
  duo.create(8'000);
  const Bytes much(700'000, 9);
  auto other = std::async(std::launch::async, [&] {
    auto session = duo.attempt(0);
    if (session) {
      EXPECT_TRUE(session->lanes[0].streams->to_next->write(much, kWaitMs).ok());
    }
    return session;
  });
  auto session = duo.attempt(1);
  ASSERT_TRUE(session && session->lanes[0].streams->to_next->write(much, kWaitMs).ok());
  auto first = other.get();
  ASSERT_TRUE(first) << duo.errors();
  for (Session* one : {&*session, &*first}) {
    Bytes got(much.size());
    ASSERT_TRUE(one->lanes[0].streams->from_next->read(got, kWaitMs).ok());
    EXPECT_EQ(got, much);
  }
}

TEST(PairMesh, HalfMadeEntriesAreSettledAndCondemnedOnesToo) {
  Duo duo;
  for (std::uint8_t n : {1, 2, 3, 4})
    for (int p : {0, 1}) prepare(duo.store(p), n);
  ASSERT_TRUE(duo.store(0).commit(key(1)).ok()) << "by one";
  for (std::uint8_t n : {3, 4})
    for (int p : {0, 1}) {
      ASSERT_TRUE(duo.store(p).commit(key(n)).ok());
      ASSERT_TRUE(duo.store(p).condemn(key(n)).ok());
    }
  ASSERT_TRUE(duo.store(1).destroy(key(3)).ok()) << "by one";
  auto sessions = duo.establish();
  ASSERT_EQ(duo.errors(), "");
  for (int p : {0, 1}) {
    EXPECT_TRUE(duo.store(p).committed(key(1)).value()) << p;
    EXPECT_FALSE(duo.store(p).committed(key(2)).value()) << p << ": by nobody";
    EXPECT_TRUE(duo.store(p).buried(key(3)).value()) << p;
    EXPECT_TRUE(duo.store(p).committed(key(4)).value()) << p << ": pardoned";
    EXPECT_TRUE(duo.store(p).prepared()->empty() && duo.store(p).condemned()->empty()) << p;
  }
}

TEST(PairMesh, MoreThanAPageOfHalfMadeEntriesIsSettled) {
  Duo duo;
  for (std::uint16_t n = 0; n < 2'100; ++n) {
    KeyRecord record;
    record.ref.id[0] = static_cast<std::uint8_t>(n >> 8);
    record.ref.id[1] = static_cast<std::uint8_t>(n);
    ASSERT_TRUE(duo.store(0).prepare(record).ok());
    ASSERT_TRUE(duo.store(1).prepare(record).ok());
    ASSERT_TRUE(duo.store(n % 2).commit(record.ref.id).ok());
  }
  duo.establish();
  ASSERT_EQ(duo.errors(), "");
  for (int p : {0, 1}) EXPECT_EQ(duo.store(p).count(), 2'100u);
}

TEST(PairMesh, DifferentInventoriesAreNoSessionAndBothSayWhatToDo) {
  Duo duo;
  for (int p : {0, 1}) duo.options(p).advice.inventories = "look at the backups";
  prepare(duo.store(1), 1);
  ASSERT_TRUE(duo.store(1).commit(key(1)).ok());
  auto sessions = duo.establish(1'500);
  for (int p : {0, 1}) {
    EXPECT_FALSE(sessions[static_cast<std::size_t>(p)]);
    EXPECT_TRUE(says(duo.error(p), "inventories of the two servers differ")) << duo.error(p);
    EXPECT_TRUE(says(duo.error(p), "look at the backups")) << duo.error(p);
  }
}

TEST(PairMesh, AStoreThatCannotBeReadIsToldToThePeer) {
  Duo duo;
  duo.store(1).read_failure = "store: the disk is broken";
  auto sessions = duo.establish(1'500);
  EXPECT_FALSE(sessions[0] || sessions[1]);
  EXPECT_TRUE(says(duo.error(0), "party 1 refuses: store: the disk is broken")) << duo.error(0);
}

// One whose streams cannot be made: no thread, no descriptor.
class NoStreams final : public Network {
 public:
  explicit NoStreams(std::shared_ptr<Network> network) : network_(std::move(network)) {}
  Result<std::unique_ptr<Listener>> listen(const std::string& address,
                                           const PeerPin& pin) override {
    return network_->listen(address, pin);
  }
  Result<std::unique_ptr<PacketStream>> dial(const std::string& address, const PeerPin& pin,
                                             std::string name) override {
    return network_->dial(address, pin, std::move(name));
  }
  Result<std::unique_ptr<Link>> link(std::unique_ptr<PacketStream>, std::unique_ptr<PacketStream>,
                                     std::shared_ptr<LinkBreaker>) override {
    return fail("no link");
  }

 private:
  const std::shared_ptr<Network> network_;
};

TEST(PairMesh, NeitherIsInASessionWhoseStreamsTheOtherCouldNotMake) {
  for (int lacks : {0, 1}) {
    Duo duo;
    const MeshOptions& o = duo.options(lacks);
    auto tls =
        make_tls_network({o.certificate_pem, o.private_key_pem, o.records, o.records_per_key, ""});
    ASSERT_TRUE(tls.ok());
    duo.options(lacks).network = std::make_shared<NoStreams>(std::move(*tls));
    auto sessions = duo.establish(1'500);
    EXPECT_FALSE(sessions[0] || sessions[1]) << lacks;
    const std::string refused = "party " + std::to_string(lacks) + " refuses: link: this network";
    EXPECT_TRUE(says(duo.error(1 - lacks), refused)) << duo.error(1 - lacks);
  }
}

TEST(PairMesh, EachCountsItsOwnSessionsBeforeItUsesThem) {
  Duo duo;
  duo.store(0).use_epochs(7);
  duo.store(1).use_epochs(kMaxEpoch);
  auto sessions = duo.establish();
  ASSERT_EQ(duo.errors(), "");
  EXPECT_EQ(sessions[0]->epoch, 8u);
  EXPECT_EQ(sessions[1]->epoch, kMaxEpoch) << "which is no reason to stop";
  sessions = {};
  duo.store(0).epoch_failure = "store: no space";
  sessions = duo.establish(1'500);
  EXPECT_FALSE(sessions[0] || sessions[1]);
  EXPECT_TRUE(says(duo.error(1), "party 0 refuses: store: no space")) << duo.error(1);
}

TEST(PairMesh, WhoMayStartNoSessionSaysSo) {
  Duo duo;
  duo.options(0).give_up = [](std::optional<int>) -> Result<void> {
    return fail("session: the latch is closed");
  };
  auto sessions = duo.establish(1'500);
  EXPECT_FALSE(sessions[0] || sessions[1]);
  EXPECT_TRUE(says(duo.error(1), "party 0 refuses: session: the latch is closed")) << duo.error(1);
}

TEST(PairMesh, DisagreementsNameBothValues) {
  struct Case {
    std::function<void(MeshOptions&)> change;  // of one of them
    std::vector<std::string> named;
  };
  const Case cases[] = {
      {[](MeshOptions& o) { o.installation.fill(0xab); }, {"installation", "abababab", "2222"}},
      {[](MeshOptions& o) { o.lanes = 2; }, {"lane count", "2", "1"}},
      {[](MeshOptions& o) { o.wire_format = 4711; }, {"wire format", "4711", "42"}},
      {[](MeshOptions& o) { o.protocols[0].wire_format = 6; }, {"one release", "take others"}},
      {[](MeshOptions& o) { o.protocol_version = 77; }, {"protocol version", "77", "9"}},
  };
  for (const Case& one : cases)
    for (int changed : {0, 1}) {
      Duo duo;
      for (int p : {0, 1}) duo.options(p).advice.protocols = "take others";
      one.change(duo.options(changed));
      auto sessions = duo.establish(1'500);
      EXPECT_FALSE(sessions[0] || sessions[1]) << one.named[0];
      for (const std::string& word : one.named)
        for (int p : {0, 1})
          EXPECT_TRUE(says(duo.error(p), word)) << word << " by " << p << " in " << duo.error(p);
    }
}

// One of the two is configured for three servers, whichever.
TEST(PairMesh, APeerOfThreeServersIsToldApart) {
  Duo duo;
  Trio trio(3);
  for (int p : {0, 1}) {
    duo.options(p).advice.parties = "set parties";
    duo.options(p).establish_timeout_ms = 1'500;
    MeshOptions& of_three = trio.options(p);
    of_three.installation = duo.options(p).installation;
    of_three.security = Security::kMalicious;
    of_three.representation = Representation::kBytes;
    of_three.advice.parties = "set parties";
    of_three.certificate_pem = duo.options(p).certificate_pem;
    of_three.private_key_pem = duo.options(p).private_key_pem;
    of_three.establish_timeout_ms = 1'500;
    for (MeshPeer& peer : of_three.peers)
      if (peer.party == 1 - p) peer.pin = duo.options(p).peers[0].pin;
  }
  for (int of_two : {0, 1}) {
    MemoryStore stores[2];
    auto two = PairMesh::create(duo.options(of_two), stores[0]);
    auto three = Mesh::create(trio.options(1 - of_two), stores[1]);
    ASSERT_TRUE(two.ok() && three.ok());
    (*two)->set_peer_address("127.0.0.1:" + std::to_string((*three)->port()));
    (*three)->set_peer_address(of_two, "127.0.0.1:" + std::to_string((*two)->port()));
    auto waits = std::async(std::launch::async, [&] { return (*three)->establish(); });
    const std::string said[] = {(*two)->establish().error().message, waits.get().error().message};
    for (const std::string& text : said) {
      EXPECT_TRUE(says(text, "sessions of")) << text;
      EXPECT_TRUE(says(text, "set parties")) << text;
    }
  }
}

TEST(PairMesh, AnotherCertificateIsRefusedOnBothSides) {
  for (int wrong : {0, 1}) {
    Duo duo;
    for (int p : {0, 1}) duo.options(p).advice.pin = "pin that one";
    duo.options(wrong).peers[0].pin.certificate.fill(7);
    auto sessions = duo.establish(800);
    EXPECT_FALSE(sessions[0] || sessions[1]);
    EXPECT_TRUE(says(duo.errors() + duo.log(), "not the pinned one; pin that one"))
        << duo.errors() << duo.log();
  }
}

TEST(PairMesh, NobodyThereIsSaidWithWhatToDo) {
  Duo duo;
  duo.options(0).advice.no_answer = "start it";
  duo.options(1).advice.no_call = "look there";
  duo.elsewhere = true;
  auto sessions = duo.establish(300);
  EXPECT_TRUE(says(duo.error(0), "party 1 at 127.0.0.1:1 does not answer")) << duo.error(0);
  EXPECT_TRUE(says(duo.error(0), "; start it")) << duo.error(0);
  EXPECT_TRUE(says(duo.error(1), "party 0 did not call in time; look there")) << duo.error(1);
}

TEST(PairMesh, APeerThatDiesEndsTheSessionAndANewOneFollows) {
  for (std::size_t dies : {0u, 1u}) {
    Duo duo;
    auto sessions = duo.establish();
    ASSERT_EQ(duo.errors(), "");
    const SessionId id = sessions[0]->id;
    sessions[dies].reset();
    const std::string lost = hear(*sessions[1 - dies], 0, 1);
    EXPECT_TRUE(says(lost, "party " + std::to_string(dies))) << lost;
    sessions = {};
    duo.restart(static_cast<int>(dies));
    sessions = duo.establish();
    ASSERT_EQ(duo.errors(), "");
    EXPECT_NE(sessions[0]->id, id);
  }
}

TEST(PairMesh, ANewCallEndsASessionWhoseStreamsLookAlive) {
  Duo duo;
  auto sessions = duo.establish();
  ASSERT_EQ(duo.errors(), "");
  [[maybe_unused]] Session stale = std::move(*sessions[0]);  // as after a loss of power
  auto again = std::async(std::launch::async, [&] { return duo.mesh(0).establish(); });
  const std::string ended = hear(*sessions[1], 0, 1);
  EXPECT_TRUE(says(ended, "party 0 asks for new connections")) << ended;
  sessions[1] = duo.attempt(1);
  auto newer = again.get();
  ASSERT_TRUE(newer.ok() && sessions[1]) << duo.errors();
  EXPECT_EQ(newer->id, sessions[1]->id);
}

TEST(PairMesh, StopEndsTheSessionAndAWaitingEstablish) {
  for (int stops : {0, 1}) {
    Duo duo;
    auto sessions = duo.establish();
    ASSERT_EQ(duo.errors(), "");
    duo.mesh(stops).stop();
    for (std::size_t p : {0u, 1u}) {
      const std::string ended = hear(*sessions[p], 0, 1);
      EXPECT_TRUE(says(ended, "this server is stopping")) << ended;
    }
    EXPECT_FALSE(duo.attempt(stops));
    const int other = 1 - stops;
    auto waits = std::async(std::launch::async, [&] { return duo.attempt(other).has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const long long before = monotonic_ms();
    duo.mesh(other).stop();
    EXPECT_FALSE(waits.get());
    EXPECT_LT(monotonic_ms() - before, 1'000);
  }
}

TEST(PairMesh, StrangersDoNotDisturbASession) {
  Duo duo;
  auto sessions = duo.establish();
  ASSERT_EQ(duo.errors(), "");
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 100; ++i) {
    auto fd = start_dial(duo.address());
    ASSERT_TRUE(fd.ok());
    const char noise[] = "GET / HTTP/1.0\r\n\r\n";
    if (i % 2 == 0 && wait_ready(fd->get(), POLLOUT, monotonic_ms() + 1'000))
      (void)!::send(fd->get(), noise, sizeof noise, MSG_NOSIGNAL);
    strangers.push_back(std::move(*fd));
  }
  ASSERT_TRUE(sessions[0]->lanes[0].streams->to_next->write(octets("still"), kWaitMs).ok());
  EXPECT_EQ(hear(*sessions[1], 0, 5), "still");
  sessions = {};
  sessions = duo.establish();
  EXPECT_EQ(duo.errors(), "");
}

// The control of those above: each option alone is refused when the mesh is made.
TEST(PairMesh, OptionsThatAreNotOfTwoAreRefused) {
  const std::function<void(MeshOptions&)> changes[] = {
      [](MeshOptions& o) { o.party = 2; },
      [](MeshOptions& o) { o.peers[0].party = o.party; },
      [](MeshOptions& o) { o.peers.push_back(o.peers[0]); },
      [](MeshOptions& o) { o.peers.clear(); },
      [](MeshOptions& o) { o.security = Security::kSemiHonest; },
      [](MeshOptions& o) {
        o.protocols.push_back({"rep3", 1});
      },
      [](MeshOptions& o) { o.lanes = 0; },
  };
  Duo duo;
  EXPECT_TRUE(PairMesh::create(duo.options(1), duo.store(1)).ok());
  for (const auto& change : changes) {
    MeshOptions options = duo.options(1);
    change(options);
    EXPECT_FALSE(PairMesh::create(options, duo.store(1)).ok());
  }
}

}  // namespace
}  // namespace tkdc
