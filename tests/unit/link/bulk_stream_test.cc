// SPDX-License-Identifier: Apache-2.0
// What a bulk stream promises, over TLS and in memory alike.
#include "link/bulk_stream.h"

#include <atomic>
#include <random>

#include "link/memory_bulk_stream.h"
#include "link/tls_bulk_stream.h"
#include "loopback_pair.h"
#include "own_memory.h"

namespace tkdc {
namespace {

using Event = BulkReader::Event;

constexpr int kShortMs = 50;

struct Ends {
  std::unique_ptr<BulkWriter> writer;
  std::unique_ptr<BulkReader> reader;
};

struct Memory {
  static Ends make(const BulkOptions& options) {
    auto made = make_memory_bulk_stream("party 0", "party 1", options);
    return {std::move(made.writer), std::move(made.reader)};
  }
};

struct Tls {
  static Ends make(const BulkOptions& options) {
    LoopbackPair pair;
    pair.shake_hands();
    return {make_tls_bulk_writer(std::move(pair.client), options).value(),
            make_tls_bulk_reader(std::move(pair.server), options).value()};
  }
};

template <class Kind>
class BulkStream : public ::testing::Test {
 protected:
  static Ends make(std::size_t ring_bytes = 1 << 16, int stall_ms = 0) {
    return Kind::make({ring_bytes, stall_ms});
  }
};
using Kinds = ::testing::Types<Memory, Tls>;
TYPED_TEST_SUITE(BulkStream, Kinds);

// Octet k of every stream here: no period that a ring or a record has.
std::uint8_t octet_at(std::uint64_t k) {
  return static_cast<std::uint8_t>((k * 0x9e3779b97f4a7c15ULL) >> 53);
}

Bytes octets_from(std::uint64_t at, std::size_t bytes) {
  Bytes out(bytes);
  for (std::size_t k = 0; k < bytes; ++k) out[k] = octet_at(at + k);
  return out;
}

// Writes until the ring is full and stays so; how much that was.
std::uint64_t fill_up(BulkWriter& writer, std::size_t limit) {
  std::uint64_t written = 0;
  while (written < limit) {
    auto done = writer.try_write(octets_from(written, 10'007));
    EXPECT_TRUE(done.ok());
    written += *done;
    EXPECT_LE(writer.buffered(), writer.capacity());
    if (*done < 10'007 && !writer.wait_room(1, 5 * kShortMs).value()) break;
  }
  return written;
}

TYPED_TEST(BulkStream, OctetsArriveWholeAndInOrder) {
  for (std::size_t bytes : {0u, 1u, 2u, 1'000u, 16'383u, 65'530u, 65'531u, 65'532u, 65'536u,
                            65'537u, 131'062u, 1'000'003u, 5'000'000u}) {
    for (std::size_t ring_bytes : {1'000u, 65'536u, 300'001u}) {
      if (ring_bytes == 1'000u && bytes > 200'000) continue;
      Ends ends = this->make(ring_bytes);
      std::thread writing([&] {
        std::mt19937 random(1);
        for (std::size_t at = 0; at < bytes;) {
          const std::size_t piece = std::min<std::size_t>(1 + random() % 100'000, bytes - at);
          auto done = ends.writer->write(octets_from(at, piece), kLongMs);
          ASSERT_TRUE(done.ok()) << done.error().message;
          at += piece;
        }
        ends.writer->finish();
        auto done = ends.writer->wait_finished(kLongMs);
        ASSERT_TRUE(done.ok() && *done);
      });
      Bytes got;
      for (;;) {
        auto event = ends.reader->wait(1, kLongMs);
        ASSERT_TRUE(event.ok()) << event.error().message;
        ASSERT_NE(*event, Event::kTimeout);
        if (*event == Event::kEnd) break;
        EXPECT_FALSE(ends.reader->at_end());
        Bytes some(70'000);
        some.resize(ends.reader->try_read(some).value());
        got.insert(got.end(), some.begin(), some.end());
      }
      writing.join();
      EXPECT_TRUE(ends.reader->at_end());
      EXPECT_EQ(ends.reader->available().value(), 0u);
      ASSERT_TRUE(got == octets_from(0, bytes)) << bytes << " by " << ring_bytes;
      EXPECT_EQ(ends.writer->counters().octets, bytes);
      EXPECT_EQ(ends.reader->counters().octets, bytes);
      EXPECT_LE(ends.writer->counters().most_buffered, ring_bytes);
      EXPECT_LE(ends.reader->counters().most_buffered, ring_bytes);
    }
  }
}

TYPED_TEST(BulkStream, OctetsAreWrittenAndReadInPlace) {
  constexpr std::size_t kBytes = 1'000'000;
  Ends ends = this->make(50'000);
  std::thread writing([&] {
    for (std::size_t at = 0; at < kBytes;) {
      ASSERT_TRUE(ends.writer->wait_room(1, kLongMs).value());
      const MutableByteSpan place = ends.writer->place();
      ASSERT_FALSE(place.empty());
      const std::size_t bytes = std::min(place.size(), kBytes - at);
      for (std::size_t k = 0; k < bytes; ++k) place[k] = octet_at(at + k);
      ends.writer->put(bytes);
      at += bytes;
    }
    ends.writer->finish();
    ASSERT_TRUE(ends.writer->wait_finished(kLongMs).value());
  });
  std::size_t got = 0, wrong = 0;
  while (ends.reader->wait(1, kLongMs).value() == Event::kOctets) {
    const ByteSpan front = ends.reader->front();
    ASSERT_FALSE(front.empty());
    for (std::size_t k = 0; k < front.size(); ++k) wrong += front[k] != octet_at(got + k);
    got += front.size();
    ends.reader->drop(front.size());
  }
  writing.join();
  EXPECT_EQ(got, kBytes);
  EXPECT_EQ(wrong, 0u);
}

TYPED_TEST(BulkStream, ExactReadsStandBesideEachOther) {
  Ends ends = this->make(10'000);
  std::thread writing([&] {
    ASSERT_TRUE(ends.writer->write(octets_from(0, 150'000), kLongMs).ok());
    ends.writer->finish();
    ASSERT_TRUE(ends.writer->wait_finished(kLongMs).value());
  });
  std::uint64_t at = 0;
  for (std::size_t bytes : {1u, 9'999u, 10'000u, 10'001u, 100'000u}) {
    Bytes out(bytes);
    auto done = ends.reader->read(out, kLongMs);
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_TRUE(out == octets_from(at, bytes)) << bytes;
    at += bytes;
  }
  Bytes rest(20'000);  // 19'999 are left
  auto done = ends.reader->read(rest, kLongMs);
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(says(done.error(), "party 0: it ends 1 octets too early"));
  writing.join();
}

TYPED_TEST(BulkStream, MemoryIsBoundedWhileTheReaderSleeps) {
  constexpr std::size_t kRing = 100'000, kEnough = 128u << 20;
  Ends ends = this->make(kRing);
  const std::uint64_t written = fill_up(*ends.writer, kEnough);
  EXPECT_LT(written, kEnough) << "the writer was never made to wait";
  EXPECT_GE(written, kRing);
  EXPECT_EQ(ends.writer->try_write(Bytes(1)).value(), 0u);
  EXPECT_LE(ends.writer->counters().most_buffered, kRing);
  EXPECT_LE(ends.reader->counters().most_buffered, kRing);
  EXPECT_GT(ends.writer->counters().blocked_us, 0u);
  std::uint64_t read = 0;
  Bytes some(20'011);
  while (read < written) {
    const auto bytes = std::min<std::uint64_t>(some.size(), written - read);
    auto done = ends.reader->read(MutableByteSpan(some).first(bytes), kLongMs);
    ASSERT_TRUE(done.ok()) << done.error().message;
    Bytes expected = octets_from(read, bytes);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), some.begin())) << read;
    read += bytes;
  }
  EXPECT_TRUE(ends.writer->wait_room(kRing, kLongMs).value()) << "and goes on";
}

TYPED_TEST(BulkStream, DeadlinesOfWaitsLeaveTheStreamAsItIs) {
  Ends ends = this->make();
  EXPECT_EQ(ends.reader->wait(1, 0).value(), Event::kTimeout);
  EXPECT_EQ(ends.reader->wait(1, kShortMs).value(), Event::kTimeout);
  EXPECT_EQ(ends.reader->try_read(MutableByteSpan()).value(), 0u);
  const std::uint64_t written = fill_up(*ends.writer, 128u << 20);
  EXPECT_FALSE(ends.writer->wait_room(1, 0).value());
  EXPECT_FALSE(ends.writer->wait_room(1, kShortMs).value());
  Bytes out(written);
  EXPECT_TRUE(ends.reader->read(out, kLongMs).ok());
  EXPECT_TRUE(out == octets_from(0, written));
  EXPECT_TRUE(ends.writer->wait_room(1, kLongMs).value());
  EXPECT_FALSE(ends.writer->wait_finished(0).value()) << "not before finish()";
}

TYPED_TEST(BulkStream, AWriteThatRunsOutOfTimeEndsTheStream) {
  Ends ends = this->make();
  (void)fill_up(*ends.writer, 128u << 20);
  auto done = ends.writer->write(Bytes(128u << 20), kShortMs);
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(says(done.error(),
                   "stream to party 1: given up here: not all octets could be "
                   "written within 50 ms"));
  auto room = ends.writer->room();
  ASSERT_FALSE(room.ok()) << "stays failed";
  Bytes some(1 << 20);
  Result<void> read;
  while ((read = ends.reader->read(some, kLongMs)).ok()) {
  }
  // Why, if the reader takes what stands before the reason soon enough: the writer's end does not
  // wait for it long.
  if (!says(read.error(), "it is cut short after")) {
    EXPECT_TRUE(says(read.error(), "stream from party 0: party 0 gave it up: not all octets"));
  }
}

TYPED_TEST(BulkStream, AReadThatRunsOutOfTimeEndsTheStream) {
  Ends ends = this->make();
  ASSERT_TRUE(ends.writer->write(Bytes(10), kLongMs).ok());
  Bytes out(11);
  auto done = ends.reader->read(out, 5 * kShortMs);
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(says(done.error(), "stream from party 0: given up here: not all octets came"));
  EXPECT_FALSE(ends.reader->available().ok()) << "stays failed";
  // The writer hears of it.
  Result<void> written;
  while ((written = ends.writer->write(Bytes(100'000), kLongMs)).ok()) {
  }
  EXPECT_TRUE(says(written.error(), "party 1 gave it up: not all octets came"));
}

TYPED_TEST(BulkStream, AReaderThatTakesNothingStallsTheWriter) {
  Ends ends = this->make(1 << 16, 20 * kShortMs);
  Result<void> done;
  while ((done = ends.writer->write(Bytes(1 << 20), kLongMs)).ok()) {
  }
  EXPECT_TRUE(says(done.error(), "stream to party 1: no octet moved for 1000 ms; see whether"));
}

TYPED_TEST(BulkStream, AWriterThatOnlyAsksForRoomNoticesAStall) {
  Ends ends = this->make(1 << 16, 20 * kShortMs);
  Result<std::size_t> done = std::size_t{0};
  while ((done = ends.writer->try_write(Bytes(1 << 16))).ok())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(says(done.error(), "no octet moved for 1000 ms"));
}

TYPED_TEST(BulkStream, AWriterThatWritesNothingStallsTheReader) {
  Ends ends = this->make(1 << 16, 20 * kShortMs);
  ASSERT_TRUE(ends.writer->write(octets_from(0, 10), kLongMs).ok());
  Bytes out(11);
  auto done = ends.reader->read(out, kLongMs);
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(says(done.error(), "stream from party 0: no octet moved for 1000 ms; see whether"));
  EXPECT_TRUE(std::equal(out.begin(), out.end() - 1, octets_from(0, 10).begin()));
}

TYPED_TEST(BulkStream, AStreamThatNobodyWaitsForDoesNotStall) {
  Ends ends = this->make(1 << 16, 2 * kShortMs);
  std::this_thread::sleep_for(std::chrono::milliseconds(6 * kShortMs));
  EXPECT_TRUE(ends.writer->room().ok());
  EXPECT_TRUE(ends.reader->available().ok());
}

TYPED_TEST(BulkStream, TheEndComesAfterAllOctets) {
  Ends ends = this->make();
  ASSERT_TRUE(ends.writer->write(octets_from(0, 5'000), kLongMs).ok());
  ends.writer->finish();
  ASSERT_TRUE(ends.writer->wait_finished(kLongMs).value());
  ends.writer.reset();
  EXPECT_FALSE(ends.reader->at_end()) << "nothing has been read";
  EXPECT_EQ(ends.reader->wait(5'001, kLongMs).value(), Event::kEnd) << "never so many";
  Bytes out(5'000);
  ASSERT_TRUE(ends.reader->read(out, kLongMs).ok());
  EXPECT_TRUE(out == octets_from(0, 5'000));
  EXPECT_TRUE(ends.reader->at_end());
  EXPECT_EQ(ends.reader->wait(1, kLongMs).value(), Event::kEnd);
  ends.reader->abort("too late to matter");
  EXPECT_TRUE(ends.reader->at_end());
}

TYPED_TEST(BulkStream, AReaderMayGoOnceTheEndHasArrived) {
  Ends ends = this->make();
  ASSERT_TRUE(ends.writer->write(Bytes(5'000), kLongMs).ok());
  ends.writer->finish();
  ASSERT_EQ(ends.reader->wait(5'001, kLongMs).value(), Event::kEnd);
  ends.reader.reset();
  auto done = ends.writer->wait_finished(kLongMs);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(*done);
}

// `wait` is a call that would wait for long at one end, `abort` ends it.
template <class Wait>
void expect_abort_wakes(Wait wait, BulkEnd& aborting, const std::string& message) {
  std::atomic<bool> waiting{false};
  Error error;
  std::thread blocked([&] {
    waiting = true;
    auto done = wait();
    ASSERT_FALSE(done.ok());
    error = done.error();
  });
  while (!waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(kShortMs));
  aborting.abort("the session is over");
  blocked.join();
  EXPECT_TRUE(says(error, message));
}

TYPED_TEST(BulkStream, AbortWakesWhoeverWaits) {
  const std::string here = "given up here: the session is over";
  const std::string there = "gave it up: the session is over";
  for (bool own : {true, false}) {
    Ends ends = this->make();
    (void)fill_up(*ends.writer, 128u << 20);
    BulkEnd& aborting = own ? static_cast<BulkEnd&>(*ends.writer) : *ends.reader;
    expect_abort_wakes([&] { return ends.writer->wait_room(1, kLongMs); }, aborting,
                       own ? here : "party 1 " + there);
    EXPECT_FALSE(ends.writer->try_write(Bytes(1)).ok());
    ends.writer->finish();
    EXPECT_FALSE(ends.writer->wait_finished(kLongMs).ok());
  }
  for (bool own : {true, false}) {
    Ends ends = this->make();
    BulkEnd& aborting = own ? static_cast<BulkEnd&>(*ends.reader) : *ends.writer;
    expect_abort_wakes([&] { return ends.reader->wait(1, kLongMs); }, aborting,
                       own ? here : "party 0 " + there);
    EXPECT_FALSE(ends.reader->try_read(MutableByteSpan()).ok());
    EXPECT_FALSE(ends.reader->at_end());
  }
  if (std::is_same_v<TypeParam, Memory>) return;  // what is in its ring has arrived
  Ends ends = this->make();
  (void)fill_up(*ends.writer, 128u << 20);
  ends.writer->finish();
  expect_abort_wakes([&] { return ends.writer->wait_finished(kLongMs); }, *ends.writer, here);
}

TYPED_TEST(BulkStream, NothingCanBeReadAfterAnAbort) {
  Ends ends = this->make();
  ASSERT_TRUE(ends.writer->write(Bytes(100), kLongMs).ok());
  ASSERT_EQ(ends.reader->wait(100, kLongMs).value(), Event::kOctets);
  ends.reader->abort("not wanted");
  EXPECT_FALSE(ends.reader->available().ok());
  EXPECT_FALSE(ends.reader->wait(1, kLongMs).ok());
  EXPECT_FALSE(ends.reader->try_read(MutableByteSpan()).ok());
}

// Both threads behind the rings sleep: nothing is to be written, nothing comes.
TYPED_TEST(BulkStream, AnIdleWriterHearsOfAnAbort) {
  Ends ends = this->make();
  std::this_thread::sleep_for(std::chrono::milliseconds(kShortMs));
  ends.reader->abort("not wanted");
  const long long deadline_ms = monotonic_ms() + kLongMs;
  auto room = ends.writer->room();
  for (; room.ok() && monotonic_ms() < deadline_ms; room = ends.writer->room())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_FALSE(room.ok());
  EXPECT_TRUE(says(room.error(), "party 1 gave it up: not wanted"));
}

TYPED_TEST(BulkStream, AWriterThatGoesEarlyIsNoEnd) {
  for (bool finished : {false, true}) {
    Ends ends = this->make(1'000);
    // More than every buffer between holds, so that nothing can be confirmed.
    (void)fill_up(*ends.writer, 128u << 20);
    if (finished && std::is_same_v<TypeParam, Memory>) continue;  // there all has arrived
    if (finished) ends.writer->finish();
    ends.writer.reset();
    Bytes some(1 << 20);
    Result<void> read;
    while ((read = ends.reader->read(some, kLongMs)).ok()) {
    }
    EXPECT_TRUE(says(read.error(), "stream from party 0: "));
    EXPECT_FALSE(ends.reader->at_end());
    EXPECT_FALSE(ends.reader->wait(1, kLongMs).ok());
  }
}

TYPED_TEST(BulkStream, AReaderThatGoesEarlyFailsTheWriter) {
  Ends ends = this->make();
  (void)fill_up(*ends.writer, 128u << 20);
  ends.reader.reset();
  Result<void> written;
  while ((written = ends.writer->write(Bytes(1 << 20), kLongMs)).ok()) {
  }
  EXPECT_TRUE(
      says(written.error(), "stream to party 1: party 1 gave it up: closed before its end"));
}

// Also what ends in the middle, with octets in every buffer.
TYPED_TEST(BulkStream, NothingStaysInMemory) {
  if (!kOwnMemoryCanBeRead) GTEST_SKIP() << "a sanitizer's memory";
  Bytes complement(32);
  randombytes_buf(complement.data(), complement.size());
  for (bool whole : {true, false}) {
    Ends ends = this->make(1 << 16);
    constexpr std::size_t kValues = 10'000;
    std::size_t wrong = 0;
    std::thread writing([&] {
      for (std::size_t n = 0; n < kValues; ++n) {
        ASSERT_TRUE(ends.writer->wait_room(complement.size(), kLongMs).value());
        const MutableByteSpan place = ends.writer->place();
        for (std::size_t k = 0; k < complement.size(); ++k)
          place[k] = static_cast<std::uint8_t>(~complement[k]);
        ends.writer->put(complement.size());
      }
      if (whole) ends.writer->finish();
    });
    for (std::size_t n = 0; n < (whole ? kValues : kValues - 1'000); ++n) {
      ASSERT_EQ(ends.reader->wait(complement.size(), kLongMs).value(), Event::kOctets);
      const ByteSpan front = ends.reader->front();
      for (std::size_t k = 0; k < complement.size(); ++k)
        wrong += front[k] != static_cast<std::uint8_t>(~complement[k]);
      ends.reader->drop(complement.size());
    }
    writing.join();
    EXPECT_EQ(wrong, 0u);
    if (whole) {
      EXPECT_TRUE(ends.writer->wait_finished(kLongMs).value());
    }
    EXPECT_GT(count_in_own_memory(complement), 0u) << "the search finds what is there";
    ends = Ends();
    EXPECT_EQ(count_in_own_memory(complement), 0u) << whole;
  }
}

TYPED_TEST(BulkStream, ChangesWakeALane) {
  Ends ends = this->make(1'000);
  std::atomic<int> arrivals{0}, rooms{0};
  ends.reader->on_change([&] { arrivals++; });
  ends.writer->on_change([&] { rooms++; });
  auto wait_for = [](const std::atomic<int>& count, int least) {
    const long long deadline_ms = monotonic_ms() + kLongMs;
    while (count < least && monotonic_ms() < deadline_ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count >= least;
  };
  ASSERT_TRUE(ends.writer->write(Bytes(1'000), kLongMs).ok());
  EXPECT_TRUE(wait_for(arrivals, 1));
  Bytes out(1'000);
  ASSERT_TRUE(ends.reader->read(out, kLongMs).ok());
  EXPECT_TRUE(wait_for(rooms, 1));
  const int before = arrivals;
  ends.writer->finish();
  EXPECT_TRUE(wait_for(arrivals, before + 1)) << "the end";
  ends.writer->on_change(nullptr);
  ends.reader->on_change(nullptr);

  Ends others = this->make(1'000);
  std::atomic<int> failures{0};
  others.reader->on_change([&] { failures++; });
  others.writer->abort("over");
  EXPECT_TRUE(wait_for(failures, 1));
}

}  // namespace
}  // namespace tkdc
