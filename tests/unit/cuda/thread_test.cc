// SPDX-License-Identifier: Apache-2.0
// What one thread of a device does, against OpenSSL and by definition.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstring>
#include <random>

#include "base/hex.h"
#include "base/secret.h"
#include "cuda/thread/aes_ctr.h"
#include "cuda/thread/chacha20.h"
#include "cuda/thread/octet_linear.h"
#include "cuda/thread/plane_linear.h"
#include "cuda/thread/transpose.h"

namespace tkdc::cuda {
namespace {

// `counter`: of AES-CTR's first block, in its last four octets.
Bytes keystream(const EVP_CIPHER* cipher, const std::uint8_t* key, std::size_t octets,
                Word counter = 0) {
  std::uint8_t iv[16] = {};
  for (int k = 0; k < 4; ++k) iv[15 - k] = static_cast<std::uint8_t>(counter >> 8 * k);
  Bytes out(octets);
  int n = 0;
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(ctx, cipher, nullptr, key, iv);
  EVP_EncryptUpdate(ctx, out.data(), &n, out.data(), static_cast<int>(octets));
  EVP_CIPHER_CTX_free(ctx);
  return out;
}

// FIPS 197, section 5.1.1: the inverse in the AES field, then the affine map.
Word sbox_of(Word a) {
  Word inverse = a == 0 ? 0 : 1, b = 0x63;
  for (int n = 0; a != 0 && n < 254; ++n) {
    Word product = 0;
    for (int k = 7; k >= 0; --k) {
      product = product << 1 ^ (product & 0x80 ? 0x11bu : 0);
      product ^= inverse >> k & 1 ? a : 0;
    }
    inverse = product;
  }
  for (int k = 0; k < 8; ++k)
    for (int j : {0, 4, 5, 6, 7}) b ^= (inverse >> (k + j) % 8 & 1) << k;
  return b;
}

TEST(Slice, PutsBitKOfEachOctetIntoPlaneKAndBack) {
  std::mt19937 rng(1);
  Word in[8], w[8];
  for (int i = 0; i < 8; ++i) in[i] = w[i] = static_cast<Word>(rng());
  slice(w);
  for (int k = 0; k < 8; ++k)
    for (int i = 0; i < 8; ++i)
      for (int b = 0; b < 4; ++b) EXPECT_EQ(w[k] >> (8 * b + i) & 1, in[i] >> (8 * b + k) & 1);
  slice(w);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(w[i], in[i]);
}

TEST(Transpose, MakesBitKOfWordNBitNOfWordKAndBack) {
  std::mt19937 rng(4);
  Word in[32], w[32];
  for (int n = 0; n < 32; ++n) in[n] = w[n] = static_cast<Word>(rng());
  transpose(w);
  for (int n = 0; n < 32; ++n)
    for (int k = 0; k < 32; ++k) EXPECT_EQ(w[k] >> n & 1, in[n] >> k & 1);
  transpose(w);
  for (int n = 0; n < 32; ++n) EXPECT_EQ(w[n], in[n]);
}

// The tables are what a GPU computes by, and the host does not.
template <class F>
void expect_table() {
  for (Word at = 0; at < 8; ++at) {
    const auto lanes = [&](int bit) { return 0 - (at >> bit & 1); };
    EXPECT_EQ(0 - (gate_table<F>() >> at & 1), F::of(lanes(2), lanes(1), lanes(0))) << at;
  }
}

TEST(SboxGates, HaveTheirTables) {
  expect_table<Add3>();
  expect_table<AddAnd>();
  expect_table<AddAndNot>();
  expect_table<AddOr>();
  expect_table<AndSum>();
  expect_table<Choose>();
  EXPECT_EQ(gate_table<AddAnd>(), 0x78u);  // of a ^ (b & c), as the PTX ISA has it
}

// All 256 octets, 32 in each run.
TEST(SboxGates, AreTheSboxWithoutItsConstant) {
  for (Word first = 0; first < 256; first += 32) {
    Word planes[8];
    for (Word i = 0; i < 8; ++i)
      planes[i] =
          (first + i) | (first + 8 + i) << 8 | (first + 16 + i) << 16 | (first + 24 + i) << 24;
    slice(planes);
    sub_gates(planes);
    slice(planes);
    for (Word n = 0; n < 32; ++n)
      EXPECT_EQ((planes[n % 8] >> 8 * (n / 8) & 0xff) ^ 0x63u, sbox_of(first + n)) << first + n;
  }
}

// As a thread of a device makes it: kAesBlocks blocks from the counter `first` on.
void aes_blocks(const std::uint8_t (&key)[16], Word first, Word (&out)[4 * kAesBlocks]) {
  AesSchedule schedule;
  expand_schedule(key, schedule);
  AesPlanes planes;
  for (int round = 0; round <= kAesRounds; ++round)
    for (int r = 0; r < 4; ++r)
      for (int k = 0; k < 8; ++k) planes.round[round][r][k] = key_plane(schedule, round, r, k);
  Word state[4][8];
  aes_ctr_planes(planes, first, state);
  blocks_of_planes(state, out);
}

TEST(AesCtr, GivesOpensslsStream) {
  constexpr Word kRuns = 80;
  std::mt19937 rng(2);
  for (int run = 0; run < 20; ++run) {
    std::uint8_t key[16];
    for (auto& octet : key) octet = static_cast<std::uint8_t>(rng());
    // The first from 0 on; then anywhere, the last to the end of the counters.
    const Word start = run == 0   ? 0
                       : run < 19 ? static_cast<Word>(rng()) / kAesBlocks * kAesBlocks
                                  : 0 - kRuns * kAesBlocks;
    const Bytes expected = keystream(EVP_aes_128_ctr(), key, 16 * kAesBlocks * kRuns, start);
    for (Word n = 0; n < kRuns; ++n) {
      Word out[4 * kAesBlocks];
      aes_blocks(key, start + kAesBlocks * n, out);
      EXPECT_EQ(std::memcmp(out, expected.data() + sizeof out * n, sizeof out), 0) << n;
    }
  }
}

// FIPS 197, appendix B's key and SP 800-38A's F.5.1 block would need another counter; the
// all-zero key and counter is AESAVS' first vector of GFSbox, plaintext zero.
TEST(AesCtr, ZeroKeyAndCounter) {
  const std::uint8_t key[16] = {};
  Word out[4 * kAesBlocks];
  aes_blocks(key, 0, out);
  const std::uint8_t expected[16] = {0x66, 0xe9, 0x4b, 0xd4, 0xef, 0x8a, 0x2c, 0x3b,
                                     0x88, 0x4c, 0xfa, 0x59, 0xca, 0x34, 0x2b, 0x2e};
  EXPECT_EQ(std::memcmp(out, expected, 16), 0);
}

TEST(ChaCha20, GivesOpensslsStream) {
  std::mt19937 rng(3);
  std::uint8_t key[32];
  for (auto& octet : key) octet = static_cast<std::uint8_t>(rng());
  ChaChaKey words;
  std::memcpy(words.word, key, sizeof key);
  const Bytes expected = keystream(EVP_chacha20(), key, 64 * 300);
  for (Word counter = 0; counter < 300; ++counter) {
    Word out[16];
    chacha20_block(words, counter, out);
    EXPECT_EQ(std::memcmp(out, expected.data() + 64 * counter, 64), 0) << counter;
  }
}

// RFC 8439, appendix A.1, test vectors 1 and 2: key, nonce and counter 0, then counter 1.
TEST(ChaCha20, BlocksOfRfc8439) {
  const char* const expected[] = {
      "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
      "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
      "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
      "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"};
  const ChaChaKey zero = {};
  for (Word counter = 0; counter < 2; ++counter) {
    Word out[16];
    chacha20_block(zero, counter, out);
    EXPECT_EQ(to_hex({reinterpret_cast<const std::uint8_t*>(out), sizeof out}), expected[counter]);
  }
}

TEST(OctetLinear, MixColumnsOfFips197AndBack) {
  const Word in = 0x305dbfd4u, out = 0xe5816604u;  // FIPS 197, appendix B, round 1, column 0
  EXPECT_EQ(mix_column(in), out);
  EXPECT_EQ(inv_mix_column(out), in);
  Word planes[8] = {in}, expected[8] = {out};
  slice(planes);
  slice(expected);
  mix_planes(planes);
  for (int k = 0; k < 8; ++k) EXPECT_EQ(planes[k], expected[k]);
  inv_mix_planes(planes);
  slice(planes);
  EXPECT_EQ(planes[0], in);
}

TEST(OctetLinear, MapsOctetsAsTheMatrixSays) {
  for (Word a = 0; a < 256; ++a) {
    Word expected = 0, planes[8] = {a}, mapped[8];
    for (int k = 0; k < 8; ++k)
      if (a >> k & 1) expected ^= sbox::kAffineColumns[k];
    EXPECT_EQ(map_octets<sbox::kAffine>(a * 0x01010101u), expected * 0x01010101u);
    slice(planes);
    linear_map<sbox::kAffine>(planes, mapped);
    slice(mapped);
    EXPECT_EQ(mapped[0], expected);
  }
}

}  // namespace
}  // namespace tkdc::cuda
