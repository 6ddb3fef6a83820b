// SPDX-License-Identifier: Apache-2.0
// RFC 8009 on shares against the RFC's vectors (appendix A); libkrb5_test.cc compares with libkrb5.
#include "cipher/rfc8009.h"

#include "derived_keys.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::from_hex;
using test::Rfc8009Keys;
using Shares = test::ProtocolParties::Shares;

Task<SharedBytes> open_or_nothing(Protocol& c, Rfc8009Keys& d, std::size_t party,
                                  SharedBytes sealed) {
  auto plain = co_await d.open(c, party, std::move(sealed));
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
  Rfc8009Keys d(1, from_hex(v.base), 2);
  EXPECT_EQ(d.rebuild(d.raw_kc), from_hex(v.kc));
  EXPECT_EQ(d.rebuild(d.raw_ke), from_hex(v.ke));
  EXPECT_EQ(d.rebuild(d.raw_ki), from_hex(v.ki));
}

TEST_P(Rfc8009Vectors, Decryption) {
  const Vectors& v = GetParam();
  Rfc8009Keys d(2, from_hex(v.base), 2);
  for (const auto& [plain, sealed] : v.encryption) {
    Shares in = d.share(from_hex(sealed));
    EXPECT_EQ(d.value_of([&](Protocol& c, int p) {
      return open_or_nothing(c, d, static_cast<std::size_t>(p), in[static_cast<std::size_t>(p)]);
    }),
              from_hex(plain))
        << sealed;
  }
}

TEST_P(Rfc8009Vectors, ChecksumAndPrf) {
  const Vectors& v = GetParam();
  Rfc8009Keys d(3, from_hex(v.base), 2);
  Shares data = d.share(from_hex("000102030405060708090a0b0c0d0e0f1011121314"));
  Shares input = d.share(from_hex("74657374"));  // "test"
  EXPECT_EQ(d.value_of([&](Protocol& c, int p) {
    const auto at = static_cast<std::size_t>(p);
    return d.mac(c, at, data[at]);
  }),
            from_hex(v.checksum));
  EXPECT_EQ(d.value_of([&](Protocol& c, int p) {
    const auto at = static_cast<std::size_t>(p);
    return d.prf(c, at, input[at]);
  }),
            from_hex(v.prf));
}

INSTANTIATE_TEST_SUITE_P(AppendixA, Rfc8009Vectors, testing::ValuesIn(kVectors),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tkdc
