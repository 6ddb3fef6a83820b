// SPDX-License-Identifier: Apache-2.0
// Words: sums, selections and tests against the machine's own, and what they cost.
#include <bit>

#include "circuit/arithmetic.h"
#include "circuit/linear_map.h"
#include "circuit/predicates.h"
#include "circuit_values.h"

namespace tkdc::circuit {
namespace {

std::mt19937_64 draw(7);

// Numbers as words, one in each instance.
template <std::size_t N>
Word<Plain, N> word_of(const std::array<std::uint64_t, kInstances>& numbers) {
  Word<Plain, N> out;
  for (std::size_t k = 0; k < N; ++k)
    for (std::size_t n = 0; n < kInstances; ++n) out[k] |= (numbers[n] >> k & 1) << n;
  return out;
}

template <std::size_t N>
std::uint64_t number_of(const Word<Plain, N>& word, std::size_t n) {
  std::uint64_t out = 0;
  for (std::size_t k = 0; k < N; ++k) out |= (word[k] >> n & 1) << k;
  return out;
}

template <std::size_t N>
constexpr std::uint64_t kMask = N == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << N) - 1;

std::array<std::uint64_t, kInstances> random_numbers() {
  std::array<std::uint64_t, kInstances> out;
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = k == 0 ? 0 : k == 1 ? ~std::uint64_t{0} : draw() >> draw() % 64;
  return out;
}

template <std::size_t N>
void sums_are_right(Adder adder) {
  Plain c;
  for (std::size_t summands = 0; summands <= 6; ++summands)
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0},
                                       std::uint64_t{0xca62c1d6}, std::uint64_t{draw()}}) {
      std::vector<Word<Plain, N>> words;
      std::array<std::uint64_t, kInstances> expected;
      expected.fill(number);
      for (std::size_t k = 0; k < summands; ++k) {
        const auto one = random_numbers();
        words.push_back(word_of<N>(one));
        for (std::size_t n = 0; n < kInstances; ++n) expected[n] += one[n];
      }
      const Word<Plain, N> out = sum<Plain, N>(c, words, number & kMask<N>, adder);
      for (std::size_t n = 0; n < kInstances; ++n)
        ASSERT_EQ(number_of(out, n), expected[n] & kMask<N>) << summands << " and " << number;
    }
}

TEST(Arithmetic, SumsOfAnyNumberOfWordsAndAConstant) {
  for (const Adder adder : {Adder::kRipple, Adder::kPrefix}) {
    sums_are_right<2>(adder);
    sums_are_right<3>(adder);
    sums_are_right<8>(adder);
    sums_are_right<32>(adder);
    sums_are_right<33>(adder);
    sums_are_right<64>(adder);
  }
}

template <std::size_t N>
GateCounts cost_of_sum(std::size_t summands, std::uint64_t number, Adder adder) {
  Counter c;
  sum<Counter, N>(c, std::vector<Word<Counter, N>>(summands), number, adder);
  return c.counts();
}

TEST(Arithmetic, CostsOfSums) {
  EXPECT_EQ((cost_of_sum<32>(2, 0, Adder::kRipple)), (GateCounts{31, 123, 0, 31}));
  EXPECT_EQ(cost_of_sum<64>(2, 0, Adder::kRipple).ands, 63u);
  EXPECT_EQ(cost_of_sum<32>(3, 0, Adder::kRipple).ands, 61u) << "1 + 2 * 30";
  EXPECT_EQ(cost_of_sum<32>(4, 0, Adder::kRipple).ands, 92u) << "2 + 3 * 30";
  EXPECT_EQ(cost_of_sum<32>(1, 1, Adder::kRipple).ands, 30u) << "a free carry out of bit 0";
  EXPECT_EQ(cost_of_sum<32>(1, 0x80000000, Adder::kRipple).ands, 0u);
  const GateCounts prefix32 = cost_of_sum<32>(2, 0, Adder::kPrefix);
  EXPECT_EQ(prefix32.and_depth, 6u) << "1 + ceil(log2 31)";
  EXPECT_EQ(prefix32.ands, 151u);
  EXPECT_EQ(cost_of_sum<64>(2, 0, Adder::kPrefix).and_depth, 7u);
}

TEST(Arithmetic, CarrySaveKeepsTheSum) {
  Plain c;
  const auto a = random_numbers(), b = random_numbers(), d = random_numbers();
  const auto two = carry_save(c, word_of<32>(a), word_of<32>(b), word_of<32>(d));
  for (std::size_t n = 0; n < kInstances; ++n)
    EXPECT_EQ((number_of(two[0], n) + number_of(two[1], n)) & kMask<32>,
              (a[n] + b[n] + d[n]) & kMask<32>);
}

TEST(Words, TurnShiftAndSelect) {
  Plain c;
  const auto a = random_numbers(), b = random_numbers(), s = random_numbers();
  const Word<Plain, 32> x = word_of<32>(a), y = word_of<32>(b), z = word_of<32>(s);
  for (std::size_t n = 0; n < kInstances; ++n) {
    const auto p = static_cast<std::uint32_t>(a[n]), q = static_cast<std::uint32_t>(b[n]),
               r = static_cast<std::uint32_t>(s[n]);
    for (const std::size_t by : {0u, 1u, 5u, 31u}) {
      EXPECT_EQ(number_of(rotate_left(x, by), n), std::rotl(p, static_cast<int>(by)));
      EXPECT_EQ(number_of(rotate_right(x, by), n), std::rotr(p, static_cast<int>(by)));
      EXPECT_EQ(number_of(shift_left(c, x, by), n), p << by);
      EXPECT_EQ(number_of(shift_right(c, x, by), n), p >> by);
    }
    EXPECT_EQ(number_of(xor_of(c, x, y, z), n), p ^ q ^ r);
    EXPECT_EQ(number_of(and_of(c, x, y), n), p & q);
    EXPECT_EQ(number_of(not_of(c, x), n), ~p);
    EXPECT_EQ(number_of(choose(c, x, y, z), n), (p & q) | (~p & r));
    EXPECT_EQ(number_of(majority(c, x, y, z), n), (p & q) | (p & r) | (q & r));
    EXPECT_EQ(number_of(mux(c, z[0], x, y), n), (r & 1) != 0 ? p : q);
    EXPECT_EQ(number_of(constant<32>(c, 0xca62c1d6), n), 0xca62c1d6u);
  }
}

TEST(Predicates, CompareLikeTheMachine) {
  Plain c;
  auto a = random_numbers(), b = random_numbers();
  for (std::size_t n = 10; n < 30; ++n) b[n] = a[n];
  for (std::size_t n = 20; n < 30; ++n) b[n] ^= std::uint64_t{1} << draw() % 64;
  const Word<Plain, 64> x = word_of<64>(a), y = word_of<64>(b);
  const BitSpan<Plain> p(x.bit), q(y.bit);
  const Slice same = equal(c, p, q), less = less_than(c, p, q), zero = is_zero(c, p);
  const Bits<Plain> gated = gate(c, same, p);
  for (std::size_t n = 0; n < kInstances; ++n) {
    EXPECT_EQ(same >> n & 1, a[n] == b[n] ? 1u : 0u);
    EXPECT_EQ(less >> n & 1, a[n] < b[n] ? 1u : 0u);
    EXPECT_EQ(zero >> n & 1, a[n] == 0 ? 1u : 0u);
    for (std::size_t k = 0; k < 64; ++k)
      EXPECT_EQ(gated[k] >> n & 1, a[n] == b[n] ? a[n] >> k & 1 : 0);
  }
}

TEST(Predicates, Cost) {
  Counter c;
  const Bits<Counter> a(96), b(96);
  equal(c, BitSpan<Counter>(a), BitSpan<Counter>(b));
  EXPECT_EQ(c.counts(), (GateCounts{95, 96, 96, 7}));
  Counter d;
  less_than(d, BitSpan<Counter>(a), BitSpan<Counter>(b));
  EXPECT_EQ(d.counts().ands, 96u);
}

TEST(LinearMap, IsTheMatrixWithFewerXors) {
  Plain c;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint64_t> rows(1 + draw() % 40);
    const std::size_t inputs = 1 + draw() % 40;
    std::size_t plain = 0;
    for (std::uint64_t& row : rows) {
      row = draw() & kMask<64> >> (64 - inputs);
      plain += row == 0 ? 0 : static_cast<std::size_t>(std::popcount(row)) - 1;
    }
    const LinearMap map(inputs, rows);
    EXPECT_LE(map.xors(), plain);
    Bits<Plain> x;
    for (std::size_t k = 0; k < inputs; ++k) x.push_back(draw());
    const Bits<Plain> out = map(c, BitSpan<Plain>(x));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Slice expected = 0;
      for (std::size_t k = 0; k < inputs; ++k) expected ^= (rows[r] >> k & 1) != 0 ? x[k] : 0;
      ASSERT_EQ(out[r], expected);
    }
  }
}

}  // namespace
}  // namespace tkdc::circuit
