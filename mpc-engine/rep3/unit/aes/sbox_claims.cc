// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/aes/sbox_claims.h"

#include "field/gf256.h"
#include "sbox_constants.h"

namespace tkdc {
namespace {

using Sum = ClaimShape::Sum;

// Lane j holds the S-boxes j of the four quarters, which is what stands at octet j
// of each row. q is there twice: once for its square.
constexpr std::size_t kQuarters = 4, kA = 0, kD = 4, kQ = 6, kE = 7, kOut = 9, kQForSquare = 13,
                      kRows = 14;
static_assert(kKeptOctetsPerSbox16 == 16 / kQuarters * kRows);

constexpr OctetMap map_of(const std::uint8_t (&columns)[8]) { return std::to_array(columns); }

// The map of an octet's bits at..at+3 (or as many as there are) that does with them
// what `columns` does with the lowest.
constexpr OctetMap moved(const OctetMap& columns, std::size_t at) {
  OctetMap map{};
  for (std::size_t b = at; b < 8; ++b) map[b] = columns[b - at];
  return map;
}

constexpr std::uint8_t times_outside(std::uint8_t octet) {
  static_assert(sbox::kOutside == 2, "multiplication by x");
  return gf256_times_x(octet);
}

constexpr OctetMap times_outside(OctetMap map) {
  for (std::uint8_t& octet : map) octet = times_outside(octet);
  return map;
}

constexpr OctetMap kPair = {sbox::kPairBasis[0], sbox::kPairBasis[1]};

// The coordinates of factor * x from those of x, where the columns embed two (or four) bits and
// an octet holds as many of them as fit.
template <std::size_t kBits>
constexpr OctetMap times_packed(std::uint8_t factor, const OctetMap& embed) {
  OctetMap map{};
  for (std::size_t b = 0; b < 8; ++b) {
    const std::uint8_t image = image_of(times(factor), embed[b % kBits]);
    for (unsigned packed = 0; packed < 1u << kBits; ++packed)
      if (image_of(embed, static_cast<std::uint8_t>(packed)) == image)
        map[b] = static_cast<std::uint8_t>(packed << (b / kBits * kBits));
  }
  return map;
}

// x_i + w x_{i+1} in a row's own coordinates; for a square w^2, whose square is w. To the
// powers of 4 and 16 w stays what it is.
std::vector<OctetMap> make_second() {
  const OctetMap nibbles = times_packed<4>(kOmega, map_of(sbox::kEmbedColumns));
  std::vector<OctetMap> second(kRows, kTimesOmega);
  for (std::size_t half = 0; half < 2; ++half) second[kD + half] = second[kE + half] = nibbles;
  second[kQ] = times_packed<2>(kOmega, kPair);
  second[kQForSquare] = times_packed<2>(kOmegaSquare, kPair);
  return second;
}

ClaimShape make_shape() {
  ClaimShape shape{ClaimShape::Product::kOctets, kRows, kQuarters, 3, make_second(), {}, {}};
  ClaimShape::Factor conjugate, fourth;
  conjugate.right = {{0, {}}, {1, {}}};
  fourth.right = {{2, {}}};
  shape.z.resize(3);
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
    const std::size_t half = quarter % 2, nibble = quarter / 2 * 4;
    const std::size_t a = kA + quarter, d = kD + half, e = kE + half, out = kOut + quarter;
    const std::size_t pair = nibble + 2 * half;  // bits of q
    // Bits above a pair's or nibble's own have zero images.
    auto of_nibble = [&](const OctetMap& map) { return moved(map, nibble); };
    auto of_pair = [&](const OctetMap& map) { return moved(map, pair); };
    const OctetMap embed = map_of(sbox::kEmbedColumns);
    const OctetMap square = map_of(sbox::kPairSquareColumns);
    conjugate.x.push_back({{a, map_of(sbox::kConjugateColumns)}});
    conjugate.right[0].y.push_back({{a, kIdentity}});
    conjugate.right[1].y.push_back({{e, of_nibble(embed)}});
    fourth.x.push_back({{d, of_nibble(map_of(sbox::kFourthColumns))}});
    fourth.right[0].y.push_back(
        {{d, of_nibble(embed)}, {kQForSquare, of_pair(times_outside(square))}});
    shape.z[0].push_back({{d, of_nibble(embed)}});
    shape.z[1].push_back({{out, kIdentity}});
    shape.z[2].push_back({{kQ, of_pair(kPair)}, {e, of_nibble(times_outside(embed))}});
  }
  shape.factors = {conjugate, fourth};
  return shape;
}

}  // namespace

const ClaimShape& sbox_claim_shape() {
  static const ClaimShape shape = make_shape();
  return shape;
}

void keep_part(SboxPart part, std::size_t n, const std::uint8_t* const share[2],
               std::uint8_t* kept) {
  // The rows of each part.
  constexpr std::size_t kFirst[] = {kA, kD, kQ, kE, kOut}, kEnd[] = {kD, kQ, kE, kOut, kQForSquare};
  const std::size_t lanes = n / kQuarters, at = static_cast<std::size_t>(part);
  const std::vector<OctetMap>& second = sbox_claim_shape().second;
  const std::size_t octets = (kEnd[at] - kFirst[at]) * lanes;
  add_mapped(second[kFirst[at]], share[0], share[1], octets, kept + kFirst[at] * lanes);
  if (part == SboxPart::kPair)
    add_mapped(second[kQForSquare], share[0], share[1], octets, kept + kQForSquare * lanes);
}

void hold_claims(ClaimLog& log, std::size_t n, SecretPool::Piece kept) {
  log.hold(sbox_claim_shape(), std::move(kept), n / kQuarters);
}

void record_claims(ClaimLog& log, const SboxLayers& layers) {
  const std::size_t lanes = layers.n / kQuarters;
  ClaimRows::Rows rows{};
  for (int c = 0; c < 2; ++c) {
    for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
      rows[c][kA + quarter] = layers.input[c] + quarter * lanes;
      rows[c][kOut + quarter] = layers.product[c] + quarter * lanes;
    }
    for (std::size_t half = 0; half < 2; ++half) {
      rows[c][kD + half] = layers.norm[c] + half * lanes;
      rows[c][kE + half] = layers.inverse[c] + half * lanes;
    }
    rows[c][kQ] = rows[c][kQForSquare] = layers.pair[c];
  }
  log.add(sbox_claim_shape(), lanes, rows);
}

}  // namespace tkdc
