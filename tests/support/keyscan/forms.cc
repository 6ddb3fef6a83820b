// SPDX-License-Identifier: Apache-2.0
#include "forms.h"

#include <algorithm>

namespace keyscan {
namespace {

Octets swap_words(const Octets& in, std::size_t width) {
  Octets out = in;
  for (std::size_t at = 0; at + width <= out.size(); at += width)
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(at),
                 out.begin() + static_cast<std::ptrdiff_t>(at + width));
  return out;
}

// Rows and columns of each 4 x 4 state exchanged.
Octets transpose_state(const Octets& in) {
  Octets out = in;
  for (std::size_t block = 0; block + 16 <= in.size(); block += 16)
    for (std::size_t row = 0; row < 4; row++)
      for (std::size_t column = 0; column < 4; column++)
        out[block + 4 * row + column] = in[block + 4 * column + row];
  return out;
}

bool bit_of(const Octets& in, std::size_t octet, std::size_t bit) {
  return (in[octet] >> bit & 1) != 0;
}

// Plane b holds bit b of each octet of a block; octet i at bit i of the plane.
Octets planes8(const Octets& in, bool planes_reversed, bool bits_reversed) {
  Octets out;
  for (std::size_t block = 0; block + 16 <= in.size(); block += 16) {
    for (std::size_t plane = 0; plane < 8; plane++) {
      std::uint16_t word = 0;
      for (std::size_t i = 0; i < 16; i++) {
        std::size_t at = bits_reversed ? 15 - i : i;
        if (bit_of(in, block + i, planes_reversed ? 7 - plane : plane))
          word = static_cast<std::uint16_t>(word | 1u << at);
      }
      out.push_back(static_cast<std::uint8_t>(word & 0xff));
      out.push_back(static_cast<std::uint8_t>(word >> 8));
    }
  }
  return out;
}

std::vector<bool> octet_major(const Octets& in, bool high_bit_first) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < in.size(); i++)
    for (std::size_t b = 0; b < 8; b++) bits.push_back(bit_of(in, i, high_bit_first ? 7 - b : b));
  return bits;
}

std::vector<bool> bit_major(const Octets& in, bool high_bit_first) {
  std::vector<bool> bits;
  for (std::size_t block = 0; block + 16 <= in.size(); block += 16)
    for (std::size_t b = 0; b < 8; b++)
      for (std::size_t i = 0; i < 16; i++)
        bits.push_back(bit_of(in, block + i, high_bit_first ? 7 - b : b));
  return bits;
}

}  // namespace

const std::vector<std::size_t>& plane_strides() {
  static const std::vector<std::size_t> strides = {1, 2, 4, 8, 16, 24, 32, 64, 128};
  return strides;
}

const std::vector<std::size_t>& octet_strides() {
  static const std::vector<std::size_t> strides = {
      2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096};
  return strides;
}

std::vector<OctetForm> octet_forms(const Octets& value) {
  std::vector<OctetForm> forms;
  forms.push_back({"plain", value, 1, false});
  forms.push_back({"32-bit words reversed", swap_words(value, 4), 1, false});
  if (value.size() % 8 == 0)
    forms.push_back({"64-bit words reversed", swap_words(value, 8), 1, false});
  forms.push_back({"reversed", Octets(value.rbegin(), value.rend()), 1, false});
  forms.push_back({"byte-sliced", value, 1, true});
  forms.push_back({"words spread", value, 4, true});
  forms.push_back({"words spread, reversed", swap_words(value, 4), 4, true});
  if (value.size() % 16 != 0) return forms;
  forms.push_back({"rows and columns exchanged", transpose_state(value), 1, false});
  for (bool transposed : {false, true}) {
    const Octets state = transposed ? transpose_state(value) : value;
    const std::string suffix = transposed ? ", rows first" : "";
    for (bool planes_reversed : {false, true}) {
      const std::string order = planes_reversed ? "8 planes from the top" : "8 planes";
      Octets low = planes8(state, planes_reversed, false);
      Octets high = planes8(state, planes_reversed, true);
      forms.push_back({order + suffix, low, 1, false});
      forms.push_back({order + ", bits reversed" + suffix, high, 1, false});
      forms.push_back({order + ", octets swapped" + suffix, swap_words(low, 2), 1, false});
      forms.push_back(
          {order + ", bits reversed, octets swapped" + suffix, swap_words(high, 2), 1, false});
      forms.push_back({order + ", spread" + suffix, low, 2, true});
      forms.push_back({order + ", bits reversed, spread" + suffix, high, 2, true});
    }
  }
  return forms;
}

std::vector<BitForm> bit_forms(const Octets& value) {
  std::vector<BitForm> forms;
  const std::string planes = std::to_string(8 * value.size()) + " planes, ";
  forms.push_back({planes + "octet by octet, low bit first", octet_major(value, false)});
  forms.push_back({planes + "octet by octet, high bit first", octet_major(value, true)});
  if (value.size() % 16 != 0) {
    forms.push_back(
        {planes + "word by word, low bit first", octet_major(swap_words(value, 4), false)});
    return forms;
  }
  const Octets state = transpose_state(value);
  forms.push_back({planes + "bit by bit, low bit first", bit_major(value, false)});
  forms.push_back({planes + "bit by bit, high bit first", bit_major(value, true)});
  forms.push_back({planes + "rows first, low bit first", octet_major(state, false)});
  forms.push_back({planes + "rows first, high bit first", octet_major(state, true)});
  forms.push_back({planes + "rows first, bit by bit", bit_major(state, false)});
  return forms;
}

}  // namespace keyscan
