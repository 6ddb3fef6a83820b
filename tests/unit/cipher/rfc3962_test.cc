// SPDX-License-Identifier: Apache-2.0
// RFC 3961/3962 on shares against the RFCs' vectors; libkrb5_test.cc compares with libkrb5.
#include "cipher/rfc3962.h"

#include "support/parties_with_ciphers.h"
#include "support/protocol_parties.h"

namespace tkdc {
namespace {

using test::from_hex;
using test::ProtocolParties;

// RFC 3961 appendix A.1 gives 64-bit and other folds; 128-bit ones of the
// constants in use are checked against libkrb5 through the derived keys.
TEST(Rfc3961, NFold) {
  // RFC 3961 A.1: 168-fold etc.; 128-fold("kerberos") from A.1.
  const std::string kerberos = "kerberos";
  EXPECT_EQ(n_fold({reinterpret_cast<const std::uint8_t*>(kerberos.data()), kerberos.size()}),
            from_hex("6b65726265726f737b9b5b2b93132b93"));
}

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
