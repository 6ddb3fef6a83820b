// SPDX-License-Identifier: Apache-2.0
// A cheat that adapts: it knows the seed when it sends its values of h, and
// changes them so that its wrong claim seems right.
#include <gtest/gtest.h>

#include <random>

#include "rep3/verify/octet_check.h"

namespace tkdc {
namespace {

using Check = InnerProductCheck<Gf64Field>;
using Element = gf64::Element;

// z = x y of rows 0, 1 and 2.
ClaimShape shape_of(ClaimShape::Product product) {
  ClaimShape shape{product, 3, 1, 1, {}, {}, {}};
  if (product == ClaimShape::Product::kOctets) shape.second.assign(3, kTimesOmega);
  shape.factors.resize(1);
  shape.factors[0].x = {{{0, kIdentity}}};
  shape.factors[0].right = {{0, {{{1, kIdentity}}}}};
  shape.z = {{{{2, kIdentity}}}};
  return shape;
}

const ClaimShape& shape(std::size_t which) {
  static const ClaimShape shapes[3] = {shape_of(ClaimShape::Product::kOctets),
                                       shape_of(ClaimShape::Product::kOctets),
                                       shape_of(ClaimShape::Product::kBits)};
  return shapes[which];
}

struct Attack {
  // Of two batches: those of one product in octets, or in octets and in bits.
  std::size_t second = 1;
  Element wrong[2] = {0, 0};   // octets: the errors in z of lane 5 of each shape
  Element change[2] = {0, 0};  // in the first value of h that each shape sends
  std::array<std::uint8_t, OctetCheck::kChallengeBytes> challenge{};
};

// The claim that is left after the fold, put together from the three parties.
// Sums of products are 0: all factors are 0, which is a true claim for z = 0.
Element claim_after_fold(const Attack& attack) {
  const std::array<std::uint8_t, OctetCheck::kSeedBytes> seed = {1, 2, 3};
  const std::size_t shapes[2] = {0, attack.second};
  OctetShapes prepared;
  SecretPool pool;
  std::vector<std::unique_ptr<OctetCheck>> party;
  for (int p = 0; p < 3; ++p) {
    std::vector<std::unique_ptr<ClaimRows>> claims;
    for (std::size_t g = 0; g < 2; ++g) {
      std::array<std::uint8_t, 70> zeros{}, z[2] = {};
      // Component 0 of z: party 0 has it first, party 2 second.
      if (p != 1) z[p == 0 ? 0 : 1][5] = static_cast<std::uint8_t>(attack.wrong[g]);
      ClaimRows::Rows rows{};
      for (std::size_t c = 0; c < 2; ++c) {
        rows[c][0] = rows[c][1] = zeros.data();
        rows[c][2] = z[c].data();
      }
      claims.push_back(std::make_unique<ClaimRows>(shape(shapes[g])));
      claims.back()->append(zeros.size(), rows);
    }
    party.push_back(std::make_unique<OctetCheck>(std::move(claims), seed.data(), prepared));
  }
  std::vector<std::uint8_t> sent[3];
  for (std::size_t p = 0; p < 3; ++p) {
    sent[p].resize(party[p]->message_bytes());
    party[p]->points(sent[p].data());
  }
  std::uint8_t* first = sent[1].data();
  for (std::size_t g = 0; g < 2; ++g, first += gf64::kExtraPoints * Gf64Field::kBytes)
    Check::put(first, Check::get(first) ^ attack.change[g]);
  Element claim = 0;
  for (std::size_t p = 0; p < 3; ++p) {
    Check product;
    OctetCheck::fold(std::move(party[p]), sent[p].data(), sent[(p + 1) % 3].data(),
                     attack.challenge.data(), product, pool);
    claim ^= product.claim;
  }
  return gf64::multiply(Gf64Field::omega(), claim);  // of Shamir shares
}

Attack at_random_point(std::uint64_t seed, Element gamma) {
  Attack attack;
  std::mt19937_64 rng(seed);
  for (int v = 0; v < 4; ++v) Check::put(attack.challenge.data() + 8 * v, rng());
  Check::put(attack.challenge.data() + 32, gamma);
  return attack;
}

TEST(Rushing, TrueClaimsHoldAndOneWrongBitDoesNot) {
  for (std::size_t second : {1u, 2u})
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      Attack attack = at_random_point(seed, seed * 0x123456789);
      attack.second = second;
      EXPECT_EQ(claim_after_fold(attack), 0u);
      for (std::size_t g = 0; g < 2; ++g) {
        attack.wrong[0] = attack.wrong[1] = 0;
        attack.wrong[g] = 1u << seed % 8;
        EXPECT_NE(claim_after_fold(attack), 0u);
      }
    }
}

// Values of h change the claim, whatever is sent, by what nobody knows before.
TEST(Rushing, AChangedValueShowsAtARandomPoint) {
  for (std::size_t second : {1u, 2u})
    for (std::size_t g = 0; g < 2; ++g) {
      Attack attack = at_random_point(3 + g, 77);
      attack.second = second;
      attack.change[g] = 1;
      EXPECT_NE(claim_after_fold(attack), 0u);
    }
}

// Knowing the seed, a cheat can make errors of two shapes that have the same polynomials
// cancel, if both count alike.
TEST(Rushing, EqualErrorsInTwoFormsDoNotCancel) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    // With gamma = 1 equal changes of both shapes' values cancel at every point.
    Attack attack = at_random_point(seed, 1);
    attack.change[0] = attack.change[1] = 0x1234567890 + seed;
    EXPECT_EQ(claim_after_fold(attack), 0u);
    attack = at_random_point(seed, 0x1234567 + seed);
    attack.change[0] = attack.change[1] = 0x1234567890 + seed;
    EXPECT_NE(claim_after_fold(attack), 0u);
    // A wrong claim in one shape, and what makes it good at this point in the other's
    // values: known for this point only, which is opened after they were sent.
    attack.change[0] = attack.change[1] = 0;
    attack.wrong[0] = 0x11;
    const Element delta = claim_after_fold(attack);
    attack.wrong[0] = 0;
    attack.change[1] = 1;
    const Element unit = claim_after_fold(attack);
    attack.wrong[0] = 0x11;
    attack.change[1] = gf64::multiply(delta, gf64::inverse(unit));
    EXPECT_EQ(claim_after_fold(attack), 0u);
    Attack later = at_random_point(seed + 100, 0x7654321 + seed);
    later.wrong[0] = 0x11;
    later.change[1] = attack.change[1];
    EXPECT_NE(claim_after_fold(later), 0u);
  }
}

// What is opened at the end: X and Y, and r' times what the claim lacks.
struct End {
  Bytes factors, lacking;
  bool operator==(const End&) const = default;
};

// Of replicated shares.
template <class F>
Bytes value_of(const std::array<InnerProductCheck<F>, 3>& party, auto part_of) {
  Bytes out;
  for (const auto& one : party) {
    const SharedBytes part = part_of(one);
    out.resize(part.size());
    xor_bytes(out.data(), part.component[0].data(), out.size());
  }
  return out;
}

// All folds, of random points and a random last product.
template <class F>
void fold_all(std::array<InnerProductCheck<F>, 3>& party, std::mt19937_64& rng) {
  using Vector = InnerProductCheck<F>;
  for (bool last = false; !last;) {
    for (Vector& one : party) one.begin_fold();
    last = party[0].last();
    if (last) {
      SharedBytes mask[3];
      Bytes part[3];
      for (Bytes& octets : part)
        for (std::size_t k = 0; k < Vector::kRandomBytes; ++k)
          octets.push_back(static_cast<std::uint8_t>(rng()));
      for (std::size_t p = 0; p < 3; ++p) {
        mask[p] = SharedBytes(Vector::kRandomBytes);
        for (std::size_t c = 0; c < 2; ++c)
          std::copy(part[(p + c) % 3].begin(), part[(p + c) % 3].end(),
                    mask[p].component[c].begin());
        party[p].take_random(mask[p]);
      }
    }
    Bytes sent[3], challenge;
    for (std::size_t p = 0; p < 3; ++p) {
      sent[p].resize(party[p].message_bytes());
      party[p].points_sent(sent[p].data());
    }
    for (std::size_t k = 0; k < party[0].challenge_bytes(); ++k)
      challenge.push_back(static_cast<std::uint8_t>(rng()));
    for (std::size_t p = 0; p < 3; ++p) {
      party[p].take_points(sent[p].data(), sent[(p + 1) % 3].data());
      party[p].fold(challenge.data());
    }
  }
}

// The whole check of `products` products, the same for the same number but for r'. `error` is
// added to what party 1 sends of the last layer.
template <class F>
End run_check(std::size_t products, bool wrong, typename F::Element r, const Bytes& error = {}) {
  using Vector = InnerProductCheck<F>;
  std::mt19937_64 rng(products);
  auto random = [&] {
    typename F::Element e;
    for (std::size_t k = 0; k < F::kBytes; ++k)
      reinterpret_cast<std::uint8_t*>(&e)[k] = static_cast<std::uint8_t>(rng());
    return e;
  };
  std::array<Vector, 3> party;
  // to(party, component i, component i + 1)
  auto share = [&](auto to, typename F::Element value) {
    const typename F::Element a = random(), b = random();
    const typename F::Element parts[3] = {a, b, F::add(value, F::add(a, b))};
    for (std::size_t p = 0; p < 3; ++p) to(p, parts[p], parts[(p + 1) % 3]);
  };
  SecretPool pool;
  for (Vector& one : party) one.allocate(products, pool);
  typename F::Element sum = {};
  for (std::size_t k = 0; k < products; ++k) {
    const typename F::Element x = random(), y = random();
    sum = F::add(sum, F::multiply(x, y));
    share([&](std::size_t p, auto mine, auto next) { party[p].x[k] = shamir<F>(mine, next); }, x);
    share([&](std::size_t p, auto mine, auto next) { party[p].y[k] = shamir<F>(mine, next); }, y);
  }
  if (wrong) sum = F::add(sum, F::one());
  share([&](std::size_t p, auto mine, auto next) { party[p].claim = shamir<F>(mine, next); }, sum);
  fold_all<F>(party, rng);
  SharedBytes mask[3];
  for (SharedBytes& held : mask) held = SharedBytes(Vector::kMaskBytes);
  share(
      [&](std::size_t p, auto mine, auto next) {
        Vector::put(mask[p].component[0].data(), mine);
        Vector::put(mask[p].component[1].data(), next);
      },
      r);
  Bytes sent[3];
  for (std::size_t p = 0; p < 3; ++p) {
    sent[p].resize(Vector::kLastBytes);
    party[p].last_sent(mask[p], sent[p].data());
  }
  for (std::size_t k = 0; k < error.size(); ++k) sent[1][k] ^= error[k];
  for (std::size_t p = 0; p < 3; ++p) party[p].take_last(sent[p].data(), sent[(p + 1) % 3].data());
  End end;
  std::array<SharedBytes, 3> factors;
  for (std::size_t p = 0; p < 3; ++p) factors[p] = party[p].factors();
  end.factors = Bytes(Vector::kFactorsBytes);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(factors[p].component[1], factors[(p + 1) % 3].component[0]);
    xor_bytes(end.factors.data(), factors[p].component[0].data(), end.factors.size());
  }
  end.lacking = value_of(party, [&](const Vector& one) { return one.masked(end.factors.data()); });
  return end;
}

// A party's term of a product is one product of Shamir shares, in every field.
template <class F>
void terms_add_up() {
  std::mt19937_64 rng(9);
  auto random = [&] {
    typename F::Element e;
    for (std::size_t k = 0; k < F::kBytes; ++k)
      reinterpret_cast<std::uint8_t*>(&e)[k] = static_cast<std::uint8_t>(rng());
    return e;
  };
  EXPECT_FALSE(F::omega() == F::one());
  EXPECT_TRUE(F::multiply(F::omega(), omega_square<F>()) == F::one());
  for (int k = 0; k < 50; ++k) {
    const typename F::Element x[3] = {random(), random(), random()};
    const typename F::Element y[3] = {random(), random(), random()};
    typename F::Element sum = {}, whole[2] = {};
    for (std::size_t p = 0; p < 3; ++p) {
      const auto s = shamir<F>(x[p], x[(p + 1) % 3]), t = shamir<F>(y[p], y[(p + 1) % 3]);
      sum = F::add(sum, F::multiply(omega_square<F>(), F::multiply(s, t)));
      whole[0] = F::add(whole[0], x[p]);
      whole[1] = F::add(whole[1], y[p]);
    }
    EXPECT_TRUE(sum == F::multiply(whole[0], whole[1]));
  }
}

TEST(Shamir, TermsOfAProductAddUp) {
  terms_add_up<Gf64Field>();
  terms_add_up<Gf128Field>();
}

template <class F>
void tells_right_from_wrong(std::size_t products) {
  typename F::Element r = F::one();
  reinterpret_cast<std::uint8_t*>(&r)[3] = 0x5a;
  for (bool wrong : {false, true}) {
    const End end = run_check<F>(products, wrong, r);
    EXPECT_EQ(InnerProductCheck<F>::is_zero(end.lacking.data()), !wrong) << products;
  }
}

TEST(InnerProduct, HoldsForEveryLengthAndFailsForAWrongClaim) {
  for (std::size_t products : {1u, 2u, 3u, 7u, 30u, 31u, 32u, 33u, 500u, 1024u, 20000u})
    tells_right_from_wrong<Gf64Field>(products);
  for (std::size_t products : {1u, 2u, 15u, 16u, 31u, 32u, 40u})
    tells_right_from_wrong<Gf128Field>(products);
}

// What a wrong claim lacks may depend on secrets (docs/protocols/12, step 5). All else being the
// same, each r' opens another value: the one that is seen is as likely as any other.
TEST(InnerProduct, WhatAWrongClaimLacksIsNotShown) {
  using Vector = InnerProductCheck<Gf64Field>;
  const End unit = run_check<Gf64Field>(7, true, Gf64Field::one());
  const std::uint64_t lacking = Vector::get(unit.lacking.data());
  std::mt19937_64 rng(1);
  for (int k = 0; k < 100; ++k) {
    const std::uint64_t r = rng();
    const End end = run_check<Gf64Field>(7, true, r);
    EXPECT_EQ(end.factors, unit.factors);
    EXPECT_EQ(Vector::get(end.lacking.data()), gf64::multiply(r, lacking));
  }
}

// X + e and Y + f are opened where the last layer is wrong. What is then lacking has e Y + f X in
// it, which nobody knew when the layer was sent: it shows for right claims and for wrong ones, so
// that nobody can try a value of what his wrong claim lacks (docs/protocols/12, step 5).
TEST(InnerProduct, AWrongLastLayerShowsWhateverTheClaim) {
  using Vector = InnerProductCheck<Gf64Field>;
  std::mt19937_64 rng(2);
  for (bool wrong : {false, true}) {
    const End right = run_check<Gf64Field>(7, wrong, Gf64Field::one());
    const std::uint64_t x = Vector::get(right.factors.data());
    const std::uint64_t y = Vector::get(right.factors.data() + 8);
    for (std::size_t octet = 0; octet < Vector::kFactorsBytes; ++octet) {
      Bytes error(Vector::kLastBytes);
      error[octet] = static_cast<std::uint8_t>(1 + rng() % 255);
      const std::uint64_t e = Vector::get(error.data()), f = Vector::get(error.data() + 8);
      const End end = run_check<Gf64Field>(7, wrong, Gf64Field::one(), error);
      EXPECT_EQ(Vector::get(end.factors.data()), x ^ e);
      EXPECT_EQ(Vector::get(end.factors.data() + 8), y ^ f);
      const std::uint64_t lacking = Vector::get(end.lacking.data());
      EXPECT_EQ(lacking, Vector::get(right.lacking.data()) ^ gf64::multiply(e, y) ^
                             gf64::multiply(f, x) ^ gf64::multiply(e, f));
      EXPECT_NE(lacking, 0u);
    }
  }
}

}  // namespace
}  // namespace tkdc
