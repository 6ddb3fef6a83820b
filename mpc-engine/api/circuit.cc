// SPDX-License-Identifier: Apache-2.0
#include "tkdc/circuit.h"

#include "api/state.h"
#include "circuit/bristol.h"

namespace tkdc::mpc {
namespace {

std::vector<Circuit::Port> ports_of(const std::vector<circuit::Port>& ports) {
  std::vector<Circuit::Port> out;
  for (const circuit::Port& port : ports) out.push_back({port.name, port.bits});
  return out;
}

}  // namespace

Circuit::State::State(circuit::Schedule made)
    : schedule(std::move(made)), inputs(ports_of(schedule.inputs)),
      outputs(ports_of(schedule.outputs)) {
  for (const circuit::Schedule::Layer& layer : schedule.layers) {
    ands += layer.ands;
    rounds += layer.ands > 0 ? 1 : 0;
  }
}

Circuit::Circuit(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Circuit::Circuit(const Circuit&) noexcept = default;
Circuit& Circuit::operator=(const Circuit&) noexcept = default;
Circuit::~Circuit() = default;

Result<Circuit> Circuit::from_bristol(std::string_view text) {
  auto read = circuit::read_bristol(text);
  if (!read) return read.error();
  return Circuit(std::make_shared<const State>(circuit::schedule_of(*read)));
}

const std::vector<Circuit::Port>& Circuit::inputs() const { return state_->inputs; }
const std::vector<Circuit::Port>& Circuit::outputs() const { return state_->outputs; }
std::size_t Circuit::ands() const { return state_->ands; }
std::size_t Circuit::rounds() const { return state_->rounds; }

}  // namespace tkdc::mpc
