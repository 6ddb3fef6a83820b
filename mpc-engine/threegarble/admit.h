// SPDX-License-Identifier: Apache-2.0
// Before m1: of every component of a job's input its two holders have to have the same copy. run()
// takes an Admitted and nothing else, and only Statements makes one, so no job can go without.
//
//   statements  each neighbour hears a digest of the component that it holds too
//   verdicts    each server says to both whether what it heard is what it holds
//
// Why before m1: a garbler that knows the difference between an agent's copies of x_e adds it to
// what it tells E of v, and m1's own checks pass. And after it "our copies differ" is no agent's
// doing any more: whoever says so, or makes another say so, deviates (run.h).
//
// Where a lane's owner has ticks for it (service/job/lane_admission.h), statements and verdicts
// travel there; admit() is the same in two ticks of its own. One refusal ends the job at all
// three, alone: nothing has left, and no instance is used.
//
// Secret: the input, and statements but for who holds the component. Used by one lane's thread.
#pragma once

#include <optional>

#include "lane/lane.h"
#include "protocol/shared_bytes.h"
#include "threegarble/binding.h"

namespace tkdc::threegarble {

// A job, and its input as its holders have compared it. Serves once: it is moved into run().
class Admitted {
 public:
  Admitted(Admitted&&) noexcept = default;
  Admitted& operator=(Admitted&&) noexcept = default;
  const JobTag& tag() const { return tag_; }
  const SharedBytes& input() const { return input_; }

 private:
  friend class Statements;
  Admitted(const JobTag& tag, SharedBytes input) : tag_(tag), input_(std::move(input)) {}
  JobTag tag_;
  SharedBytes input_;
};

class Statements {
 public:
  static constexpr std::uint8_t kRefuse = 0, kAdmit = 1;

  Statements(std::uint32_t lane, const JobTag& tag, SharedBytes input);
  const SecretVector& to_prev() const { return to_prev_; }
  const SecretVector& to_next() const { return to_next_; }
  // This server's verdict, for both.
  std::uint8_t hear(ByteSpan from_prev, ByteSpan from_next);
  // With all three verdicts in. Nothing: refused; what was stated is used up either way.
  std::optional<Admitted> settle(std::uint8_t of_prev, std::uint8_t of_next) &&;

 private:
  JobTag tag_;
  SharedBytes input_;
  SecretVector to_prev_, to_next_;
  std::uint8_t verdict_ = kRefuse;
};

// Two ticks. The verdicts are noted in the lane's course, so in D_pub: two servers that were told
// different ones do not run the same job.
Task<std::optional<Admitted>> admit(Lane& lane, std::uint32_t number, JobTag tag,
                                    SharedBytes input);

}  // namespace tkdc::threegarble
