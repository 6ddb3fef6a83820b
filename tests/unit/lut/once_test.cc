// SPDX-License-Identifier: Apache-2.0
// What serves once: masks and tables of every kind are refused afterwards, in another session, and
// where they have been moved from; and what has served is wiped.
#include <algorithm>
#include <type_traits>

#include "lut/inside.h"
#include "lut/lut_parties.h"

namespace tkdc::lut {

namespace {

// A kind: how so many are made, and how so many serve.
struct OfInputs {
  using Kind = InputMasks;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    auto labels = of.input(dealer, Bytes(count));
    return labels ? Result<void>() : labels.error();
  }
};
struct OfTables {
  using Kind = Tables;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, aes_sbox(), count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    Labels octets(count);
    return of.look_up(dealer, octets);
  }
};
struct OfNorms {
  using Kind = NormTables;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    Labels octets(count);
    return of.look_up(dealer, octets);
  }
};
struct OfInverseNorms : OfNorms {
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make_inverse(dealer, count);
  }
};
struct OfBitsOut {
  using Kind = BitsOut;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    auto bits = of.take(dealer, Labels(count));
    return bits ? Result<void>() : bits.error();
  }
};
struct OfShares {
  using Kind = ShareTables;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, aes_sbox(), count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    SecretVector octets(count);
    return of.look_up(dealer, octets);
  }
};

struct OfDesTables {
  using Kind = DesTables;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    const Labels in(kDesIn * count);
    Labels out(kDesOut * count);
    return of.substitute(dealer, in, out);
  }
};
template <Width width>
struct OfTriples {
  using Kind = Triples;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, width, count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    const Labels factors(count);
    auto products = of.multiply(dealer, factors, factors);
    return products ? Result<void>() : products.error();
  }
};
struct OfBitMasks {
  using Kind = BitMasks;
  static Result<Kind> make(PairDealer& dealer, std::size_t count) {
    return Kind::make(dealer, count);
  }
  static Result<void> use(Kind& of, PairDealer& dealer, std::size_t count) {
    auto bits = of.decompose(dealer, Labels(count));
    return bits ? Result<void>() : bits.error();
  }
};

template <class Of>
class LutOnce : public testing::Test {};
using Kinds =
    testing::Types<OfInputs, OfTables, OfNorms, OfInverseNorms, OfBitsOut, OfShares, OfDesTables,
                   OfTriples<Width::kBit>, OfTriples<Width::kOctet>, OfBitMasks>;
TYPED_TEST_SUITE(LutOnce, Kinds);

// Fewest that serve at once.
template <class Of>
constexpr std::size_t kSome = std::is_same_v<Of, OfDesTables> ? 8 : 1;

// Refused with these words, and without a message.
template <class Of>
void expect_refused(typename Of::Kind& of, PairDealer& dealer, std::size_t count,
                    const char* words) {
  const std::uint64_t before = dealer.session().channel().sent();
  auto refused = Of::use(of, dealer, count);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
  EXPECT_EQ(dealer.session().channel().sent(), before);
}

TYPED_TEST(LutOnce, ServesOnceAndIsWipedThen) {
  using Kind = typename TypeParam::Kind;
  static_assert(!std::is_copy_constructible_v<Kind> && !std::is_copy_assignable_v<Kind>);
  const Outcome outcome = with_dealers([](PairDealer& dealer, int) -> Result<void> {
    constexpr std::size_t some = kSome<TypeParam>, kMade = 48;  // of single octets some are not 0
    auto made = TypeParam::make(dealer, kMade);
    if (!made) return made.error();
    if (auto done = TypeParam::use(*made, dealer, kMade / 2); !done) return done;
    EXPECT_EQ(made->left(), kMade / 2);
    const auto all = Inside::of(*made);
    using One = typename decltype(all)::value_type;
    const std::size_t served = all.size() / 2;
    const auto is_zero = [](const One& one) { return one == One{}; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + served, is_zero));
    EXPECT_FALSE(std::all_of(all.begin() + served, all.end(), is_zero)) << "the control";
    expect_refused<TypeParam>(*made, dealer, kMade / 2 + some, "only 24 ");
    return TypeParam::use(*made, dealer, kMade / 2);
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

TYPED_TEST(LutOnce, NothingIsLeftWhereItWasMovedFrom) {
  using Kind = typename TypeParam::Kind;
  const Outcome outcome = with_dealers([](PairDealer& dealer, int) -> Result<void> {
    constexpr std::size_t some = kSome<TypeParam>;
    auto made = TypeParam::make(dealer, 4 * some);
    if (!made) return made.error();
    if (auto done = TypeParam::use(*made, dealer, some); !done) return done;
    Kind moved = std::move(*made);
    EXPECT_EQ(moved.left(), 3 * some);
    if (made->left() != 0) return fail("something is left where it was moved from");
    expect_refused<TypeParam>(*made, dealer, some, "only 0 ");
    *made = std::move(moved);
    EXPECT_EQ(made->left(), 3 * some);
    if (moved.left() != 0) return fail("something is left where it was moved from");
    expect_refused<TypeParam>(moved, dealer, some, "only 0 ");
    return TypeParam::use(*made, dealer, 3 * some);
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

TYPED_TEST(LutOnce, OfAnotherSessionIsRefused) {
  std::optional<typename TypeParam::Kind> kept[2];
  for (const bool first : {true, false}) {
    const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
      constexpr std::size_t some = kSome<TypeParam>;
      if (!first) {
        expect_refused<TypeParam>(*kept[p], dealer, some, "another session");
        return {};
      }
      auto made = TypeParam::make(dealer, some);
      if (!made) return made.error();
      kept[p].emplace(std::move(*made));
      return {};
    });
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
  }
}

}  // namespace
}  // namespace tkdc::lut
