// SPDX-License-Identifier: Apache-2.0
#include "rep3/rep3.h"

#include "base/now_public.h"

namespace tkdc {
namespace {

// For a layer's messages: an insertion goes octet by octet where vectors wipe.
void append(SecretVector& to, ByteSpan from) {
  const std::size_t at = to.size();
  to.resize(at + from.size());
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

// ---- Layer

Layer::Layer(Rep3& rep3, std::size_t offset, std::size_t bytes)
    : rep3_(rep3), message_(rep3.layer_out()), offset_(offset), bytes_(bytes), tick_(rep3.tick_) {}

const std::uint8_t* Layer::theirs() const {
  assert(rep3_.tick_ == tick_ + 1);
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
  assert(tick_ == rep3_.tick_);
  assert(rep3_.later_.empty() || rep3_.later_.back().offset < offset_);
  rep3_.later_.push_back({offset_, bytes_, std::move(fill)});
}

void Layer::await_suspend(std::coroutine_handle<> h) { rep3_.waiting_.push_back(h); }

// ---- Opening

Opening::Opening(Rep3& rep3, const SharedBytes& x)
    : rep3_(rep3), offset_(rep3.open_out_.size()), bytes_(x.size()), held_(x.component[0]) {
  if (offset_ == 0) crypto_generichash_init(&rep3_.second_digest_, nullptr, 0, Rep3::kDigestBytes);
  rep3_.open_out_.insert(rep3_.open_out_.end(), x.component[0].begin(), x.component[0].end());
  crypto_generichash_update(&rep3_.second_digest_, x.component[1].data(), bytes_);
  xor_bytes(held_.data(), x.component[1].data(), bytes_);
}

void Opening::await_suspend(std::coroutine_handle<> h) { rep3_.waiting_.push_back(h); }

Bytes Opening::await_resume() {
  Bytes opened(held_.begin(), held_.end());
  xor_bytes(opened.data(), rep3_.open_got_.data() + offset_, bytes_);
  now_public(opened.data(), bytes_);
  return opened;
}

// ---- Exchange

Exchange::Exchange(Rep3& rep3, ByteSpan bytes)
    : rep3_(rep3), offset_(rep3.pair_out_.size()), bytes_(bytes.size()) {
  now_public(bytes.data(), bytes.size());
  rep3_.pair_out_.insert(rep3_.pair_out_.end(), bytes.begin(), bytes.end());
}

void Exchange::await_suspend(std::coroutine_handle<> h) { rep3_.waiting_.push_back(h); }

FromBoth Exchange::await_resume() {
  auto cut = [&](const Bytes& all) {
    auto first = all.begin() + static_cast<std::ptrdiff_t>(offset_);
    return Bytes(first, first + static_cast<std::ptrdiff_t>(bytes_));
  };
  return {cut(rep3_.pair_prev_), cut(rep3_.pair_next_)};
}

namespace {

bool begins_with(ByteSpan octets, const Bytes& expected) {
  return octets.size() >= expected.size() &&
         std::ranges::equal(octets.first(expected.size()), expected);
}

}  // namespace

Task<FromBoth> Rep3::exchange(Bytes bytes, Expected expected, const char* what) {
  comparisons_.push_back({pair_out_.size(), expected, what});
  FromBoth others = co_await exchange(bytes);
  if (!begins_with(others.prev, expected.from_prev) ||
      !begins_with(others.next, expected.from_next)) {
    set_deviation(what);
    co_await std::suspend_always();
  }
  co_return others;
}

// The lengths are this server's: who sends others has not come as far, or ends the session.
void Rep3::hear_comparisons(Neighbour from, ByteSpan rest) {
  if (rest.size() != expected_from(from)) return;
  const std::size_t before = from == Neighbour::kNext
                                 ? layer_out().size() + (open_out_.empty() ? 0 : kDigestBytes)
                                 : open_out_.size();
  const ByteSpan pairs = rest.subspan(before, pair_out_.size());
  now_public(pairs.data(), pairs.size());
  for (const Comparison& one : comparisons_) {
    const bool next = from == Neighbour::kNext;
    if (!begins_with(pairs.subspan(one.offset),
                     next ? one.expected.from_next : one.expected.from_prev))
      set_deviation(one.what);
  }
}

// ---- OwnMasked

OwnMasked::OwnMasked(Rep3& rep3, ByteSpan masked)
    : rep3_(rep3), offset_(rep3.own_out_.size()), bytes_(masked.size()) {
  rep3_.own_out_.insert(rep3_.own_out_.end(), masked.begin(), masked.end());
}

void OwnMasked::await_suspend(std::coroutine_handle<> h) { rep3_.waiting_.push_back(h); }

SecretVector OwnMasked::await_resume() {
  auto first = rep3_.own_got_.begin() + static_cast<std::ptrdiff_t>(offset_);
  return {first, first + static_cast<std::ptrdiff_t>(bytes_)};
}

// ---- Rep3

Rep3::Rep3(int party, Representation representation, const PairwiseKeys& keys, Security security)
    : party_(party), representation_(representation), prss_(keys) {
  if (security == Security::kMalicious) claims_.emplace();
}

Layer Rep3::layer(std::size_t bytes) { return Layer(*this, layer_out().extend(bytes), bytes); }

SharedBytes Rep3::random(std::size_t bytes, Prss::Purpose purpose) {
  SharedBytes x(bytes);
  drawn_[static_cast<std::size_t>(purpose)] += bytes;
  prss_.random(x.component[0].data(), x.component[1].data(), bytes, purpose);
  return x;
}

bool Rep3::advance() {
  run();
  return !waiting_.empty();
}

void Rep3::prefetch_masks() { prss_.prefetch(last_layer_bytes_); }

Rep3::ToPrev Rep3::finish_to_prev() {
  auto& [layers, rest] = *now_;
  std::size_t masked = 0;
  last_layer_bytes_ = layers.size();
  for (const Later& later : later_) {
    later.fill(layers.data() + later.offset);
    prss_.mask(layers.data() + masked, later.offset - masked);
    prss_.skip(later.bytes);
    masked = later.offset + later.bytes;
    last_layer_bytes_ -= later.bytes;
  }
  later_.clear();
  prss_.mask(layers.data() + masked, layers.size() - masked);
  rest.clear();
  if (!open_out_.empty()) {
    rest.resize(kDigestBytes);
    crypto_generichash_state state = second_digest_;
    crypto_generichash_final(&state, rest.data(), kDigestBytes);
  }
  rest.insert(rest.end(), pair_out_.begin(), pair_out_.end());
  rest.insert(rest.end(), own_out_.begin(), own_out_.end());
  layer_bytes_ += layers.size();
  return {layers.span(), rest};
}

Rep3::ToPrev Rep3::sent_to_prev(std::uint64_t tick) const {
  assert(tick <= tick_ && tick_ - tick < kKeptTicks);
  const ToPrevBuffers& sent = to_prev_[tick % kKeptTicks];
  return {sent.layers.span(), sent.rest};
}

void Rep3::append_to_prev(SecretVector& packet) {
  const ToPrev parts = finish_to_prev();
  for (ByteSpan part : {parts.layers, parts.rest}) append(packet, part);
}

void Rep3::append_to_next(SecretVector& packet) const {
  packet.insert(packet.end(), open_out_.begin(), open_out_.end());
  packet.insert(packet.end(), pair_out_.begin(), pair_out_.end());
}

Result<void> Rep3::consume(ByteSpan from_next, ByteSpan from_prev) {
  const std::size_t digest_bytes = open_out_.empty() ? 0 : kDigestBytes;
  const std::size_t layer_bytes = layer_out().size();
  if (from_next.size() != expected_from(Neighbour::kNext) ||
      from_prev.size() != expected_from(Neighbour::kPrev))
    return fail("round " + std::to_string(tick_) +
                ": a neighbour's packet has another length than ours; the servers disagree on "
                "the protocol's course. Check that all three run the same tkdc version");

  layer_got_ = from_next.first(layer_bytes);
  ByteSpan digest = from_next.subspan(layer_bytes, digest_bytes);
  ByteSpan pair_next = from_next.subspan(layer_bytes + digest_bytes, pair_out_.size());
  ByteSpan own = from_next.last(own_out_.size());
  ByteSpan opens = from_prev.first(open_out_.size());
  ByteSpan pair_prev = from_prev.subspan(open_out_.size());
  if (digest_bytes != 0) {
    std::uint8_t got[kDigestBytes];
    crypto_generichash(got, sizeof got, opens.data(), opens.size(), nullptr, 0);
    now_public(got, sizeof got);
    now_public(digest.data(), digest.size());
    if (sodium_memcmp(got, digest.data(), sizeof got) != 0) {
      set_deviation("the two holders of an opened component sent different values");
      return fail("round " + std::to_string(tick_) + ": " + *deviation_ +
                  "; nothing was released. One of the servers computes wrongly: see "
                  "docs/operations.md");
    }
  }
  open_got_.assign(opens.begin(), opens.end());
  pair_prev_.assign(pair_prev.begin(), pair_prev.end());
  pair_next_.assign(pair_next.begin(), pair_next.end());
  own_got_.assign(own.begin(), own.end());

  open_out_.clear();
  pair_out_.clear();
  own_out_.clear();
  comparisons_.clear();
  for (auto h : waiting_) ready(h);
  waiting_.clear();
  ++tick_;
  now_ = &to_prev(tick_);
  layer_out().clear();
  return {};
}

}  // namespace tkdc
