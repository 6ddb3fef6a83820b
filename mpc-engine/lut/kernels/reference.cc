// SPDX-License-Identifier: Apache-2.0
// Place by place in plain C++: what the other kernel is compared with, and what runs on CPUs
// without its instructions.
#include <algorithm>
#include <cstring>

#include "field/octet_words.h"
#include "lut/kernel.h"

namespace tkdc::lut {
namespace {

Label look_up(const Label* vector, const Table& table, std::uint8_t place) {
  Label out;
  for (std::size_t j = 0; j < kPlaces; ++j) out = out ^ times(vector[j], table[place ^ j]);
  return out;
}

void expand(const Label* vector, const Table& table, Label* out) {
  Labels made(kPlaces);
  for (std::size_t i = 0; i < kPlaces; ++i)
    made[i] = look_up(vector, table, static_cast<std::uint8_t>(i));
  std::copy(made.begin(), made.end(), out);
}

void expand_shares(const std::uint8_t* vectors, std::size_t count, const Table& table,
                   std::uint8_t* out) {
  for (; count > 0; --count, vectors += kPlaces / 8, out += kPlaces)
    for (std::size_t i = 0; i < kPlaces; ++i) {
      unsigned sum = 0;
      for (std::size_t j = 0; j < kPlaces; ++j)
        sum ^= table[i ^ j] & (0u - (vectors[j / 8] >> (j % 8) & 1u));
      out[i] = static_cast<std::uint8_t>(sum);
    }
}

Label dot(const Label* labels, const std::uint8_t* factors, std::size_t count) {
  Label out;
  for (std::size_t k = 0; k < count; ++k) out = out ^ times(labels[k], factors[k]);
  return out;
}

void finish_round(const Label* in, const Label* key, bool last, Label* out) {
  for (std::size_t c = 0; c < 4; ++c) {
    Label column[4], all;
    for (std::size_t r = 0; r < 4; ++r) {
      column[r] = in[4 * ((c + r) % 4) + r];
      all = all ^ column[r];
    }
    for (std::size_t r = 0; r < 4; ++r) {
      const Label mixed = times(column[r] ^ column[(r + 1) % 4], 2) ^ column[r] ^ all;
      out[4 * c + r] = (last ? column[r] : mixed) ^ key[4 * c + r];
    }
  }
}

void finish_shares(std::uint8_t* states, std::size_t count, const std::uint8_t* key, bool last) {
  Label in[16], keys[16], out[16];
  for (; count > 0; --count, states += 16) {
    for (std::size_t k = 0; k < 16; ++k) {
      in[k] = {states[k], 0};
      keys[k] = {key[k], 0};
    }
    finish_round(in, keys, last, out);
    for (std::size_t k = 0; k < 16; ++k) states[k] = static_cast<std::uint8_t>(out[k].low);
  }
}

constexpr Kernel kKernel = {"reference", look_up,      expand,       expand_shares,
                            dot,         finish_round, finish_shares};

}  // namespace

const Kernel* kernel_reference() { return &kKernel; }

Label times(const Label& label, std::uint8_t factor) {
  return {octet_words::multiply(label.low, factor), octet_words::multiply(label.high, factor)};
}

}  // namespace tkdc::lut
