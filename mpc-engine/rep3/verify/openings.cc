// SPDX-License-Identifier: Apache-2.0
// All that verification opens (docs/protocols/12-verification.md): random values, and X and Y,
// which a random product masks. Each is a replicated sharing that leaves a party for one other
// party, by digest for the third (Rep3::open). In a file of its own: tests that show what this
// prevents are linked with another in its place.
#include "rep3/verify/verifier.h"

namespace tkdc {
namespace {

// An opened value's components go out with a digest of each other, which a server
// may see before it has sent its own message of the round before. Below so many
// octets of unknown randomness it could find the value by trying.
constexpr std::size_t kHidingBytes = 32;
constexpr Prss::Purpose kChallenge = Prss::Purpose::kChallenge;

}  // namespace

Task<Bytes> Verifier::challenge(std::size_t bytes) {
  SharedBytes unknown = rep3_.random(std::max(bytes, kHidingBytes), kChallenge);
  Bytes opened = co_await rep3_.open(unknown);
  co_return opened;
}

Task<Bytes> Verifier::open_hidden(SharedBytes& values) {
  SharedBytes salt = rep3_.random(kHidingBytes, kChallenge);
  values.append(salt);
  Bytes opened = co_await rep3_.open(values);
  co_return opened;
}

// One layer makes replicated shares of X and Y out of Shamir shares, each with a zero-share on
// it, and of r' times the claim. An error in it is fixed while nobody knows X and Y.
template <class F>
Task<Bytes> Verifier::open_factors(InnerProductCheck<F>& product) {
  SharedBytes mask = rep3_.random(product.kMaskBytes, kChallenge);
  Layer layer = rep3_.layer(product.kLastBytes);
  product.last_sent(mask, layer.mine());
  co_await layer;
  product.take_last(layer.mine(), layer.theirs());
  ++opened_;
  SharedBytes factors = product.factors();
  Bytes opened = co_await open_hidden(factors);
  co_return opened;
}

template Task<Bytes> Verifier::open_factors<Gf64Field>(InnerProductCheck<Gf64Field>&);
template Task<Bytes> Verifier::open_factors<Gf128Field>(InnerProductCheck<Gf128Field>&);

}  // namespace tkdc
