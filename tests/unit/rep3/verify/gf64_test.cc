// SPDX-License-Identifier: Apache-2.0
// The field, the embedding, and every kernel against the portable one.
#include "rep3/verify/gf64.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "field/gf256.h"
#include "rep3/verify/points.h"

namespace tkdc::gf64 {
namespace {

TEST(Gf64, IsTheFieldOfItsPolynomial) {
  EXPECT_EQ(multiply_portable(1, 0x123456789abcdef0), 0x123456789abcdef0u);
  EXPECT_EQ(multiply(Element{1} << 63, 2), 0x1bu);
  EXPECT_EQ(multiply(Element{1} << 63, Element{1} << 63), 0xc00000000000005au);
  std::mt19937_64 rng(1);
  for (int k = 0; k < 100; ++k) {
    const Element a = rng(), b = rng(), c = rng();
    EXPECT_EQ(multiply(a, b), multiply_portable(b, a));
    EXPECT_EQ(multiply(a, multiply(b, c)), multiply(multiply(a, b), c));
    EXPECT_EQ(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c));
  }
  Element power = 2;
  for (int k = 0; k < 64; ++k) power = multiply(power, power);
  EXPECT_EQ(power, 2u);  // 2^(2^64) = 2
}

std::uint8_t aes_field_product(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  for (int k = 0; k < 8; ++k)
    if (b >> k & 1) product ^= unsigned{a} << k;
  for (int k = 14; k >= 8; --k)
    if (product >> k & 1) product ^= 0x11bu << (k - 8);
  return static_cast<std::uint8_t>(product);
}

TEST(Gf64, EmbeddingKeepsProducts) {
  for (int a = 0; a < 256; ++a)
    for (int b = a; b < 256; ++b) {
      const auto x = static_cast<std::uint8_t>(a), y = static_cast<std::uint8_t>(b);
      ASSERT_EQ(embed(aes_field_product(x, y)), multiply(embed(x), embed(y)));
      ASSERT_EQ(gf256_multiply(x, y), aes_field_product(x, y));
    }
  for (int a = 1; a < 256; ++a) {
    const auto x = static_cast<std::uint8_t>(a);
    ASSERT_EQ(gf256_multiply(x, gf256_inverse(x)), 1);
    ASSERT_EQ(multiply(embed(x), inverse(embed(x))), 1u);
  }
}

// The reference multiplies integers; here bit by bit.
TEST(Gf64, ReferenceIsTheSchoolMethod) {
  std::mt19937_64 rng(7);
  for (int k = 0; k < 2000; ++k) {
    const Element a = k == 0 ? ~Element{0} : rng(), b = k < 2 ? ~Element{0} : rng();
    Element product = 0;
    for (int bit = 63; bit >= 0; --bit) {
      product = product << 1 ^ (product >> 63 != 0 ? 0x1b : 0);
      if (b >> bit & 1) product ^= a;
    }
    ASSERT_EQ(multiply_portable(a, b), product);
  }
}

// extend() against the polynomial of degree 31 itself.
TEST(Extension, IsThePolynomialsValues) {
  std::mt19937_64 rng(8);
  for (int round = 0; round < 20; ++round) {
    std::uint8_t coefficient[kVertices];
    for (std::uint8_t& c : coefficient) c = static_cast<std::uint8_t>(rng());
    auto value = [&](std::size_t at) {
      std::uint8_t sum = 0;
      for (std::size_t k = kVertices; k-- > 0;)
        sum = static_cast<std::uint8_t>(gf256_multiply(sum, static_cast<std::uint8_t>(at)) ^
                                        coefficient[k]);
      return sum;
    };
    struct Octet {
      std::uint8_t v;
      Octet operator^(Octet b) const { return {static_cast<std::uint8_t>(v ^ b.v)}; }
    };
    Octet at[kVertices];
    extend<Octet>(
        [&](std::size_t first, std::size_t k) { return Octet{value(first + k)}; }, at,
        [](Octet a, std::size_t k) { return Octet{gf256_multiply(a.v, kExtension.octet[k])}; });
    for (std::size_t k = 0; k < kVertices; ++k) ASSERT_EQ(at[k].v, value(kVertices + k));
  }
}

TEST(Lanes, PositionsArePermutations) {
  std::vector<int> lanes(kLanes), bits(8 * kLanes);
  for (std::size_t p = 0; p < kLanes; ++p) ++lanes[lane_at(p)];
  for (std::size_t p = 0; p < 8 * kLanes; ++p) ++bits[8 * lane_bit_at(p).lane + lane_bit_at(p).bit];
  EXPECT_EQ(lanes, std::vector<int>(kLanes, 1));
  EXPECT_EQ(bits, std::vector<int>(8 * kLanes, 1));
}

// 27 = 3^3 values of a product determine it: the value at a random point agrees.
TEST(Points, ProductsInterpolate) {
  std::mt19937_64 rng(2);
  Element x[8], y[8], px[27], py[27], at[3];
  for (int k = 0; k < 8; ++k) {
    x[k] = rng();
    y[k] = rng();
  }
  for (Element& t : at) t = rng();
  spread_points<3>(x, px);
  spread_points<3>(y, py);
  Element vx = 0, vy = 0, product = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    Element weight = 1;
    for (std::size_t v = 0; v < 3; ++v) weight = multiply(weight, (k >> v & 1) ? at[v] : at[v] ^ 1);
    vx ^= multiply(weight, x[k]);
    vy ^= multiply(weight, y[k]);
    EXPECT_EQ(px[vertex_point(k)], x[k]);
  }
  for (std::size_t p = 0; p < 27; ++p) {
    Element weight = 1;
    const std::size_t digit[3] = {p % 3, p / 3 % 3, p / 9};
    for (std::size_t v = 0; v < 3; ++v)
      weight = multiply(weight, digit[v] == 0   ? at[v] ^ 1
                                : digit[v] == 1 ? at[v]
                                                : multiply(at[v], at[v]) ^ at[v]);
    product ^= multiply(weight, multiply(px[p], py[p]));
  }
  EXPECT_EQ(product, multiply(vx, vy));
}

class Avx512 : public testing::Test {
 protected:
  void SetUp() override {
    if (kernels_avx512() == nullptr) GTEST_SKIP() << "this CPU lacks AVX-512, GFNI or VPCLMULQDQ";
  }
  template <class T>
  void fill(T& out) {
    auto* octets = reinterpret_cast<std::uint8_t*>(&out);
    for (std::size_t k = 0; k < sizeof out; ++k) octets[k] = static_cast<std::uint8_t>(rng());
  }
  std::vector<Element> elements(std::size_t n) {
    std::vector<Element> out(n);
    for (Element& e : out) e = rng();
    return out;
  }
  std::mt19937_64 rng{3};
};

// Tiles of random octets, each where it likes to stand.
class RandomTiles {
 public:
  static constexpr std::size_t kRows = 5;
  explicit RandomTiles(std::mt19937_64& rng) : octets_(ClaimRows::kMaxTiles * kTileBytes) {
    for (std::uint8_t& octet : octets_) octet = static_cast<std::uint8_t>(rng());
    for (std::size_t t = 0; t < ClaimRows::kMaxTiles; ++t) {
      for (std::size_t k = 0; k < 2 * kRows; ++k)
        row_[t][k] = static_cast<std::uint32_t>(rng() % (2 * kRows) * kLanes);
      tile_[t] = {octets_.data() + t * kTileBytes, row_[t]};
    }
  }
  const Tile* data() const { return tile_; }

 private:
  static constexpr std::size_t kTileBytes = 2 * kRows * kLanes;
  std::vector<std::uint8_t> octets_;
  std::uint32_t row_[ClaimRows::kMaxTiles][2 * kRows];
  Tile tile_[ClaimRows::kMaxTiles];
};

// Random rows and maps: three products of two left and two right sides.
TEST_F(Avx512, OctetPointsAgreeWithPortable) {
  for (std::size_t slots : {1u, 2u, 4u}) {
    OctetProducts shape;
    auto value = [&] {
      OctetValue out;
      out.slot.resize(slots);
      for (auto& slot : out.slot)
        for (std::size_t k = 0; k < 1 + rng() % 3; ++k) {
          RowMap map{};
          map.row = rng() % RandomTiles::kRows;
          for (std::size_t b = 0; b < 8; ++b) {
            map.column[b] = static_cast<std::uint8_t>(rng());
            for (std::size_t row = 0; row < 8; ++row)
              map.matrix |= std::uint64_t{map.column[b] >> row & 1u} << (8 * (7 - row) + b);
          }
          slot.push_back(map);
        }
      return out;
    };
    shape.factors.push_back({value(), {{value(), 1}, {value(), 0}}});
    shape.factors.push_back({value(), {{value(), 1}}});
    Lift weight[2][2];
    std::array<LaneSums, kVertices> sums[2];
    fill(sums[0]);
    sums[1] = sums[0];
    for (int round = 0; round < 3; ++round) {
      const RandomTiles tiles(rng);
      for (int k = 0; k < 2; ++k) {
        const Element factor = rng();
        kernels_portable().set_octet_lift(factor, weight[0][k]);
        kernels_avx512()->set_octet_lift(factor, weight[1][k]);
        EXPECT_EQ(std::memcmp(&weight[0][k], &weight[1][k], sizeof(Lift)), 0);
      }
      kernels_portable().octet_points(shape, tiles.data(), weight[0], sums[0].data());
      kernels_avx512()->octet_points(shape, tiles.data(), weight[1], sums[1].data());
      EXPECT_EQ(std::memcmp(&sums[0], &sums[1], sizeof sums[0]), 0);
    }
    const std::vector<Element> sigma = elements(kLanes);
    for (const LaneSums& one : sums[0])
      EXPECT_EQ(kernels_portable().lane_sum(one, sigma.data()),
                kernels_avx512()->lane_sum(one, sigma.data()));
  }
}

TEST_F(Avx512, BitPointsAgreeWithPortable) {
  for (std::size_t factors : {1u, 2u}) {
    const RandomTiles tiles(rng);
    Lift weight;
    kernels_portable().set_octet_lift(rng(), weight);
    std::array<LaneSums, kBitPoints> sums[2];
    fill(sums[0]);
    sums[1] = sums[0];
    kernels_portable().bit_points(factors, tiles.data(), weight, sums[0].data());
    kernels_avx512()->bit_points(factors, tiles.data(), weight, sums[1].data());
    EXPECT_EQ(std::memcmp(&sums[0], &sums[1], sizeof sums[0]), 0);
  }
}

TEST_F(Avx512, LiftsAgreeWithPortable) {
  const RandomTiles tiles(rng);
  for (std::size_t count : {1u, 2u, 7u}) {
    std::vector<StrandLift> rows(count);
    for (StrandLift& row : rows) {
      row.tile = rng() % ClaimRows::kMaxTiles;
      row.strand = rng() % RandomTiles::kRows;
      for (Element& column : row.lift.column) column = rng();
      kernels_portable().set_matrices(row.lift);
      Lift same = row.lift;
      kernels_avx512()->set_matrices(same);
      EXPECT_EQ(std::memcmp(&same, &row.lift, sizeof same), 0);
    }
    const std::vector<Element> of_lane = elements(kLanes);
    for (const Element* weights : {static_cast<const Element*>(nullptr), of_lane.data()}) {
      Element out[2][kLanes];
      kernels_portable().lift_octets(rows, tiles.data(), weights, out[0]);
      kernels_avx512()->lift_octets(rows, tiles.data(), weights, out[1]);
      EXPECT_EQ(std::memcmp(out[0], out[1], sizeof out[0]), 0);
    }
  }
  Lift slots[4];
  for (Lift& lift : slots) {
    for (Element& column : lift.column) column = rng();
    kernels_portable().set_matrices(lift);
  }
  std::vector<Element> bits[2];
  const Kernels* const both[2] = {&kernels_portable(), kernels_avx512()};
  for (int which = 0; which < 2; ++which) {
    bits[which].resize(8 * kLanes);
    both[which]->lift_bits(slots, tiles.data(), 2, bits[which].data());
  }
  EXPECT_EQ(bits[0], bits[1]);
  const std::vector<Element> weight = elements(8 * kLanes);
  std::vector<Element> y = bits[0], same = y;
  const Element factor = rng();
  kernels_portable().scale(8 * kLanes, weight.data(), factor, y.data());
  kernels_avx512()->scale(8 * kLanes, weight.data(), factor, same.data());
  EXPECT_EQ(y, same);
  kernels_portable().add_scaled(factor, y.data() + 8, y.data());
  kernels_avx512()->add_scaled(factor, same.data() + 8, same.data());
  EXPECT_EQ(y, same);
  EXPECT_EQ(kernels_portable().dot(8 * kLanes, y.data(), weight.data()),
            kernels_avx512()->dot(8 * kLanes, y.data(), weight.data()));
}

TEST_F(Avx512, VectorsAgreeWithPortable) {
  for (int n = 1; n <= 5; ++n)
    for (std::size_t stride : {1u, 3u, 8u, 21u}) {
      const std::size_t vertices = std::size_t{1} << n;
      std::vector<Element> v[2][2], points[2];
      for (int k = 0; k < 2; ++k) v[0][k] = v[1][k] = elements(vertices * stride);
      const std::vector<Element> at = elements(vertices);
      const Kernels* const kernels[2] = {&kernels_portable(), kernels_avx512()};
      for (int which = 0; which < 2; ++which) {
        auto& w = v[which];
        points[which].resize(tkdc::points(n));
        kernels[which]->points(n, stride, {w[0].data(), w[1].data()}, points[which].data());
        kernels[which]->fold(n, stride, {w[0].data(), w[1].data()}, at.data());
        for (auto& one : w) one.resize(stride);
      }
      EXPECT_EQ(points[0], points[1]) << n << " " << stride;
      for (int k = 0; k < 2; ++k) EXPECT_EQ(v[0][k], v[1][k]) << n << " " << stride;
    }
}

}  // namespace
}  // namespace tkdc::gf64
