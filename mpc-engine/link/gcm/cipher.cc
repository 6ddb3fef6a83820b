// SPDX-License-Identifier: Apache-2.0
#include "link/gcm/cipher.h"

#include <algorithm>

namespace tkdc {

GcmCipher::GcmCipher(const GcmKernels& kernels, std::size_t key_bytes)
    : kernels_(&kernels), key_bytes_(key_bytes) {}

GcmCipher::~GcmCipher() {
  sodium_memzero(&key_, sizeof key_);
  sodium_memzero(&message_, sizeof message_);
  sodium_memzero(tag_.data(), tag_.size());
}

bool GcmCipher::start(bool encrypt, ByteSpan key, ByteSpan nonce) {
  if ((!key.empty() && key.size() != key_bytes_) || (!nonce.empty() && nonce.size() != kNonceBytes))
    return false;
  if (encrypt != encrypt_ || !key.empty()) {
    // A message does not go on in the other direction or under another key.
    step_ = step_ == Step::kAad ? Step::kAad : Step::kNoNonce;
    tag_known_ = false;
  }
  encrypt_ = encrypt;
  if (!key.empty()) {
    kernels_->expand_key(key.data(), &key_);
    keyed_ = true;
  }
  if (nonce.empty()) return true;
  std::copy(nonce.begin(), nonce.end(), nonce_.begin());
  step_ = Step::kAad;
  aad_bytes_ = 0;
  text_bytes_ = 0;
  tag_known_ = false;
  return true;
}

bool GcmCipher::add_aad(ByteSpan aad) {
  if (!running() || step_ != Step::kAad || aad.size() > kMaxAadBytes - aad_bytes_) return false;
  std::copy(aad.begin(), aad.end(), aad_.data() + aad_bytes_);
  aad_bytes_ += aad.size();
  return true;
}

void GcmCipher::begin_text() {
  kernels_->begin(&key_, &message_, nonce_.data(), aad_.data(), aad_bytes_);
  step_ = Step::kText;
}

bool GcmCipher::update(ByteSpan in, std::uint8_t* out) {
  if (!running() || in.size() > kMaxTextBytes - text_bytes_) return false;
  if (step_ == Step::kAad) begin_text();
  text_bytes_ += in.size();
  if (!in.empty())
    (encrypt_ ? kernels_->encrypt : kernels_->decrypt)(&key_, &message_, out, in.data(), in.size());
  return true;
}

bool GcmCipher::expect_tag(ByteSpan tag) {
  if (encrypt_ || tag.size() != kTagBytes) return false;
  std::copy(tag.begin(), tag.end(), tag_.begin());
  tag_known_ = true;
  return true;
}

bool GcmCipher::finish() {
  if (!running() || (!encrypt_ && !tag_known_)) return false;
  if (step_ == Step::kAad) begin_text();
  step_ = Step::kDone;
  std::array<std::uint8_t, kTagBytes> made;
  (encrypt_ ? kernels_->finish_encryption : kernels_->finish_decryption)(&key_, &message_,
                                                                         made.data(), kTagBytes);
  const bool right = encrypt_ || sodium_memcmp(made.data(), tag_.data(), kTagBytes) == 0;
  if (encrypt_) tag_ = made;
  tag_known_ = encrypt_;
  sodium_memzero(made.data(), made.size());  // of a forged message it is a secret
  return right;
}

bool GcmCipher::get_tag(MutableByteSpan tag) const {
  if (!encrypt_ || step_ != Step::kDone || !tag_known_ || tag.size() != kTagBytes) return false;
  std::copy(tag_.begin(), tag_.end(), tag.begin());
  return true;
}

bool GcmCipher::get_nonce(MutableByteSpan nonce) const {
  if (step_ == Step::kNoNonce || nonce.size() != kNonceBytes) return false;
  std::copy(nonce_.begin(), nonce_.end(), nonce.begin());
  return true;
}

}  // namespace tkdc
