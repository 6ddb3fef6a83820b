// SPDX-License-Identifier: Apache-2.0
// Messages of a role: one to each neighbour, as long as the sender's role says, in a lane's tick.
// What Lane itself has (Exchange, Passed) is as long at all three.
//
// It is the lane's TickPart (lane/lane.h). In a tick in which somebody tells something, all three
// add an octet, 1, for the next neighbour: then the tick has packets both ways at all of them.
//
// Used by one lane's thread; outlives its tasks. Secret: what is told; wiped.
#pragma once

#include "lane/lane.h"

namespace tkdc::threegarble {

struct Letters {
  SecretVector prev, next;
};

class Mailbox final : public TickPart {
 public:
  // Whether the lane had room for it, and no other one: `joined`.
  explicit Mailbox(Lane& lane) : lane_(lane), joined_(lane.use(*this, "threegarble")) {}
  bool joined() const { return joined_; }
  Lane& lane() { return lane_; }

  class [[nodiscard]] Told {
   public:
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> h) { box_.lane_.wait(h); }
    Letters await_resume();

   private:
    friend class Mailbox;
    Told(Mailbox& box, const Letters& out, std::size_t from_prev, std::size_t from_next);
    Mailbox& box_;
    std::size_t at_prev_, from_prev_, at_next_, from_next_;
  };
  // `out` to each neighbour; the lengths of what comes from each. Side by side with others.
  Told tell(const Letters& out, std::size_t from_prev, std::size_t from_next) {
    return Told(*this, out, from_prev, from_next);
  }

  ByteSpan finish_to_prev() override;
  ByteSpan sent_to_prev(std::uint64_t tick) const override { return kept_[tick % kKeptTicks]; }
  ByteSpan to_next() const override { return out_.next; }
  std::size_t bytes_from(Neighbour from) const override;
  Result<void> consume(ByteSpan from_next, ByteSpan from_prev) override;

 private:
  static constexpr std::uint8_t kMark = 1;

  Lane& lane_;
  const bool joined_;
  Letters out_, got_;                          // of this tick; of the last one
  std::size_t from_prev_ = 0, from_next_ = 0;  // of this tick
  std::array<SecretVector, kKeptTicks> kept_;
};

}  // namespace tkdc::threegarble
