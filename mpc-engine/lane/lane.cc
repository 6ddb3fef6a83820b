// SPDX-License-Identifier: Apache-2.0
#include "lane/lane.h"

#include <algorithm>
#include <cassert>

#include "base/now_public.h"

namespace tkdc {
namespace {

bool begins_with(ByteSpan octets, const Bytes& expected) {
  return octets.size() >= expected.size() &&
         std::ranges::equal(octets.first(expected.size()), expected);
}

// An insertion goes octet by octet where vectors wipe.
void append(SecretVector& to, ByteSpan from) {
  const std::size_t at = to.size();
  to.resize(at + from.size());
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

// ---- Exchange

Exchange::Exchange(Lane& lane, ByteSpan octets)
    : lane_(lane), offset_(lane.pair_out_.size()), bytes_(octets.size()) {
  now_public(octets.data(), octets.size());
  lane_.pair_out_.insert(lane_.pair_out_.end(), octets.begin(), octets.end());
}

void Exchange::await_suspend(std::coroutine_handle<> h) { lane_.wait(h); }

FromBoth Exchange::await_resume() {
  auto cut = [&](const Bytes& all) {
    auto first = all.begin() + static_cast<std::ptrdiff_t>(offset_);
    return Bytes(first, first + static_cast<std::ptrdiff_t>(bytes_));
  };
  return {cut(lane_.pair_prev_), cut(lane_.pair_next_)};
}

Task<FromBoth> Lane::exchange(Bytes octets, Expected expected, const char* what) {
  comparisons_.push_back({pair_out_.size(), expected, what});
  FromBoth others = co_await exchange(octets);
  // consume() has compared.
  if (deviation_) co_await std::suspend_always();
  co_return others;
}

// The lengths are this server's: who sends others has not come as far, or ends the session.
void Lane::hear_comparisons(Neighbour from, ByteSpan octets) {
  if (octets.size() != expected_from(from)) return;
  compare(from, octets.subspan(parts_bytes_from(from), pair_out_.size()));
}

void Lane::compare(Neighbour from, ByteSpan pairs) {
  now_public(pairs.data(), pairs.size());
  for (const Comparison& one : comparisons_) {
    const bool next = from == Neighbour::kNext;
    if (!begins_with(pairs.subspan(one.offset),
                     next ? one.expected.from_next : one.expected.from_prev))
      set_deviation(one.what);
  }
}

// ---- decisions; what is compared, and how: agree.cc

Task<void> Lane::agreed() { return agreed(course_.decisions()); }

Task<void> Lane::agreed(std::uint64_t decisions) {
  if (security_ == Security::kSemiHonest || (compared_ && *compared_ >= decisions)) co_return;
  FromBoth others = co_await agree(Bytes(), Bytes());
}

// ---- Passed

Passed::Passed(Lane& lane, ByteSpan masked)
    : lane_(lane), offset_(lane.passed_out_.size()), bytes_(masked.size()) {
  lane_.passed_out_.insert(lane_.passed_out_.end(), masked.begin(), masked.end());
}

void Passed::await_suspend(std::coroutine_handle<> h) { lane_.wait(h); }

SecretVector Passed::await_resume() {
  auto first = lane_.passed_got_.begin() + static_cast<std::ptrdiff_t>(offset_);
  return {first, first + static_cast<std::ptrdiff_t>(bytes_)};
}

// ---- Handed: to the previous neighbour as passed messages go

Handed::Handed(Lane& lane, ByteSpan to_prev, ByteSpan to_next)
    : lane_(lane), prev_offset_(lane.passed_out_.size()), prev_bytes_(to_prev.size()),
      next_offset_(lane.handed_out_.size()), next_bytes_(to_next.size()) {
  append(lane_.passed_out_, to_prev);
  append(lane_.handed_out_, to_next);
}

void Handed::await_suspend(std::coroutine_handle<> h) { lane_.wait(h); }

FromEach Handed::await_resume() {
  auto cut = [](const SecretVector& all, std::size_t offset, std::size_t bytes) {
    auto first = all.begin() + static_cast<std::ptrdiff_t>(offset);
    return SecretVector(first, first + static_cast<std::ptrdiff_t>(bytes));
  };
  return {cut(lane_.handed_got_, next_offset_, next_bytes_),
          cut(lane_.passed_got_, prev_offset_, prev_bytes_)};
}

// ---- Lane

bool Lane::use(TickPart& part, std::string_view name) {
  const auto same = [&](const Part& one) { return one.name == name; };
  if (parts_.size() == kMostParts || std::ranges::any_of(parts_, same)) return false;
  parts_.push_back({&part, name});
  return true;
}

bool Lane::advance() {
  run();
  return !waiting_.empty();
}

Lane::ToPrev Lane::finish_to_prev() {
  ToPrev out;
  for (std::size_t k = 0; k < parts_.size(); ++k) out.parts[k] = parts_[k].part->finish_to_prev();
  SecretVector& rest = rest_[tick_ % kKeptTicks];
  rest.clear();
  if (!pair_out_.empty()) rest.assign(pair_out_.begin(), pair_out_.end());
  if (!passed_out_.empty()) append(rest, passed_out_);
  out.rest = rest;
  return out;
}

Lane::ToPrev Lane::sent_to_prev(std::uint64_t tick) const {
  assert(tick <= tick_ && tick_ - tick < kKeptTicks);
  ToPrev out;
  for (std::size_t k = 0; k < parts_.size(); ++k) out.parts[k] = parts_[k].part->sent_to_prev(tick);
  out.rest = rest_[tick % kKeptTicks];
  return out;
}

void Lane::append_to_prev(SecretVector& packet) {
  const ToPrev octets = finish_to_prev();
  for (ByteSpan one : octets.parts) append(packet, one);
  append(packet, octets.rest);
}

void Lane::append_to_next(SecretVector& packet) const {
  for (const Part& one : parts_) append(packet, one.part->to_next());
  for (ByteSpan one : {ByteSpan(pair_out_), ByteSpan(handed_out_)}) append(packet, one);
}

// Most ticks hold the parts' octets and no message: what else there may be stands apart, so that
// a tick of few octets costs little.
Result<void> Lane::consume(ByteSpan from_next, ByteSpan from_prev) {
  struct PartBytes {
    std::size_t next, prev;
  };
  std::array<PartBytes, kMostParts> bytes;
  PartBytes all{0, 0};
  PartBytes* of = bytes.data();
  for (const Part& one : parts_) {
    of->next = one.part->bytes_from(Neighbour::kNext);
    of->prev = one.part->bytes_from(Neighbour::kPrev);
    all.next += of->next;
    all.prev += of->prev;
    ++of;
  }
  if (from_next.size() != all.next + pair_out_.size() + passed_out_.size() ||
      from_prev.size() != all.prev + pair_out_.size() + handed_out_.size())
    return of_another_length();
  of = bytes.data();
  for (const Part& one : parts_) {
    if (auto taken = one.part->consume(from_next.first(of->next), from_prev.first(of->prev));
        !taken)
      return deviates(taken.error().message);
    from_next = from_next.subspan(of->next);
    from_prev = from_prev.subspan(of->prev);
    ++of;
  }
  if (!comparisons_.empty() || !pair_out_.empty() || !passed_out_.empty() || !handed_out_.empty())
    take_messages(from_next, from_prev);
  ready_all(waiting_);
  ++tick_;
  return {};
}

Result<void> Lane::of_another_length() const {
  return fail("round " + std::to_string(tick_) +
              ": a neighbour's packet has another length than ours; the servers disagree on "
              "the protocol's course. Check that all three run the same tkdc version");
}

Result<void> Lane::deviates(const std::string& why) {
  set_deviation(why);
  return fail("round " + std::to_string(tick_) + ": " + *deviation_ +
              "; nothing was released. One of the servers computes wrongly");
}

void Lane::take_messages(ByteSpan from_next, ByteSpan from_prev) {
  if (!pair_out_.empty()) {
    const ByteSpan next = from_next.first(pair_out_.size());
    const ByteSpan prev = from_prev.first(pair_out_.size());
    if (!comparisons_.empty()) {
      compare(Neighbour::kNext, next);
      compare(Neighbour::kPrev, prev);
    }
    pair_next_.assign(next.begin(), next.end());
    pair_prev_.assign(prev.begin(), prev.end());
    pair_out_.clear();
  }
  comparisons_.clear();
  if (!passed_out_.empty()) {
    const ByteSpan passed = from_next.last(passed_out_.size());
    passed_got_.assign(passed.begin(), passed.end());
    passed_out_.clear();
  }
  if (!handed_out_.empty()) {
    const ByteSpan handed = from_prev.last(handed_out_.size());
    handed_got_.assign(handed.begin(), handed.end());
    handed_out_.clear();
  }
}

}  // namespace tkdc
