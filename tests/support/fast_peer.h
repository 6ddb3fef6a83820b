// SPDX-License-Identifier: Apache-2.0
// A client's and a KDC's side of FAST, with libkrb5: derived keys, known halves, recipes.
#pragma once

#include "derivation.h"
#include "enctype.h"
#include "service/wire/recipe.h"
#include "support/krb5_client.h"

namespace tkdc::test {

inline krb5_keyblock block_of(std::uint32_t enctype, Bytes& key) {
  krb5_keyblock kb{};
  kb.enctype = static_cast<krb5_enctype>(enctype);
  kb.length = static_cast<unsigned>(key.size());
  kb.contents = key.data();
  return kb;
}

class FastPeer {
 public:
  FastPeer() { EXPECT_EQ(krb5_init_context(&context_), 0); }
  ~FastPeer() { krb5_free_context(context_); }

  // What krb5kdc sends as the known half: PRF+ of the known key.
  Bytes known_half(std::uint32_t enctype, Bytes known, std::string pepper) {
    krb5_keyblock kb = block_of(enctype, known);
    Bytes in(pepper.begin(), pepper.end()), out(known.size());
    krb5_data input = data_of(in), result = data_of(out);
    EXPECT_EQ(krb5_c_prfplus(context_, &kb, &input, &result), 0);
    return out;
  }
  Bytes fx_cf2(std::uint32_t enctype, Bytes known, const char* pepper1, std::uint32_t long_term,
               Bytes key, const char* pepper2) {
    krb5_keyblock k1 = block_of(enctype, known), k2 = block_of(long_term, key), *out = nullptr;
    EXPECT_EQ(krb5_c_fx_cf2_simple(context_, &k1, pepper1, &k2, pepper2, &out), 0);
    Bytes octets(out->contents, out->contents + out->length);
    krb5_free_keyblock(context_, out);
    return octets;
  }
  Bytes seal(std::uint32_t enctype, Bytes key, krb5_keyusage usage, Bytes plain) {
    return Krb5Client(enctype, std::move(key)).seal(usage, std::move(plain));
  }
  Bytes open(std::uint32_t enctype, Bytes key, krb5_keyusage usage, Bytes sealed) {
    return Krb5Client(enctype, std::move(key)).open(usage, std::move(sealed));
  }
  Bytes checksum(std::uint32_t enctype, Bytes key, krb5_keyusage usage, Bytes data) {
    return Krb5Client(enctype, std::move(key)).checksum(usage, std::move(data));
  }

 private:
  krb5_context context_ = nullptr;
};

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes recipe(std::uint8_t kind, std::uint32_t enctype, std::string pepper) {
  Derivation by;
  by.kind = kind;
  by.enctype = enctype;
  by.pepper = std::move(pepper);
  return encode_derivation(by);
}

inline constexpr const char* kChallenge = "challengelongterm";
inline constexpr const char* kReply = "replykey";

}  // namespace tkdc::test
