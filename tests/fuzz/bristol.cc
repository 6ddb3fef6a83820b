// SPDX-License-Identifier: Apache-2.0
// Circuits in Bristol Fashion. What is read is sound; written and read again it is the same, and
// folding and its schedule compute what it does.
#include <string_view>

#include "circuit/bristol.h"
#include "circuit/evaluate.h"
#include "circuit/recorder.h"
#include "fuzz.h"

using tkdc::fuzz::require;
using namespace tkdc::circuit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Widths that a short text may claim take time for nothing.
  const BristolLimits limits{.gates = 4096, .value_bits = 4096, .values = 64};
  const auto read =
      read_bristol(std::string_view(reinterpret_cast<const char*>(data), size), limits);
  if (!read) {
    require(!read.error().message.empty());
    return 0;
  }
  require(is_sound(*read));
  const auto again = read_bristol(write_bristol(*read));
  require(again.ok() && again->gates == read->gates && again->output_wires == read->output_wires);

  std::vector<SecretSlices> inputs;
  Bits<Plain> flat;
  Slice next = 1;
  for (const Port& port : read->inputs) {
    SecretSlices& value = inputs.emplace_back(port.bits);
    for (Slice& slice : value) flat.push_back(slice = next *= 0x9e3779b97f4a7c15);
  }
  Plain c;
  const Bits<Plain> expected = apply(c, *read, BitSpan<Plain>(flat));
  require(apply(c, folded(*read), BitSpan<Plain>(flat)) == expected);
  Bits<Plain> scheduled;
  for (const SecretSlices& value : evaluate(schedule_of(*read), inputs))
    scheduled.insert(scheduled.end(), value.begin(), value.end());
  require(scheduled == expected);
  return 0;
}
