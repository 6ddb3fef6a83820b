// SPDX-License-Identifier: Apache-2.0
#include "link/tls_stream.h"

#include <poll.h>

#include <random>

#include "link/round_trip.h"
#include "loopback_pair.h"
#include "stream_pair.h"

namespace tkdc {
namespace {

TEST(TlsStream, PacketsOfEverySizeArriveWhole) {
  StreamPair pair;
  std::mt19937 random(1);
  for (std::size_t bytes : {0, 1, 4, 5, 16'379, 16'380, 16'381, 32'764, 100'000, 5'000'000}) {
    Bytes packet(bytes);
    for (auto& octet : packet) octet = static_cast<std::uint8_t>(random());
    ASSERT_TRUE(pair.client->send(packet).ok());
    auto got = StreamPair::pass(*pair.client, *pair.server);
    ASSERT_TRUE(got.ok()) << bytes << " " << got.error().message;
    EXPECT_TRUE(std::equal(got->begin(), got->end(), packet.begin(), packet.end())) << bytes;
  }
}

// Borders of pieces before, on and behind those of records.
TEST(RoundTrip, IsWhatTheKernelMeasured) {
  LoopbackPair pair;
  const auto found = fastest_round_trip(pair.client_fd.get());
  ASSERT_TRUE(found);
  EXPECT_LT(*found, std::chrono::seconds(1));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd reading(ends[0]), writing(ends[1]);
  EXPECT_FALSE(fastest_round_trip(reading.get()));
}

TEST(TlsStream, PacketsInPiecesArriveWhole) {
  StreamPair pair;
  std::mt19937 random(2);
  const std::size_t sizes[] = {0,      1,      4,      8,      16'376, 16'380, 16'381, 16'382,
                               16'383, 16'384, 16'388, 32'765, 32'768, 65'536, 70'001};
  for (std::size_t head : {std::size_t{0}, std::size_t{4}, std::size_t{16'384}})
    for (std::size_t middle : sizes)
      for (std::size_t tail : {0, 32, 16'384}) {
        Bytes whole(head + middle + tail);
        for (auto& octet : whole) octet = static_cast<std::uint8_t>(random());
        const ByteSpan all(whole);
        const ByteSpan pieces[] = {all.first(head), all.subspan(head, middle), all.last(tail)};
        ASSERT_TRUE(pair.client->send_pieces(pieces).ok());
        auto got = StreamPair::pass(*pair.client, *pair.server);
        ASSERT_TRUE(got.ok()) << got.error().message;
        EXPECT_TRUE(std::equal(got->begin(), got->end(), whole.begin(), whole.end()))
            << head << " " << middle << " " << tail;
      }
}

TEST(TlsStream, ViewsSurviveFurtherReading) {
  StreamPair pair;
  ASSERT_TRUE(pair.client->send(Bytes(1000, 1)).ok());
  auto first = StreamPair::pass(*pair.client, *pair.server);
  ASSERT_TRUE(first.ok());
  for (int i = 2; i < 50; ++i)
    ASSERT_TRUE(pair.client->send(Bytes(3000, static_cast<std::uint8_t>(i))).ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pair.server->fill().ok());
  EXPECT_EQ(Bytes(first->begin(), first->end()), Bytes(1000, 1));
  for (int i = 2; i < 50; ++i) {
    auto next = StreamPair::pass(*pair.client, *pair.server);
    ASSERT_TRUE(next.ok());
    EXPECT_EQ((*next)[2999], i);
  }
}

TEST(TlsStream, KeysAreUpdatedByCount) {
  StreamPair pair;
  pair.client->set_records_per_key(10);
  for (int i = 0; i < 35; ++i) {
    ASSERT_TRUE(pair.client->send(Bytes(100, static_cast<std::uint8_t>(i))).ok());
    auto got = StreamPair::pass(*pair.client, *pair.server);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ((*got)[0], i);
    // The other direction goes on under its own key.
    ASSERT_TRUE(pair.server->send(Bytes(10)).ok());
    ASSERT_TRUE(StreamPair::pass(*pair.server, *pair.client).ok());
  }
  EXPECT_EQ(pair.client->key_updates_sent(), 3u);
  EXPECT_EQ(pair.server->key_updates_received(), 3u);
  EXPECT_EQ(pair.server->key_updates_sent(), 0u);
  // Within one large packet too.
  ASSERT_TRUE(pair.client->send(Bytes(1'000'000, 9)).ok());
  ASSERT_TRUE(StreamPair::pass(*pair.client, *pair.server).ok());
  EXPECT_GE(pair.server->key_updates_received(), 9u);
}

TEST(TlsStream, LimitsOnPackets) {
  StreamPair pair;
  EXPECT_FALSE(pair.client->send(Bytes(kMaxPacketBytes + 1)).ok());
  pair.server->set_max_packet_bytes(100);
  ASSERT_TRUE(pair.client->send(Bytes(101)).ok());
  auto got = StreamPair::pass(*pair.client, *pair.server);
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("above the limit of 100"), std::string::npos);
  EXPECT_FALSE(pair.server->fill().ok()) << "stays failed";
}

TEST(TlsStream, APeerThatDoesNotReadIsCutOff) {
  StreamPair pair;
  Bytes packet(8 << 20);
  Result<void> sent;
  int n = 0;
  while (n < 100 && (sent = pair.client->send(packet)).ok()) ++n;
  ASSERT_FALSE(sent.ok());
  EXPECT_GT(n, 10);
  EXPECT_NE(sent.error().message.find("does not read"), std::string::npos) << sent.error().message;
}

TEST(TlsStream, AReceiverThatDoesNotTakeIsBounded) {
  StreamPair pair;
  for (int i = 0; i < 30'000; ++i) {
    ASSERT_TRUE(pair.client->send(Bytes(1)).ok());
    ASSERT_TRUE(pair.server->fill().ok());
  }
  EXPECT_EQ(pair.server->poll_events() & POLLIN, 0) << "TCP pushes back";
  for (int i = 0; i < 30'000; ++i)
    ASSERT_TRUE(StreamPair::pass(*pair.client, *pair.server).ok()) << i;
}

TEST(TlsStream, AReceiverMayHaveASmallerBound) {
  StreamPair pair;
  pair.server->set_max_waiting_bytes(1'000);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pair.client->send(Bytes(600)).ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pair.server->fill().ok());
  int waiting = 0;
  for (; pair.server->has_packet(); ++waiting) (void)pair.server->take();
  EXPECT_EQ(waiting, 2);
  for (; waiting < 10; ++waiting)
    ASSERT_TRUE(StreamPair::pass(*pair.client, *pair.server).ok()) << waiting;
}

TEST(TlsStream, PacketsBeforeTheEndAreDelivered) {
  StreamPair pair;
  ASSERT_TRUE(pair.client->send(Bytes(10, 1)).ok());
  ASSERT_TRUE(pair.client->send(Bytes(10, 2)).ok());
  pair.client.reset();
  for (int i = 0; i < 10; ++i) (void)pair.server->fill().ok();
  ASSERT_TRUE(pair.server->failed());
  ASSERT_TRUE(pair.server->has_packet());
  EXPECT_EQ(pair.server->take()[0], 1);
  ASSERT_TRUE(pair.server->has_packet());
  EXPECT_EQ(pair.server->take()[0], 2);
  auto end = pair.server->fill();
  ASSERT_FALSE(end.ok());
  EXPECT_NE(end.error().message.find("closed the connection"), std::string::npos);
}

TEST(TlsStream, ChangedRecordsEndTheStream) {
  StreamPair pair;
  // Written beside TLS, as somebody on the wire could.
  const char noise[] = "\x17\x03\x03\x00\x20 not what the key made of it....";
  ASSERT_GT(::send(pair.client->fd(), noise, 37, MSG_NOSIGNAL), 0);
  Result<void> filled;
  for (int i = 0; i < 10 && filled.ok(); ++i) filled = pair.server->fill();
  ASSERT_FALSE(filled.ok());
  EXPECT_NE(filled.error().message.find("client"), std::string::npos) << "names the peer";
}

TEST(TlsStream, ExportersAgree) {
  StreamPair pair;
  Bytes a(32), b(32), other(32);
  ASSERT_TRUE(pair.client->export_key("EXPORTER-test", a).ok());
  ASSERT_TRUE(pair.server->export_key("EXPORTER-test", b).ok());
  ASSERT_TRUE(pair.server->export_key("EXPORTER-else", other).ok());
  EXPECT_EQ(a, b);
  EXPECT_NE(a, other);
}

TEST(TlsContext, OnlyTls13WithoutTicketsOrWeakSuites) {
  auto made = make_certificate("x");
  auto tls = TlsContext::create(made->certificate_pem, made->private_key_pem);
  ASSERT_TRUE(tls.ok());
  auto ssl = tls->client(made->sha256);
  ASSERT_TRUE(ssl.ok());
  SSL_CTX* ctx = SSL_get_SSL_CTX(ssl->get());
  EXPECT_EQ(SSL_CTX_get_min_proto_version(ctx), TLS1_3_VERSION);
  EXPECT_EQ(SSL_CTX_get_max_proto_version(ctx), TLS1_3_VERSION);
  EXPECT_EQ(SSL_CTX_get_num_tickets(ctx), 0u);
  EXPECT_EQ(SSL_CTX_get_max_early_data(ctx), 0u);
  EXPECT_EQ(SSL_CTX_get_session_cache_mode(ctx), SSL_SESS_CACHE_OFF);
  STACK_OF(SSL_CIPHER)* suites = SSL_get1_supported_ciphers(ssl->get());
  for (int i = 0; i < sk_SSL_CIPHER_num(suites); ++i) {
    std::string name = SSL_CIPHER_get_name(sk_SSL_CIPHER_value(suites, i));
    EXPECT_TRUE(name.find("GCM") != std::string::npos ||
                name.find("CHACHA20_POLY1305") != std::string::npos)
        << name;
  }
  sk_SSL_CIPHER_free(suites);
}

TEST(TlsContext, KeyOfAnotherCertificateIsRefused) {
  auto a = make_certificate("a"), b = make_certificate("b");
  auto tls = TlsContext::create(a->certificate_pem, b->private_key_pem);
  ASSERT_FALSE(tls.ok());
  EXPECT_NE(tls.error().message.find("belong together"), std::string::npos);
}

}  // namespace
}  // namespace tkdc
