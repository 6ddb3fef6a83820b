// SPDX-License-Identifier: Apache-2.0
// String products: what both parties' shares sum to, each message changed, and what a guess gains.
#include "lut/lut_parties.h"
#include "pair/buckets.h"

namespace tkdc::lut {
namespace {

constexpr Shape kShape = {3, 5};
constexpr std::size_t kOfLeaky = 40;

TEST(LutProducts, LeakyOnesAreProductsWithMacs) {
  for (const Shape shape : {kShape, Shape{1, 1}, Shape{1, 127}, Shape{16, 8}}) {
    Both<Leaky> both;
    const Outcome outcome = with_dealers([&](Dealer& dealer, int p) -> Result<void> {
      both.part[p] = dealer.part();
      auto made = leaky_products(dealer, shape, kOfLeaky);
      if (!made) return made.error();
      both.of[p] = std::move(*made);
      return {};
    });
    ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
    const auto sum = [](const String& a, const String& b) { return a ^ b; };
    const Label delta = both.delta();
    int ones = 0;
    for (std::size_t k = 0; k < kOfLeaky; ++k) {
      const String v = sum(both.of[0].string(k), both.of[1].string(k));
      EXPECT_EQ(v.mac, ot::field_reference()->product(v.value, delta));
      for (std::size_t i = 0; i < shape.bits; ++i) {
        const std::uint64_t b = bit_of(both.of[0].bit(k, i), both.of[1].bit(k, i), delta);
        const String z = sum(both.of[0].product(k, i), both.of[1].product(k, i));
        EXPECT_EQ(z.value, v.value.where(b));
        EXPECT_EQ(z.mac, v.mac.where(b));
        ones += static_cast<int>(b);
      }
    }
    EXPECT_GT(ones, 0);
  }
}

struct Operands {
  Labels q, p, products;
};

// Random operands and their products; `mark` is where what follows the first bits begins.
Outcome multiply_pair(Shape shape, std::size_t count, Both<Operands>& out, std::uint64_t (&mark)[2],
                      int cheat = 0, Change change = {}, std::size_t at_once = kFewBits) {
  return with_dealers(
      [&](Dealer& dealer, int p) -> Result<void> {
        Operands& own = out.of[p];
        out.part[p] = dealer.part();
        own.q.resize(count * shape.bits);
        own.p.resize(count * shape.length);
        auto drawn = dealer.draw(std::span(own.q));
        if (drawn) drawn = dealer.draw(std::span(own.p));
        if (!drawn) return drawn;
        mark[p] = dealer.session().channel().sent();
        auto made = multiply(dealer, shape, own.q, own.p);
        if (!made) return made.error();
        own.products = std::move(*made);
        return dealer.check();
      },
      cheat, change, at_once);
}

void expect_products(Shape shape, std::size_t count, const Both<Operands>& both) {
  const auto bit = [&](const Labels Operands::*of, std::size_t k) {
    return bit_of((both.of[0].*of)[k], (both.of[1].*of)[k], both.delta());
  };
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < shape.bits; ++i)
      for (std::size_t j = 0; j < shape.length; ++j)
        EXPECT_EQ(bit(&Operands::products, (k * shape.bits + i) * shape.length + j),
                  bit(&Operands::q, k * shape.bits + i) & bit(&Operands::p, k * shape.length + j));
}

TEST(LutProducts, ProductsOfOperandsAreRight) {
  for (const Shape shape : {kShape, Shape{1, 1}, Shape{1, 127}, Shape{15, 15}}) {
    Both<Operands> both;
    std::uint64_t mark[2];
    const Outcome outcome = multiply_pair(shape, 9, both, mark);
    ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
    expect_products(shape, 9, both);
  }
}

TEST(LutProducts, OperandsThatDoNotFitAreRefused) {
  const Outcome outcome = with_dealers([&](Dealer& dealer, int) -> Result<void> {
    auto made = multiply(dealer, {2, 3}, Labels(4), Labels(5));
    return made ? Result<void>() : made.error();
  });
  EXPECT_NE(outcome.error[0].value_or("").find("do not fit"), std::string::npos);
}

// All random bits are drawn before `mark`, so what a party sends behind it is, in this order: of
// each row G and U; a commitment or value, an opening (coins); a masked sum (16); equality;
// coins; openings of operands and products; equality.
class Messages {
 public:
  static constexpr std::size_t kCount = 2, kBits = 60 * 15 * 128;
  static constexpr Shape kOf = {2, 3};
  Messages() {
    const Plan plan = plan_products(kCount);
    rows_octets = plan.products * plan.bucket * kOf.bits * (kLabelBytes + 1);
    Both<Operands> both;
    const Outcome outcome = multiply_pair(kOf, kCount, both, mark, 0, {}, kBits);
    EXPECT_TRUE(outcome.ok());
    expect_products(kOf, kCount, both);
    for (const int p : {0, 1}) end[p] = outcome.sent[p];
  }
  bool ends(int cheat, Change change) {
    Both<Operands> both;
    std::uint64_t unused[2];
    const Outcome outcome = multiply_pair(kOf, kCount, both, unused, cheat, change, kBits);
    if (outcome.error[1 - cheat]) return true;
    expect_products(kOf, kCount, both);
    return false;
  }
  std::uint64_t mark[2], end[2], rows_octets;
};

// A change of a G or U is found where the honest party's bit is 1, and is without effect where it
// is 0: with probability 1/2, whatever the operands are.
TEST(LutProducts, EveryMessageChangedIsFoundOrWithoutEffect) {
  Messages messages;
  constexpr int kOfRows = 10;  // of each party: all 20 alike with 2^-19
  int ended = 0;
  for (const int cheat : {0, 1}) {
    const std::uint64_t rows = messages.mark[cheat], rest = rows + messages.rows_octets;
    ASSERT_LT(rest, messages.end[cheat]);
    for (int k = 0; k < kOfRows; ++k) {
      const std::uint64_t at =
          rows + messages.rows_octets * static_cast<std::uint64_t>(k) / kOfRows;
      // Of a U only three bits count.
      ended += messages.ends(cheat, {at, 1});
    }
    // Coins, masks, equalities and openings: each changed octet ends it, but those of the garbler's
    // coins that nobody uses: the second half of 32.
    const std::uint64_t length = messages.end[cheat] - rest;
    for (std::uint64_t at = 0; at < length; at += 19) {
      const bool unused = cheat == 0 && (at / 16 == 1 || at / 16 == 6);
      EXPECT_NE(messages.ends(cheat, {rest + at, 1}), unused)
          << cheat << " " << at << " of " << length;
    }
  }
  EXPECT_GT(ended, 0);
  EXPECT_LT(ended, 2 * kOfRows);
}

// What a changed party gains by guessing, without the cryptography: it guesses t members and gets
// through with 2^-t. How often it did, and some bucket was full of guessed ones: the largest over
// t.
double measured(std::size_t products, std::size_t bucket, int runs) {
  std::mt19937_64 generator(3);
  std::vector<int> full(products * bucket + 1);  // by the least t that fills a bucket
  for (int run = 0; run < runs; ++run) {
    const auto order = pair::permutation_of({generator(), generator()}, products * bucket);
    std::size_t least = order.size();
    for (std::size_t k = 0; k < order.size(); k += bucket)
      least = std::min<std::size_t>(least, 1 + *std::max_element(&order[k], &order[k] + bucket));
    ++full[least];
  }
  double most = 0, filled = 0;
  for (std::size_t t = 0; t < full.size(); ++t) {
    filled += full[t];
    most = std::max(most, filled / runs * std::exp2(-static_cast<double>(t)));
  }
  return most;
}

TEST(LutProducts, ABucketIsGuessedAsRarelyAsTheBoundSays) {
  for (const auto& [products, bucket] : {std::pair<std::size_t, std::size_t>{4, 2}, {6, 3}}) {
    const double bound = std::exp2(pair::bucket_bound(products, bucket)),
                 most = measured(products, bucket, 10'000);
    EXPECT_LT(most, 1.1 * bound);
    EXPECT_GT(most, 0.5 * bound);  // the bound is no better than it has to be
  }
  // The control: without buckets each guess that gets through gives a product's bit.
  EXPECT_EQ(measured(4, 1, 10), 0.5);
}

TEST(LutProducts, PlansKeepTheBound) {
  for (const std::size_t products : {1, 2, 100, 5'000, 10'240, 40'000, 1 << 18}) {
    const Plan plan = plan_products(products);
    EXPECT_GE(plan.products, products);
    EXPECT_LE(plan.bound, kWantedBound);
    EXPECT_DOUBLE_EQ(plan.bound, pair::bucket_bound(plan.products, plan.bucket));
  }
}

}  // namespace
}  // namespace tkdc::lut
