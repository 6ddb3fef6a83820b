// SPDX-License-Identifier: Apache-2.0
// Golden traces of two servers (service/pair/wire-format.txt): what each sends from fixed random
// numbers, from a session's beginning to its jobs' ends; and the circuits that both make of the
// catalogue's. Two servers compare the file's digest in their handshake. `make golden` writes it.
#include <deque>

#include "base/hex.h"
#include "circuit/schedule_digest.h"
#include "ot/fixed_random.h"
#include "pair/proof.h"
#include "service/pair/pair_circuits.h"
#include "service/pair/pair_offer.h"
#include "session/memory_store.h"
#include "session/pair_talk.h"
#include "support/file_digest.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using namespace std::chrono_literals;

// A clock that goes when the test says so, and a count of the leader's waits: it waits when there
// is nothing to do. So pauses of a busy machine are not sent.
class StandingMachine final : public Machine {
 public:
  StandingMachine() { use_machine(*this); }
  ~StandingMachine() override { use_machine(real_); }
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(1h) + passed_.load();
  }
  std::chrono::system_clock::time_point wall() override {
    return std::chrono::system_clock::time_point(480'000h) + passed_.load();
  }
  void pause(std::chrono::microseconds time) override { real_.pause(time); }
  std::unique_ptr<Thread> start(std::function<void()> body) override {
    return real_.start(std::move(body));
  }
  bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
            std::chrono::microseconds most, const std::function<bool()>& there) override {
    const bool done =
        real_.wait(changed, lock, std::min<std::chrono::microseconds>(most, 5ms), there);
    // Who waits for the other server's octets, which takes patience, is not idle.
    if (ot::who == kLeader && !done && most < 10s) ++idle_;
    return done;
  }

  // Until the leader has waited three times. What the follower still does then adds no octet of its
  // own accord.
  void pass(std::chrono::milliseconds time) {
    const std::uint64_t before = idle_;
    passed_ = passed_.load() + time;
    for (int k = 0; k < 20'000 && idle_ < before + 3; ++k) std::this_thread::sleep_for(2ms);
    EXPECT_GE(idle_, before + 3) << "the leader is not idle";
  }
  void until_idle() { pass(0ms); }
  void forward(std::chrono::milliseconds time) { passed_ = passed_.load() + time; }
  static constexpr std::uint8_t kLeader = 11;  // ot::who of server 0

 private:
  Machine& real_ = machine();
  std::atomic<std::chrono::milliseconds> passed_{0ms};
  std::atomic<std::uint64_t> idle_{0};
};

class Traces {
 public:
  // Of what server p sends from now on; the one before has its name and hash.
  void begin() {
    for (auto& state : states_) crypto_generichash_init(&state, nullptr, 0, 32);
  }
  void add(std::size_t p, ByteSpan octets) {
    crypto_generichash_update(&states_[p], octets.data(), octets.size());
  }
  void end(const std::string& name, ot::Hashes& hashes) {
    for (const std::size_t p : {0, 1}) {
      Digest out;
      crypto_generichash_final(&states_[p], out.data(), out.size());
      hashes[name + " " + std::to_string(p)] = to_hex(out);
    }
  }

 private:
  crypto_generichash_state states_[2];
};

class Realm {
 public:
  explicit Realm(ot::Hashes& hashes) : hashes_(hashes) { ot::begin_fixed(13); }

  TwoServices& two() { return *two_; }
  void begin() {
    traces_.begin();
    two_ = std::make_unique<TwoServices>(
        512,
        [this](JobServiceOptions& options) {
          options.pair_tables_bytes = tables_ ? std::size_t{8} << 20 : 0;
          options.pair_tables_wait = 0ms;
        },
        [this](std::size_t p) {
          ot::begin_fixed(static_cast<std::uint8_t>(StandingMachine::kLeader + p));
          if (draws_others_) (void)pair::draw_coin();
        },
        [this](std::size_t p, ByteSpan octets) { traces_.add(p, octets); });
    until_up();
  }
  // Another session, with services that know nothing of the last one.
  void next(const std::string& ended, const std::function<void()>& between = nullptr) {
    end(ended);
    traces_.begin();
    two_->restart([&](std::size_t p) {
      if (p == 0 && between) between();
    });
    until_up();
  }
  // The one that follows a session that ends by itself, once some time has passed. Its pool has
  // another id than the one of the last session that made one.
  void follow(const std::string& ended) {
    machine_.forward(3s);
    two_->join();
    draws_others_ = true;
    traces_.end(ended, hashes_);
    traces_.begin();
    two_->start_session();
    until_up();
  }
  void end(const std::string& name) {
    machine_.until_idle();
    two_->stop();
    traces_.end(name, hashes_);
  }
  Bytes ask(const AskedJob& job) {
    machine_.until_idle();
    const auto out = two_->ask(job);
    EXPECT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    machine_.until_idle();
    return out.output;
  }
  KeyRef make_key(const std::string& principal, const Bytes& imported) {
    KeyRef ref = new_key(kEnctype);
    const std::uint8_t origin = imported.empty() ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED;
    ask({TKDC_OP_STAGE, ref, 0, {origin}, imported, AgentRole::kAdmin});
    ref.principal = digest_of(principal);
    ask({TKDC_OP_BIND, ref, 0, Bytes(principal.begin(), principal.end()), {}, AgentRole::kAdmin});
    return ref;
  }
  StandingMachine& machine() { return machine_; }
  void have_tables(bool some) { tables_ = some; }

 private:
  void until_up() {
    for (int k = 0; k < 8000 && !two_->is_up(); ++k) std::this_thread::sleep_for(5ms);
    ASSERT_TRUE(two_->is_up());
    machine_.until_idle();
  }

  StandingMachine machine_;
  const ot::FixedRandom fixed_;
  ot::Hashes& hashes_;
  bool draws_others_ = false, tables_ = false;
  Traces traces_;
  std::unique_ptr<TwoServices> two_;
};

// A connection whose packets are in memory.
class MemoryPackets final : public PacketStream {
 public:
  struct Way {
    std::mutex mutex;
    std::deque<Bytes> packets;
    Bytes all;  // each behind its length
  };
  MemoryPackets(Way& out, Way& in, std::string peer) : out_(out), in_(in), peer_(std::move(peer)) {}
  Result<bool> connect(long long) override { return true; }
  Result<bool> handshake() override { return true; }
  Result<void> send_pieces(std::span<const ByteSpan> pieces) override {
    Bytes packet;
    for (const ByteSpan& piece : pieces) packet.insert(packet.end(), piece.begin(), piece.end());
    const std::lock_guard lock(out_.mutex);
    Writer w(out_.all);
    w.u64(packet.size());
    w.raw(packet);
    out_.packets.push_back(std::move(packet));
    return {};
  }
  Result<void> fill() override { return {}; }
  bool has_packet() const override {
    const std::lock_guard lock(in_.mutex);
    return !in_.packets.empty();
  }
  ByteSpan take() override {
    const std::lock_guard lock(in_.mutex);
    taken_ = std::move(in_.packets.front());
    in_.packets.pop_front();
    return taken_;
  }
  void wait(long long) override { std::this_thread::sleep_for(1ms); }
  int id() const override { return -1; }
  short poll_events() const override { return 0; }
  const std::string& peer() const override { return peer_; }
  void set_peer(std::string peer) override { peer_ = std::move(peer); }
  void set_max_packet_bytes(std::size_t) override {}
  std::uint64_t bytes_received() const override { return 0; }
  Result<void> export_key(const std::string&, MutableByteSpan) const override {
    return fail("no keys here");
  }

 private:
  Way& out_;
  Way& in_;
  std::string peer_;
  Bytes taken_;
};

// What follows HELLO: one key half made at one, another half removed there.
void add_handshake(ot::Hashes& hashes) {
  MemoryStore stores[2];
  for (const std::uint8_t p : {0, 1})
    for (const std::uint8_t first : {1, 2, 3}) {
      KeyRecord record;
      record.ref.id = {first};
      ASSERT_TRUE(stores[p].prepare(record).ok());
      if (first == 1 && p == 0) continue;
      ASSERT_TRUE(stores[p].commit(record.ref.id).ok());
      if (first == 3 && p == 0) {
        ASSERT_TRUE(stores[p].condemn(record.ref.id).ok());
      }
    }
  MemoryPackets::Way ways[2];
  const LinkBreaker breaker;
  const auto talk = [&](std::size_t p) -> Result<void> {
    MemoryPackets stream(ways[p], ways[1 - p], "party " + std::to_string(1 - p));
    PairTalk of(stream, breaker, monotonic_ms() + 20'000);
    auto done = of.agree(stores[p], SessionAdvice());
    if (done) done = of.ready();
    return done;
  };
  std::thread other([&] { EXPECT_TRUE(talk(1).ok()); });
  const auto done = talk(0);
  EXPECT_TRUE(done.ok()) << (done ? "" : done.error().message);
  other.join();
  for (const std::size_t p : {0, 1}) {
    Digest out;
    crypto_generichash(out.data(), out.size(), ways[p].all.data(), ways[p].all.size(), nullptr, 0);
    hashes["handshake " + std::to_string(p)] = to_hex(out);
  }
}

void add_circuit(const std::string& kind, ot::Hashes& hashes) {
  PairCircuits circuits;
  const auto made = circuits.get(kind);
  ASSERT_TRUE(made.ok()) << made.error().message;
  std::string name = kind;
  std::ranges::replace(name, ' ', '-');
  hashes[name + " schedule"] = to_hex(circuit::digest_of((*made)->circuit.schedule));
}

// By libkrb5, whose confounder is another one each time: `plain` below, under `key` and usage 1.
constexpr std::string_view kSealed =
    "6b973df989a1dd519aedcc255ba8458022cc03e0e96490d9"
    "90556dd954a9d80851e2971ebeac7af77a068fa73ac8ba6f";

void add_sessions(ot::Hashes& hashes) {
  Realm realm(hashes);
  const Bytes key(16, 0x5a), plain(20, 0x33);
  test::Krb5Client whole(kEnctype, key);
  Bytes sealed(kSealed.size() / 2);
  ASSERT_TRUE(from_hex(kSealed, sealed));
  EXPECT_EQ(whole.open(1, sealed), plain);
  realm.begin();
  const KeyRef drawn = realm.make_key("bob@R", {});
  const KeyRef alice = realm.make_key("alice@R", key);
  realm.ask({TKDC_OP_DESTROY, drawn, 0, {}, {}, AgentRole::kAdmin});
  const TwoServices::Job seal{TKDC_OP_SEAL, alice, 3, {}, plain};
  const TwoServices::Job mac{TKDC_OP_MAC, alice, 56, {}, plain};

  realm.next("keys");
  EXPECT_EQ(whole.open(3, realm.ask(seal)), plain);
  EXPECT_EQ(realm.ask({TKDC_OP_OPEN, alice, 1, {}, sealed}), plain);
  EXPECT_EQ(realm.ask(mac), whole.checksum(56, plain));

  // Bridged before it is asked for, then prepared; and forgotten when nobody asks any more.
  realm.next("jobs");
  EXPECT_EQ(realm.ask(mac), whole.checksum(56, plain));
  realm.machine().pass(100ms);
  const auto prepared = [&] { return realm.two().service(0).status().pair->prepared; };
  EXPECT_GT(prepared(), 0u);
  EXPECT_EQ(realm.ask(mac), whole.checksum(56, plain));
  EXPECT_GT(realm.two().service(0).status().pair->found, 0u);
  for (int k = 0; k < 62; ++k) realm.machine().pass(15s);  // each hears of the other meanwhile
  EXPECT_EQ(prepared(), 0u);

  // By tables: made once they were asked for, then a SEAL and an OPEN.
  realm.have_tables(true);
  realm.next("ahead");
  for (const bool there : {false, true}) {
    EXPECT_EQ(whole.open(3, realm.ask(seal)), plain);
    EXPECT_EQ(realm.ask({TKDC_OP_OPEN, alice, 1, {}, sealed}), plain);
    if (!there) realm.machine().pass(100ms);
  }
  EXPECT_EQ(realm.two().service(1).status().pair->tables_jobs, 2u);
  realm.have_tables(false);

  // The key moves in one session, and in the next its former pool goes at both.
  realm.next("tables", [&] { use_up_to(realm.two(), 512 / 16); });
  realm.machine().pass(100ms);
  EXPECT_EQ(realm.ask(mac), whole.checksum(56, plain));
  realm.next("moved");
  realm.machine().pass(100ms);
  for (const std::size_t p : {0, 1}) EXPECT_EQ(realm.two().service(p).status().pair->pools, 1u);

  // The other one is asked, and says so when it is asked whether it is there.
  realm.two().service(1).ask_shares(ShareTask::kRefresh);
  realm.follow("erased");
  realm.follow("refreshed");  // which ends with the refresh
  for (const std::size_t p : {0, 1}) {
    const JobServiceStatus now = realm.two().service(p).status();
    EXPECT_EQ(now.refresh_epoch, 1u) << now.shares.trouble;
  }
  EXPECT_EQ(realm.ask(mac), whole.checksum(56, plain));
  realm.end("after");
}

TEST(PairJobsGolden, WhatTwoServersSendIsAsCommitted) {
  ot::Hashes hashes;
  add_handshake(hashes);
  add_sessions(hashes);
  for (const char* kind :
       {"answer mac-sha1", "answer open17:60", "answer around-open17:60", "answer around-open18:60",
        "answer around-open19:60", "answer around-open20:60", "answer around-seal17:20",
        "answer around-seal18:20", "answer around-seal19:20", "answer around-seal20:20",
        "store derive-encryption17:3", "store copy:16", "answer copy:32"})
    add_circuit(kind, hashes);
  ot::compare_golden(TKDC_PAIR_JOBS_WIRE_FORMAT_FILE, hashes);
}

// Not by the build: what a comment changes is not offered. A server whose files differ is refused,
// with the words of session_advice.cc (PairMesh.DisagreementsNameBothValues).
TEST(PairOffer, IsOfTheFilesAlone) {
  const OfferedProtocol one = pair_offered();
  EXPECT_EQ(one, pair_offered(test::digest_of_file(TKDC_PAIR_WIRE_FORMAT_FILE),
                              test::digest_of_file(TKDC_PAIR_JOBS_WIRE_FORMAT_FILE),
                              test::digest_of_file(TKDC_CIRCUITS_WIRE_FORMAT_FILE),
                              test::digest_of_file(TKDC_LUT_JOBS_WIRE_FORMAT_FILE)));
  EXPECT_NE(pair_offered(1, 2, 3, 4), pair_offered(2, 2, 3, 4));
  EXPECT_NE(pair_offered(1, 2, 3, 4), pair_offered(1, 3, 3, 4));
  EXPECT_NE(pair_offered(1, 2, 3, 4), pair_offered(1, 2, 4, 4));
  EXPECT_NE(pair_offered(1, 2, 3, 4), pair_offered(1, 2, 3, 5));
}

}  // namespace
}  // namespace tkdc
