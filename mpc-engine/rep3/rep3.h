// SPDX-License-Identifier: Apache-2.0
// One party's side of the replicated-sharing protocol on one lane: what
// protocol code co_awaits, and the round engine below it.
//
// Source: Araki et al. 2016, sections 2.1 and 2.2. Security: semi-honest, one
// corrupted party. In each round ("tick") every running protocol does one
// layer; all their messages travel in one packet.
//
//   layer:    party j sends its masked terms r_j to j-1 and gets r_{j+1} from
//             j+1; the new share is (r_j, r_{j+1}). One bit per output bit.
//   open:     party j sends x_j to j+1, against the direction of layers, and
//             the digest of x_{j+1} to j-1, its other reader. A value is used
//             only when the digest of the received component matches.
//   exchange: the same few octets to both neighbours.
//
// Everything is deterministic: the three parties run the same protocol code
// on the same public data, so they agree on the order and length of every
// message and none carries a tag. This class does no I/O: lane.h moves packets,
// tests join three of these in one thread. Used by one thread.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <vector>

#include "base/result.h"
#include "net/session.h"
#include "rep3/prss.h"
#include "rep3/task.h"
#include "share/shared_bytes.h"

namespace tkdc {

class Rep3;

// The messages of one layer of one protocol. Fill mine() with the local terms
// at once, co_await, then mine() and theirs() are the new share's components.
class [[nodiscard]] Layer {
 public:
  std::uint8_t* mine() const;
  const std::uint8_t* theirs() const;
  std::size_t size() const { return bytes_; }

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  void await_resume() {}

 private:
  friend class Rep3;
  Layer(Rep3& rep3, std::size_t offset, std::size_t bytes);
  Rep3& rep3_;
  std::size_t offset_, bytes_;
  std::uint64_t tick_;
};

class [[nodiscard]] Opening {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  Bytes await_resume();

 private:
  friend class Rep3;
  Opening(Rep3& rep3, const SharedBytes& x);
  Rep3& rep3_;
  std::size_t offset_, bytes_;
  SecretVector held_;  // x_j ^ x_{j+1}
};

struct FromBoth {
  Bytes prev, next;
};

class [[nodiscard]] Exchange {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  FromBoth await_resume();

 private:
  friend class Rep3;
  Exchange(Rep3& rep3, ByteSpan bytes);
  Rep3& rep3_;
  std::size_t offset_, bytes_;
};

class Rep3 {
 public:
  Rep3(int party, Representation representation, const PairwiseKeys& keys);
  Rep3(const Rep3&) = delete;

  // ---- for protocol code
  int party() const { return party_; }
  Representation representation() const { return representation_; }
  Layer layer(std::size_t bytes);
  Opening open(const SharedBytes& x) { return Opening(*this, x); }
  Exchange exchange(ByteSpan bytes) { return Exchange(*this, bytes); }
  SharedBytes random(std::size_t bytes);
  void spawn(Task<void> task);
  // Resumes h before the next tick; in the order of the calls.
  void ready(std::coroutine_handle<> h) { ready_.push_back(h); }
  // `gather` is called whenever no coroutine can run; true if it made one ready.
  void add_gatherer(std::function<bool()> gather) { gatherers_.push_back(std::move(gather)); }

  // ---- for the lane that moves packets
  // Runs protocol code until each is waiting for a message. True if any waits.
  bool advance();
  // Whether this tick's packets to the next neighbour carry anything.
  bool needs_next() const { return !open_out_.empty() || !pair_out_.empty(); }
  std::size_t tasks() const { return tasks_.size(); }
  void append_to_prev(SecretVector& packet);
  void append_to_next(SecretVector& packet) const;
  // The neighbours' parts of the tick. `from_prev` is empty when needs_next() was false.
  Result<void> consume(ByteSpan from_next, ByteSpan from_prev);
  void prefetch_masks();

  std::uint64_t rounds() const { return tick_; }
  std::uint64_t layer_bytes() const { return layer_bytes_; }

 private:
  friend class Layer;
  friend class Opening;
  friend class Exchange;

  int party_;
  Representation representation_;
  Prss prss_;
  std::uint64_t tick_ = 0;
  std::uint64_t layer_bytes_ = 0;

  std::vector<std::coroutine_handle<>> ready_, running_, waiting_;
  std::vector<std::function<bool()>> gatherers_;
  std::list<Task<void>> tasks_;

  // This tick's outgoing messages, and the last tick's pairs.
  SecretVector layer_out_, layer_sent_, layer_got_;
  SecretVector open_out_, open_got_;
  Bytes pair_out_, pair_prev_, pair_next_;
  crypto_generichash_state second_digest_;
  std::size_t last_layer_bytes_ = 0;
};

// Runs `a` and `b` side by side; done when both are.
Task<void> both(Rep3& rep3, Task<void> a, Task<void> b);
// The same for any number.
Task<void> all(Rep3& rep3, std::vector<Task<void>> tasks);

}  // namespace tkdc
