// SPDX-License-Identifier: Apache-2.0
// One party of a lane that tells the two others different things, and what the two do then.
//
//            says x                    The ring changes what the liar says and hears; its engine
//   liar ────────────> its next one   is an honest one and need not know. What the honest two
//    │                      │         say to each other is never touched.
//    └─ says y ──> its previous one
#pragma once

#include <map>
#include <mutex>

#include "service/job/lane_packet.h"
#include "service/job/three_services.h"

namespace tkdc::test {

class TwoFacedRing final : public MemoryRing {
 public:
  explicit TwoFacedRing(int liar) : liar_(liar) {}

  // Changes what one party says to another; true if it did. One of the two is the liar.
  using Edit = std::function<bool(int from, int to, LaneControl& said)>;

  // An honest job shows how many ticks after its manifest the first opening is due: the seed of
  // its verification, with which courses are compared.
  std::uint32_t ticks_to_comparison() {
    std::lock_guard lock(mutex_);
    return *first_opening_ - *named_;
  }

  // From now on it lies, and what honest parties send is noted. `ticks`: ticks_to_comparison().
  // `withhold`: from the tick in which courses are compared on, the liar says nothing more.
  void arm(Edit edit, std::uint32_t ticks, bool withhold) {
    std::lock_guard lock(mutex_);
    edit_ = std::move(edit);
    ticks_ = ticks;
    withhold_ = withhold;
    armed_ = true;
    first_opening_.reset();
    named_.reset();
    lied_ = false;
  }
  int liar() const { return liar_; }
  bool lied() {
    std::lock_guard lock(mutex_);
    return lied_;
  }
  // How many packets honest parties have sent after the tick in which they compare.
  int sent_after_comparison() {
    std::lock_guard lock(mutex_);
    return after_;
  }
  bool withheld() {
    std::lock_guard lock(mutex_);
    return withheld_;
  }

 protected:
  void carry(int from, Neighbour side, SecretVector packet) override {
    const int to = (from + (side == Neighbour::kNext ? 1 : 2)) % 3;
    {
      std::lock_guard lock(mutex_);
      const std::uint32_t tick = Reader(packet).u32();
      if (!look(from, to, side, tick, packet)) return;
    }
    deliver(from, side, std::move(packet));
  }

 private:
  // False: it is not delivered.
  bool look(int from, int to, Neighbour side, std::uint32_t tick, SecretVector& packet) {
    auto parts = parse_packet(packet);
    auto said = parts ? said_in(*parts) : std::nullopt;
    // A job that is put back is named again; what runs was named first.
    const bool names = said && from == 0 && said->manifest && side == Neighbour::kPrev;
    if (names && !(lied_ && named_)) {
      named_ = tick;
      first_opening_.reset();
    }
    // Nothing else of these jobs goes to the next party before the seed of their verification.
    const bool opens = side == Neighbour::kNext && parts && !parts->rest.empty();
    const bool counts = armed_ ? lied_ && from != liar_ : named_.has_value();
    if (opens && counts && !first_opening_) first_opening_ = tick;
    if (!armed_) return true;
    const bool concerns_liar = from == liar_ || to == liar_;
    if (said && concerns_liar && edit_ && edit_(from, to, *said)) {
      packet = with(packet, *said);
      lied_ = true;
    }
    if (from == liar_ && withhold_ && lied_ && named_ && tick >= *named_ + ticks_) {
      withheld_ = true;
      return false;
    }
    if (from != liar_ && first_opening_ && tick > *first_opening_) ++after_;
    return true;
  }

  const int liar_;
  std::mutex mutex_;
  Edit edit_;
  bool armed_ = false, withhold_ = false, lied_ = false, withheld_ = false;
  std::uint32_t ticks_ = 0;
  std::optional<std::uint32_t> named_, first_opening_;  // ticks
  int after_ = 0;
};

}  // namespace tkdc::test
