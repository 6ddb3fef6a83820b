// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/circuit/circuit_run.h"

#include "protocol/replicated.h"

namespace tkdc {
namespace {

using circuit::Schedule;
using circuit::ScheduledGate;

constexpr std::size_t kSquare = 32;  // bits of so many instances are transposed at once

std::size_t most_ands(const Schedule& schedule) {
  std::size_t most = 0;
  for (const Schedule::Layer& layer : schedule.layers)
    most = std::max<std::size_t>(most, layer.ands);
  return most;
}

// Where a port's bits begin among all of its kind.
std::size_t first_bit(const std::vector<circuit::Port>& ports, std::size_t port) {
  std::size_t bits = 0;
  for (std::size_t k = 0; k < port; ++k) bits += ports[k].bits;
  return bits;
}

// Up to four octets, the first one lowest.
std::uint32_t load_some(const std::uint8_t* from, std::size_t octets) {
  std::uint32_t word = 0;
  for (std::size_t k = 0; k < octets; ++k) word |= std::uint32_t{from[k]} << 8 * k;
  return word;
}

void store_some(std::uint8_t* to, std::size_t octets, std::uint32_t word) {
  for (std::size_t k = 0; k < octets; ++k) to[k] = static_cast<std::uint8_t>(word >> 8 * k);
}

// Calls f(octet, octets, first, bits, count) for each square of a port's strings: octets from
// `octet` on are `bits` bits of `count` instances from `first` on.
template <class F>
void for_each_square(const circuit::Port& port, std::size_t instances, F f) {
  for (std::size_t octet = 0; octet < port_octets(port); octet += sizeof(std::uint32_t)) {
    const std::size_t octets = std::min(sizeof(std::uint32_t), port_octets(port) - octet);
    const std::size_t bits = std::min(kSquare, port.bits - 8 * octet);
    for (std::size_t first = 0; first < instances; first += kSquare)
      f(octet, octets, first, bits, std::min(kSquare, instances - first));
  }
}

}  // namespace

std::size_t most_layer_bytes(const Schedule& schedule, std::size_t instances) {
  return (most_ands(schedule) * instances + 7) / 8;
}

CircuitRun::CircuitRun(int party, ClaimLog* claims, const Schedule& schedule, std::size_t instances)
    : party_(party), claims_(claims), schedule_(schedule), instances_(instances),
      planes_(std::size_t{schedule.slots} + 2, instances),
      products_(instances, most_ands(schedule)) {
  assert(instances > 0);
  if (constant_component(party_) < 0) return;
  for (std::size_t n = 0; n < instances_; ++n)
    planes_.word(ones(), constant_component(party_), n) |= std::uint64_t{1} << n % bits::kPlaneBits;
}

CircuitRun::~CircuitRun() = default;

void CircuitRun::load(std::size_t input, const SharedBytes& strings) {
  const circuit::Port& port = schedule_.inputs[input];
  const std::size_t plane = first_bit(schedule_.inputs, input), each = port_octets(port);
  assert(strings.size() == instances_ * each);
  for_each_square(port, instances_,
                  [&](std::size_t octet, std::size_t octets, std::size_t first, std::size_t bits,
                      std::size_t count) {
                    for (int c = 0; c < 2; ++c) {
                      std::uint32_t square[kSquare] = {};
                      const std::uint8_t* from = strings.component[c].data() + first * each + octet;
                      for (std::size_t n = 0; n < count; ++n)
                        square[n] = load_some(from + n * each, octets);
                      bits::transpose(square);
                      for (std::size_t k = 0; k < bits; ++k)
                        planes_.word(plane + 8 * octet + k, c, first) |=
                            std::uint64_t{square[k]} << first % bits::kPlaneBits;
                      sodium_memzero(square, sizeof square);
                    }
                  });
}

bool CircuitRun::next() {
  products_.clear();
  while (layer_ < schedule_.layers.size()) {
    const Schedule::Layer& layer = schedule_.layers[layer_++];
    const ScheduledGate* gate = schedule_.gates.data() + gate_;
    gate_ += std::size_t{layer.xors} + layer.ands;
    for (std::uint32_t k = 0; k < layer.xors; ++k, ++gate) planes_.add(gate->out, gate->a, gate->b);
    for (std::uint32_t k = 0; k < layer.ands; ++k, ++gate) add_product(*gate);
    if (layer.ands > 0) return true;
  }
  return false;
}

// The schedule gives no slot that a layer's ANDs read before all of them have been made.
void CircuitRun::add_product(const ScheduledGate& gate) {
  const auto value = [&](std::uint32_t operand) {
    return planes_.plane(operand & ~ScheduledGate::kComplement);
  };
  const auto complement = [&](std::uint32_t operand) {
    return planes_.plane((operand & ScheduledGate::kComplement) != 0 ? ones() : zeros());
  };
  planes_.copy(gate.out, zeros());
  products_.add(value(gate.a), complement(gate.a), value(gate.b), complement(gate.b),
                planes_.plane(gate.out));
}

SharedBytes CircuitRun::store(std::size_t output) {
  const circuit::Port& port = schedule_.outputs[output];
  const Schedule::Output* wires =
      schedule_.output_bits.data() + first_bit(schedule_.outputs, output);
  const std::size_t each = port_octets(port);
  SharedBytes strings(instances_ * each);
  for_each_square(
      port, instances_,
      [&](std::size_t octet, std::size_t octets, std::size_t first, std::size_t bits,
          std::size_t count) {
        for (int c = 0; c < 2; ++c) {
          std::uint32_t square[kSquare] = {};
          const auto word_of = [&](std::size_t plane) {
            return static_cast<std::uint32_t>(planes_.word(plane, c, first) >>
                                              first % bits::kPlaneBits);
          };
          for (std::size_t k = 0; k < bits; ++k) {
            const Schedule::Output& wire = wires[8 * octet + k];
            square[k] = word_of(wire.slot == Schedule::Output::kConstant ? zeros() : wire.slot) ^
                        word_of(wire.complement ? ones() : zeros());
          }
          bits::transpose(square);
          std::uint8_t* to = strings.component[c].data() + first * each + octet;
          for (std::size_t n = 0; n < count; ++n) store_some(to + n * each, octets, square[n]);
          sodium_memzero(square, sizeof square);
        }
      });
  return strings;
}

Task<std::vector<SharedBytes>> compute_circuit(Rep3& rep3, const Schedule& schedule,
                                               std::vector<SharedBytes> inputs,
                                               std::size_t instances) {
  assert(inputs.size() == schedule.inputs.size());
  auto run = std::make_unique<CircuitRun>(rep3.party(), rep3.claims(), schedule, instances);
  for (std::size_t k = 0; k < inputs.size(); ++k) run->load(k, inputs[k]);
  while (run->next()) {
    Layer layer = rep3.layer(run->bytes());
    run->write(layer.mine());
    co_await layer;
    run->read(layer.mine(), layer.theirs());
  }
  std::vector<SharedBytes> outputs;
  for (std::size_t k = 0; k < schedule.outputs.size(); ++k) outputs.push_back(run->store(k));
  co_return outputs;
}

}  // namespace tkdc
