// SPDX-License-Identifier: Apache-2.0
// The data plane's AES-GCM through OpenSSL's EVP interface, as libssl uses it:
// the published vectors of NIST SP 800-38D's designers, and random messages
// against OpenSSL's default provider.
#include <gtest/gtest.h>

#include <openssl/provider.h>

#include <random>

#include "base/hex.h"
#include "link/gcm/provider.h"
#include "link/openssl.h"

namespace tkdc {
namespace {

using CipherPtr = std::unique_ptr<EVP_CIPHER, OpensslDeleter<EVP_CIPHER_free>>;
using ContextPtr = std::unique_ptr<EVP_CIPHER_CTX, OpensslDeleter<EVP_CIPHER_CTX_free>>;
constexpr std::size_t kTag = 16;

Bytes hex(const std::string& text) {
  Bytes out(text.size() / 2);
  EXPECT_TRUE(from_hex(text, out)) << text;
  return out;
}

struct Message {
  Bytes key, nonce, aad, text;
};

// Pieces of at most so many octets; 0: in one.
struct Pieces {
  std::size_t aad = 0, text = 0;
};

class Gcm : public testing::Test {
 protected:
  void SetUp() override {
    if (tls_library().context == nullptr) GTEST_SKIP() << "this CPU has no VAES";
  }

  static CipherPtr fetch(std::size_t key_bytes, bool ours) {
    const TlsLibrary& library = tls_library();
    const char* name = key_bytes == 16 ? "AES-128-GCM" : "AES-256-GCM";
    CipherPtr cipher(
        EVP_CIPHER_fetch(library.context, name, ours ? library.properties : "provider=default"));
    EXPECT_STREQ(OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(cipher.get())),
                 ours ? "tkdc-gcm" : "default");
    return cipher;
  }

  static bool feed(EVP_CIPHER_CTX* c, const Bytes& in, std::uint8_t* out, std::size_t step) {
    if (step == 0) step = in.size();
    for (std::size_t at = 0; at < in.size(); at += step) {
      const int bytes = static_cast<int>(std::min(step, in.size() - at));
      int n = -1;
      std::uint8_t* to = out == nullptr ? nullptr : out + at;
      if (EVP_CipherUpdate(c, to, &n, in.data() + at, bytes) != 1 || n != bytes) return false;
    }
    return true;
  }

  // Cipher text and tag, or nothing when refused.
  static Bytes encrypt(const Message& m, bool ours, Pieces pieces = {}) {
    CipherPtr cipher = fetch(m.key.size(), ours);
    ContextPtr c(EVP_CIPHER_CTX_new());
    Bytes out(m.text.size() + kTag);
    int n = 0;
    bool done =
        EVP_EncryptInit_ex2(c.get(), cipher.get(), m.key.data(), m.nonce.data(), nullptr) == 1 &&
        feed(c.get(), m.aad, nullptr, pieces.aad) &&
        feed(c.get(), m.text, out.data(), pieces.text) &&
        EVP_EncryptFinal_ex(c.get(), out.data() + m.text.size(), &n) == 1 && n == 0 &&
        EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_AEAD_GET_TAG, kTag, out.data() + m.text.size()) == 1;
    ERR_clear_error();
    return done ? out : Bytes();
  }

  // `m` has everything but the text; false when the tag is wrong.
  static bool decrypt(const Message& m, Bytes in, bool ours, Bytes& out, Pieces pieces = {}) {
    CipherPtr cipher = fetch(m.key.size(), ours);
    ContextPtr c(EVP_CIPHER_CTX_new());
    Bytes tag(in.end() - kTag, in.end());
    in.resize(in.size() - kTag);
    out.assign(in.size(), 0);
    int n = 0;
    std::uint8_t nothing = 0;
    bool done =
        EVP_DecryptInit_ex2(c.get(), cipher.get(), m.key.data(), m.nonce.data(), nullptr) == 1 &&
        EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()) == 1 &&
        feed(c.get(), m.aad, nullptr, pieces.aad) && feed(c.get(), in, out.data(), pieces.text) &&
        EVP_DecryptFinal_ex(c.get(), &nothing, &n) == 1;
    ERR_clear_error();
    return done;
  }

  Bytes random(std::size_t bytes) {
    Bytes out(bytes);
    for (auto& octet : out) octet = static_cast<std::uint8_t>(random_());
    return out;
  }
  Message random_message(std::size_t key_bytes, std::size_t aad_bytes, std::size_t text_bytes) {
    return {random(key_bytes), random(12), random(aad_bytes), random(text_bytes)};
  }

  std::mt19937 random_{7};
};

TEST(GcmLibrary, IsInUseWhereTheCpuHasTheInstructions) {
  const bool able = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vaes") &&
                    __builtin_cpu_supports("vpclmulqdq");
  EXPECT_STREQ(tls_library().records, able ? "libipsec-mb" : "OpenSSL");
  EXPECT_STREQ(tls_library(RecordCipher::kOpenssl).records, "OpenSSL");
}

// D. McGrew, J. Viega, "The Galois/Counter Mode of Operation", appendix B.
TEST_F(Gcm, PublishedVectors) {
  const std::string key = "feffe9928665731c6d6a8f9467308308", nonce = "cafebabefacedbaddecaf888",
                    aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2",
                    text =
                        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
                    zero16(32, '0'), zero12(24, '0');
  const struct {
    std::string key, nonce, aad, text, expected;
  } cases[] = {
      {zero16, zero12, "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
      {zero16, zero12, "", zero16,
       "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"},
      {key, nonce, "", text,
       "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
       "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985"
       "4d5c2af327cd64a62cf35abd2ba6fab4"},
      {key, nonce, aad, text.substr(0, 120),
       "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
       "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"},
      {zero16 + zero16, zero12, "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
      {zero16 + zero16, zero12, "", zero16,
       "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
      {key + key, nonce, aad, text.substr(0, 120),
       "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
       "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"},
  };
  for (const auto& one : cases) {
    const Message m{hex(one.key), hex(one.nonce), hex(one.aad), hex(one.text)};
    EXPECT_EQ(to_hex(encrypt(m, true)), one.expected);
    Bytes text_again;
    EXPECT_TRUE(decrypt(m, hex(one.expected), true, text_again));
    EXPECT_EQ(text_again, m.text);
  }
}

// Every length around the borders of blocks, of the kernels' strides and of a record.
TEST_F(Gcm, AgreesWithOpensslAtEveryLength) {
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 1100; ++n) lengths.push_back(n);
  for (std::size_t n : {2048, 4096, 8192, 16'384})
    for (std::size_t k = 0; k < 36; ++k) lengths.push_back(n - 18 + k);
  for (std::size_t key_bytes : {std::size_t{16}, std::size_t{32}})
    for (std::size_t n : lengths) {
      const Message m = random_message(key_bytes, n % 7 == 0 ? 5 : random_() % 80, n);
      const Bytes ours = encrypt(m, true), theirs = encrypt(m, false);
      ASSERT_EQ(ours, theirs) << n;
      Bytes text;
      ASSERT_TRUE(decrypt(m, theirs, true, text)) << n;
      ASSERT_EQ(text, m.text) << n;
      ASSERT_TRUE(decrypt(m, ours, false, text)) << n;
    }
}

TEST_F(Gcm, PiecesAreTheSameMessage) {
  for (std::size_t key_bytes : {std::size_t{16}, std::size_t{32}})
    for (std::size_t n : {1, 15, 16, 17, 31, 33, 255, 256, 257, 1000, 5000})
      for (std::size_t step : {1, 3, 15, 16, 17, 48, 100, 256, 300}) {
        const Message m = random_message(key_bytes, 40, n);
        const Bytes expected = encrypt(m, false);
        ASSERT_EQ(encrypt(m, true, {7, step}), expected) << n << " " << step;
        Bytes text;
        ASSERT_TRUE(decrypt(m, expected, true, text, {13, step})) << n << " " << step;
        ASSERT_EQ(text, m.text) << n << " " << step;
      }
}

TEST_F(Gcm, AnyChangedBitIsRefused) {
  const Message m = random_message(16, 5, 37);
  const Bytes sealed = encrypt(m, true);
  Bytes text;
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    Bytes forged = sealed;
    forged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    ASSERT_FALSE(decrypt(m, forged, true, text)) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * (m.aad.size() + m.nonce.size() + m.key.size()); ++bit) {
    Message other = m;
    std::size_t at = bit / 8;
    Bytes& part = at < 5 ? other.aad : at < 17 ? other.nonce : other.key;
    at -= at < 5 ? 0 : at < 17 ? 5 : 17;
    part[at] ^= static_cast<std::uint8_t>(1 << bit % 8);
    ASSERT_FALSE(decrypt(other, sealed, true, text)) << bit;
  }
  EXPECT_TRUE(decrypt(m, sealed, true, text));
}

// As libssl's record layer goes on: the same context, a nonce for each record, in place.
TEST_F(Gcm, OneContextServesManyRecords) {
  Message m = random_message(16, 5, 0);
  CipherPtr cipher = fetch(16, true);
  ContextPtr out(EVP_CIPHER_CTX_new()), in(EVP_CIPHER_CTX_new());
  int n = 0;
  ASSERT_EQ(EVP_CipherInit_ex(out.get(), cipher.get(), nullptr, nullptr, nullptr, 1), 1);
  ASSERT_EQ(EVP_CIPHER_CTX_ctrl(out.get(), EVP_CTRL_AEAD_SET_IVLEN, 12, nullptr), 1);
  ASSERT_EQ(EVP_CipherInit_ex(out.get(), nullptr, nullptr, m.key.data(), nullptr, -1), 1);
  ASSERT_EQ(EVP_CipherInit_ex(in.get(), cipher.get(), nullptr, m.key.data(), nullptr, 0), 1);
  for (int record = 0; record < 200; ++record) {
    m.nonce[11] = static_cast<std::uint8_t>(record);
    m.text = random(random_() % 3000 + 1);
    Bytes buffer = m.text, tag(kTag);
    const int bytes = static_cast<int>(buffer.size());
    ASSERT_EQ(EVP_CipherInit_ex(out.get(), nullptr, nullptr, nullptr, m.nonce.data(), 1), 1);
    ASSERT_EQ(EVP_CipherUpdate(out.get(), nullptr, &n, m.aad.data(), 5), 1);
    ASSERT_EQ(EVP_CipherUpdate(out.get(), buffer.data(), &n, buffer.data(), bytes), 1);
    ASSERT_EQ(EVP_CipherFinal_ex(out.get(), buffer.data() + bytes, &n), 1);
    ASSERT_EQ(EVP_CIPHER_CTX_ctrl(out.get(), EVP_CTRL_AEAD_GET_TAG, kTag, tag.data()), 1);
    Bytes sealed = buffer;
    sealed.insert(sealed.end(), tag.begin(), tag.end());
    ASSERT_EQ(sealed, encrypt(m, false));
    // A record that is forged does not spoil the next.
    if (record % 3 == 0) {
      Bytes forged = buffer;
      forged[0] ^= 1;
      ASSERT_EQ(EVP_CipherInit_ex(in.get(), nullptr, nullptr, nullptr, m.nonce.data(), 0), 1);
      ASSERT_EQ(EVP_CIPHER_CTX_ctrl(in.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()), 1);
      ASSERT_EQ(EVP_CipherUpdate(in.get(), nullptr, &n, m.aad.data(), 5), 1);
      ASSERT_EQ(EVP_CipherUpdate(in.get(), forged.data(), &n, forged.data(), bytes), 1);
      ASSERT_LE(EVP_CipherFinal_ex(in.get(), forged.data() + bytes, &n), 0);
    }
    ASSERT_EQ(EVP_CipherInit_ex(in.get(), nullptr, nullptr, nullptr, m.nonce.data(), 0), 1);
    ASSERT_EQ(EVP_CIPHER_CTX_ctrl(in.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()), 1);
    ASSERT_EQ(EVP_CipherUpdate(in.get(), nullptr, &n, m.aad.data(), 5), 1);
    ASSERT_EQ(EVP_CipherUpdate(in.get(), buffer.data(), &n, buffer.data(), bytes), 1);
    ASSERT_EQ(EVP_CipherFinal_ex(in.get(), buffer.data() + bytes, &n), 1);
    ASSERT_EQ(buffer, m.text);
  }
}

TEST_F(Gcm, ACopyGoesOnFromWhereItWasMade) {
  const Message m = random_message(32, 5, 100);
  CipherPtr cipher = fetch(32, true);
  ContextPtr c(EVP_CIPHER_CTX_new()), copy(EVP_CIPHER_CTX_new());
  Bytes out(m.text.size() + kTag), again(m.text.size() + kTag);
  int n = 0;
  ASSERT_EQ(EVP_EncryptInit_ex2(c.get(), cipher.get(), m.key.data(), m.nonce.data(), nullptr), 1);
  ASSERT_TRUE(feed(c.get(), m.aad, nullptr, 0));
  ASSERT_EQ(EVP_EncryptUpdate(c.get(), out.data(), &n, m.text.data(), 37), 1);
  again = out;
  ASSERT_EQ(EVP_CIPHER_CTX_copy(copy.get(), c.get()), 1);
  for (auto [context, to] : {std::pair{c.get(), &out}, std::pair{copy.get(), &again}}) {
    ASSERT_EQ(EVP_EncryptUpdate(context, to->data() + 37, &n, m.text.data() + 37, 63), 1);
    ASSERT_EQ(EVP_EncryptFinal_ex(context, to->data() + 100, &n), 1);
    ASSERT_EQ(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTag, to->data() + 100), 1);
    EXPECT_EQ(*to, encrypt(m, false));
  }
}

TEST_F(Gcm, RefusesWhatTlsDoesNotAskFor) {
  const Message m = random_message(16, 5, 40);
  CipherPtr cipher = fetch(16, true);
  ContextPtr c(EVP_CIPHER_CTX_new());
  EVP_CIPHER_CTX* x = c.get();
  Bytes out(64), tag(kTag);
  int n = 0;
  auto text = [&] { return EVP_CipherUpdate(x, out.data(), &n, m.text.data(), 40) == 1; };
  auto aad = [&](int bytes) {
    return EVP_CipherUpdate(x, nullptr, &n, Bytes(300).data(), bytes) == 1;
  };
  auto nonce = [&](int encrypt) {
    return EVP_CipherInit_ex(x, nullptr, nullptr, nullptr, m.nonce.data(), encrypt) == 1;
  };
  ASSERT_EQ(EVP_CipherInit_ex(x, cipher.get(), nullptr, nullptr, nullptr, 1), 1);
  EXPECT_FALSE(text()) << "neither key nor nonce";
  ASSERT_TRUE(nonce(1));
  EXPECT_FALSE(text()) << "no key";
  ASSERT_EQ(EVP_CipherInit_ex(x, nullptr, nullptr, m.key.data(), nullptr, 1), 1);
  EXPECT_TRUE(text()) << "nonce, then key";
  EXPECT_FALSE(aad(5)) << "additional data after text";
  EXPECT_LE(EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, kTag, tag.data()), 0) << "not finished";
  ASSERT_EQ(EVP_CipherFinal_ex(x, out.data(), &n), 1);
  EXPECT_FALSE(text()) << "the nonce is used up";
  EXPECT_LE(EVP_CipherFinal_ex(x, out.data(), &n), 0) << "the nonce is used up";
  EXPECT_LE(EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, 8, tag.data()), 0) << "short tag";
  EXPECT_LE(EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_IVLEN, 16, nullptr), 0) << "other nonces";
  ASSERT_TRUE(nonce(1));
  EXPECT_TRUE(aad(256));
  EXPECT_FALSE(aad(1)) << "more additional data than there is room for";
  ASSERT_TRUE(nonce(0));
  EXPECT_LE(EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_TAG, 8, tag.data()), 0) << "short tag";
  EXPECT_TRUE(text());
  EXPECT_LE(EVP_CipherFinal_ex(x, out.data(), &n), 0) << "no tag to compare with";
  ASSERT_TRUE(nonce(0));
  ASSERT_EQ(EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()), 1);
  ASSERT_TRUE(text());
  EXPECT_FALSE(nonce(1) && EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, kTag, tag.data()) == 1)
      << "the tag of a message that never was";
  ERR_clear_error();
}

}  // namespace
}  // namespace tkdc
