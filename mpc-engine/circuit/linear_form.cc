// SPDX-License-Identifier: Apache-2.0
#include "circuit/linear_form.h"

namespace tkdc::circuit {

// SplitMix64 (Steele, Lea, Flood 2014): a bijection of a counter.
std::uint64_t LinearForm::draw() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

LinearForm::Bit LinearForm::symbol(Recorder::Bit bit) {
  const std::uint64_t low = draw();
  return {bit, low, draw(), false};
}

LinearForm::Bit LinearForm::xor_of(Bit a, Bit b) {
  const Bit sum{{}, a.low ^ b.low, a.high ^ b.high, a.complement != b.complement};
  if (is_constant(sum)) return constant(sum.complement);
  return {recorder_.xor_of(a.bit, b.bit), sum.low, sum.high, sum.complement};
}

LinearForm::Bit LinearForm::and_of(Bit a, Bit b) {
  constants_ += is_constant(a) || is_constant(b) ? 1 : 0;
  if (is_constant(a)) return a.complement ? b : constant(false);
  if (is_constant(b)) return b.complement ? a : constant(false);
  return symbol(recorder_.and_of(a.bit, b.bit));
}

Bits<LinearForm> LinearForm::input(const std::string& name, std::size_t bits) {
  Bits<LinearForm> out;
  for (const Recorder::Bit bit : recorder_.input(name, bits)) out.push_back(symbol(bit));
  return out;
}

void LinearForm::output(const std::string& name, BitSpan<LinearForm> value) {
  Bits<Recorder> bits;
  for (const Bit& one : value) bits.push_back(one.bit);
  recorder_.output(name, BitSpan<Recorder>(bits));
}

namespace {

LinearForm followed(const Circuit& circuit) {
  LinearForm form;
  Bits<LinearForm> inputs;
  for (const Port& port : circuit.inputs) {
    const Bits<LinearForm> one = form.input(port.name, port.bits);
    inputs.insert(inputs.end(), one.begin(), one.end());
  }
  const Bits<LinearForm> all = apply(form, circuit, BitSpan<LinearForm>(inputs));
  std::size_t at = 0;
  for (const Port& port : circuit.outputs) {
    form.output(port.name, BitSpan<LinearForm>(all).subspan(at, port.bits));
    at += port.bits;
  }
  return form;
}

}  // namespace

std::uint64_t ands_of_constants(const Circuit& circuit) {
  return followed(circuit).ands_of_constants();
}

Circuit without_constant_operands(const Circuit& circuit) { return followed(circuit).finish(); }

}  // namespace tkdc::circuit
