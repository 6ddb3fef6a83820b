// SPDX-License-Identifier: Apache-2.0
// Evaluates what a garbler has made, with one label of each input, in the same order of circuits.
//
// It learns of an output the label's colour; the bit is that, ⊕ the colour of the zero-label.
// Tables are taken as they are: wrong ones give wrong labels, and protocols find that out. Used by
// one thread. Secret: labels. Public: keys of π, tables.
#pragma once

#include "garble/instances.h"

namespace tkdc::garble {

class Evaluator : public Instances {
 public:
  // 1 or kSideBySide instances.
  explicit Evaluator(std::size_t instances, const Kernel& kernel = fastest_kernel(),
                     std::uint64_t first_tweak = 0)
      : Instances(instances, kernel, first_tweak) {}
  ~Evaluator() { wipe_stack(); }

  // Input k of instance s: labels[k * count() + s]. `schedule` outlives done().
  void begin(const circuit::Schedule& schedule, std::span<const Label> labels) {
    Instances::begin(schedule, labels);
  }
  // Uses the next octets of each instance, next_octets(octets) of them, and says how many.
  std::size_t evaluate(std::span<const std::uint8_t* const> tables, std::size_t octets);

  // The label of an output bit, once done(). Of a constant: zero.
  Label output(std::size_t bit, std::size_t instance = 0) const;
};

}  // namespace tkdc::garble
