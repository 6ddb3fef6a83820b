// SPDX-License-Identifier: Apache-2.0
// One AES-GCM key and the message under it (NIST SP 800-38D), in the order in
// which OpenSSL's EVP interface hands things over: key, nonce, additional data,
// text in pieces, tag. Nonces have 12 octets and tags 16, as in TLS 1.3;
// everything else is refused.
//
// A nonce serves one message: after finish(), or after a failure, only start()
// with a nonce goes on. Decrypted text is to be used after finish() alone.
//
// One thread at a time. Secret: everything but nonces, lengths and additional
// data; wiped on destruction.
#pragma once

#include <array>
#include <optional>

#include "base/secret.h"
#include "link/gcm/kernels.h"

namespace tkdc {

class GcmCipher {
 public:
  static constexpr std::size_t kNonceBytes = 12, kTagBytes = 16;
  static constexpr std::size_t kMaxAadBytes = 256;  // TLS 1.3 has 5
  // SP 800-38D section 5.2.1.1: 2^39 - 256 bits.
  static constexpr std::uint64_t kMaxTextBytes = (std::uint64_t{1} << 36) - 32;

  // `kernels` fits keys of `key_bytes` and outlives the object.
  GcmCipher(const GcmKernels& kernels, std::size_t key_bytes);
  GcmCipher(const GcmCipher&) = default;
  GcmCipher& operator=(const GcmCipher&) = delete;
  ~GcmCipher();

  // A new key, a new nonce, or both; empty ones leave what is there. A nonce
  // begins a message. Here and below false: refused.
  [[nodiscard]] bool start(bool encrypt, ByteSpan key, ByteSpan nonce);
  [[nodiscard]] bool add_aad(ByteSpan aad);                   // before the first text
  [[nodiscard]] bool update(ByteSpan in, std::uint8_t* out);  // `out` may be where `in` is
  [[nodiscard]] bool expect_tag(ByteSpan tag);  // to decrypt, between nonce and finish()
  // Decrypting: false when the tag is another one than expected.
  [[nodiscard]] bool finish();
  [[nodiscard]] bool get_tag(MutableByteSpan tag) const;  // of the encrypted message
  [[nodiscard]] bool get_nonce(MutableByteSpan nonce) const;
  std::size_t key_bytes() const { return key_bytes_; }

 private:
  enum class Step : std::uint8_t { kNoNonce, kAad, kText, kDone };
  bool running() const { return keyed_ && (step_ == Step::kAad || step_ == Step::kText); }
  void begin_text();

  const GcmKernels* kernels_;
  std::size_t key_bytes_;
  bool encrypt_ = true, keyed_ = false, tag_known_ = false;
  Step step_ = Step::kNoNonce;
  std::size_t aad_bytes_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::array<std::uint8_t, kNonceBytes> nonce_{};
  std::array<std::uint8_t, kTagBytes> tag_{};  // expected, or made
  std::array<std::uint8_t, kMaxAadBytes> aad_{};
  gcm_context_data message_{};
  alignas(64) gcm_key_data key_{};
};

}  // namespace tkdc
