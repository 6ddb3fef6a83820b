// SPDX-License-Identifier: Apache-2.0
#include "threegarble/mailbox.h"

namespace tkdc::threegarble {
namespace {

void append_octets(SecretVector& to, const SecretVector& from) {
  const std::size_t at = to.size();
  to.resize(at + from.size());
  std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
}

SecretVector cut_octets(const SecretVector& from, std::size_t at, std::size_t bytes) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(at);
  return {first, first + static_cast<std::ptrdiff_t>(bytes)};
}

}  // namespace

Mailbox::Told::Told(Mailbox& box, const Letters& out, std::size_t from_prev, std::size_t from_next)
    : box_(box), from_prev_(from_prev), from_next_(from_next) {
  if (box.out_.next.empty()) {
    box.out_.next.push_back(kMark);
    box.from_prev_ = 1;
  }
  at_prev_ = box.from_prev_;
  at_next_ = box.from_next_;
  box.from_prev_ += from_prev;
  box.from_next_ += from_next;
  append_octets(box.out_.prev, out.prev);
  append_octets(box.out_.next, out.next);
}

Letters Mailbox::Told::await_resume() {
  return {cut_octets(box_.got_.prev, at_prev_, from_prev_),
          cut_octets(box_.got_.next, at_next_, from_next_)};
}

ByteSpan Mailbox::finish_to_prev() {
  SecretVector& kept = kept_[lane_.rounds() % kKeptTicks];
  kept = out_.prev;
  return kept;
}

std::size_t Mailbox::bytes_from(Neighbour from) const {
  return from == Neighbour::kPrev ? from_prev_ : from_next_;
}

Result<void> Mailbox::consume(ByteSpan from_next, ByteSpan from_prev) {
  if (!from_prev.empty() && from_prev[0] != kMark)
    return fail("threegarble: a neighbour's message has no mark");
  got_.next.assign(from_next.begin(), from_next.end());
  got_.prev.assign(from_prev.begin(), from_prev.end());
  out_ = Letters();
  from_prev_ = from_next_ = 0;
  return {};
}

}  // namespace tkdc::threegarble
