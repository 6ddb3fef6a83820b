// SPDX-License-Identifier: Apache-2.0
// The other end of what the engines compute: a Kerberos program with the whole key.
#pragma once

#include "enctype.h"
#include "three_services.h"

namespace tkdc {

inline krb5_data data_of(Bytes& bytes) {
  krb5_data d{};
  d.length = static_cast<unsigned>(bytes.size());
  d.data = reinterpret_cast<char*>(bytes.data());
  return d;
}

// A key as a Kerberos program holds it.
class Krb5Client {
 public:
  Krb5Client(std::uint32_t enctype, Bytes key) : key_(std::move(key)) {
    EXPECT_EQ(krb5_init_context(&context_), 0);
    block_.enctype = static_cast<krb5_enctype>(enctype);
    block_.length = static_cast<unsigned>(key_.size());
    block_.contents = key_.data();
    overhead_ = tkdc_enctype_of(enctype)->overhead_bytes;
  }
  ~Krb5Client() { krb5_free_context(context_); }

  Bytes seal(krb5_keyusage usage, Bytes plain) {
    Bytes sealed(plain.size() + overhead_);
    krb5_data clear = data_of(plain);
    krb5_enc_data enc{};
    enc.ciphertext = data_of(sealed);
    EXPECT_EQ(krb5_c_encrypt(context_, &block_, usage, nullptr, &clear, &enc), 0);
    return sealed;
  }
  Bytes open(krb5_keyusage usage, Bytes sealed) {
    Bytes plain(sealed.size());
    krb5_data result = data_of(plain);
    krb5_enc_data enc{};
    enc.enctype = block_.enctype;
    enc.ciphertext = data_of(sealed);
    EXPECT_EQ(krb5_c_decrypt(context_, &block_, usage, nullptr, &enc, &result), 0);
    plain.resize(result.length);
    return plain;
  }
  Bytes checksum(krb5_keyusage usage, Bytes data) {
    krb5_data input = data_of(data);
    krb5_checksum sum{};
    EXPECT_EQ(krb5_c_make_checksum(context_, 0, &block_, usage, &input, &sum), 0);
    Bytes out(sum.contents, sum.contents + sum.length);
    krb5_free_checksum_contents(context_, &sum);
    return out;
  }

 private:
  krb5_context context_ = nullptr;
  Bytes key_;
  krb5_keyblock block_{};
  std::size_t overhead_ = 0;
};

// Through the job service rather than the test's own arithmetic, what a drawn key is.
inline Bytes rebuild_key(ThreeServices& e, const KeyRef& ref) {
  Bytes x;
  for (int p = 0; p < 3; ++p) {
    auto record = e.store(p).get(ref.id);
    const SecretVector& c = (*record)->fields.at("key").component[0];
    x.resize(c.size());
    xor_bytes(x.data(), c.data(), c.size());
  }
  return x;
}

}  // namespace tkdc
