// SPDX-License-Identifier: Apache-2.0
// SHA-1's compressions in the shape of the fewest bits on a device: planes stay in its memory
// from the blocks to the states after them. The same messages and claims as the CPU's
// (rep3/unit/sha1/ripple.h), octet for octet.
//
// In each round one step goes to the device: what the neighbour sent, the round's program, its
// terms packed, the zero-share; the masked message comes back, in malicious mode the factors of
// its products too, for the claims. Steps start and are waited for as an AES cohort's (cohort.h).
//
// When the device fails, in whichever step, the CPU goes on and nothing is lost: host memory has
// the messages of all rounds so far, 2,760 octets for a column at the end, from which it computes
// the rounds again. What happened is told to DeviceHealth. Secret: everything in device, pinned
// and host memory but the programs; all is wiped before it is freed. Used by one lane's thread.
#pragma once

#include "cuda/device/device.h"
#include "rep3/unit/sha1/ripple.h"

namespace tkdc::cuda {

class DeviceRipple final : public sha1::RippleCohort, private sha1::PlaneMachine {
 public:
  // What is kept for a failure, and indices of 32 bits, reach this far.
  static constexpr std::size_t kMaxColumns = std::size_t{1} << 18;

  DeviceRipple(Device& device, int party, ClaimLog* claims, std::vector<sha1::RippleBlock> blocks);
  ~DeviceRipple() override;

  bool next() override;
  std::size_t bytes() const override;
  void write(std::uint8_t* message) override;
  bool start_masked(const ZeroShare& zero) override;
  void finish_masked(std::uint8_t* message) override;
  void read(const std::uint8_t* mine, const std::uint8_t* theirs) override;

 private:
  class LoadStep;
  class RoundStep;
  class StoreStep;

  void sum(sha1::PlaneNumber to, std::initializer_list<sha1::PlaneNumber> of) override;
  void product(sha1::PlaneNumber a, sha1::PlaneNumber b, sha1::PlaneNumber c, sha1::PlaneNumber d,
               sha1::PlaneNumber to) override;
  BitOp& next_op();

  std::size_t columns() const { return blocks_.size(); }
  void load();
  bool begin_program();
  bool store();
  void submit_round(bool masked);
  std::string step_name(char kind, bool masked) const;
  void record_program(Recorder& to) const;
  void record_claims(const std::uint8_t* mine, const std::uint8_t* theirs);
  void fall_back(const std::string& why);
  void take_over();

  Device& device_;
  const int party_;
  ClaimLog* const claims_;
  const std::vector<sha1::RippleBlock> blocks_;
  sha1::RippleSchedule schedule_;

  std::unique_ptr<BitSlot> slot_;
  View view_{};
  Kernel mask_ = Kernel::kMaskAes0;      // of the session's generator
  std::vector<sha1::PlaneNumber> into_;  // of this round's products
  bool begun_ = false;                   // the schedule's round is not over
  std::size_t upload_octets_ = 0;        // of the message whose result the device lacks
  bool upload_mine_ = false, upload_mine_next_ = false;
  SecretVector log_;                   // of every round, what was sent, then what came
  std::unique_ptr<sha1::Ripple> cpu_;  // after a failure
};

}  // namespace tkdc::cuda
