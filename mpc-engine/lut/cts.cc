// SPDX-License-Identifier: Apache-2.0
#include "lut/cts.h"

#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kRows = 4;

constexpr Table make_inverse_sbox() {
  Table out{};
  for (unsigned x = 0; x < out.size(); ++x) {
    const auto octet = static_cast<std::uint8_t>(x);
    out[affine_of_sbox(gf256_inverse(octet)) ^ 0x63u] = octet;
  }
  return out;
}

// InvShiftRows of a state, in which label 4 c + r is of row r, column c.
void turn_rows_back(Label* state) {
  Label in[kBlockOctets];
  std::copy_n(state, kBlockOctets, in);
  for (std::size_t c = 0; c < kRows; ++c)
    for (std::size_t r = 0; r < kRows; ++r)
      state[kRows * ((c + r) % kRows) + r] = in[kRows * c + r];
}

// InvMixColumns.
void unmix_columns(Label* state) {
  constexpr std::uint8_t kFactors[kRows][kRows] = {
      {14, 11, 13, 9}, {9, 14, 11, 13}, {13, 9, 14, 11}, {11, 13, 9, 14}};
  for (std::size_t c = 0; c < kRows; ++c) {
    Label column[kRows];
    std::copy_n(state + kRows * c, kRows, column);
    for (std::size_t r = 0; r < kRows; ++r)
      state[kRows * c + r] = fastest_kernel().dot(column, kFactors[r], kRows);
  }
}

void add(std::span<Label> to, std::span<const Label> what) {
  for (std::size_t k = 0; k < what.size(); ++k) to[k] = to[k] ^ what[k];
}

Result<void> text_fits(std::size_t octets) {
  if (octets >= kBlockOctets) return {};
  return fail("lut: a text of " + std::to_string(octets) + " octets: ciphertext stealing takes " +
              std::to_string(kBlockOctets) + " and more");
}

constexpr std::size_t blocks_of(std::size_t octets) {
  return (octets + kBlockOctets - 1) / kBlockOctets;
}

}  // namespace

const Table& aes_inverse_sbox() {
  static constexpr Table kInverse = make_inverse_sbox();
  return kInverse;
}

Result<void> decrypt(const Substitute& substitute, std::span<const Label> round_keys,
                     std::span<Label> blocks) {
  if (auto fits = blocks_fit(round_keys.size(), blocks.size()); !fits) return fits;
  const auto add_key = [&](std::size_t round) {
    for (std::size_t k = 0; k < blocks.size(); k += kBlockOctets)
      add(blocks.subspan(k, kBlockOctets), round_keys.subspan(round * kBlockOctets, kBlockOctets));
  };
  std::size_t round = round_keys.size() / kBlockOctets - 1;
  add_key(round);
  while (round-- > 0) {
    for (std::size_t k = 0; k < blocks.size(); k += kBlockOctets) turn_rows_back(&blocks[k]);
    if (auto done = substitute(blocks); !done) return done;
    add_key(round);
    for (std::size_t k = 0; round > 0 && k < blocks.size(); k += kBlockOctets)
      unmix_columns(&blocks[k]);
  }
  garble::wipe_stack();
  return {};
}

Result<Labels> cts_encrypt(const Substitute& substitute, std::span<const Label> round_keys,
                           std::span<const Label> plain) {
  if (auto fits = text_fits(plain.size()); !fits) return fits.error();
  Labels chain(plain.begin(), plain.end());
  chain.resize(blocks_of(plain.size()) * kBlockOctets);
  const auto block = [&](std::size_t at) { return std::span(chain).subspan(at, kBlockOctets); };
  for (std::size_t at = 0; at < chain.size(); at += kBlockOctets) {
    if (at > 0) add(block(at), block(at - kBlockOctets));
    if (auto done = encrypt(substitute, round_keys, block(at)); !done) return done.error();
  }
  // The last two change places, if there are two.
  if (chain.size() > kBlockOctets)
    std::swap_ranges(chain.end() - 2 * kBlockOctets, chain.end() - kBlockOctets,
                     chain.end() - kBlockOctets);
  chain.resize(plain.size());
  return chain;
}

Result<Labels> cts_decrypt(const Substitute& inverse, std::span<const Label> round_keys,
                           std::span<const Label> sealed) {
  if (auto fits = text_fits(sealed.size()); !fits) return fits.error();
  const std::size_t octets = sealed.size(), last = (blocks_of(octets) - 1) * kBlockOctets;
  // All but what was stolen from: that block is not whole yet.
  Labels first(sealed.begin(), sealed.begin() + (last == 0 ? octets : last));
  if (auto done = decrypt(inverse, round_keys, first); !done) return done.error();
  if (last == 0) return first;
  const std::size_t mixed = last - kBlockOctets, stolen = octets - last;
  Labels whole(sealed.begin() + last, sealed.end());
  whole.insert(whole.end(), first.begin() + mixed + stolen, first.end());
  // The plaintext's last octets, before their block is decrypted in place.
  Labels end(first.begin() + mixed, first.begin() + mixed + stolen);
  add(end, sealed.last(stolen));
  if (auto done = decrypt(inverse, round_keys, whole); !done) return done.error();
  std::copy(whole.begin(), whole.end(), first.begin() + mixed);
  // The chain: of each block the ciphertext before it.
  add(std::span(first).subspan(kBlockOctets), sealed.first(mixed));
  first.insert(first.end(), end.begin(), end.end());
  return first;
}

}  // namespace tkdc::lut
