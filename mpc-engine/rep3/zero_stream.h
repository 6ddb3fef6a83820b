// SPDX-License-Identifier: Apache-2.0
// One party's zero-shares as a stream of octets: F(k_i) ^ F(k_{i+1}), where F is
// AES-128 in counter mode or ChaCha20, as the session has agreed, from counter 0
// under keys derived from the component keys for this purpose and generator alone.
//
// The same octets whatever the CPU: of AES-CTR, OpenSSL's stream is the reference
// and the fallback, the VAES one (AVX-512, four blocks in a register, both streams
// at once) is tested against it; of ChaCha20, libsodium's. After ratchet_bytes each key is replaced
// by a one-way image of itself. Secret: everything. Used by one lane's thread.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "session/zero_generator.h"

namespace tkdc {

// After this many octets a generator replaces its key.
inline constexpr std::uint64_t kRatchetBytes = std::uint64_t{1} << 36;

// The zero-share of one message, for a device that makes it itself: F's streams under each key,
// added up, from octet `position` of both on. The keys stay readable until the tick ends.
struct ZeroShare {
  const std::uint8_t* key[2];  // 32 octets each, of which AES-CTR takes 16
  std::uint64_t position;
  ZeroGenerator generator;
};

// A key of F, 32 octets of which AES-128 takes the first 16 and ChaCha20 all, and its successors.
class StreamKey {
 public:
  StreamKey(ByteSpan component_key, std::string_view purpose);
  void ratchet();
  const std::uint8_t* data() const { return key_.data(); }

 private:
  SecretBuffer key_{32};
};

class ZeroStream {
 public:
  // Streams are read in whole pieces.
  static constexpr std::size_t kPieceBytes = 1024;

  virtual ~ZeroStream() = default;
  virtual const char* name() const = 0;
  // The next octets; `bytes` is a multiple of kPieceBytes.
  virtual void next(std::uint8_t* out, std::size_t bytes) = 0;
  // Leaves the next octets out; the same limit.
  virtual void skip(std::size_t bytes) = 0;
  // For a device that makes octets [position, position + bytes) of the stream itself: the key of
  // component i (c = 0) or i+1 (c = 1) under which all of them stand, 32 octets as in StreamKey.
  // Null when that is not the key in use: then they are made here.
  virtual const std::uint8_t* key(int c, std::uint64_t position, std::size_t bytes) const = 0;
};

// Whether the octets stand under the key that follows `ratchets` earlier ones.
inline bool under_key(std::uint64_t ratchets, std::uint64_t ratchet_bytes, std::uint64_t position,
                      std::size_t bytes) {
  return bytes > 0 && position / ratchet_bytes == ratchets &&
         (position + bytes - 1) / ratchet_bytes == ratchets;
}

struct ZeroStreamKeys {
  ByteSpan mine, next;                          // component keys
  std::uint64_t ratchet_bytes = kRatchetBytes;  // a multiple of kPieceBytes
  ZeroGenerator generator = ZeroGenerator::kAesCtr;
};

// AES-CTR.
std::unique_ptr<ZeroStream> zero_stream_openssl(const ZeroStreamKeys& keys);
// AES-CTR too; null when the CPU lacks AVX-512 F/BW or VAES.
std::unique_ptr<ZeroStream> zero_stream_vaes(const ZeroStreamKeys& keys);
std::unique_ptr<ZeroStream> zero_stream_chacha20(const ZeroStreamKeys& keys);
// Null when the CPU lacks AVX-512 F.
std::unique_ptr<ZeroStream> zero_stream_chacha20_avx512(const ZeroStreamKeys& keys);
// The keys' generator; the fastest of it that this CPU has.
std::unique_ptr<ZeroStream> make_zero_stream(const ZeroStreamKeys& keys);

}  // namespace tkdc
