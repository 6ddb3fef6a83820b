// SPDX-License-Identifier: Apache-2.0
#include "circuits/aes_sbox.h"

namespace tkdc::circuits {
namespace {

using Rows = std::vector<std::uint64_t>;
constexpr std::size_t kForms = 9;

constexpr std::uint8_t times(std::uint8_t a, std::uint8_t b) { return gf256_multiply(a, b); }
constexpr std::uint8_t power(std::uint8_t a, int n) {
  std::uint8_t result = 1;
  while (n-- > 0) result = times(result, a);
  return result;
}

// Normal bases: of GF(4), of GF(16) over it, of GF(2^8) over that. Among all choices, one with few
// XORs.
constexpr std::uint8_t kW = 0xbc, kZ = 0x5c, kY = 0xfe;
constexpr std::uint8_t kInner[] = {kW, power(kW, 2)};
constexpr std::uint8_t kOuter[] = {kZ, power(kZ, 4)};
constexpr std::uint8_t kTop[] = {kY, power(kY, 16)};
static_assert(power(kW, 3) == 1 && power(kZ, 15) == 1);
static_assert((kInner[0] ^ kInner[1]) == 1 && (kOuter[0] ^ kOuter[1]) == 1 &&
              (kTop[0] ^ kTop[1]) == 1);

// Bits 0-3 of the coordinates are A's, 4-7 are B's; bit 0 of two is the inner one.
constexpr std::uint8_t element(unsigned coordinates) {
  std::uint8_t sum = 0;
  for (unsigned k = 0; k < 8; ++k)
    if ((coordinates >> k & 1) != 0)
      sum ^= times(times(kInner[k & 1], kOuter[k >> 1 & 1]), kTop[k >> 2]);
  return sum;
}
unsigned coordinates(std::uint8_t a) {
  unsigned found = 0;
  while (element(found) != a) ++found;
  return found;
}
// Of an element of GF(16).
unsigned coordinates16(std::uint8_t a) { return coordinates(times(a, kTop[0])) & 15; }

// Karatsuba over a basis (s, t): a b = p_0 (s^2 + s t) + p_1 (t^2 + s t) + p_2 s t with p_0, p_1,
// p_2 the products of the first coordinates, of the second, and of their sums.
constexpr std::uint8_t weight(const std::uint8_t (&basis)[2], std::size_t product) {
  const std::uint8_t mixed = times(basis[0], basis[1]);
  return product == 2 ? mixed : mixed ^ times(basis[product], basis[product]);
}
// What product k = 3 outer + inner counts in GF(16), and the coordinates that its factors add.
constexpr std::uint8_t weight_of(std::size_t k) {
  return times(weight(kOuter, k / 3), weight(kInner, k % 3));
}
constexpr unsigned form_of(std::size_t k) {
  constexpr unsigned kOf[] = {1, 2, 3};
  const unsigned outer = kOf[k / 3], inner = kOf[k % 3];
  return (outer & 1) * inner | (outer >> 1) * inner << 2;
}

bool parity(unsigned bits) { return __builtin_parity(bits) != 0; }

void put(Rows& rows, std::size_t first, unsigned values, std::size_t input, std::size_t bits) {
  for (std::size_t r = 0; r < bits; ++r) rows[first + r] |= std::uint64_t{values >> r & 1} << input;
}

Rows top_rows(std::uint8_t (*from)(std::uint8_t)) {
  Rows rows(2 * kForms + 4, 0);
  for (std::size_t input = 0; input < 8; ++input) {
    const unsigned at = coordinates(from(static_cast<std::uint8_t>(1u << input)));
    for (std::size_t k = 0; k < kForms; ++k) {
      rows[k] |= std::uint64_t{parity(at & form_of(k))} << input;
      rows[kForms + k] |= std::uint64_t{parity(at >> 4 & form_of(k))} << input;
    }
    // A + B, as an element: its coordinates times (inner, outer) without Y.
    const unsigned sum = (at ^ at >> 4) & 15;
    std::uint8_t value = 0;
    for (unsigned k = 0; k < 4; ++k)
      if ((sum >> k & 1) != 0) value ^= times(kInner[k & 1], kOuter[k >> 1]);
    put(rows, 2 * kForms, coordinates16(times(power(value, 2), power(kY, 17))), input, 4);
  }
  return rows;
}

Rows norm_rows() {
  Rows rows(4, 0);
  for (std::size_t k = 0; k < kForms; ++k) put(rows, 0, coordinates16(weight_of(k)), k, 4);
  for (std::size_t k = 0; k < 4; ++k) rows[k] |= std::uint64_t{1} << (kForms + k);
  return rows;
}

Rows form_rows() {
  Rows rows;
  for (std::size_t k = 0; k < kForms; ++k) rows.push_back(form_of(k));
  return rows;
}

Rows bottom_rows(std::uint8_t (*to)(std::uint8_t)) {
  Rows rows(8, 0);
  for (std::size_t k = 0; k < kForms; ++k) {
    put(rows, 0, to(times(weight_of(k), kTop[1])), k, 8);
    put(rows, 0, to(times(weight_of(k), kTop[0])), kForms + k, 8);
  }
  return rows;
}

std::uint8_t same(std::uint8_t a) { return a; }
// FIPS 197, equation 5.1 without its constant.
std::uint8_t affine(std::uint8_t a) {
  unsigned image = 0;
  for (int turn = 0; turn < 5; ++turn) image ^= (a << turn | a >> (8 - turn)) & 0xff;
  return static_cast<std::uint8_t>(image);
}
std::uint8_t unaffine(std::uint8_t a) {
  std::uint8_t found = 0;
  while (affine(found) != a) ++found;
  return found;
}

}  // namespace

AesSbox::AesSbox(std::uint8_t before, std::uint8_t (*from)(std::uint8_t),
                 std::uint8_t (*to)(std::uint8_t), std::uint8_t after)
    : before_(before), after_(after), top_(8, top_rows(from)), norm_(kForms + 4, norm_rows()),
      forms_(4, form_rows()), bottom_(2 * kForms, bottom_rows(to)) {}

const AesSbox& AesSbox::forward() {
  static const AesSbox box(0, same, affine, 0x63);
  return box;
}

const AesSbox& AesSbox::inverse() {
  static const AesSbox box(0x63, unaffine, same, 0);
  return box;
}

}  // namespace tkdc::circuits
