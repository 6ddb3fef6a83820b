// SPDX-License-Identifier: Apache-2.0
// Bulk streams over TLS with peers that die, stall, or send what has no meaning.
#include "link/tls_bulk_stream.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "loopback_pair.h"

namespace tkdc {
namespace {

// Kinds of records, by tls_bulk_stream.h.
constexpr int kOctets = 1, kEnd = 2, kConfirm = 3, kAbort = 4;

struct RawReader {  // its writer is a raw peer, party 0
  RawPeer peer;
  std::unique_ptr<BulkReader> reader;

  explicit RawReader(int stall_ms = 0) {
    reader = make_tls_bulk_reader(peer.connect(), {1 << 16, stall_ms}).value();
  }
  Error error() {
    Bytes some(1);
    Result<void> done;
    while ((done = reader->read(some, kLongMs)).ok()) {
    }
    EXPECT_FALSE(reader->at_end());
    return done.error();
  }
};

struct RawWriter {  // its reader is a raw peer, party 0
  RawPeer peer;
  std::unique_ptr<BulkWriter> writer;

  explicit RawWriter(int stall_ms = 0) {
    writer = make_tls_bulk_writer(peer.connect(), {1 << 16, stall_ms}).value();
  }
  Error error() {
    Result<void> done;
    while ((done = writer->write(Bytes(100'000), kLongMs)).ok()) {
    }
    return done.error();
  }
};

// What the page in tls_bulk_stream.h says, octet for octet.
TEST(TlsBulkStream, RecordsAreThoseOfTheHeader) {
  RawWriter one;
  ASSERT_TRUE(one.writer->write(Bytes{'a', 'b', 'c'}, kLongMs).ok());
  EXPECT_EQ(one.peer.receive(), (Bytes{0, 0, 0, 4, kOctets, 'a', 'b', 'c'}));
  one.writer->finish();
  EXPECT_EQ(one.peer.receive(), (Bytes{0, 0, 0, 1, kEnd}));
  EXPECT_FALSE(one.writer->wait_finished(50).value()) << "nobody has confirmed";
  one.peer.packet(1, kConfirm, 0);
  EXPECT_TRUE(one.writer->wait_finished(kLongMs).value());

  RawReader other;
  other.peer.packet(4, kOctets, 3, 'x');
  other.peer.packet(1, kEnd, 0);
  EXPECT_EQ(other.peer.receive(), (Bytes{0, 0, 0, 1, kConfirm}));
  EXPECT_EQ(other.reader->wait(4, kLongMs).value(), BulkReader::Event::kEnd);
  Bytes out(3);
  ASSERT_TRUE(other.reader->read(out, kLongMs).ok());
  EXPECT_EQ(out, Bytes(3, 'x'));
  EXPECT_TRUE(other.reader->at_end());

  RawWriter given_up;
  given_up.writer->abort("why");
  EXPECT_EQ(given_up.peer.receive(), (Bytes{0, 0, 0, 4, kAbort, 'w', 'h', 'y'}));
}

TEST(TlsBulkStream, NoRecordIsLongerThanTheLimit) {
  RawWriter one;
  ASSERT_TRUE(one.writer->wait_room(1 << 16, kLongMs).value());
  std::thread writing([&] { EXPECT_TRUE(one.writer->write(Bytes(1'000'000), kLongMs).ok()); });
  std::size_t got = 0, longest = 0;
  while (got < 1'000'000) {
    const Bytes record = one.peer.receive();
    ASSERT_GT(record.size(), 5u);
    longest = std::max(longest, record.size());
    got += record.size() - 5;
  }
  writing.join();
  EXPECT_LE(longest, kMaxBulkRecordBytes);
}

// What the reader has no room for stays with TCP, however much is there at once.
TEST(TlsBulkStream, AReaderTakesNoMoreThanItHasRoomFor) {
  constexpr std::size_t kRecords = 40, kOctetsEach = 10'000, kAll = kRecords * kOctetsEach;
  RawPeer peer;
  auto server = peer.connect();
  const UniqueFd watched(::dup(server->fd()));
  const int buffer_bytes = 1 << 20;
  ASSERT_EQ(setsockopt(watched.get(), SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes),
            0);
  std::thread writing([&] {
    for (std::size_t n = 0; n < kRecords; ++n) peer.packet(kOctetsEach + 1, kOctets, kOctetsEach);
  });
  // In the kernel: what has arrived, and what has not.
  auto waiting = [&] {
    int unread = 0, unsent = 0;
    EXPECT_EQ(ioctl(watched.get(), FIONREAD, &unread), 0);
    EXPECT_EQ(ioctl(peer.fd(), SIOCOUTQ, &unsent), 0);
    return static_cast<std::size_t>(unread) + static_cast<std::size_t>(unsent);
  };
  const long long deadline_ms = monotonic_ms() + 10'000;
  while (waiting() < kAll && monotonic_ms() < deadline_ms)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(waiting(), kAll) << "the kernel's buffers are too small for this test";
  auto reader = make_tls_bulk_reader(std::move(server), {1'000, 0}).value();
  EXPECT_EQ(reader->wait(1'000, kLongMs).value(), BulkReader::Event::kOctets);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  // Its ring, two records, a batch of ciphertext.
  EXPECT_GT(waiting() + 3 * kMaxBulkRecordBytes + 1'000, kAll);
  Bytes out(kOctetsEach);
  for (std::size_t n = 0; n < kRecords; ++n) ASSERT_TRUE(reader->read(out, kLongMs).ok()) << n;
  writing.join();
}

TEST(TlsBulkStream, APeerThatDiesIsNoEnd) {
  {
    RawReader one;  // in mid-record
    one.peer.packet(60'001, kOctets, 10'000);
    one.peer.die();
    EXPECT_TRUE(says(one.error(), "stream from party 0: tls: party 0 is gone"));
  }
  {
    RawReader one;  // between records: what came can be read
    one.peer.packet(10'001, kOctets, 10'000);
    one.peer.die();
    Bytes out(10'000);
    ASSERT_TRUE(one.reader->read(out, kLongMs).ok());
    EXPECT_EQ(out, Bytes(10'000, 7));
    EXPECT_TRUE(says(one.error(), "it is cut short after 10000 octets"));
  }
  {
    RawReader one;  // an orderly goodbye of TLS, but not of the stream
    one.peer.packet(10'001, kOctets, 10'000);
    one.peer.say_goodbye();
    EXPECT_TRUE(says(one.error(), "closed the connection; it is cut short after 10000 octets"));
  }
  {
    RawWriter one;
    std::thread blocked([&] { EXPECT_TRUE(says(one.error(), "stream to party 0: tls: ")); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    one.peer.die();
    blocked.join();
  }
  {
    RawWriter one;  // after the end was sent, before it is confirmed
    one.writer->finish();
    EXPECT_EQ(one.peer.receive().size(), 5u);
    one.peer.die();
    EXPECT_FALSE(one.writer->wait_finished(kLongMs).ok());
  }
}

TEST(TlsBulkStream, APeerThatStallsInMidRecordFailsTheReader) {
  RawReader one(1'000);
  one.peer.packet(60'001, kOctets, 10'000);
  EXPECT_TRUE(says(one.error(), "stream from party 0: no octet moved for 1000 ms"));
}

// A slow line is no stall: a record that comes in small parts takes longer than stall_ms.
TEST(TlsBulkStream, ARecordThatComesSlowlyIsNoStall) {
  RawReader one(3'000);
  std::thread slow([&] {
    one.peer.packet(6'001, kOctets, 1'000);
    for (int k = 0; k < 10; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(450));
      one.peer.write(Bytes(500));
    }
  });
  Bytes out(6'000);
  auto done = one.reader->read(out, kLongMs);
  EXPECT_TRUE(done.ok()) << done.error().message;
  slow.join();
}

TEST(TlsBulkStream, RecordsWithoutMeaningFailTheReader) {
  struct Wrong {
    std::size_t bytes;
    int kind;
    std::size_t octets;
    const char* message;
  };
  const Wrong all[] = {
      {kMaxBulkPayloadBytes + 2, kOctets, 10,
       "announced a packet of 65533 octets, above the limit"},
      {0xffffffff, kOctets, 10, "announced a packet of 4294967295 octets, above the limit"},
      {1, kOctets, 0, "a record of kind 1 and 1 octets has no meaning"},
      {2, kEnd, 1, "a record of kind 2 and 2 octets has no meaning"},
      {1, kConfirm, 0, "a record of kind 3 and 1 octets has no meaning"},
      {1, 0, 0, "a record of kind 0 and 1 octets has no meaning"},
      {2, 255, 1, "a record of kind 255 and 2 octets has no meaning"},
  };
  for (const Wrong& wrong : all) {
    RawReader one;
    one.peer.packet(wrong.bytes, wrong.kind, wrong.octets);
    EXPECT_TRUE(says(one.error(), wrong.message));
  }
  RawReader empty;
  empty.peer.write(Bytes(4));
  EXPECT_TRUE(says(empty.error(), "a record of no kind and 0 octets has no meaning"));
  RawReader longest;
  longest.peer.packet(kMaxBulkPayloadBytes + 1, kOctets, kMaxBulkPayloadBytes);
  Bytes out(kMaxBulkPayloadBytes);
  EXPECT_TRUE(longest.reader->read(out, kLongMs).ok()) << "the limit itself is none";
}

TEST(TlsBulkStream, RecordsWithoutMeaningFailTheWriter) {
  for (int kind : {kOctets, kEnd, kConfirm, 0, 9}) {
    RawWriter one;
    one.peer.packet(1, kind, 0);
    EXPECT_TRUE(says(one.error(), "stream to party 0: a record of kind " + std::to_string(kind)));
  }
  RawWriter one;
  one.peer.packet(0xffffff, kAbort, 0);
  EXPECT_TRUE(says(one.error(), "above the limit"));
}

TEST(TlsBulkStream, APeersReasonIsShortAndPrintable) {
  RawReader one;
  one.peer.packet(60'001, kAbort, 60'000, '\n');
  EXPECT_TRUE(says(one.error(), "party 0 gave it up: " + std::string(200, '?')));
  EXPECT_FALSE(says(one.error(), std::string(201, '?')));
  EXPECT_FALSE(says(one.error(), "\n"));
}

TEST(TlsBulkStream, ChangedOctetsOnTheWireFailTheReader) {
  RawReader one;
  const char noise[] = "\x17\x03\x03\x00\x20 not what the key made of it....";
  ASSERT_GT(::send(one.peer.fd(), noise, 37, MSG_NOSIGNAL), 0);
  EXPECT_TRUE(says(one.error(), "stream from party 0: tls: "));
}

// TCP would end a stream whose reader waits for longer than TCP_USER_TIMEOUT.
TEST(TlsBulkStream, TheSocketIsTunedForBulk) {
  LoopbackPair pair;
  pair.shake_hands();
  const int fd = pair.client->fd();
  auto writer = make_tls_bulk_writer(std::move(pair.client), {});
  ASSERT_TRUE(writer.ok());
  unsigned timeout_ms = 1;
  socklen_t length = sizeof timeout_ms;
  ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, &length), 0);
  EXPECT_EQ(timeout_ms, 0u);
  char name[32] = {};
  length = sizeof name;
  ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length), 0);
  if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0) {
    EXPECT_STREQ(name, "cubic");
  }
}

}  // namespace
}  // namespace tkdc
