// SPDX-License-Identifier: Apache-2.0
#include "link/input_bio.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "link/socket.h"

namespace tkdc {
namespace {

struct Joined {
  UniqueFd writer, reader;
  InputBio input;
  BioPtr bio;

  Joined() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    writer = UniqueFd(fds[0]);
    reader = UniqueFd(fds[1]);
    bio.reset(input.make_bio(reader.get()));
  }
  void write(ByteSpan bytes) {
    ASSERT_EQ(send(writer.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  // Sizes of what one read after another gives, until there is nothing.
  std::vector<std::size_t> reads(Bytes& all, std::size_t room) {
    std::vector<std::size_t> sizes;
    Bytes out(room);
    for (std::size_t got = 0; BIO_read_ex(bio.get(), out.data(), room, &got) == 1;) {
      sizes.push_back(got);
      all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(got));
    }
    return sizes;
  }
};

Bytes record(std::size_t bytes) {
  Bytes out(5 + bytes, static_cast<std::uint8_t>(bytes));
  const std::uint8_t header[] = {23, 3, 3, static_cast<std::uint8_t>(bytes >> 8),
                                 static_cast<std::uint8_t>(bytes)};
  std::copy(std::begin(header), std::end(header), out.begin());
  return out;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(InputBio, HandsOnOneRecordAtATime) {
  Joined joined;
  const Bytes sent = record(10) + record(0) + record(16'401) + record(300);
  joined.write(sent);
  Bytes got;
  EXPECT_EQ(joined.reads(got, 17'000), (std::vector<std::size_t>{15, 5, 16'406, 305}));
  EXPECT_EQ(got, sent);
  EXPECT_TRUE(joined.input.empty());
  EXPECT_TRUE(BIO_should_retry(joined.bio.get()));
}

TEST(InputBio, SmallRoomCutsARecord) {
  Joined joined;
  const Bytes sent = record(20) + record(3);
  joined.write(sent);
  Bytes got;
  EXPECT_EQ(joined.reads(got, 10), (std::vector<std::size_t>{10, 10, 5, 8}));
  EXPECT_EQ(got, sent);
}

TEST(InputBio, OctetsThatComeOneByOneAreTheSameRecords) {
  Joined joined;
  const Bytes sent = record(7) + record(2) + record(0);
  Bytes got;
  for (std::size_t k = 0; k < sent.size(); ++k) {
    joined.write(ByteSpan(sent).subspan(k, 1));
    joined.reads(got, 100);
    EXPECT_TRUE(BIO_should_retry(joined.bio.get())) << k;
  }
  EXPECT_EQ(got, sent);
}

TEST(InputBio, MoreThanABatchComesInOrder) {
  Joined joined;
  Bytes sent, got;
  for (std::size_t k = 0; k < 40; ++k) sent = sent + record(5000 + 97 * k);
  for (std::size_t at = 0; at < sent.size();) {
    const ByteSpan left = ByteSpan(sent).subspan(at);
    const ByteSpan rest = left.first(std::min<std::size_t>(30'000, left.size()));
    joined.write(rest);
    at += rest.size();
    joined.reads(got, 16'900);
  }
  EXPECT_EQ(got, sent);
}

TEST(InputBio, TheEndOfTheStreamIsNotARetry) {
  Joined joined;
  joined.write(record(4));
  joined.write(Bytes{23, 3});  // and a header that never gets whole
  joined.writer = UniqueFd();
  Bytes got;
  EXPECT_EQ(joined.reads(got, 100), (std::vector<std::size_t>{9}));
  EXPECT_FALSE(BIO_should_retry(joined.bio.get()));
  EXPECT_EQ(BIO_eof(joined.bio.get()), 1);
}

}  // namespace
}  // namespace tkdc
