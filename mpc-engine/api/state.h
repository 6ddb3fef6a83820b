// SPDX-License-Identifier: Apache-2.0
// What stands in a Shares object. Secret: all of it.
#pragma once

#include "protocol/shared_bytes.h"
#include "tkdc/shares.h"

namespace tkdc::mpc {

struct Shares::State {
  State(Ring which, SharedBytes octets) : ring(which), shared(std::move(octets)) {}
  Ring ring;
  SharedBytes shared;
};

inline Shares make_shares(Ring ring, SharedBytes octets) {
  return Shares(std::make_unique<Shares::State>(ring, std::move(octets)));
}
inline const SharedBytes& octets_of(const Shares& x) { return x.state().shared; }

}  // namespace tkdc::mpc
