// SPDX-License-Identifier: Apache-2.0
// The reference for AES-CTR: two of OpenSSL's streams, added. And the choice among all.
#include "rep3/zero_stream.h"

#include "protocol/shared_bytes.h"
#include "rep3/prss.h"

namespace tkdc {
namespace {

void derive(MutableByteSpan out, ByteSpan key, std::string_view label) {
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(label.data()),
                     label.size(), key.data(), key.size());
}

class OpensslZeroStream final : public ZeroStream {
 public:
  explicit OpensslZeroStream(const ZeroStreamKeys& keys)
      : mine_(keys.mine, "tkdc zero", keys.ratchet_bytes),
        next_(keys.next, "tkdc zero", keys.ratchet_bytes) {}
  const char* name() const override { return "openssl"; }
  void next(std::uint8_t* out, std::size_t bytes) override {
    if (other_.size() < bytes) other_.resize(bytes);
    mine_.next(out, bytes);
    next_.next(other_.data(), bytes);
    xor_bytes(out, other_.data(), bytes);
  }
  void skip(std::size_t bytes) override {
    mine_.skip(bytes);
    next_.skip(bytes);
  }
  const std::uint8_t* key(int c, std::uint64_t position, std::size_t bytes) const override {
    return (c == 0 ? mine_ : next_).key(position, bytes);
  }

 private:
  Stream mine_, next_;
  SecretVector other_;
};

}  // namespace

StreamKey::StreamKey(ByteSpan component_key, std::string_view purpose) {
  derive(key_.span(), component_key, purpose);
}

void StreamKey::ratchet() {
  SecretBuffer following(32);
  derive(following.span(), key_.span(), "tkdc ratchet");
  key_ = std::move(following);
}

std::unique_ptr<ZeroStream> zero_stream_openssl(const ZeroStreamKeys& keys) {
  return std::make_unique<OpensslZeroStream>(keys);
}

std::unique_ptr<ZeroStream> make_zero_stream(const ZeroStreamKeys& keys) {
  const bool chacha = keys.generator == ZeroGenerator::kChaCha20;
  auto fastest = chacha ? zero_stream_chacha20_avx512(keys) : zero_stream_vaes(keys);
  if (fastest) return fastest;
  return chacha ? zero_stream_chacha20(keys) : zero_stream_openssl(keys);
}

}  // namespace tkdc
