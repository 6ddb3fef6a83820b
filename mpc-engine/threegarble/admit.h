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
// A lane's owner that has ticks for it compares there (Admitted::by_owner); admit() does it in two
// ticks of its own, for one job at a time: it notes a decision, of which a handshake compares the
// last few. One refusal ends the job at all three, alone: nothing has left, and no instance is
// used.
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

  // For a lane's owner whose own admission has compared every component of what a job and its
  // record bring, between its two holders, and whose verdicts stand in the lane's course
  // (service/job/lane_admission.h). What else is in the input both holders have drawn from one key.
  static Admitted by_owner(const JobTag& tag, SharedBytes input) {
    return Admitted(tag, std::move(input));
  }

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
