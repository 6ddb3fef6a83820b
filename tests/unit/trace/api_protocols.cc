// SPDX-License-Identifier: Apache-2.0
// What the programming interface runs for share(), quadratic(), to_bits() and less_than().
#include "api/quadratic.h"
#include "api/ring.h"
#include "protocols.h"

namespace tkdc::test {
namespace {

using mpc::Ring;

// The first half of an input as elements of the ring, and the second.
SharedBytes half_of(const SharedBytes& secret, Ring ring, std::size_t which) {
  SharedBytes half = secret.slice(which * secret.size() / 2, secret.size() / 2);
  for (SecretVector& component : half.component)
    mpc::ring_reduce(ring, component.data(), component.size());
  return half;
}

// One of each owner; a secret of the parties, too, so that the outcome is one.
Task<SharedBytes> inputs(Rep3Protocol& c, SharedBytes secret) {
  constexpr std::size_t kBytes = 32;
  for (Ring ring : {Ring::kGf128, Ring::kZ2_32, Ring::kF61})
    for (int owner = 0; owner < 3; ++owner) {
      SecretVector value(kBytes, static_cast<std::uint8_t>(owner + 1));
      std::optional<SharedBytes> x =
          co_await mpc::share_input(c.rep3, owner, ring, kBytes, std::move(value));
      if (!x) co_return SharedBytes();
      secret.append(*x);
    }
  co_return secret;
}

// x_0 y_0 + ... + x_8 y_8, longer than a claim of octets, and x_1 y_2.
std::vector<mpc::Term> ten_terms() {
  std::vector<mpc::Term> terms;
  for (std::uint32_t k = 0; k < 9; ++k) terms.push_back({0, k, k});
  terms.push_back({1, 1, 2});
  return terms;
}

Task<SharedBytes> quadratic_in(Rep3Protocol& c, Ring ring, SharedBytes secret) {
  std::vector<mpc::Term> terms = ten_terms();
  SharedBytes x = half_of(secret, ring, 0), y = half_of(secret, ring, 1);
  co_return co_await mpc::quadratic(c.rep3, ring, std::move(x), std::move(y), 2, std::move(terms));
}

// Bits against bits, and the bits of Z/2^32's elements with their signs.
Task<SharedBytes> comparisons(Rep3Protocol& c, SharedBytes secret) {
  constexpr std::size_t kWord = 4;
  SharedBytes x = half_of(secret, Ring::kBits, 0), y = half_of(secret, Ring::kBits, 1);
  SharedBytes less = co_await mpc::words_less(c.rep3, x, std::move(y), kWord);
  SharedBytes bits = co_await mpc::words_of(c.rep3, std::move(x), kWord);
  less.append(mpc::top_bits(bits, kWord));
  less.append(bits);
  co_return less;
}

TracedProtocol quadratic_protocol(const char* name, Ring ring) {
  return {name, 2 * 9 * mpc::element_bytes(ring),
          [ring](Rep3Protocol& c, SharedBytes secret) {
            return quadratic_in(c, ring, std::move(secret));
          },
          mpc::is_binary(ring)};
}

}  // namespace

const std::vector<TracedProtocol>& api_protocols() {
  static const std::vector<TracedProtocol> all = {
      {"api-share", 8, inputs},
      quadratic_protocol("api-quadratic-bits", Ring::kBits),
      quadratic_protocol("api-quadratic-gf256", Ring::kGf256),
      quadratic_protocol("api-quadratic-gf128", Ring::kGf128),
      quadratic_protocol("api-quadratic-z2-8", Ring::kZ2_8),
      quadratic_protocol("api-quadratic-z2-64", Ring::kZ2_64),
      quadratic_protocol("api-quadratic-f61", Ring::kF61),
      {"api-comparison", 2 * 12, comparisons},
  };
  return all;
}

}  // namespace tkdc::test
