// SPDX-License-Identifier: Apache-2.0
// Malicious security with abort: before any output, tag test or opening that
// depends on them, all messages of a lane are checked, whoever sent them.
//
// A protocol co_awaits Rep3::verified() where its result is about to be used.
// The verifier then takes all claims of the lane (ClaimLog) as one batch and
// runs the checks of octet_check.h and inner_product.h beside the other
// protocols and beside the checks of other batches: 7 rounds, and 2 for each fold
// of the batch. With the seed the parties compare which jobs they run and what the batch
// holds (Lane::agree); with their verdicts they compare the jobs again. Only three good
// verdicts let the waiting protocols go on, and only when those of all earlier batches were
// good. Else nobody is resumed and Lane::deviation() says why: a server computed
// wrongly, or told the others different things, no matter which.
//
// Cheating is found with probability above 1 - 2^-56, and independently of all
// secrets. Used by one lane's thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/machine.h"
#include "rep3/rep3.h"
#include "rep3/verify/octet_check.h"

namespace tkdc {

class Verifier {
 public:
  // Does nothing when rep3 is semi-honest. A device, if there is one, outlives it.
  explicit Verifier(Rep3& rep3, OctetDevice* device = nullptr);
  std::uint64_t batches() const { return batches_; }
  // Inner products of which this party's part of X and Y has left, and that lack their verdict.
  std::size_t opened() const { return opened_; }
  // Of each batch that was found good: its claims, and the time since somebody wished for it.
  using Checked = std::function<void(std::uint64_t claims, std::chrono::nanoseconds took)>;
  void on_checked(Checked call) { on_checked_ = std::move(call); }

 private:
  using Clock = SteadyClock;

  bool gather();
  void release(std::uint64_t number);
  Task<void> check(ClaimBatch batch, std::uint64_t number, Clock::time_point wished);
  Task<void> agree_on(Bytes batch);
  Task<void> check_octets(std::vector<std::unique_ptr<ClaimRows>> claims, bool& holds);
  Task<void> check_field(std::vector<FieldClaim> claims, bool& holds);
  template <class F>
  Task<bool> check_inner_product(InnerProductCheck<F>& product);

  // ---- verdict.cc: three servers' verdicts on a batch with so many inner products. False: the
  // deviation is set.
  Task<bool> all_find_it_good(bool mine, std::size_t products);

  // ---- openings.cc: all that is opened
  Task<Bytes> challenge(std::size_t bytes);
  // X and Y of the last step.
  template <class F>
  Task<Bytes> open_factors(InnerProductCheck<F>& product);
  // With random octets beside them, which are appended.
  Task<Bytes> open_hidden(SharedBytes& values);

  // While a batch is verified, others start at multiples of this many rounds only, so
  // that jobs which wait at about the same time share one.
  static constexpr std::uint64_t kStartEveryRounds = 16;

  Rep3& rep3_;
  OctetDevice* const device_;
  OctetShapes forms_;
  std::uint64_t batches_ = 0;
  std::size_t opened_ = 0;
  std::optional<Clock::time_point> wished_;  // for the batch that has not been taken yet
  Checked on_checked_;
};

}  // namespace tkdc
