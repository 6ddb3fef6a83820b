// SPDX-License-Identifier: Apache-2.0
// One party's side of the replicated-sharing protocol on one lane: what protocol code co_awaits,
// and what it adds to the lane's ticks.
//
// Source: Araki et al. 2016, sections 2.1 and 2.2. Security: semi-honest, one
// corrupted party; malicious with abort where protocols record what they sent
// (claims.h) and await verified() before they use it. In each tick every running task does one
// layer.
//
//   layer:    party j sends its masked terms r_j to j-1 and gets r_{j+1} from
//             j+1; the new share is (r_j, r_{j+1}). One bit per output bit.
//   open:     party j sends x_j to j+1, against the direction of layers, and
//             the digest of x_{j+1} to j-1, its other reader. A value is used
//             only when the digest of the received component matches.
//
// To the previous neighbour in each tick: layers, the digest of what is opened. To the next one:
// openings. Used by the lane's thread.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "lane/lane.h"
#include "protocol/replicated.h"
#include "rep3/claims.h"
#include "rep3/prss.h"
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

class Rep3 final : public TickPart {
 public:
  Rep3(Lane& lane, Representation representation, const PairwiseKeys& keys);
  // Tasks hold what goes with it.
  ~Rep3() override { lane.drop_tasks(); }
  Rep3(const Rep3&) = delete;

  // ---- for protocol code
  Lane& lane;
  int party() const { return lane.party(); }
  Representation representation() const { return representation_; }
  Layer layer(std::size_t bytes);
  Opening open(const SharedBytes& x) { return Opening(*this, x); }
  SharedBytes random(std::size_t bytes, Prss::Purpose purpose = Prss::Purpose::kProtocol);
  ZeroGenerator zero_generator() const { return prss_.zero_generator(); }
  // Where protocols record what they sent; null in semi-honest mode.
  ClaimLog* claims() { return claims_ ? &*claims_ : nullptr; }
  Verified verified() { return Verified(claims()); }
  // Masks and the like that a job took and that nobody may take again: how far this party has come.
  void took(std::uint64_t many) { taken_ += many; }

  std::uint64_t layer_bytes() const { return layer_bytes_; }

  // ---- TickPart
  ByteSpan finish_to_prev() override;
  ByteSpan sent_to_prev(std::uint64_t tick) const override;
  ByteSpan to_next() const override { return open_out_; }
  std::size_t bytes_from(Neighbour from) const override {
    return from == Neighbour::kPrev ? open_out_.size() : layer_out_->size();
  }
  Result<void> consume(ByteSpan from_next, ByteSpan from_prev) override;
  void prefetch() override { prss_.prefetch(last_layer_bytes_); }

 private:
  friend class Layer;
  friend class Opening;
  void put_progress(Writer& to) const;

  static constexpr std::size_t kDigestBytes = 32;

  const Representation representation_;
  Prss prss_;
  std::optional<ClaimLog> claims_;
  std::uint64_t layer_bytes_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t drawn_[2] = {};  // octets of random sharings, by purpose

  // To the previous neighbour, this tick's and those of the last ticks as they were sent: layers,
  // and behind them the digest of what is opened.
  std::array<MessageBuffer, kKeptTicks> to_prev_;
  MessageBuffer* layer_out_ = to_prev_.data();  // this tick's
  struct Later {
    std::size_t offset, bytes;
    Layer::Fill fill;
  };
  std::vector<Later> later_;  // by offset
  ByteSpan layer_got_;
  SecretVector open_out_, open_got_;
  crypto_generichash_state second_digest_;
  std::size_t last_layer_bytes_ = 0;
};

}  // namespace tkdc
