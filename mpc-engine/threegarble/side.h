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

#include <functional>

#include "threegarble/ledger.h"
#include "threegarble/mailbox.h"
#include "threegarble/reserve.h"

namespace tkdc::threegarble {

// What becomes of instances at this server, for a program of tests.
enum class Step : std::uint8_t {
  kMade,
  kLost,    // while it was made
  kMissed,  // a job wants one, and none of its kind stands ready
  kUsed,    // by a job, from now on
  kBad,     // this server says so in m3
  kGood,    // all three have
};
using SeeStep = std::function<void(Step, const InstanceId&)>;

class LaneSide {
 public:
  struct Plan {
    std::vector<Reserve::Kind> kinds;
    std::size_t most_bytes = 0;
  };
  // `number`: of the lane, within the session. Error: the lane has a side already, or two others
  // add to its ticks.
  static Result<std::unique_ptr<LaneSide>> join(
      Lane& lane, std::uint32_t number, PairwiseKeys keys, Plan plan,
      const garble::Kernel& kernel = garble::fastest_kernel()) {
    std::unique_ptr<LaneSide> side(
        new LaneSide(lane, number, std::move(keys), std::move(plan), kernel));
    if (!side->mail_.joined())
      return fail("threegarble: lane " + std::to_string(number) +
                  " has a side of this server already, or no room for its octets");
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
  void watch(SeeStep watch) { watch_ = std::move(watch); }
  void note(Step step, const InstanceId& id) const {
    if (watch_) watch_(step, id);
  }

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
  SeeStep watch_;
};

}  // namespace tkdc::threegarble
