// SPDX-License-Identifier: Apache-2.0
// Correlated randomness without communication (Araki et al. 2016, section 2.2).
//
// Component key k_i is known to party i and party i-1. With F = AES-128-CTR (for
// zero-shares also ChaCha20, as the session has agreed) under a key derived from
// k_i and the purpose:
//   zero-share of party i:       F(k_i) ^ F(k_{i+1})   (the three XOR to 0)
//   random sharing at party i:  (F(k_i), F(k_{i+1}))   (no party knows the sum)
// Random sharings are drawn from two streams: one for protocols (keys, confounders,
// masks) and one for verification (challenges and what hides them), so that nothing
// that is opened as a challenge is of the stream of which keys are made.
// Counters are local, start at 0 and never come from a message. After
// kRatchetBytes each generator replaces its key by a one-way image of it.
// Secret: everything. Used by one lane's thread.
#pragma once

#include "rep3/zero_stream.h"

namespace tkdc {

struct PairwiseKeys;

// One pseudo-random stream under one component key, by OpenSSL.
class Stream {
 public:
  Stream(ByteSpan component_key, std::string_view purpose,
         std::uint64_t ratchet_bytes = kRatchetBytes);
  void next(std::uint8_t* out, std::size_t bytes);
  // As ZeroStream's; `bytes` is a multiple of 16, and so was all that was made before.
  void skip(std::size_t bytes);
  const std::uint8_t* key(std::uint64_t position, std::size_t bytes) const {
    return under_key(ratchets_, ratchet_bytes_, position, bytes) ? key_.data() : nullptr;
  }

 private:
  void rekey();
  std::size_t next_piece(std::size_t bytes);
  struct Free {
    void operator()(EVP_CIPHER_CTX* c) const { EVP_CIPHER_CTX_free(c); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> cipher_;
  StreamKey key_;
  const std::uint64_t ratchet_bytes_;
  std::uint64_t left_, ratchets_ = 0;
};

class Prss {
 public:
  explicit Prss(const PairwiseKeys& keys);

  // out ^= the next octets of this party's zero-share.
  void add_zero_share(std::uint8_t* out, std::size_t bytes);
  // The same octets left out: a device has added them (zero_key).
  void skip(std::size_t bytes);
  ZeroGenerator zero_generator() const { return zero_generator_; }
  const std::uint8_t* zero_key(int c, std::uint64_t position, std::size_t bytes) const {
    return zero_->key(c, position, bytes);
  }

  // Makes zero-shares ahead, while the network is busy: those of the next
  // `bytes` octets, but no more than kMaxAheadBytes.
  static constexpr std::size_t kMaxAheadBytes = 1u << 20;
  void prefetch(std::size_t bytes);

  // A fresh random sharing: mine = F(k_i), next = F(k_{i+1}).
  enum class Purpose : std::uint8_t { kProtocol, kChallenge };
  void random(std::uint8_t* mine, std::uint8_t* next, std::size_t bytes,
              Purpose purpose = Purpose::kProtocol);

 private:
  const ZeroGenerator zero_generator_;
  std::unique_ptr<ZeroStream> zero_;
  Stream random_mine_, random_next_, challenge_mine_, challenge_next_;
  SecretVector ready_;  // octets [used_, made_) are made and not used
  std::size_t used_ = 0, made_ = 0;
};

}  // namespace tkdc
