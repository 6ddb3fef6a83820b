// SPDX-License-Identifier: Apache-2.0
// AES-128 and AES-256 (FIPS 197) on shared octets, key schedule included, by whatever substitutes
// shared octets. All that is not the S-box is linear and each party's own work.
//
//   input    both send x_own ⊕ ρ_own, ρ a random octet: what a party sends is its share, by choice
//   output   all that was opened is checked; then both send their shares, and these are checked
//
// share level: labels of both sum to x (1, Δ), of what OpenSSL has for x;
// tests/unit/lut/aes_test.cc.
//
// Calls block; one thread. Secret: inputs, keys, states. Public: outputs, to both. Error: the
// session's.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "field/gf256.h"
#include "lut/dealer.h"
#include "lut/kernel.h"
#include "lut/stock.h"

namespace tkdc::lut {

inline constexpr std::size_t kBlockOctets = 16;

// Replaces octets by their S-box's.
using Substitute = std::function<Result<void>(std::span<Label>)>;

// How many S-boxes a key of so many octets takes, and a block under it.
constexpr std::size_t rounds_of(std::size_t key_octets) { return key_octets / 4 + 6; }
constexpr std::size_t schedule_lookups(std::size_t key_octets) {
  return key_octets == 32 ? 4 * 13 : 4 * 10;
}
constexpr std::size_t block_lookups(std::size_t key_octets) {
  return kBlockOctets * rounds_of(key_octets);
}

// Random octets for as many inputs; each serves once (stock.h) and is wiped then.
class InputMasks {
 public:
  static Result<InputMasks> make(Dealer& dealer, std::size_t count);
  std::size_t left() const { return stock_.left(); }
  std::size_t octets() const { return masks_.size() * kLabelBytes; }
  // Labels of octets of which this party has its shares.
  Result<Labels> input(Dealer& dealer, ByteSpan own);

 private:
  friend struct Inside;  // tests/unit/lut
  InputMasks() = default;
  Stock stock_;
  Labels masks_;
};
// The octets, at both; after both checks.
Result<Bytes> output(Dealer& dealer, std::span<const Label> octets);

// Error: no round keys of AES-128 or AES-256, or no whole blocks.
Result<void> blocks_fit(std::size_t round_key_octets, std::size_t block_octets);
// 16 or 32 octets to all round keys.
Result<Labels> expand_key(Dealer& dealer, const Substitute& substitute, std::span<const Label> key);
// Blocks one behind the other, in place. As many rounds of messages as AES has, times the S-box's.
Result<void> encrypt(const Substitute& substitute, std::span<const Label> round_keys,
                     std::span<Label> blocks);

// The key schedule of octets in whatever form: `substitute` replaces four of them,
// `add(octet, constant)` adds a public one. Error: another length; the substitution's.
template <class Octets>
Result<Octets> schedule_of(Octets key, const auto& substitute, const auto& add) {
  constexpr std::size_t kWord = 4;
  if (key.size() != 16 && key.size() != 32)
    return fail("lut: a key of " + std::to_string(key.size()) + " octets: AES has 16 or 32 here");
  const std::size_t words = key.size() / kWord, all = 4 * (rounds_of(key.size()) + 1);
  key.resize(all * kWord);
  std::uint8_t constant = 1;
  for (std::size_t w = words; w < all; ++w) {
    Octets last(&key[(w - 1) * kWord], &key[w * kWord]);
    if (w % words == 0) std::rotate(last.begin(), last.begin() + 1, last.end());
    if (w % words == 0 || (words > 6 && w % words == 4))
      if (auto done = substitute(std::span(last)); !done) return done.error();
    if (w % words == 0) {
      add(last[0], constant);
      constant = gf256_times_x(constant);
    }
    for (std::size_t k = 0; k < kWord; ++k)
      key[w * kWord + k] =
          static_cast<typename Octets::value_type>(key[(w - words) * kWord + k] ^ last[k]);
  }
  return key;
}

}  // namespace tkdc::lut
