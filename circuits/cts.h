// SPDX-License-Identifier: Apache-2.0
// AES in CBC mode with ciphertext stealing (RFC 3962, section 5 and appendix A), with round keys
// given. Any length of at least one block; one block is plain CBC. Otherwise the last two blocks
// change places, and what is then last has the octets of the plaintext's last block.
#pragma once

#include "circuits/aes.h"

namespace tkdc::circuits {

template <Context C>
std::size_t cts_blocks([[maybe_unused]] BitSpan<C> iv, BitSpan<C> text) {
  assert(iv.size() == kAesBlockBits && text.size() >= kAesBlockBits && text.size() % 8 == 0);
  return (text.size() + kAesBlockBits - 1) / kAesBlockBits;
}

template <Context C>
Bits<C> cts_encrypt(C& c, BitSpan<C> keys, BitSpan<C> iv, BitSpan<C> plain) {
  using Span = BitSpan<C>;
  constexpr std::size_t kBlock = kAesBlockBits;
  const std::size_t blocks = cts_blocks<C>(iv, plain);
  Bits<C> padded(plain.begin(), plain.end());
  padded.resize(blocks * kBlock, c.constant(false));
  Bits<C> chain(iv.begin(), iv.end()), before, out;
  for (std::size_t n = 0; n < blocks; ++n) {
    before = chain;
    chain = aes_encrypt(
        c, keys, Span(circuit::xor_bits(c, Span(chain), Span(padded).subspan(n * kBlock, kBlock))));
    if (n + 2 < blocks || blocks == 1) circuit::append<typename C::Bit>(out, chain);
  }
  if (blocks == 1) return out;
  circuit::append<typename C::Bit>(out, chain);
  circuit::append<typename C::Bit>(out, Span(before).first(plain.size() - out.size()));
  return out;
}

template <Context C>
Bits<C> cts_decrypt(C& c, BitSpan<C> keys, BitSpan<C> iv, BitSpan<C> sealed) {
  using Span = BitSpan<C>;
  constexpr std::size_t kBlock = kAesBlockBits;
  const std::size_t blocks = cts_blocks<C>(iv, sealed);
  const std::size_t plain_chain = blocks == 1 ? 1 : blocks - 2;
  Bits<C> out;
  Span chain = iv;
  for (std::size_t n = 0; n < plain_chain; ++n) {
    const Span block = sealed.subspan(n * kBlock, kBlock);
    const Bits<C> opened = aes_decrypt(c, keys, block);
    circuit::append<typename C::Bit>(out, circuit::xor_bits(c, Span(opened), chain));
    chain = block;
  }
  if (blocks == 1) return out;
  // The block before the last is the last of the chain. Decrypted, it is the plaintext's end,
  // filled up with zeros, added to the other one: whose missing end it therefore shows.
  const Span last = sealed.subspan(plain_chain * kBlock, kBlock);
  const Span stolen = sealed.subspan((plain_chain + 1) * kBlock);
  const Bits<C> mixed = aes_decrypt(c, keys, last);
  Bits<C> whole(stolen.begin(), stolen.end());
  circuit::append<typename C::Bit>(whole, Span(mixed).subspan(stolen.size()));
  const Bits<C> opened = aes_decrypt(c, keys, Span(whole));
  circuit::append<typename C::Bit>(out, circuit::xor_bits(c, Span(opened), chain));
  circuit::append<typename C::Bit>(out,
                                   circuit::xor_bits(c, Span(mixed).first(stolen.size()), stolen));
  return out;
}

}  // namespace tkdc::circuits
