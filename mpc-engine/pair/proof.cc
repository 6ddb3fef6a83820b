// SPDX-License-Identifier: Apache-2.0
#include "pair/proof.h"

#include "base/now_public.h"
#include "pair/input_check.h"

namespace tkdc::pair {
namespace {

// Σ c^(m+1−k) e_k ⊕ e_R, by Horner's rule.
template <class ElementOf>
Label sum_of(std::size_t count, const Label& coin, ElementOf element) {
  Label sum;
  for (std::size_t k = 0; k + 1 < count; ++k) sum = ot::field().product(sum ^ element(k), coin);
  return sum ^ element(count - 1);
}

}  // namespace

Label draw_coin() {
  Label coin;
  randombytes_buf(&coin, sizeof coin);
  now_public(&coin, sizeof coin);
  return coin;
}

Proof prove(const Proved& of, const Label& coin) {
  const std::size_t count = of.in_session.size();
  Proof out;
  out.value = sum_of(count, coin, [&](std::size_t k) { return of.in_session[k].own; });
  out.session_mac = sum_of(count, coin, [&](std::size_t k) { return of.in_session[k].mac; });
  out.other_mac = sum_of(count, coin, [&](std::size_t k) { return of.other_macs[k]; });
  now_public(&out, sizeof out);
  return out;
}

Found verify(const Proved& of, const Deltas& deltas, const Label& coin, const Proof& proof) {
  const std::size_t count = of.in_session.size();
  const Label in_session =
      sum_of(count, coin, [&](std::size_t k) { return of.in_session[k].key; }) ^
      ot::field().product(proof.value, deltas.delta);
  const Label other = sum_of(count, coin, [&](std::size_t k) { return of.other_keys[k]; }) ^
                      ot::field().product(proof.value, of.other_delta);
  return {mac_fits(in_session, proof.session_mac), mac_fits(other, proof.other_mac)};
}

}  // namespace tkdc::pair
