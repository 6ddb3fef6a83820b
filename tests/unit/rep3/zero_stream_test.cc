// SPDX-License-Identifier: Apache-2.0
// Every zero-stream gives the octets of OpenSSL's, over ratchets and whatever
// the pieces it is read in.
#include "rep3/zero_stream.h"

#include <gtest/gtest.h>

#include "rep3/prss.h"

namespace tkdc {
namespace {

constexpr std::size_t kPiece = ZeroStream::kPieceBytes;

struct Keys {
  SecretBuffer mine{32}, next{32};
  explicit Keys(std::uint8_t seed) {
    for (std::uint8_t k = 0; k < 32; ++k) {
      mine.data()[k] = static_cast<std::uint8_t>(seed + 7 * k);
      next.data()[k] = static_cast<std::uint8_t>(seed + 11 * k + 1);
    }
  }
  ZeroStreamKeys with(std::uint64_t ratchet_bytes) const {
    return {mine.span(), next.span(), ratchet_bytes};
  }
};

Bytes read(ZeroStream& stream, std::initializer_list<std::size_t> pieces) {
  Bytes all;
  for (std::size_t n : pieces) {
    Bytes piece(n * kPiece);
    stream.next(piece.data(), piece.size());
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

TEST(ZeroStream, ReferenceIsTheSumOfTwoCounterModeStreams) {
  Keys keys(3);
  Bytes expected(4 * kPiece), other(4 * kPiece);
  Stream(keys.mine.span(), "tkdc zero").next(expected.data(), expected.size());
  Stream(keys.next.span(), "tkdc zero").next(other.data(), other.size());
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] ^= other[k];
  auto stream = zero_stream_openssl(keys.with(kRatchetBytes));
  EXPECT_EQ(read(*stream, {1, 3}), expected);
}

TEST(ZeroStream, VaesGivesTheReferencesOctets) {
  for (std::uint8_t seed = 0; seed < 20; ++seed) {
    Keys keys(seed);
    auto vaes = zero_stream_vaes(keys.with(kRatchetBytes));
    if (!vaes) GTEST_SKIP() << "this CPU lacks VAES";
    auto reference = zero_stream_openssl(keys.with(kRatchetBytes));
    EXPECT_EQ(read(*vaes, {1, 2, 300}), read(*reference, {303}));
  }
}

TEST(ZeroStream, VaesRatchetsWhereTheReferenceDoes) {
  Keys keys(9);
  auto vaes = zero_stream_vaes(keys.with(3 * kPiece));
  if (!vaes) GTEST_SKIP() << "this CPU lacks VAES";
  auto reference = zero_stream_openssl(keys.with(3 * kPiece));
  const Bytes got = read(*vaes, {2, 4, 1, 3});
  EXPECT_EQ(got, read(*reference, {10}));
  // A ratchet changes the key: the stream does not start over.
  EXPECT_FALSE(std::equal(got.begin(), got.begin() + kPiece, got.begin() + 3 * kPiece));
}

// What is skipped is what a device makes: the rest stays where it was, over ratchets too.
TEST(ZeroStream, SkippingLeavesTheRestInItsPlace) {
  Keys keys(4);
  const Bytes all = read(*zero_stream_openssl(keys.with(3 * kPiece)), {11});
  for (bool vaes : {false, true}) {
    auto stream =
        vaes ? zero_stream_vaes(keys.with(3 * kPiece)) : zero_stream_openssl(keys.with(3 * kPiece));
    if (!stream) continue;
    std::size_t at = 0;
    for (std::size_t skipped : {0u, 1u, 3u, 2u}) {
      stream->skip(skipped * kPiece);
      at += skipped;
      const Bytes got = read(*stream, {1});
      EXPECT_TRUE(std::equal(got.begin(), got.end(), all.begin() + static_cast<long>(at * kPiece)))
          << stream->name() << " at " << at;
      ++at;
    }
  }
}

TEST(ZeroStream, GivesTheKeyInUseAndNoOther) {
  Keys keys(5);
  for (bool vaes : {false, true}) {
    auto stream =
        vaes ? zero_stream_vaes(keys.with(2 * kPiece)) : zero_stream_openssl(keys.with(2 * kPiece));
    if (!stream) continue;
    StreamKey first(keys.next.span(), "tkdc zero");
    ASSERT_NE(stream->key(1, 0, 2 * kPiece), nullptr);
    EXPECT_TRUE(std::equal(first.data(), first.data() + 16, stream->key(1, 0, 16)));
    EXPECT_EQ(stream->key(1, 2 * kPiece - 1, 2), nullptr);  // partly under the next key
    EXPECT_EQ(stream->key(1, 0, 0), nullptr);
    read(*stream, {3});
    EXPECT_EQ(stream->key(0, 0, 16), nullptr);
    first.ratchet();
    ASSERT_NE(stream->key(1, 2 * kPiece, 16), nullptr);
    EXPECT_TRUE(std::equal(first.data(), first.data() + 16, stream->key(1, 2 * kPiece, 16)));
  }
}

TEST(ZeroStream, DependsOnEveryKey) {
  Keys a(1), b(1);
  b.next.data()[15] ^= 1;
  EXPECT_NE(read(*make_zero_stream(a.with(kRatchetBytes)), {1}),
            read(*make_zero_stream(b.with(kRatchetBytes)), {1}));
}

}  // namespace
}  // namespace tkdc
