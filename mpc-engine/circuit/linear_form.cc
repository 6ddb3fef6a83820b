// SPDX-License-Identifier: Apache-2.0
#include "circuit/linear_form.h"

namespace tkdc::circuit {

// SplitMix64 (Steele, Lea, Flood 2014): a bijection of a counter.
std::uint64_t LinearSums::draw() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

LinearSums::Bit LinearSums::symbol() {
  const std::uint64_t low = draw();
  return {low, draw(), false};
}

LinearSums::Bit LinearSums::and_of(Bit a, Bit b) {
  constants_ += a.is_constant() || b.is_constant() ? 1 : 0;
  if (a.is_constant()) return a.complement ? b : constant(false);
  if (b.is_constant()) return b.complement ? a : constant(false);
  return symbol();
}

LinearForm::Bit LinearForm::xor_of(Bit a, Bit b) {
  const LinearSums::Bit sum = LinearSums::xor_of(a.sum, b.sum);
  if (sum.is_constant()) return constant(sum.complement);
  return {recorder_.xor_of(a.bit, b.bit), sum};
}

LinearForm::Bit LinearForm::and_of(Bit a, Bit b) {
  const bool folds = a.sum.is_constant() || b.sum.is_constant();
  const LinearSums::Bit sum = sums_.and_of(a.sum, b.sum);
  if (!folds) return {recorder_.and_of(a.bit, b.bit), sum};
  const Bit& constant_one = a.sum.is_constant() ? a : b;
  const Bit& other = a.sum.is_constant() ? b : a;
  return constant_one.sum.complement ? other : constant(false);
}

Bits<LinearForm> LinearForm::input(const std::string& name, std::size_t bits) {
  Bits<LinearForm> out;
  for (const Recorder::Bit bit : recorder_.input(name, bits)) out.push_back({bit, sums_.symbol()});
  return out;
}

void LinearForm::output(const std::string& name, BitSpan<LinearForm> value) {
  Bits<Recorder> bits;
  for (const Bit& one : value) bits.push_back(one.bit);
  recorder_.output(name, BitSpan<Recorder>(bits));
}

std::uint64_t ands_of_constants(const Circuit& circuit) {
  LinearSums sums;
  Bits<LinearSums> inputs;
  for (std::size_t k = 0; k < circuit.input_bits(); ++k) inputs.push_back(sums.symbol());
  apply(sums, circuit, BitSpan<LinearSums>(inputs));
  return sums.ands_of_constants();
}

Circuit without_constant_operands(const Circuit& circuit) {
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
  return form.finish();
}

}  // namespace tkdc::circuit
