// SPDX-License-Identifier: Apache-2.0
// One party's side of the replicated-sharing protocol on one lane: what
// protocol code co_awaits, and the round engine below it.
//
// Source: Araki et al. 2016, sections 2.1 and 2.2. Security: semi-honest, one
// corrupted party; malicious with abort where protocols record what they sent
// (claims.h) and await verified() before they use it. In each round ("tick")
// every running protocol does one layer; all their messages travel in one packet.
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

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/scheduler.h"
#include "rep3/claims.h"
#include "rep3/course.h"
#include "rep3/prss.h"
#include "rep3/sharing.h"
#include "session/session.h"

namespace tkdc {

class Rep3;

// Octets of one tick's messages, one after the other. Its memory stays: a tick
// costs no allocation and no zeros.
class MessageBuffer {
 public:
  // Room for `bytes` more; what stands in it is for the caller to fill.
  std::size_t extend(std::size_t bytes) {
    if (used_ + bytes > memory_.size()) memory_.resize(2 * used_ + bytes);
    return std::exchange(used_, used_ + bytes);
  }
  void clear() { used_ = 0; }
  std::uint8_t* data() { return memory_.data(); }
  std::size_t size() const { return used_; }
  ByteSpan span() const { return ByteSpan(memory_).first(used_); }

 private:
  SecretVector memory_;
  std::size_t used_ = 0;
};

// The messages of one layer of one protocol. Fill mine() with the local terms
// at once, co_await, then mine() and theirs() are the new share's components.
class [[nodiscard]] Layer {
 public:
  std::uint8_t* mine() const { return message_.data() + offset_; }
  const std::uint8_t* theirs() const;
  std::size_t size() const { return bytes_; }

  // For devices. The message's zero-share, none if not all of it is under the keys in use; and
  // instead of filling mine() at once: `fill` writes the message, zero-share added, before the
  // packet leaves.
  std::optional<ZeroShare> zero_share() const;
  using Fill = std::function<void(std::uint8_t* message)>;
  void fill_later(Fill fill);

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  void await_resume() {}

 private:
  friend class Rep3;
  Layer(Rep3& rep3, std::size_t offset, std::size_t bytes);
  Rep3& rep3_;
  MessageBuffer& message_;  // of its tick
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

// One message to the previous neighbour that goes out as it stands: for rings whose
// masks are not XORed (api/quadratic.cc). Whoever makes it has masked it.
class [[nodiscard]] OwnMasked {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  SecretVector await_resume();  // the next neighbour's

 private:
  friend class Rep3;
  OwnMasked(Rep3& rep3, ByteSpan masked);
  Rep3& rep3_;
  std::size_t offset_, bytes_;
};

// Goes on when every message of this lane so far has been verified; at once in
// semi-honest mode. Never goes on after a deviation.
class [[nodiscard]] Verified {
 public:
  bool await_ready() const { return log_ == nullptr || log_->clean(); }
  void await_suspend(std::coroutine_handle<> h) { log_->wait(h); }
  void await_resume() {}

 private:
  friend class Rep3;
  explicit Verified(ClaimLog* log) : log_(log) {}
  ClaimLog* log_;
};

class Rep3 : public Scheduler {
 public:
  Rep3(int party, Representation representation, const PairwiseKeys& keys,
       Security security = Security::kSemiHonest);
  ~Rep3() { drop_tasks(); }

  // ---- for protocol code
  int party() const { return party_; }
  Representation representation() const { return representation_; }
  Security security() const { return claims_ ? Security::kMalicious : Security::kSemiHonest; }
  Layer layer(std::size_t bytes);
  Opening open(const SharedBytes& x) { return Opening(*this, x); }
  OwnMasked own_masked(ByteSpan message) { return OwnMasked(*this, message); }
  Exchange exchange(ByteSpan bytes) { return Exchange(*this, bytes); }
  // The same where the others' octets have to begin with what this server expects: else it
  // deviates, for `what`, and nobody is resumed. Also when the tick fails for want of one
  // neighbour's packet, if what the other sent shows it. Malicious mode only.
  // `expected` is a variable of the caller's: g++ 12 destroys a temporary that is made by braces in
  // a co_await twice.
  struct Expected {
    Bytes from_prev, from_next;
  };
  Task<FromBoth> exchange(Bytes bytes, Expected expected, const char* what);
  SharedBytes random(std::size_t bytes, Prss::Purpose purpose = Prss::Purpose::kProtocol);
  ZeroGenerator zero_generator() const { return prss_.zero_generator(); }
  // Where protocols record what they sent; null in semi-honest mode.
  ClaimLog* claims() { return claims_ ? &*claims_ : nullptr; }
  Verified verified() { return Verified(claims()); }

  // ---- decisions that all three must have taken alike
  Course& course() { return course_; }
  const Course& course() const { return course_; }
  // Compares with both others what was decided so far, how far each stream of this lane has been
  // used, and `about`; `word` travels beside it, and both others' come back. Goes on only when
  // all three are the same: else this server deviates, and nobody is resumed. One round.
  // Malicious mode only.
  Task<FromBoth> agree(Bytes about, Bytes word);
  // The same, where the first `decisions` have not been compared yet; else at once. All of them
  // unless said. Semi-honest: at once.
  Task<void> agreed();
  Task<void> agreed(std::uint64_t decisions);
  // Masks and the like that a job took and that nobody may take again: compared by agree() too.
  void took(std::uint64_t many) { taken_ += many; }

  // ---- for the lane that moves packets
  // Runs protocol code until each is waiting for a message. True if any waits.
  bool advance();
  // Whether this tick's packets to the next neighbour carry anything.
  bool needs_next() const { return !open_out_.empty() || !pair_out_.empty(); }
  // This tick's part of the packet to the previous neighbour, masked: once in a
  // tick; the views are good until consume().
  struct ToPrev {
    ByteSpan layers, rest;
  };
  ToPrev finish_to_prev();
  // The same, of this tick or one of the kKeptTicks - 1 before it, octet for octet: for a
  // neighbour who lost its connection before it had them.
  static constexpr std::size_t kKeptTicks = 3;
  ToPrev sent_to_prev(std::uint64_t tick) const;
  void append_to_prev(SecretVector& packet);
  void append_to_next(SecretVector& packet) const;
  // The neighbours' parts of the tick. `from_prev` is empty when needs_next() was false.
  // Layers are read where they stand: `from_next` must stay until the next advance() is over.
  Result<void> consume(ByteSpan from_next, ByteSpan from_prev);
  // How long they have to be.
  std::size_t expected_from(Neighbour from) const {
    if (from == Neighbour::kPrev) return open_out_.size() + pair_out_.size();
    return layer_out().size() + (open_out_.empty() ? 0 : kDigestBytes) + pair_out_.size() +
           own_out_.size();
  }
  void prefetch_masks();
  // What one neighbour said where this tick compares: for a tick that failed for want of the
  // other's packet. Notes a deviation.
  void hear_comparisons(Neighbour from, ByteSpan rest);

  // Set when a server has computed or answered wrongly: nothing more may leave
  // the lane, and no new session starts before an operator says so.
  const std::optional<std::string>& deviation() const { return deviation_; }
  void set_deviation(std::string what) { deviation_ = std::move(what); }
  // The same for what this server knows by itself and tells the others in this tick first: it
  // stands even if the tick fails because somebody does not want to hear it.
  void deviates_with_this_tick(std::string what) { known_ = std::move(what); }
  void tick_failed() {
    if (known_ && !deviation_) deviation_ = known_;
  }

  std::uint64_t rounds() const { return tick_; }
  std::uint64_t layer_bytes() const { return layer_bytes_; }

 private:
  friend class Layer;
  friend class Opening;
  friend class Exchange;
  friend class OwnMasked;

  static constexpr std::size_t kDigestBytes = 32;
  Course::Digest state_digest(ByteSpan about) const;

  int party_;
  Representation representation_;
  Prss prss_;
  std::optional<ClaimLog> claims_;
  std::optional<std::string> deviation_, known_;
  std::uint64_t tick_ = 0;
  std::uint64_t layer_bytes_ = 0;

  Course course_;
  std::optional<std::uint64_t> compared_;  // so many of its decisions
  std::uint64_t taken_ = 0;
  std::uint64_t drawn_[2] = {};  // octets of random sharings, by purpose
  // What this tick compares, at which place of the exchanges.
  struct Comparison {
    std::size_t offset;
    Expected expected;
    const char* what;
  };
  std::vector<Comparison> comparisons_;

  std::vector<std::coroutine_handle<>> waiting_;  // for this tick's messages

  // To the previous neighbour: this tick's, and those of the last ticks as they were sent.
  struct ToPrevBuffers {
    MessageBuffer layers;
    SecretVector rest;  // digest, pairs, messages masked by their makers
  };
  ToPrevBuffers& to_prev(std::uint64_t tick) { return to_prev_[tick % kKeptTicks]; }
  MessageBuffer& layer_out() { return now_->layers; }
  const MessageBuffer& layer_out() const { return now_->layers; }
  std::array<ToPrevBuffers, kKeptTicks> to_prev_;
  ToPrevBuffers* now_ = to_prev_.data();  // this tick's
  // This tick's other outgoing messages, and the last tick's pairs.
  struct Later {
    std::size_t offset, bytes;
    Layer::Fill fill;
  };
  std::vector<Later> later_;  // by offset
  ByteSpan layer_got_;
  SecretVector open_out_, open_got_;
  SecretVector own_out_, own_got_;  // masked by their makers
  Bytes pair_out_, pair_prev_, pair_next_;
  crypto_generichash_state second_digest_;
  std::size_t last_layer_bytes_ = 0;
};

}  // namespace tkdc
