// SPDX-License-Identifier: Apache-2.0
// A circuit of XOR, AND and NOT gates, for Party::evaluate(): read once, evaluated as often as
// wanted. Nothing in it is secret. Any number of threads may use one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tkdc/result.h"

namespace tkdc::mpc {

class Circuit {
 public:
  struct Port {
    std::string name;  // in0, in1, .., out0, ..: Bristol Fashion has no names
    std::size_t bits;
    std::size_t octets() const { return (bits + 7) / 8; }  // of one instance's string
  };

  // Text in Bristol Fashion: ANDs and XORs of two wires, INV, EQ, EQW. Error: what does not follow
  // the format or is above 2^26 gates, with its line.
  static Result<Circuit> from_bristol(std::string_view text);

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  std::size_t ands() const;    // message bits of each instance and party
  std::size_t rounds() const;  // AND layers

  Circuit(const Circuit&) noexcept;
  Circuit& operator=(const Circuit&) noexcept;
  ~Circuit();

  // For the library.
  struct State;
  explicit Circuit(std::shared_ptr<const State> state);
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace tkdc::mpc
