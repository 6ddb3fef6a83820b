// SPDX-License-Identifier: Apache-2.0
// Which generator makes a session's zero-shares (rep3/zero_stream.h): one for all three servers,
// since the three shares must add up to zero. Each server offers, in its HELLO, what suits it;
// the same rule over the three offers then gives all of them the same answer.
//
// A session is as fast as its slowest party. A CPU with VAES makes zero-shares four times as fast
// by AES-CTR, and is the slowest beside any GPU, whichever generator that has; a GPU has no AES
// instructions and takes a tenth of the time by ChaCha20. So ChaCha20 suits three GPUs, and
// AES-CTR every session with a CPU in it, unless a server insists (docs/performance.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tkdc {

enum class ZeroGenerator : std::uint8_t { kAesCtr = 0, kChaCha20 = 1 };

// What a server says: what it wants, and whether it takes nothing else.
enum class ZeroOffer : std::uint8_t {
  kAesCtr = 0,        // takes either, has no GPU
  kChaCha20 = 1,      // takes either, has a GPU
  kAesCtrOnly = 2,    // data.zero_shares = "aes-ctr"
  kChaCha20Only = 3,  // data.zero_shares = "chacha20"
};

constexpr const char* zero_generator_name(ZeroGenerator generator) {
  return generator == ZeroGenerator::kChaCha20 ? "chacha20" : "aes-ctr";
}

constexpr const char* zero_offer_name(ZeroOffer offer) {
  if (offer == ZeroOffer::kAesCtrOnly) return "aes-ctr";
  return offer == ZeroOffer::kChaCha20Only ? "chacha20" : "auto";
}

// `wanted` is "auto", "aes-ctr" or "chacha20".
constexpr ZeroOffer zero_offer_of(std::string_view wanted, bool has_gpu) {
  if (wanted == "aes-ctr") return ZeroOffer::kAesCtrOnly;
  if (wanted == "chacha20") return ZeroOffer::kChaCha20Only;
  return has_gpu ? ZeroOffer::kChaCha20 : ZeroOffer::kAesCtr;
}

// Two servers that each insist on another generator make no session.
constexpr bool can_agree(ZeroOffer a, ZeroOffer b) {
  return !(a == ZeroOffer::kAesCtrOnly && b == ZeroOffer::kChaCha20Only) &&
         !(a == ZeroOffer::kChaCha20Only && b == ZeroOffer::kAesCtrOnly);
}

// Of offers of which any two can agree: what a server insists on; else ChaCha20 if all three have
// a GPU, else AES-CTR.
constexpr ZeroGenerator agreed_generator(const std::array<ZeroOffer, 3>& offers) {
  bool gpus = true;
  for (ZeroOffer offer : offers) {
    if (offer == ZeroOffer::kAesCtrOnly) return ZeroGenerator::kAesCtr;
    if (offer == ZeroOffer::kChaCha20Only) return ZeroGenerator::kChaCha20;
    gpus &= offer == ZeroOffer::kChaCha20;
  }
  return gpus ? ZeroGenerator::kChaCha20 : ZeroGenerator::kAesCtr;
}

}  // namespace tkdc
