// SPDX-License-Identifier: Apache-2.0
#include "lut/aes.h"

#include <algorithm>

#include "lut/tables.h"

namespace tkdc::lut {
Result<Labels> input_masks(Dealer& dealer, std::size_t octets) {
  Labels bits(8 * octets), out(octets);
  if (auto drawn = dealer.draw(std::span(bits)); !drawn) return drawn.error();
  for (std::size_t k = 0; k < octets; ++k) out[k] = octet_of(&bits[8 * k]);
  return out;
}

Result<Labels> input(Dealer& dealer, std::span<const Label> masks,
                     std::span<const std::uint8_t> own) {
  if (auto good = dealer.session().stands(); !good) return good.error();
  if (masks.size() != own.size())
    return fail("lut: " + std::to_string(own.size()) + " octets of input and " +
                std::to_string(masks.size()) + " masks");
  SecretVector sent(own.begin(), own.end());
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] ^= static_cast<std::uint8_t>(masks[k].low);
  if (auto done = dealer.exchange(sent); !done) return done.error();
  Labels out(masks.begin(), masks.end());
  for (std::size_t k = 0; k < sent.size(); ++k) out[k] = out[k] ^ dealer.multiple(sent[k]);
  return out;
}

Result<Bytes> output(Dealer& dealer, std::span<const Label> octets) {
  if (auto good = dealer.check(); !good) return good.error();
  Bytes opened;
  for (const Label& octet : octets) opened.push_back(static_cast<std::uint8_t>(octet.low));
  if (auto done = dealer.exchange(opened); !done) return done.error();
  for (std::size_t k = 0; k < octets.size(); ++k)
    dealer.expect(octets[k] ^ dealer.multiple(opened[k]));
  if (auto good = dealer.check(); !good) return good.error();
  return opened;
}

Result<Labels> expand_key(Dealer& dealer, const Substitute& substitute,
                          std::span<const Label> key) {
  return schedule_of(
      Labels(key.begin(), key.end()), substitute,
      [&](Label& octet, std::uint8_t constant) { octet = octet ^ dealer.multiple(constant); });
}

Result<void> encrypt(const Substitute& substitute, std::span<const Label> round_keys,
                     std::span<Label> blocks) {
  const std::size_t rounds = round_keys.size() / kBlockOctets - 1;
  for (std::size_t k = 0; k < blocks.size(); ++k)
    blocks[k] = blocks[k] ^ round_keys[k % kBlockOctets];
  for (std::size_t round = 1; round <= rounds; ++round) {
    if (auto done = substitute(blocks); !done) return done;
    Label state[kBlockOctets];
    for (std::size_t k = 0; k < blocks.size(); k += kBlockOctets) {
      std::copy_n(&blocks[k], kBlockOctets, state);
      fastest_kernel().finish_round(state, &round_keys[round * kBlockOctets], round == rounds,
                                    &blocks[k]);
    }
  }
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
