// SPDX-License-Identifier: Apache-2.0
// Correlated randomness without communication (Araki et al. 2016, section 2.2).
//
// Component key k_i is known to party i and party i-1. With F = AES-128-CTR
// under a key derived from k_i and the purpose:
//   zero-share of party i:       F(k_i) ^ F(k_{i+1})   (the three XOR to 0)
//   random sharing at party i:  (F(k_i), F(k_{i+1}))   (no party knows the sum)
// Counters are local, start at 0 and never come from a message. After
// kRatchetBytes each generator replaces its key by a one-way image of it.
// Secret: everything. Used by one lane's thread.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "base/secret.h"

namespace tkdc {

struct PairwiseKeys;

// One pseudo-random stream under one component key.
class Stream {
 public:
  static constexpr std::uint64_t kRatchetBytes = std::uint64_t{1} << 36;

  Stream(ByteSpan component_key, std::string_view purpose);
  void next(std::uint8_t* out, std::size_t bytes);

 private:
  void rekey();
  struct Free {
    void operator()(EVP_CIPHER_CTX* c) const { EVP_CIPHER_CTX_free(c); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> cipher_;
  SecretBuffer key_{32};
  std::uint64_t left_ = kRatchetBytes;
};

class Prss {
 public:
  explicit Prss(const PairwiseKeys& keys);

  // out ^= the next octets of this party's zero-share.
  void mask(std::uint8_t* out, std::size_t bytes);

  // Makes the zero-shares of the next `bytes` octets ahead, while the network is busy.
  void prefetch(std::size_t bytes);

  // A fresh random sharing: mine = F(k_i), next = F(k_{i+1}).
  void random(std::uint8_t* mine, std::uint8_t* next, std::size_t bytes);

 private:
  void refill(std::size_t bytes);

  Stream zero_mine_, zero_next_, random_mine_, random_next_;
  SecretVector ready_, other_;
  std::size_t used_ = 0;
};

}  // namespace tkdc
