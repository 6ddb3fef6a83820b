// SPDX-License-Identifier: Apache-2.0
// Golden trace of how two servers come to a session: on each connection what each says, in what
// order; that is half made and half removed at one of both, too. What is drawn anew each time is
// zero here.
#include "golden.h"
#include "link/tls_network.h"
#include "session/duo.h"
#include "session/hello.h"

namespace tkdc {
namespace {

Bytes without_what_is_drawn(ByteSpan packet) {
  if (packet.empty() || packet[0] != 'H') return {packet.begin(), packet.end()};
  auto hello = decode_hello(packet);
  EXPECT_TRUE(hello.ok());
  if (!hello.ok()) return {};
  hello->nonce = {};
  hello->round = {};
  std::ranges::fill(hello->contribution, std::uint8_t{0});
  const SecretVector out = encode_hello(*hello);
  return {out.begin(), out.end()};
}

// Hashes what one party sends, with the number of the connection, by when it was first used.
class Recorder {
 public:
  explicit Recorder(test::TraceHash& hash) : hash_(hash) {}
  std::uint8_t next() { return connections_++; }
  void add(std::uint8_t connection, std::span<const ByteSpan> pieces) {
    Bytes packet;
    for (const ByteSpan& piece : pieces) packet.insert(packet.end(), piece.begin(), piece.end());
    hash_.add(ByteSpan(&connection, 1));
    hash_.add(without_what_is_drawn(packet));
  }

 private:
  test::TraceHash& hash_;
  std::uint8_t connections_ = 0;
};

class RecordedStream final : public PacketStream {
 public:
  RecordedStream(std::unique_ptr<PacketStream> stream, Recorder& to)
      : stream_(std::move(stream)), to_(to) {}
  std::unique_ptr<PacketStream> release() { return std::move(stream_); }

  Result<void> send_pieces(std::span<const ByteSpan> pieces) override {
    if (!number_) number_ = to_.next();
    to_.add(*number_, pieces);
    return stream_->send_pieces(pieces);
  }
  Result<bool> connect(long long deadline_ms) override { return stream_->connect(deadline_ms); }
  Result<bool> handshake() override { return stream_->handshake(); }
  Result<void> fill() override { return stream_->fill(); }
  bool has_packet() const override { return stream_->has_packet(); }
  ByteSpan take() override { return stream_->take(); }
  void wait(long long deadline_ms) override { stream_->wait(deadline_ms); }
  int id() const override { return stream_->id(); }
  short poll_events() const override { return stream_->poll_events(); }
  const std::string& peer() const override { return stream_->peer(); }
  void set_peer(std::string peer) override { stream_->set_peer(std::move(peer)); }
  void set_max_packet_bytes(std::size_t bytes) override { stream_->set_max_packet_bytes(bytes); }
  std::uint64_t bytes_received() const override { return stream_->bytes_received(); }
  Result<void> export_key(const std::string& label, MutableByteSpan out) const override {
    return stream_->export_key(label, out);
  }

 private:
  std::unique_ptr<PacketStream> stream_;
  Recorder& to_;
  std::optional<std::uint8_t> number_;
};

class RecordedListener final : public Listener {
 public:
  RecordedListener(std::unique_ptr<Listener> listener, Recorder& to)
      : listener_(std::move(listener)), to_(to) {}
  Result<std::unique_ptr<PacketStream>> accept() override {
    auto stream = listener_->accept();
    if (!stream.ok() || !*stream) return stream;
    return std::unique_ptr<PacketStream>(std::make_unique<RecordedStream>(std::move(*stream), to_));
  }
  void wait(std::vector<pollfd>& watched, int most_ms) override {
    listener_->wait(watched, most_ms);
  }
  void interrupt() override { listener_->interrupt(); }
  int port() const override { return listener_->port(); }

 private:
  std::unique_ptr<Listener> listener_;
  Recorder& to_;
};

class RecordedNetwork final : public Network {
 public:
  RecordedNetwork(std::shared_ptr<Network> network, test::TraceHash& hash)
      : network_(std::move(network)), to_(hash) {}
  Result<std::unique_ptr<Listener>> listen(const std::string& address,
                                           const PeerPin& pin) override {
    auto listener = network_->listen(address, pin);
    if (!listener.ok()) return listener;
    return std::unique_ptr<Listener>(std::make_unique<RecordedListener>(std::move(*listener), to_));
  }
  Result<std::unique_ptr<PacketStream>> dial(const std::string& address, const PeerPin& pin,
                                             std::string name) override {
    auto stream = network_->dial(address, pin, std::move(name));
    if (!stream.ok()) return stream;
    return std::unique_ptr<PacketStream>(std::make_unique<RecordedStream>(std::move(*stream), to_));
  }
  Result<std::unique_ptr<Link>> link(std::unique_ptr<PacketStream>, std::unique_ptr<PacketStream>,
                                     std::shared_ptr<LinkBreaker>) override {
    return fail("two servers have none");
  }
  Result<std::unique_ptr<BulkWriter>> bulk_writer(std::unique_ptr<PacketStream> stream) override {
    return network_->bulk_writer(dynamic_cast<RecordedStream&>(*stream).release());
  }
  Result<std::unique_ptr<BulkReader>> bulk_reader(std::unique_ptr<PacketStream> stream) override {
    return network_->bulk_reader(dynamic_cast<RecordedStream&>(*stream).release());
  }

 private:
  const std::shared_ptr<Network> network_;
  Recorder to_;
};

// Both have a key; another is half made at party 0 and done at party 1, one half removed at one.
void fill_one_of_two(MemoryStore& store, int party) {
  KeyRecord record;
  for (const std::uint8_t first : {1, 2, 3}) {
    record.ref.id = KeyId{first};
    ASSERT_TRUE(store.prepare(record).ok());
    if (first != 1 || party == 1) {
      ASSERT_TRUE(store.commit(record.ref.id).ok());
    }
  }
  if (party == 1) {
    ASSERT_TRUE(store.condemn(KeyId{3}).ok());
  }
}

TEST(PairGolden, FromHelloToReady) {
  std::array<test::TraceHash, 2> hashes;
  Duo duo(2);
  for (const int party : {0, 1}) {
    fill_one_of_two(duo.store(party), party);
    MeshOptions& o = duo.options(party);
    o.note = [party] {
      OwnersNote note;
      note.fill(static_cast<std::uint8_t>(party + 1));
      return note;
    };
    auto tls =
        make_tls_network({o.certificate_pem, o.private_key_pem, o.records, o.records_per_key, ""});
    ASSERT_TRUE(tls.ok());
    o.network =
        std::make_shared<RecordedNetwork>(std::move(*tls), hashes[static_cast<std::size_t>(party)]);
  }
  const auto sessions = duo.establish();
  ASSERT_TRUE(sessions[0] && sessions[1]) << duo.errors();
  test::Traces now;
  now["pair-session later 0"] = hashes[0].hex();
  now["pair-session later 1"] = hashes[1].hex();
  test::expect_golden("later", now);
}

}  // namespace
}  // namespace tkdc
