// SPDX-License-Identifier: Apache-2.0
#include "circuit/linear_form.h"

namespace tkdc::circuit {

// SplitMix64 (Steele, Lea, Flood 2014): a bijection of a counter.
LinearForm::Bit LinearForm::symbol() {
  std::uint64_t z = next_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return {z ^ z >> 31};
}

std::uint64_t ands_of_constants(const Circuit& circuit) {
  LinearForm form;
  Bits<LinearForm> inputs;
  for (std::size_t k = 0; k < circuit.input_bits(); ++k) inputs.push_back(form.symbol());
  apply(form, circuit, BitSpan<LinearForm>(inputs));
  return form.ands_of_constants();
}

}  // namespace tkdc::circuit
