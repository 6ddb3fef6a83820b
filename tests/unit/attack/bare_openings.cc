// SPDX-License-Identifier: Apache-2.0
// rep3/verify/openings.cc without what hides shares: each server tells both others its Shamir
// shares of X and Y as they are, in the round in which the claim's product with r' is sent. No
// program that is installed has this; what it gives away is what equations_test.cc must be able to
// see.
#include <algorithm>
#include <optional>

#include "rep3/verify/verifier.h"

namespace tkdc {
namespace {

constexpr std::size_t kLeastBytes = 32;
constexpr Prss::Purpose kChallenge = Prss::Purpose::kChallenge;

template <class F>
Bytes shares_of_factors(const InnerProductCheck<F>& product) {
  Bytes out(product.kFactorsBytes);
  product.put(out.data(), product.x[0]);
  product.put(out.data() + F::kBytes, product.y[0]);
  return out;
}

// X and Y. Nothing if the three shares of one of them are not on a line.
template <class F>
std::optional<Bytes> joined(const Bytes& own, const FromBoth& others) {
  using Check = InnerProductCheck<F>;
  Bytes out(own.size());
  for (std::size_t at = 0; at < own.size(); at += F::kBytes) {
    const auto mine = Check::get(own.data() + at);
    const auto next = Check::get(others.next.data() + at);
    const auto prev = Check::get(others.prev.data() + at);
    const auto far = F::add(F::multiply(F::omega(), next), F::multiply(omega_square<F>(), prev));
    if (!(mine == far)) return std::nullopt;
    Check::put(out.data() + at, F::multiply(F::omega(), F::add(mine, F::add(next, prev))));
  }
  return out;
}

Task<void> tell(Rep3& rep3, Bytes own, FromBoth& others) {
  Exchange exchange = rep3.lane.exchange(own);
  others = co_await exchange;
}

// The message of X and Y goes along, and nobody needs it.
template <class F>
Task<void> multiply_claim(Rep3& rep3, InnerProductCheck<F>& product) {
  SharedBytes mask = rep3.random(product.kMaskBytes, kChallenge);
  Layer layer = rep3.layer(product.kLastBytes);
  product.last_sent(mask, layer.mine());
  co_await layer;
  product.take_last(layer.mine(), layer.theirs());
}

}  // namespace

Task<Bytes> Verifier::challenge(std::size_t bytes) {
  SharedBytes unknown = rep3_.random(std::max(bytes, kLeastBytes), kChallenge);
  Bytes opened = co_await rep3_.open(unknown);
  co_return opened;
}

Task<Bytes> Verifier::open_hidden(SharedBytes& values) {
  SharedBytes beside = rep3_.random(kLeastBytes, kChallenge);
  values.append(beside);
  Bytes opened = co_await rep3_.open(values);
  co_return opened;
}

template <class F>
Task<Bytes> Verifier::open_factors(InnerProductCheck<F>& product) {
  Bytes own = shares_of_factors(product);
  FromBoth others;
  std::vector<Task<void>> parts;
  parts.push_back(tell(rep3_, own, others));
  parts.push_back(multiply_claim(rep3_, product));
  co_await all(rep3_.lane, std::move(parts));
  std::optional<Bytes> opened = joined<F>(own, others);
  if (!opened) {
    rep3_.lane.set_deviation("the shares of an opened value do not agree");
    co_await std::suspend_always();
  }
  co_return std::move(*opened);
}

template Task<Bytes> Verifier::open_factors<Gf64Field>(InnerProductCheck<Gf64Field>&);
template Task<Bytes> Verifier::open_factors<Gf128Field>(InnerProductCheck<Gf128Field>&);

}  // namespace tkdc
