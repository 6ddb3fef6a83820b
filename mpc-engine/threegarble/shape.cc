// SPDX-License-Identifier: Apache-2.0
#include "threegarble/shape.h"

#include "circuit/linear_form.h"
#include "circuit/schedule_digest.h"
#include "garble/instances.h"

namespace tkdc::threegarble {
namespace {

using circuit::Circuit;
using circuit::Schedule;

// The tables' string (garble/instances.h): a key in front, and again after each kTweaksPerKey.
std::size_t table_bytes_of(std::uint64_t ands, std::uint64_t first_tweak) {
  const std::uint64_t last = first_tweak + garble::kTweaksPerAnd * ands - 1;
  return ands * garble::kTableBytes + (last / garble::kTweaksPerKey + 1) * garble::kLabelBytes;
}

}  // namespace

Result<Shape> shape_of(const Circuit& circuit) {
  Shape shape;
  shape.in_bits = circuit.input_bits();
  shape.out_bits = circuit.output_bits();
  if (shape.in_bits % 8 != 0 || shape.out_bits % 8 != 0 || shape.out_bits == 0)
    return fail("threegarble: a circuit's inputs and outputs have to be octets");
  if (shape.in_bits > kMostWires || shape.out_bits > kMostWires || shape.wires() > kMostWires)
    return fail("threegarble: a circuit has " + std::to_string(shape.in_bits) + " input bits and " +
                std::to_string(shape.out_bits) + " output bits, more than an instance takes");
  // The labels of a constant are 0 and Δ.
  if (circuit::ands_of_constants(circuit) > 0)
    return fail("threegarble: a circuit has an AND of a constant");
  shape.schedule = circuit::schedule_of_folded(circuit);
  std::uint64_t ands = 0;
  for (const Schedule::Part& part : shape.schedule.parts) ands += part.ands;
  if (ands == 0) return fail("threegarble: a circuit without an AND needs no protocol");
  if (ands > kMostBytes / garble::kTableBytes)
    return fail("threegarble: a circuit has " + std::to_string(ands) +
                " ANDs, more than an instance takes");
  shape.digest = circuit::digest_of(shape.schedule);
  shape.table_bytes = table_bytes_of(ands, shape.first_gate_tweak());
  shape.all_bytes = shape.colours_at() + shape.out_bytes();
  shape.first_half_bytes = shape.all_bytes / 2 / garble::kLabelBytes * garble::kLabelBytes;
  return shape;
}

}  // namespace tkdc::threegarble
