// SPDX-License-Identifier: Apache-2.0
// RFC 3961/3962 on shares against the RFCs' vectors, and against libkrb5 at
// every length from 0 to 600 octets.
#include "cipher/rfc3962.h"

#include <krb5.h>

#include "support/parties_with_ciphers.h"
#include "support/protocol_parties.h"

namespace tkdc {
namespace {

using test::from_hex;
using test::ProtocolParties;
using Shares = ProtocolParties::Shares;

const std::size_t kLongest = test::longest_message();

// RFC 3961 appendix A.1 gives 64-bit and other folds; 128-bit ones of the
// constants in use are checked against libkrb5 through the derived keys below.
TEST(Rfc3961, NFold) {
  // RFC 3961 A.1: 168-fold etc.; 128-fold("kerberos") from A.1.
  const std::string kerberos = "kerberos";
  EXPECT_EQ(n_fold({reinterpret_cast<const std::uint8_t*>(kerberos.data()), kerberos.size()}),
            from_hex("6b65726265726f737b9b5b2b93132b93"));
}

struct Krb5 {
  Krb5() { EXPECT_EQ(krb5_init_context(&context), 0); }
  ~Krb5() { krb5_free_context(context); }
  krb5_context context = nullptr;
};

krb5_keyblock keyblock(SecretVector& key) {
  krb5_keyblock kb{};
  kb.enctype = key.size() == 16 ? ENCTYPE_AES128_CTS_HMAC_SHA1_96 : ENCTYPE_AES256_CTS_HMAC_SHA1_96;
  kb.length = static_cast<unsigned>(key.size());
  kb.contents = key.data();
  return kb;
}

krb5_data data_of(ByteSpan bytes) {
  krb5_data d{};
  d.length = static_cast<unsigned>(bytes.size());
  d.data = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
  return d;
}

// A key with everything derived for one usage, at three parties.
struct Derived : ProtocolParties {
  Derived(std::uint64_t seed, SecretVector base, std::uint32_t usage)
      : ProtocolParties(seed), key(std::move(base)), base_rk(expand(key)) {
    for (auto [kind, out] : {std::pair{DerivedKey::kEncryption, &ke},
                             {DerivedKey::kIntegrity, &ki},
                             {DerivedKey::kChecksum, &kc}})
      *out = shares_of([&, kind = kind](Protocol& c, int p) {
        return derive(c, base_rk[p], key.size(), usage, kind);
      });
  }
  static Task<SharedBytes> derive(Protocol& c, const SharedBytes& rk, std::size_t key_bytes,
                                  std::uint32_t usage, DerivedKey kind) {
    std::vector<Bytes> constants(1, derivation_constant(usage, kind));
    auto derived = co_await derive_keys(c, rk, key_bytes, std::move(constants));
    if (kind == DerivedKey::kEncryption) {
      co_return co_await aes_expand_key(c, std::move(derived.front()));
    }
    co_return co_await hmac_pad_states(c, kSha1, std::move(derived.front()));
  }
  SecretVector key;
  Shares base_rk, ke, ki, kc;
};

class Rfc3962OnShares : public testing::TestWithParam<std::size_t> {};

TEST_P(Rfc3962OnShares, LibkrbOpensWhatWeSeal) {
  Krb5 krb5;
  std::mt19937_64 rng(GetParam());
  constexpr krb5_keyusage kUsage = 3;
  Derived d(11, test::random_bytes(rng, GetParam()), kUsage);
  std::vector<SecretVector> plain;
  std::vector<Shares> in, out(kLongest + 1);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    plain.push_back(test::random_bytes(rng, n));
    in.push_back(d.share(plain.back()));
  }
  auto one = [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    out[n][p] = co_await rfc3962_seal(c, d.ke[p], d.ki[p], in[n][p]);
  };
  d.run_all(kLongest + 1, one);
  krb5_keyblock kb = keyblock(d.key);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    Bytes sealed = d.rebuild(out[n]);
    ASSERT_EQ(sealed.size(), n + kCtsOverheadBytes);
    krb5_enc_data enc{};
    enc.enctype = kb.enctype;
    enc.ciphertext = data_of(sealed);
    Bytes opened(sealed.size());
    krb5_data result = data_of(opened);
    ASSERT_EQ(krb5_c_decrypt(krb5.context, &kb, kUsage, nullptr, &enc, &result), 0) << n;
    EXPECT_EQ(Bytes(opened.begin(), opened.begin() + static_cast<std::ptrdiff_t>(n)),
              Bytes(plain[n].begin(), plain[n].end()));
  }
}

TEST_P(Rfc3962OnShares, OpensWhatLibkrbSealsAndRefusesChanges) {
  Krb5 krb5;
  std::mt19937_64 rng(20 + GetParam());
  constexpr krb5_keyusage kUsage = 1;
  Derived d(12, test::random_bytes(rng, GetParam()), kUsage);
  krb5_keyblock kb = keyblock(d.key);
  std::vector<SecretVector> plain;
  std::vector<Shares> in, out(kLongest + 1);
  std::vector<std::array<bool, 3>> opened(kLongest + 1);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    plain.push_back(test::random_bytes(rng, n));
    Bytes sealed(n + kCtsOverheadBytes);
    krb5_data clear = data_of(plain.back());
    krb5_enc_data enc{};
    enc.enctype = kb.enctype;
    enc.ciphertext = data_of(sealed);
    ASSERT_EQ(krb5_c_encrypt(krb5.context, &kb, kUsage, nullptr, &clear, &enc), 0);
    if (n % 3 == 2) sealed[rng() % sealed.size()] ^= static_cast<std::uint8_t>(1u << rng() % 8);
    in.push_back(d.share(sealed));
  }
  auto one = [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    auto result = co_await rfc3962_open(c, d.ke[p], d.ki[p], in[n][p]);
    opened[n][static_cast<std::size_t>(p)] = result.has_value();
    if (result) out[n][p] = std::move(*result);
  };
  d.run_all(kLongest + 1, one);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    const bool genuine = n % 3 != 2;
    for (bool party_opened : opened[n]) EXPECT_EQ(party_opened, genuine) << n;
    if (genuine) {
      EXPECT_EQ(d.rebuild(out[n]), Bytes(plain[n].begin(), plain[n].end()));
    }
  }
}

TEST_P(Rfc3962OnShares, ChecksumAndPrfAgreeWithLibkrb) {
  Krb5 krb5;
  std::mt19937_64 rng(40 + GetParam());
  constexpr krb5_keyusage kUsage = 56;
  Derived d(13, test::random_bytes(rng, GetParam()), kUsage);
  krb5_keyblock kb = keyblock(d.key);
  std::vector<SecretVector> data;
  std::vector<Shares> in, mac(kLongest + 1), prf(kLongest + 1);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    data.push_back(test::random_bytes(rng, n));
    in.push_back(d.share(data.back()));
  }
  auto one = [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    mac[n][p] = co_await hmac_sha1_96(c, d.kc[p], in[n][p]);
    if (n % 20 == 0) prf[n][p] = co_await rfc3962_prf(c, d.base_rk[p], d.key.size(), in[n][p]);
  };
  d.run_all(kLongest + 1, one);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    krb5_data clear = data_of(data[n]);
    krb5_checksum sum{};
    ASSERT_EQ(krb5_c_make_checksum(krb5.context, 0, &kb, kUsage, &clear, &sum), 0);
    EXPECT_EQ(d.rebuild(mac[n]), Bytes(sum.contents, sum.contents + sum.length)) << n;
    krb5_free_checksum_contents(krb5.context, &sum);
    if (n % 20 != 0) continue;
    Bytes expected(16);
    krb5_data out = data_of(expected);
    ASSERT_EQ(krb5_c_prf(krb5.context, &kb, &clear, &out), 0);
    EXPECT_EQ(d.rebuild(prf[n]), expected) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(KeyBytes, Rfc3962OnShares, testing::Values(16u, 32u));

// RFC 3962 appendix B: CBC with ciphertext stealing, key "chicken teriyaki".
TEST(Rfc3962Vectors, CiphertextStealing) {
  ProtocolParties parties(14);
  auto rk = parties.expand(from_hex("636869636b656e207465726979616b69"));
  const std::string text = "I would like the General Gau's Chicken, please, and wonton soup.";
  const std::pair<std::size_t, const char*> kVectors[] = {
      {17, "c6353568f2bf8cb4d8a580362da7ff7f97"},
      {31, "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"},
      {32, "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"},
      {47,
       "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc"
       "98ebf5"},
      {64,
       "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a84807efe836ee89a526730dbc"
       "2f7bc8409dad8bbb96c4cdc03bc103e1a194bbd8"},
  };
  for (auto [bytes, hex] : kVectors) {
    ByteSpan plain(reinterpret_cast<const std::uint8_t*>(text.data()), bytes);
    auto in = parties.share(plain);
    auto sealed =
        parties.shares_of([&](Protocol& c, int p) { return cts_encrypt(c, rk[p], in[p]); });
    EXPECT_EQ(parties.rebuild(sealed), from_hex(hex)) << bytes;
    auto opened =
        parties.value_of([&](Protocol& c, int p) { return cts_decrypt(c, rk[p], sealed[p]); });
    EXPECT_EQ(opened, Bytes(plain.begin(), plain.end())) << bytes;
  }
}

}  // namespace
}  // namespace tkdc
