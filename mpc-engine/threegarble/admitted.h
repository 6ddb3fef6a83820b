// SPDX-License-Identifier: Apache-2.0
// A job whose input its holders have compared. run() takes an Admitted and nothing else, so no job
// can go without.
//
// Before m1: of every component of a job's input its two holders have to have the same copy, and
// all three verdicts stand in the lane's course. A lane's owner compares, in the ticks of its own
// admission (service/job/lane_admission.h); tests without one do so in two ticks
// (tests/unit/threegarble/statements.h).
//
// Why before m1: a garbler that knows the difference between an agent's copies of x_e adds it to
// what it tells E of v, and m1's own checks pass. And after it "our copies differ" is no agent's
// doing any more: whoever says so, or makes another say so, deviates (run.h).
//
// Secret: the input. Used by one lane's thread.
#pragma once

#include "protocol/shared_bytes.h"
#include "threegarble/binding.h"

namespace tkdc::threegarble {

// Serves once: it is moved into run().
class Admitted {
 public:
  Admitted(Admitted&&) noexcept = default;
  Admitted& operator=(Admitted&&) noexcept = default;
  const JobTag& tag() const { return tag_; }
  const SharedBytes& input() const { return input_; }

  // For who has compared every component of what a job and its record bring, between its two
  // holders, with verdicts that stand in the lane's course. What else is in the input both holders
  // have drawn from one key.
  static Admitted by_owner(const JobTag& tag, SharedBytes input) {
    return Admitted(tag, std::move(input));
  }

 private:
  Admitted(const JobTag& tag, SharedBytes input) : tag_(tag), input_(std::move(input)) {}
  JobTag tag_;
  SharedBytes input_;
};

}  // namespace tkdc::threegarble
