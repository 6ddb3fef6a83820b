// SPDX-License-Identifier: Apache-2.0
// RFC 8009 on shares against the RFC's vectors (appendix A), and against libkrb5
// at every length from 0 to 600 octets.
#include "cipher/rfc8009.h"

#include <krb5.h>

#include "support/parties_with_ciphers.h"
#include "support/protocol_parties.h"

namespace tkdc {
namespace {

using test::from_hex;
using test::ProtocolParties;
using Shares = ProtocolParties::Shares;

const std::size_t kLongest = test::longest_message();

struct Krb5 {
  Krb5() { EXPECT_EQ(krb5_init_context(&context), 0); }
  ~Krb5() { krb5_free_context(context); }
  krb5_context context = nullptr;
};

krb5_keyblock keyblock(SecretVector& key) {
  krb5_keyblock kb{};
  kb.enctype =
      key.size() == 16 ? ENCTYPE_AES128_CTS_HMAC_SHA256_128 : ENCTYPE_AES256_CTS_HMAC_SHA384_192;
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
struct Rfc8009Derived : ProtocolParties {
  Rfc8009Derived(std::uint64_t seed, ByteSpan base, std::uint32_t usage)
      : ProtocolParties(seed), key(base.begin(), base.end()), enctype(rfc8009_of(key.size())) {
    Shares shares = share(key);
    base_of = states_of(shares);
    auto derived = [&](DerivedKey kind, std::size_t bytes) {
      return shares_of([&](Protocol& c, int p) {
        return rfc8009_kdf(c, enctype, base_of[p], derivation_constant(usage, kind), SharedBytes(),
                           bytes);
      });
    };
    raw_ke = derived(DerivedKey::kEncryption, enctype.key_bytes);
    raw_ki = derived(DerivedKey::kIntegrity, enctype.mac_key_bytes);
    raw_kc = derived(DerivedKey::kChecksum, enctype.mac_key_bytes);
    ke = shares_of([&](Protocol& c, int p) { return aes_expand_key(c, raw_ke[p]); });
    ki = states_of(raw_ki);
    kc = states_of(raw_kc);
  }
  Shares states_of(const Shares& mac_key) {
    return shares_of(
        [&](Protocol& c, int p) { return hmac_pad_states(c, enctype.hash, mac_key[p]); });
  }

  SecretVector key;
  const Rfc8009& enctype;
  Shares base_of, raw_ke, raw_ki, raw_kc, ke, ki, kc;
};

Task<SharedBytes> open_or_nothing(Protocol& c, const Rfc8009Derived& d, int p, SharedBytes sealed) {
  auto plain = co_await rfc8009_open(c, d.enctype, d.ke[p], d.ki[p], std::move(sealed));
  co_return plain ? std::move(*plain) : SharedBytes();
}

// RFC 8009, appendix A.
struct Vectors {
  const char* name;
  const char *base, *kc, *ke, *ki;
  const char *checksum, *prf;
  struct Encryption {
    const char *plain, *sealed;
  } encryption[4];
};

const Vectors kVectors[] = {
    {"aes128",
     "3705d96080c17728a0e800eab6e0d23c",
     "b31a018a48f54776f403e9a396325dc3",
     "9b197dd1e8c5609d6e67c3e37c62c72e",
     "9fda0e56ab2d85e1569a688696c26a6c",
     "d78367186643d67b411cba9139fc1dee",
     "9d188616f63852fe86915bb840b4a886ff3e6bb0f819b49b893393d393854295",
     {{"", "ef85fb890bb8472f4dab20394dca781dad877eda39d50c870c0d5a0a8e48c718"},
      {"000102030405",
       "84d7f30754ed987bab0bf3506beb09cfb55402cef7e6877ce99e247e52d16ed4421dfdf8976c"},
      {"000102030405060708090a0b0c0d0e0f",
       "3517d640f50ddc8ad3628722b3569d2ae07493fa8263254080ea65c1008e8fc2"
       "95fb4852e7d83e1e7c48c37eebe6b0d3"},
      {"000102030405060708090a0b0c0d0e0f1011121314",
       "720f73b18d9859cd6ccb4346115cd336c70f58edc0c4437c5573544c31c813bc"
       "e1e6d072c186b39a413c2f92ca9b8334a287ffcbfc"}}},
    {"aes256",
     "6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52",
     "ef5718be86cc84963d8bbb5031e9f5c4ba41f28faf69e73d",
     "56ab22bee63d82d7bc5227f6773f8ea7a5eb1c825160c38312980c442e5c7e49",
     "69b16514e3cd8e56b82010d5c73012b622c4d00ffc23ed1f",
     "45ee791567eefca37f4ac1e0222de80d43c3bfa06699672a",
     "9801f69a368c2bf675e59521e177d9a07f67efe1cfde8d3c"
     "8d6f6a0256e3b17db3c1b62ad1b8553360d17367eb1514d2",
     {{"", "41f53fa5bfe7026d91faf9be959195a058707273a96a40f0a01960621ac612748b9bbfbe7eb4ce3c"},
      {"000102030405",
       "4ed7b37c2bcac8f74f23c1cf07e62bc7b75fb3f637b9f559c7f664f69eab7b6092237526ea0d1f61cb20"
       "d69d10f2"},
      {"000102030405060708090a0b0c0d0e0f",
       "bc47ffec7998eb91e8115cf8d19dac4bbbe2e163e87dd37f49beca92027764f6"
       "8cf51f14d798c2273f35df574d1f932e40c4ff255b36a266"},
      {"000102030405060708090a0b0c0d0e0f1011121314",
       "40013e2df58e8751957d2878bcd2d6fe101ccfd556cb1eae79db3c3ee86429f2"
       "b2a602ac86fef6ecb647d6295fae077a1feb517508d2c16b4192e01f62"}}}};

class Rfc8009Vectors : public testing::TestWithParam<Vectors> {};

TEST_P(Rfc8009Vectors, KeyDerivation) {
  const Vectors& v = GetParam();
  Rfc8009Derived d(1, from_hex(v.base), 2);
  EXPECT_EQ(d.rebuild(d.raw_kc), from_hex(v.kc));
  EXPECT_EQ(d.rebuild(d.raw_ke), from_hex(v.ke));
  EXPECT_EQ(d.rebuild(d.raw_ki), from_hex(v.ki));
}

TEST_P(Rfc8009Vectors, Decryption) {
  const Vectors& v = GetParam();
  Rfc8009Derived d(2, from_hex(v.base), 2);
  for (const auto& [plain, sealed] : v.encryption) {
    Shares in = d.share(from_hex(sealed));
    EXPECT_EQ(d.value_of([&](Protocol& c, int p) { return open_or_nothing(c, d, p, in[p]); }),
              from_hex(plain))
        << sealed;
  }
}

TEST_P(Rfc8009Vectors, ChecksumAndPrf) {
  const Vectors& v = GetParam();
  Rfc8009Derived d(3, from_hex(v.base), 2);
  Shares data = d.share(from_hex("000102030405060708090a0b0c0d0e0f1011121314"));
  Shares input = d.share(from_hex("74657374"));  // "test"
  EXPECT_EQ(
      d.value_of([&](Protocol& c, int p) { return rfc8009_mac(c, d.enctype, d.kc[p], data[p]); }),
      from_hex(v.checksum));
  EXPECT_EQ(d.value_of([&](Protocol& c, int p) {
    return rfc8009_prf(c, d.enctype, d.base_of[p], input[p]);
  }),
            from_hex(v.prf));
}

INSTANTIATE_TEST_SUITE_P(AppendixA, Rfc8009Vectors, testing::ValuesIn(kVectors),
                         [](const auto& one) { return std::string(one.param.name); });

class Rfc8009OnShares : public testing::TestWithParam<std::size_t> {};

TEST_P(Rfc8009OnShares, LibkrbOpensWhatWeSeal) {
  Krb5 krb5;
  std::mt19937_64 rng(GetParam());
  constexpr krb5_keyusage kUsage = 3;
  Rfc8009Derived d(11, test::random_bytes(rng, GetParam()), kUsage);
  std::vector<SecretVector> plain;
  std::vector<Shares> in, out(kLongest + 1);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    plain.push_back(test::random_bytes(rng, n));
    in.push_back(d.share(plain.back()));
  }
  auto one = [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    out[n][p] = co_await rfc8009_seal(c, d.enctype, d.ke[p], d.ki[p], in[n][p]);
  };
  d.run_all(kLongest + 1, one);
  krb5_keyblock kb = keyblock(d.key);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    Bytes sealed = d.rebuild(out[n]);
    ASSERT_EQ(sealed.size(), n + d.enctype.overhead_bytes());
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

TEST_P(Rfc8009OnShares, OpensWhatLibkrbSealsAndRefusesChanges) {
  Krb5 krb5;
  std::mt19937_64 rng(20 + GetParam());
  constexpr krb5_keyusage kUsage = 1;
  Rfc8009Derived d(12, test::random_bytes(rng, GetParam()), kUsage);
  krb5_keyblock kb = keyblock(d.key);
  std::vector<SecretVector> plain;
  std::vector<Shares> in, out(kLongest + 1);
  std::vector<std::array<bool, 3>> opened(kLongest + 1);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    plain.push_back(test::random_bytes(rng, n));
    Bytes sealed(n + d.enctype.overhead_bytes());
    krb5_data clear = data_of(plain.back());
    krb5_enc_data enc{};
    enc.enctype = kb.enctype;
    enc.ciphertext = data_of(sealed);
    ASSERT_EQ(krb5_c_encrypt(krb5.context, &kb, kUsage, nullptr, &clear, &enc), 0);
    if (n % 3 == 2) sealed[rng() % sealed.size()] ^= static_cast<std::uint8_t>(1u << rng() % 8);
    in.push_back(d.share(sealed));
  }
  auto one = [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    auto result = co_await rfc8009_open(c, d.enctype, d.ke[p], d.ki[p], in[n][p]);
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

// Every octet of the tag counts: is_zero() takes more than one block.
TEST_P(Rfc8009OnShares, EachOctetOfTheTagCounts) {
  Krb5 krb5;
  std::mt19937_64 rng(30);
  Rfc8009Derived d(15, test::random_bytes(rng, GetParam()), 3);
  krb5_keyblock kb = keyblock(d.key);
  const SecretVector plain = test::random_bytes(rng, 9);
  Bytes sealed(plain.size() + d.enctype.overhead_bytes());
  krb5_data clear = data_of(plain);
  krb5_enc_data enc{};
  enc.ciphertext = data_of(sealed);
  ASSERT_EQ(krb5_c_encrypt(krb5.context, &kb, 3, nullptr, &clear, &enc), 0);
  std::vector<Shares> in;
  for (std::size_t k = 0; k < d.enctype.tag_bytes; ++k) {
    Bytes forged = sealed;
    forged[forged.size() - 1 - k] ^= static_cast<std::uint8_t>(1u << k % 8);
    in.push_back(d.share(forged));
  }
  std::vector<std::array<bool, 3>> opened(in.size());
  d.run_all(in.size(), [&](Protocol& c, int p, std::size_t k) -> Task<void> {
    SharedBytes out = co_await open_or_nothing(c, d, p, in[k][p]);
    opened[k][static_cast<std::size_t>(p)] = out.size() > 0;
  });
  for (const auto& parties : opened)
    for (bool party_opened : parties) EXPECT_FALSE(party_opened);
}

TEST_P(Rfc8009OnShares, ChecksumAndPrfAgreeWithLibkrb) {
  Krb5 krb5;
  std::mt19937_64 rng(40 + GetParam());
  constexpr krb5_keyusage kUsage = 56;
  Rfc8009Derived d(13, test::random_bytes(rng, GetParam()), kUsage);
  krb5_keyblock kb = keyblock(d.key);
  std::vector<SecretVector> data;
  std::vector<Shares> in, mac(kLongest + 1), prf(kLongest + 1);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    data.push_back(test::random_bytes(rng, n));
    in.push_back(d.share(data.back()));
  }
  auto one = [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    const auto at = static_cast<std::size_t>(p);
    mac[n][p] = co_await rfc8009_mac(c, d.enctype, d.kc[at], in[n][p]);
    if (n % 20 == 0) prf[n][p] = co_await rfc8009_prf(c, d.enctype, d.base_of[at], in[n][p]);
  };
  d.run_all(kLongest + 1, one);
  for (std::size_t n = 0; n <= kLongest; ++n) {
    krb5_data clear = data_of(data[n]);
    krb5_checksum sum{};
    ASSERT_EQ(krb5_c_make_checksum(krb5.context, 0, &kb, kUsage, &clear, &sum), 0);
    EXPECT_EQ(d.rebuild(mac[n]), Bytes(sum.contents, sum.contents + sum.length)) << n;
    krb5_free_checksum_contents(krb5.context, &sum);
    if (n % 20 != 0) continue;
    Bytes expected(d.enctype.prf_bytes);
    krb5_data out = data_of(expected);
    ASSERT_EQ(krb5_c_prf(krb5.context, &kb, &clear, &out), 0);
    EXPECT_EQ(d.rebuild(prf[n]), expected) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(KeyBytes, Rfc8009OnShares, testing::Values(16u, 32u));

}  // namespace
}  // namespace tkdc
