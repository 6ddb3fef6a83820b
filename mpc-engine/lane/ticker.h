// SPDX-License-Identifier: Apache-2.0
// One tick of a lane on a real link: a packet to each neighbour, a packet from
// each. What protocols and tasks send stands in Lane; `control` is what the lane itself
// has to say (admission), and travels only in full ticks.
//
//   to prev:  tick u32 | control (full ticks) | layers, digest, exchange
//   to next:  tick u32 | control | openings, exchange   (full ticks only)
//   control:  length u32 | what is for both u32 length, octets | what is for this one
//             the length is 0 where there is nothing to say
//   first on connections that take the place of lost ones, to both: the tick that this party
//             lacks packets of, u64; then the packets from there on that the other one lacks
//
// Both sides know which ticks are full: whenever openings are due or the lane's
// owner says so.
//
// What a party says to both others is a decision that all three take alike: the ticker notes it
// in the lane's course, all three parties' together, before the owner reads it. So nothing that
// is said to both can be used and not be compared (lane/course.h). What is said to one
// neighbour is between those two: digests of what both hold.
//
// A tick outlives its connections: a packet is made once, and sent again as it was. So whoever
// breaks a connection gets no second value for the same challenge (docs/protocols/12).
#pragma once

#include <array>
#include <optional>

#include "base/codec.h"
#include "lane/lane.h"
#include "link/link.h"

namespace tkdc {

class Ticker {
 public:
  static constexpr int kReceiveTimeoutMs = 5'000;
  // While a key is made or removed, which waits for three disks. A neighbour that is gone is
  // noticed earlier, by TCP.
  static constexpr int kDiskTimeoutMs = 30'000;
  static constexpr std::size_t kMaxControlBytes = 1u << 20;

  explicit Ticker(Lane& lane) : lane_(lane) {}
  Ticker(Lane& lane, Link& link) : lane_(lane), link_(&link) {}

  struct OwnControl {
    Bytes to_both, to_prev, to_next;
  };
  // What a neighbour said; empty in ticks that are not full. Valid until the next tick.
  struct Said {
    ByteSpan to_both, to_me;
  };
  struct Control {
    Said prev, next;
  };

  // Who has something to say in a lane, besides its tasks.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Nothing: the tick is full only where tasks need it.
    virtual std::optional<OwnControl> say() { return std::nullopt; }
    // In a tick in which this owner spoke. Error: the lane has ended.
    virtual Result<void> hear(const Control& /*said*/) { return {}; }
    // Whether to stop although tasks wait.
    virtual bool enough() const { return false; }
  };
  // One tick, and what tasks do with its messages: the only place in which lanes move. Error: of
  // end(), after which it can be called again where end() can; of the owner; a deviation.
  Result<void> step(Owner& owner, int timeout_ms = kReceiveTimeoutMs);
  // Until no task waits, or its owner has enough.
  Result<void> run(Owner& owner, int timeout_ms = kReceiveTimeoutMs);
  // Where nobody has anything to say.
  Result<void> run(int timeout_ms = kReceiveTimeoutMs);

  // ---- step() by its halves
  // Makes this tick's packets.
  void begin(bool full, const OwnControl& own);
  // Whether they are made and the tick has not ended.
  bool begun() const { return begun_; }
  // Sends them, and takes those of the neighbours. Error: the tick has not ended; where
  // Failure::connection says so, it can after go_on().
  Result<Control> end(int timeout_ms = kReceiveTimeoutMs);

  // The link that is used from now on.
  void use(Link& link) { link_ = &link; }
  // The same where the neighbours' connections took the place of lost ones: both sides send what
  // the other one lacks. Error: as of end().
  Result<void> go_on(Link& link, int timeout_ms = kReceiveTimeoutMs);

  struct Failure {
    std::optional<Neighbour> whose;  // whose packet is lacking or wrong, or who took none
    bool connection = false;         // a link failed; else a packet is not what it has to be
  };
  // Of the last call.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  // Parties are at most two ticks apart: kKeptTicks packets are all that one can lack.
  struct Sent {
    bool full = false;
    Bytes header;  // of the packet to the previous neighbour, before what the lane keeps
    SecretVector to_next;
  };
  Sent& sent(std::uint64_t tick) { return sent_[tick % kKeptTicks]; }

  Error failed(std::optional<Neighbour> whose, bool connection, const Error& error);
  Result<ByteSpan> receive(Neighbour from, int timeout_ms);
  Result<void> send(Neighbour to, std::uint64_t tick);
  Result<void> send_tick();
  Result<std::uint64_t> hear_tick(Neighbour from, int timeout_ms);
  Result<Control> try_end(int timeout_ms);
  void hear_what_came();
  void note(std::uint64_t ended, const Control& heard);

  Lane& lane_;
  Link* link_ = nullptr;
  bool begun_ = false;
  bool spoke_ = false;       // the owner, in this tick
  bool on_its_way_ = false;  // this tick's packets have been given to the link
  Bytes to_both_;            // of this tick's own control
  std::optional<Failure> failure_;
  std::array<std::optional<ByteSpan>, 2> heard_;  // in this tick, by Neighbour
  std::array<Sent, kKeptTicks> sent_;
};

}  // namespace tkdc
