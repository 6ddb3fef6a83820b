// SPDX-License-Identifier: Apache-2.0
// An output that neither server may know, carried into later circuits of the same session
// (docs/protocols/26-two-server-keys.md). It leaves its circuit as d = y ⊕ r, r random bits of this
// session, drawn for it and used in it alone; y is then r moved by d. Both see d, which is uniform
// to either. It is opened as an output is, so it is right, or there is none.
//
// One thread. Secret: r, y. Error: the session's.
#pragma once

#include "pair/inputs.h"

namespace tkdc::pair {

class Carried {
 public:
  static Result<Carried> draw(Session& session, std::size_t bits);
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;
  Carried(Carried&&) = default;
  Carried& operator=(Carried&&) = delete;

  // r, for the pad of the one circuit whose output it is. A second time: no bits.
  HeldOnce take();
  // y, once d is open. Error: another number of bits.
  Result<Held> moved_by(const Session& session, std::span<const std::uint8_t> d) &&;

 private:
  explicit Carried(Held bits) : bits_(std::move(bits)) {}
  Held bits_;
  bool taken_ = false;
};

}  // namespace tkdc::pair
