// SPDX-License-Identifier: Apache-2.0
#include "lut/aes.h"

#include <algorithm>

#include "lut/tables.h"

namespace tkdc::lut {

Result<InputMasks> InputMasks::make(Dealer& dealer, std::size_t count) {
  InputMasks out;
  Labels bits(8 * count);
  if (auto drawn = dealer.draw(std::span(bits)); !drawn) return drawn.error();
  out.masks_.resize(count);
  for (std::size_t k = 0; k < count; ++k) out.masks_[k] = octet_of(&bits[8 * k]);
  out.stock_ = Stock(dealer.session(), count, "input masks");
  return out;
}

Result<Labels> InputMasks::input(Dealer& dealer, ByteSpan own) {
  auto taken = stock_.take(dealer.session(), own.size());
  if (!taken) return taken.error();
  const auto serving = std::span(masks_).subspan(*taken, own.size());
  Labels out(serving.begin(), serving.end());
  wipe(serving);
  SecretVector sent(own.begin(), own.end());
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] ^= static_cast<std::uint8_t>(out[k].low);
  if (auto done = dealer.exchange(sent); !done) return done.error();
  for (std::size_t k = 0; k < sent.size(); ++k) out[k] = out[k] ^ dealer.multiple(sent[k]);
  return out;
}

Result<Bytes> output(Dealer& dealer, std::span<const Label> octets) {
  if (auto good = dealer.check(); !good) return good.error();
  SecretVector opened(octets.size());  // shares, until they have been exchanged
  if (auto done = dealer.open(octets, opened); !done) return done.error();
  if (auto good = dealer.check(); !good) return good.error();
  return Bytes(opened.begin(), opened.end());
}

Result<void> blocks_fit(std::size_t round_key_octets, std::size_t block_octets) {
  if (block_octets % kBlockOctets != 0)
    return fail("lut: " + std::to_string(block_octets) + " octets are no whole blocks");
  for (const std::size_t key : {16, 32})
    if (round_key_octets == kBlockOctets * (rounds_of(key) + 1)) return {};
  return fail("lut: round keys of " + std::to_string(round_key_octets) +
              " octets: AES has 176 or 240 here");
}

Result<Labels> expand_key(Dealer& dealer, const Substitute& substitute,
                          std::span<const Label> key) {
  return schedule_of(
      Labels(key.begin(), key.end()), substitute,
      [&](Label& octet, std::uint8_t constant) { octet = octet ^ dealer.multiple(constant); });
}

Result<void> encrypt(const Substitute& substitute, std::span<const Label> round_keys,
                     std::span<Label> blocks) {
  if (auto fits = blocks_fit(round_keys.size(), blocks.size()); !fits) return fits;
  const std::size_t rounds = round_keys.size() / kBlockOctets - 1;
  Labels state(kBlockOctets);
  for (std::size_t k = 0; k < blocks.size(); ++k)
    blocks[k] = blocks[k] ^ round_keys[k % kBlockOctets];
  for (std::size_t round = 1; round <= rounds; ++round) {
    if (auto done = substitute(blocks); !done) return done;
    for (std::size_t k = 0; k < blocks.size(); k += kBlockOctets) {
      std::copy_n(&blocks[k], kBlockOctets, state.begin());
      fastest_kernel().finish_round(state.data(), &round_keys[round * kBlockOctets],
                                    round == rounds, &blocks[k]);
    }
  }
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
