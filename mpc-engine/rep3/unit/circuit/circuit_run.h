// SPDX-License-Identifier: Apache-2.0
// A circuit as data (circuit/schedule.h) on replicated shares: many instances side by side, a layer
// of messages for each AND layer.
//
// Source: Araki et al. 2016, section 2.1. Each AND of each instance is one message bit and, in
// malicious mode, one claim; XOR and NOT are local. Rounds: the circuit's AND layers. Semi-honest,
// or malicious with the claims recorded here: every message carries a fresh zero-share, so what a
// party sees is random until something is opened.
//
// A plane holds one wire of all instances (rep3/unit/bits/bit_planes.h). Memory is the circuit's
// slots, not its gates. Everything is shares but the circuit and how many instances there are. Used
// by one lane's thread.
#pragma once

#include "circuit/schedule.h"
#include "rep3/rep3.h"
#include "rep3/unit/bits/bit_planes.h"

namespace tkdc {

// Octets of one instance's string: bit k of octet j is the value's bit 8 j + k, and the bits that
// the last octet has too many are zero.
inline std::size_t port_octets(const circuit::Port& port) { return (port.bits + 7) / 8; }

// The longest message that a run of so many instances sends in a round.
std::size_t most_layer_bytes(const circuit::Schedule& schedule, std::size_t instances);

// The instances' strings stand one behind the other.
Task<std::vector<SharedBytes>> compute_circuit(Rep3& rep3, const circuit::Schedule& schedule,
                                               std::vector<SharedBytes> inputs,
                                               std::size_t instances);

// The same layer by layer: load() every input; then, while next() says so, send what write()
// makes and give read() what came; then store() each output.
class CircuitRun {
 public:
  // `schedule` outlives it.
  CircuitRun(int party, ClaimLog* claims, const circuit::Schedule& schedule, std::size_t instances);
  ~CircuitRun();  // not in a coroutine's own code: see SharedBytes

  void load(std::size_t input, const SharedBytes& strings);
  // Computes up to the next ANDs. False when none are left: the outputs are there.
  bool next();
  std::size_t bytes() const { return products_.bytes(); }
  void write(std::uint8_t* message) { products_.write(message); }
  void read(const std::uint8_t* mine, const std::uint8_t* theirs) {
    products_.read(mine, theirs, claims_);
  }
  SharedBytes store(std::size_t output);

 private:
  std::size_t zeros() const { return schedule_.slots; }
  std::size_t ones() const { return std::size_t{schedule_.slots} + 1; }
  void add_product(const circuit::ScheduledGate& gate);

  const int party_;
  ClaimLog* const claims_;
  const circuit::Schedule& schedule_;
  const std::size_t instances_;
  bits::Planes planes_;  // the slots, zeros, ones
  bits::PlaneProducts products_;
  std::size_t layer_ = 0, gate_ = 0;
};

}  // namespace tkdc
