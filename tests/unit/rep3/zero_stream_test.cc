// SPDX-License-Identifier: Apache-2.0
// Every zero-stream of AES-CTR gives the octets of OpenSSL's, and that of ChaCha20
// the octets of OpenSSL's ChaCha20, over ratchets and whatever the pieces it is read in.
#include "rep3/zero_stream.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "rep3/prss.h"
#include "session/session.h"

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
  ZeroStreamKeys with(std::uint64_t ratchet_bytes,
                      ZeroGenerator generator = ZeroGenerator::kAesCtr) const {
    return {mine.span(), next.span(), ratchet_bytes, generator};
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

using Make = std::unique_ptr<ZeroStream> (*)(const ZeroStreamKeys&);
constexpr Make kAll[] = {zero_stream_openssl, zero_stream_vaes, zero_stream_chacha20,
                         zero_stream_chacha20_avx512};
bool is_chacha20(Make make) {
  return make == zero_stream_chacha20 || make == zero_stream_chacha20_avx512;
}

// What is skipped is what a device makes: the rest stays where it was, over ratchets too.
TEST(ZeroStream, SkippingLeavesTheRestInItsPlace) {
  Keys keys(4);
  const Bytes aes = read(*zero_stream_openssl(keys.with(3 * kPiece)), {11});
  const Bytes other = read(*zero_stream_chacha20(keys.with(3 * kPiece)), {11});
  for (auto make : kAll) {
    auto stream = make(keys.with(3 * kPiece));
    if (!stream) continue;
    const Bytes& all = is_chacha20(make) ? other : aes;
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
  for (auto make : kAll) {
    auto stream = make(keys.with(2 * kPiece));
    if (!stream) continue;
    StreamKey first(keys.next.span(), is_chacha20(make) ? "tkdc zero chacha20" : "tkdc zero");
    ASSERT_NE(stream->key(1, 0, 2 * kPiece), nullptr);
    EXPECT_TRUE(std::equal(first.data(), first.data() + 32, stream->key(1, 0, 16)));
    EXPECT_EQ(stream->key(1, 2 * kPiece - 1, 2), nullptr);  // partly under the next key
    EXPECT_EQ(stream->key(1, 0, 0), nullptr);
    read(*stream, {3});
    EXPECT_EQ(stream->key(0, 0, 16), nullptr);
    first.ratchet();
    ASSERT_NE(stream->key(1, 2 * kPiece, 16), nullptr);
    EXPECT_TRUE(std::equal(first.data(), first.data() + 32, stream->key(1, 2 * kPiece, 16)));
  }
}

constexpr ZeroGenerator kBoth[] = {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20};

TEST(ZeroStream, DependsOnEveryKey) {
  for (ZeroGenerator generator : kBoth) {
    Keys a(1), b(1);
    b.next.data()[15] ^= 1;
    EXPECT_NE(read(*make_zero_stream(a.with(kRatchetBytes, generator)), {1}),
              read(*make_zero_stream(b.with(kRatchetBytes, generator)), {1}));
  }
}

// OpenSSL's ChaCha20: its iv is the counter, 4 octets little-endian, and the nonce.
void add_chacha20(Bytes& out, const StreamKey& key) {
  const std::uint8_t iv[16] = {};
  int n = 0;
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  ASSERT_EQ(EVP_EncryptInit_ex2(ctx, EVP_chacha20(), key.data(), iv, nullptr), 1);
  ASSERT_EQ(EVP_EncryptUpdate(ctx, out.data(), &n, out.data(), static_cast<int>(out.size())), 1);
  EVP_CIPHER_CTX_free(ctx);
}

TEST(ZeroStream, ChaCha20IsTheSumOfOpensslsStreams) {
  Keys keys(6);
  StreamKey mine(keys.mine.span(), "tkdc zero chacha20");
  StreamKey next(keys.next.span(), "tkdc zero chacha20");
  Bytes expected;
  for (int ratchets = 0; ratchets < 3; ++ratchets) {
    Bytes part(20 * kPiece);
    add_chacha20(part, mine);
    add_chacha20(part, next);
    expected.insert(expected.end(), part.begin(), part.end());
    mine.ratchet();
    next.ratchet();
  }
  for (Make make : {zero_stream_chacha20, zero_stream_chacha20_avx512})
    for (auto pieces : {std::initializer_list<std::size_t>{60}, {1, 2, 40, 17}, {19, 1, 1, 39}}) {
      auto stream = make(keys.with(20 * kPiece));
      if (stream) {
        EXPECT_EQ(read(*stream, pieces), expected) << stream->name();
      }
    }
}

// RFC 8439, appendix A.1: what the stream is made of, with the nonce and counters used here.
TEST(ZeroStream, LibsodiumsChaCha20IsRfc8439s) {
  const std::uint8_t zeros[32] = {};
  std::uint8_t out[64] = {};
  crypto_stream_chacha20_ietf_xor_ic(out, out, sizeof out, zeros, 1, zeros);
  EXPECT_EQ(to_hex(out),
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

TEST(ZeroStream, TheGeneratorIsTheKeysOwnAndSharesNoKey) {
  Keys keys(7);
  const auto aes = make_zero_stream(keys.with(kRatchetBytes, ZeroGenerator::kAesCtr));
  const auto chacha = make_zero_stream(keys.with(kRatchetBytes, ZeroGenerator::kChaCha20));
  EXPECT_TRUE(std::string_view(chacha->name()).starts_with("chacha20"));
  EXPECT_FALSE(std::string_view(aes->name()).starts_with("chacha20"));
  for (int c = 0; c < 2; ++c)
    EXPECT_FALSE(std::equal(aes->key(c, 0, 1), aes->key(c, 0, 1) + 16, chacha->key(c, 0, 1)));
}

// The three parties' shares cancel out, whichever generator makes them.
TEST(ZeroStream, ThreePartiesAddUpToZero) {
  for (ZeroGenerator generator : kBoth) {
    Bytes sum(7 * kPiece);
    SecretBuffer component[3] = {SecretBuffer(32), SecretBuffer(32), SecretBuffer(32)};
    for (std::uint8_t c = 0; c < 3; ++c) component[c].data()[c] = static_cast<std::uint8_t>(c + 1);
    for (std::size_t p = 0; p < 3; ++p) {
      PairwiseKeys keys;
      keys.zero_generator = generator;
      std::copy_n(component[p].data(), 32, keys.mine.data());
      std::copy_n(component[(p + 1) % 3].data(), 32, keys.next.data());
      Bytes before = sum;
      Prss(keys).add_zero_share(sum.data(), sum.size());
      EXPECT_NE(sum, before);
    }
    EXPECT_EQ(sum, Bytes(sum.size()));
  }
}

}  // namespace
}  // namespace tkdc
