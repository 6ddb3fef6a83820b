// SPDX-License-Identifier: Apache-2.0
// Instances serve once. Each server keeps, for each circuit of a lane, the lowest number that it
// may still use; whoever takes n burns all numbers up to it, whatever becomes of the job. So an
// input is never encoded a second time under one seed, which would give Δ to whoever evaluates.
//
// In memory only: another session has other keys, so no number of this one means anything there.
// It lives exactly as long as the keys: only LaneSide, which owns both, makes one (side.h).
// Public. Used by one lane's thread.
#pragma once

#include <map>

#include "base/codec.h"
#include "threegarble/derive.h"

namespace tkdc::threegarble {

class Ledger {
 public:
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  // Whether n was still to be had; it is not any more.
  [[nodiscard]] bool burn(const InstanceId& id) {
    std::uint64_t& next = next_[id.circuit];
    if (id.n < next || id.n == ~std::uint64_t{0}) return false;
    next = id.n + 1;
    ++burned_;
    return true;
  }
  // What the lane's servers compare (Lane::add_progress).
  void put_progress(Writer& to) const {
    to.u64(burned_);
    for (const auto& [circuit, next] : next_) {
      to.raw(circuit);
      to.u64(next);
    }
  }

 private:
  friend class LaneSide;
  Ledger() = default;

  std::map<Digest, std::uint64_t> next_;
  std::uint64_t burned_ = 0;
};

}  // namespace tkdc::threegarble
