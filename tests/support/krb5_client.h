// SPDX-License-Identifier: Apache-2.0
// The other end of what the servers compute: libkrb5 with the whole key.
#pragma once

#include <gtest/gtest.h>
#include <krb5.h>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc::test {

inline krb5_data data_of(ByteSpan bytes) {
  krb5_data d{};
  d.length = static_cast<unsigned>(bytes.size());
  d.data = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
  return d;
}

// A key as a Kerberos program holds it.
class Krb5Client {
 public:
  Krb5Client(std::uint32_t enctype, ByteSpan key) : key_(key.begin(), key.end()) {
    EXPECT_EQ(krb5_init_context(&context_), 0);
    block_.enctype = static_cast<krb5_enctype>(enctype);
    block_.length = static_cast<unsigned>(key_.size());
    block_.contents = key_.data();
  }
  ~Krb5Client() { krb5_free_context(context_); }
  Krb5Client(const Krb5Client&) = delete;
  Krb5Client& operator=(const Krb5Client&) = delete;

  Bytes seal(krb5_keyusage usage, ByteSpan plain) {
    std::size_t bytes = 0;
    EXPECT_EQ(krb5_c_encrypt_length(context_, block_.enctype, plain.size(), &bytes), 0);
    Bytes sealed(bytes);
    krb5_data clear = data_of(plain);
    krb5_enc_data enc{};
    enc.ciphertext = data_of(sealed);
    EXPECT_EQ(krb5_c_encrypt(context_, &block_, usage, nullptr, &clear, &enc), 0);
    return sealed;
  }
  Bytes open(krb5_keyusage usage, ByteSpan sealed) {
    Bytes plain(sealed.size());
    krb5_data result = data_of(plain);
    krb5_enc_data enc{};
    enc.enctype = block_.enctype;
    enc.ciphertext = data_of(sealed);
    EXPECT_EQ(krb5_c_decrypt(context_, &block_, usage, nullptr, &enc, &result), 0);
    plain.resize(result.length);
    return plain;
  }
  Bytes checksum(krb5_keyusage usage, ByteSpan data) {
    krb5_data input = data_of(data);
    krb5_checksum sum{};
    EXPECT_EQ(krb5_c_make_checksum(context_, 0, &block_, usage, &input, &sum), 0);
    Bytes out(sum.contents, sum.contents + sum.length);
    krb5_free_checksum_contents(context_, &sum);
    return out;
  }
  Bytes prf(ByteSpan data) {
    std::size_t bytes = 0;
    EXPECT_EQ(krb5_c_prf_length(context_, block_.enctype, &bytes), 0);
    Bytes out(bytes);
    krb5_data input = data_of(data), result = data_of(out);
    EXPECT_EQ(krb5_c_prf(context_, &block_, &input, &result), 0);
    return out;
  }

 private:
  krb5_context context_ = nullptr;
  Bytes key_;
  krb5_keyblock block_{};
};

}  // namespace tkdc::test
