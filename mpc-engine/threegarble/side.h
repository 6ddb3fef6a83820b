// SPDX-License-Identifier: Apache-2.0
// One server's side in one lane of one session: the keys, and what must never be made anew while
// they live: which numbers are used (ledger.h), and what stands ready (reserve.h).
//
// An instance follows from keys, circuit and number. A second ledger or reserve beside the same
// keys would begin at number 0 again, and give an instance to two jobs: two labels of one wire
// are Δ. So neither can be made but in here; keys are moved in, and none of the three moves on, is
// copied or begins again. All of it ends with the session, and is wiped.
//
// It outlives the lane's ticks and tasks. Used by the lane's thread.
#pragma once

#include "threegarble/ledger.h"
#include "threegarble/mailbox.h"
#include "threegarble/reserve.h"

namespace tkdc::threegarble {

class LaneSide {
 public:
  struct Plan {
    std::vector<Reserve::Kind> kinds;
    std::size_t most_bytes = 0;
  };
  // `number`: of the lane, within the session. Error: somebody else adds to this lane's ticks, or
  // it has a side already.
  static Result<std::unique_ptr<LaneSide>> join(
      Lane& lane, std::uint32_t number, PairwiseKeys keys, Plan plan,
      const garble::Kernel& kernel = garble::fastest_kernel()) {
    std::unique_ptr<LaneSide> side(
        new LaneSide(lane, number, std::move(keys), std::move(plan), kernel));
    if (!side->mail_.joined())
      return fail("threegarble: lane " + std::to_string(number) +
                  " has another protocol whose octets stand in each tick");
    // How far it has come is compared whenever the lane's servers compare anything.
    lane.add_progress([&one = *side](Writer& to) {
      one.ledger_.put_progress(to);
      one.reserve_.put_progress(to);
    });
    return side;
  }
  LaneSide(const LaneSide&) = delete;
  LaneSide& operator=(const LaneSide&) = delete;

  std::uint32_t number() const { return number_; }
  Lane& lane() { return mail_.lane(); }
  Mailbox& mail() { return mail_; }
  const Seat& seat() const { return seat_; }
  Reserve& reserve() { return reserve_; }
  Ledger& ledger() { return ledger_; }

 private:
  LaneSide(Lane& lane, std::uint32_t number, PairwiseKeys keys, Plan plan,
           const garble::Kernel& kernel)
      : number_(number), keys_(std::move(keys)), mail_(lane),
        reserve_(number, std::move(plan.kinds), plan.most_bytes), seat_{lane.party(), &keys_,
                                                                        &kernel} {}

  const std::uint32_t number_;
  const PairwiseKeys keys_;
  Mailbox mail_;
  Ledger ledger_;
  Reserve reserve_;
  const Seat seat_;
};

}  // namespace tkdc::threegarble
