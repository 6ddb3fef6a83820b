// SPDX-License-Identifier: Apache-2.0
// What stands in a Shares object, all of it secret, and in a Circuit, all of it public.
#pragma once

#include "circuit/schedule.h"
#include "protocol/shared_bytes.h"
#include "tkdc/circuit.h"
#include "tkdc/shares.h"

// No program links against it.
#pragma GCC visibility push(hidden)

namespace tkdc::mpc {

struct [[gnu::visibility("hidden")]] Shares::State {
  State(Ring which, SharedBytes octets) : ring(which), shared(std::move(octets)) {}
  Ring ring;
  SharedBytes shared;
};

struct [[gnu::visibility("hidden")]] Circuit::State {
  explicit State(circuit::Schedule made);
  const circuit::Schedule schedule;
  const std::vector<Port> inputs, outputs;
  std::size_t ands = 0, rounds = 0;
};

inline Shares make_shares(Ring ring, SharedBytes octets) {
  return Shares(std::make_unique<Shares::State>(ring, std::move(octets)));
}
inline const SharedBytes& octets_of(const Shares& x) { return x.state().shared; }

}  // namespace tkdc::mpc

#pragma GCC visibility pop
