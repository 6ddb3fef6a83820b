// SPDX-License-Identifier: Apache-2.0
// Products by triples, and octets as bits: labels of both put together, and messages changed.
#include "lut/triples.h"

#include "field/gf256.h"
#include "lut/kernel.h"
#include "lut/lut_parties.h"

namespace tkdc::lut {
namespace {

struct Multiplied {
  Both<Labels> labels;
  std::uint64_t online_at[2] = {0, 0};
};

// x_k of party 0 alone, y_k of party 1 alone.
Outcome multiply_pair(Width width, const Bytes& x, const Bytes& y, Multiplied& out, int cheat = 0,
                      Change change = {}) {
  return with_dealers(
      [&](Dealer& dealer, int p) -> Result<void> {
        out.labels.part[p] = dealer.octet_part();
        auto triples = Triples::make(dealer, width, x.size());
        if (!triples) return triples.error();
        Labels left(x.size()), right(x.size());
        for (std::size_t k = 0; k < x.size(); ++k) {
          left[k] = dealer.multiple(x[k]);
          right[k] = dealer.multiple(y[k]);
        }
        out.online_at[p] = dealer.session().channel().sent();
        auto products = triples->multiply(dealer, left, right);
        if (!products) return products.error();
        if (auto good = dealer.check(); !good) return good;
        out.labels.of[p] = std::move(*products);
        return {};
      },
      cheat, change);
}

TEST(LutTriples, OctetsAreMultipliedUnderTheirMac) {
  const Bytes x = {0, 1, 2, 0x53, 0xff, 0x80}, y = {7, 0xfe, 0x80, 0xca, 0xff, 2};
  Multiplied done;
  const Outcome outcome = multiply_pair(Width::kOctet, x, y, done);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  for (std::size_t k = 0; k < x.size(); ++k)
    EXPECT_EQ(done.labels.of[0][k] ^ done.labels.of[1][k],
              times(done.labels.delta(), gf256_multiply(x[k], y[k])))
        << k;
}

TEST(LutTriples, BitsAreMultipliedUnderTheirMac) {
  Bytes x, y;
  for (unsigned k = 0; k < 21; ++k) {  // the last octet of messages is not full
    x.push_back(static_cast<std::uint8_t>(k & 1));
    y.push_back(static_cast<std::uint8_t>(k >> 1 & 1));
  }
  Multiplied done;
  const Outcome outcome = multiply_pair(Width::kBit, x, y, done);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  for (std::size_t k = 0; k < x.size(); ++k)
    EXPECT_EQ(done.labels.of[0][k] ^ done.labels.of[1][k], times(done.labels.delta(), x[k] & y[k]))
        << k;
}

TEST(LutTriples, AChangedOpeningEndsIt) {
  const Bytes x(5, 1), y(5, 0);
  for (const Width width : {Width::kBit, Width::kOctet}) {
    Multiplied honest;
    ASSERT_TRUE(multiply_pair(width, x, y, honest).ok());
    for (const int cheat : {0, 1})
      for (const std::uint64_t at : {0, 1})
        for (const std::uint8_t bit : {0x01, 0x80}) {
          Multiplied changed;
          const Outcome ended =
              multiply_pair(width, x, y, changed, cheat, {honest.online_at[cheat] + at, bit});
          EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at << " " << int{bit};
        }
  }
}

// Whatever the other party opens, a share of a bit stays one: else bits of octets that no mask
// covers would be told by what is opened next.
TEST(LutTriples, SharesOfBitsStayBitsWhateverIsOpened) {
  const Bytes x(16, 1), y(16, 1);
  for (const int cheat : {0, 1})
    for (unsigned bit = 0; bit < 8; ++bit) {
      Labels kept;
      std::uint64_t online_at = 0;
      const auto party = [&](int p, std::uint64_t& at) {
        return [&, p](Dealer& dealer) -> Result<void> {
          auto triples = Triples::make(dealer, Width::kBit, x.size());
          if (!triples) return triples.error();
          Labels ones(x.size(), dealer.multiple(1));
          if (p == cheat) at = dealer.session().channel().sent();
          auto products = triples->multiply(dealer, ones, ones);
          if (!products) return products.error();
          if (p != cheat) kept = std::move(*products);
          return dealer.check();
        };
      };
      ASSERT_TRUE(with_dealers(party(0, online_at), party(1, online_at)).ok());
      const std::uint64_t at = online_at;
      const Outcome ended = with_dealers(party(0, online_at), party(1, online_at), cheat,
                                         {at, static_cast<std::uint8_t>(1u << bit)});
      EXPECT_TRUE(ended.error[1 - cheat]);
      ASSERT_EQ(kept.size(), x.size());
      for (const Label& one : kept) EXPECT_LE(one.low & 0xff, 1u) << cheat << " " << bit;
    }
}

struct Decomposed {
  Both<Labels> bits, input;
  std::uint64_t online_at[2] = {0, 0};
};

Outcome decompose_pair(const Bytes& octets, Decomposed& out, int cheat = 0, Change change = {}) {
  return with_dealers(
      [&](Dealer& dealer, int p) -> Result<void> {
        out.bits.part[p] = out.input.part[p] = dealer.octet_part();
        auto masks = BitMasks::make(dealer, 2 * octets.size());
        if (!masks) return masks.error();
        auto input = masks->input(dealer, p == 0 ? octets : Bytes(octets.size(), 0x55));
        if (!input) return input.error();
        out.input.of[p] = std::move(*input);
        Labels labels;
        for (const std::uint8_t one : octets) labels.push_back(dealer.multiple(one));
        out.online_at[p] = dealer.session().channel().sent();
        auto bits = masks->decompose(dealer, labels);
        if (!bits) return bits.error();
        if (auto good = dealer.check(); !good) return good;
        out.bits.of[p] = std::move(*bits);
        return {};
      },
      cheat, change);
}

TEST(LutBitMasks, OctetsBecomeTheirBits) {
  const Bytes octets = {0, 1, 0x80, 0xa7, 0xff};
  Decomposed done;
  const Outcome outcome = decompose_pair(octets, done);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  const Label delta = done.bits.delta();
  for (std::size_t k = 0; k < 8 * octets.size(); ++k) {
    const auto bit = [&](std::uint8_t octet) { return times(delta, octet >> k % 8 & 1); };
    EXPECT_EQ(done.bits.of[0][k] ^ done.bits.of[1][k], bit(octets[k / 8])) << k;
    EXPECT_EQ(done.input.of[0][k] ^ done.input.of[1][k], bit(octets[k / 8] ^ 0x55)) << k;
  }
}

TEST(LutBitMasks, AChangedOpeningEndsIt) {
  const Bytes octets = {3, 4, 5};
  Decomposed honest;
  ASSERT_TRUE(decompose_pair(octets, honest).ok());
  for (const int cheat : {0, 1})
    for (const std::uint64_t at : {0, 2}) {
      Decomposed changed;
      const Outcome ended =
          decompose_pair(octets, changed, cheat, {honest.online_at[cheat] + at, 0x40});
      EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at;
    }
}

}  // namespace
}  // namespace tkdc::lut
