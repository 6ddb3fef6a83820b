// SPDX-License-Identifier: Apache-2.0
#include "rep3/rep3.h"

#include "base/now_public.h"

namespace tkdc {
// ---- Layer

Layer::Layer(Rep3& rep3, std::size_t offset, std::size_t bytes)
    : rep3_(rep3), message_(*rep3.layer_out_), offset_(offset), bytes_(bytes),
      tick_(rep3.lane.rounds()) {}

const std::uint8_t* Layer::theirs() const {
  assert(rep3_.lane.rounds() == tick_ + 1);
  return rep3_.layer_got_.data() + offset_;
}

std::optional<ZeroShare> Layer::zero_share() const {
  const std::uint64_t at = rep3_.layer_bytes_ + offset_;
  const Prss& prss = rep3_.prss_;
  const ZeroShare zero = {{prss.zero_key(0, at, bytes_), prss.zero_key(1, at, bytes_)},
                          at % kRatchetBytes,
                          prss.zero_generator()};
  if (zero.key[0] == nullptr || zero.key[1] == nullptr) return std::nullopt;
  return zero;
}

void Layer::fill_later(Fill fill) {
  assert(tick_ == rep3_.lane.rounds());
  assert(rep3_.later_.empty() || rep3_.later_.back().offset < offset_);
  rep3_.later_.push_back({offset_, bytes_, std::move(fill)});
}

void Layer::await_suspend(std::coroutine_handle<> h) { rep3_.lane.wait(h); }

// ---- Opening

Opening::Opening(Rep3& rep3, const SharedBytes& x)
    : rep3_(rep3), offset_(rep3.open_out_.size()), bytes_(x.size()), held_(x.component[0]) {
  if (offset_ == 0) crypto_generichash_init(&rep3_.second_digest_, nullptr, 0, Rep3::kDigestBytes);
  rep3_.open_out_.insert(rep3_.open_out_.end(), x.component[0].begin(), x.component[0].end());
  crypto_generichash_update(&rep3_.second_digest_, x.component[1].data(), bytes_);
  xor_bytes(held_.data(), x.component[1].data(), bytes_);
}

void Opening::await_suspend(std::coroutine_handle<> h) { rep3_.lane.wait(h); }

Bytes Opening::await_resume() {
  Bytes opened(held_.begin(), held_.end());
  xor_bytes(opened.data(), rep3_.open_got_.data() + offset_, bytes_);
  now_public(opened.data(), bytes_);
  return opened;
}

// ---- Rep3

Rep3::Rep3(Lane& of, Representation representation, const PairwiseKeys& keys)
    : lane(of), representation_(representation), prss_(keys) {
  if (lane.security() == Security::kMalicious) claims_.emplace();
  // Its buffers are numbered from the lane's first tick on.
  if (!lane.use(*this, "rep3") || lane.rounds() != 0) std::abort();
  lane.add_progress([this](Writer& to) { put_progress(to); });
}

Layer Rep3::layer(std::size_t bytes) { return Layer(*this, layer_out_->extend(bytes), bytes); }

SharedBytes Rep3::random(std::size_t bytes, Prss::Purpose purpose) {
  SharedBytes x(bytes);
  drawn_[static_cast<std::size_t>(purpose)] += bytes;
  prss_.random(x.component[0].data(), x.component[1].data(), bytes, purpose);
  return x;
}

void Rep3::put_progress(Writer& to) const {
  to.u64(layer_bytes_);
  for (std::uint64_t octets : drawn_) to.u64(octets);
  to.u64(taken_);
}

ByteSpan Rep3::finish_to_prev() {
  MessageBuffer& out = *layer_out_;
  const std::size_t bytes = out.size();
  std::size_t masked = 0;
  last_layer_bytes_ = bytes;
  for (const Later& later : later_) {
    later.fill(out.data() + later.offset);
    prss_.add_zero_share(out.data() + masked, later.offset - masked);
    prss_.skip(later.bytes);
    masked = later.offset + later.bytes;
    last_layer_bytes_ -= later.bytes;
  }
  later_.clear();
  prss_.add_zero_share(out.data() + masked, bytes - masked);
  layer_bytes_ += bytes;
  if (!open_out_.empty()) {
    const std::size_t digest = out.extend(kDigestBytes);
    crypto_generichash_state state = second_digest_;
    crypto_generichash_final(&state, out.data() + digest, kDigestBytes);
  }
  return out.span();
}

ByteSpan Rep3::sent_to_prev(std::uint64_t tick) const { return to_prev_[tick % kKeptTicks].span(); }

Result<void> Rep3::consume(ByteSpan from_next, ByteSpan from_prev) {
  layer_got_ = from_next;
  if (!open_out_.empty()) {
    const ByteSpan digest = from_next.last(kDigestBytes);
    std::uint8_t got[kDigestBytes];
    crypto_generichash(got, sizeof got, from_prev.data(), from_prev.size(), nullptr, 0);
    now_public(got, sizeof got);
    now_public(digest.data(), digest.size());
    if (sodium_memcmp(got, digest.data(), sizeof got) != 0)
      return fail("the two holders of an opened component sent different values");
    open_got_.assign(from_prev.begin(), from_prev.end());
    open_out_.clear();
  }
  layer_out_ = &to_prev_[(lane.rounds() + 1) % kKeptTicks];
  layer_out_->clear();
  return {};
}

}  // namespace tkdc
