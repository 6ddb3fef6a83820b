// SPDX-License-Identifier: Apache-2.0
// The one place where servers compare what they have decided (course.h). In a file of its own:
// tests that show what it prevents are linked with another in its place.
#include "base/now_public.h"
#include "rep3/rep3.h"

namespace tkdc {
namespace {

constexpr const char* kToldDifferently =
    "the servers were told different things about which jobs to run";

bool same(const Course::Digest& mine, ByteSpan theirs) {
  return std::ranges::equal(mine, theirs.first(mine.size()));
}

}  // namespace

// Which jobs, in which order; and how far they have come: whoever has drawn or sent more than the
// others runs something else, whatever it was told.
Course::Digest Rep3::state_digest(ByteSpan about) const {
  Bytes state;
  Writer w(state);
  w.u64(tick_);
  w.u64(layer_bytes_);
  for (std::uint64_t octets : drawn_) w.u64(octets);
  w.u64(taken_);
  w.bytes(about);
  Course::Digest out;
  crypto_generichash(out.data(), out.size(), state.data(), state.size(), course_.digest().data(),
                     course_.digest().size());
  return out;
}

Task<FromBoth> Rep3::agree(Bytes about, Bytes word) {
  const Course::Digest mine = state_digest(about);
  const std::uint64_t decisions = course_.decisions();
  comparisons_.push_back({pair_out_.size(), mine});
  Bytes message(mine.begin(), mine.end());
  message.insert(message.end(), word.begin(), word.end());
  FromBoth others = co_await exchange(message);
  if (!same(mine, others.prev) || !same(mine, others.next)) {
    set_deviation(kToldDifferently);
    co_await std::suspend_always();
  }
  compared_ = std::max(compared_.value_or(0), decisions);
  for (Bytes* one : {&others.prev, &others.next})
    one->erase(one->begin(), one->begin() + static_cast<std::ptrdiff_t>(mine.size()));
  co_return others;
}

Task<void> Rep3::agreed() { return agreed(course_.decisions()); }

Task<void> Rep3::agreed(std::uint64_t decisions) {
  if (claims() == nullptr || (compared_ && *compared_ >= decisions)) co_return;
  FromBoth others = co_await agree(Bytes(), Bytes());
}

// The lengths are this server's: who sends others has not come as far, or ends the session.
void Rep3::hear_agreement(Neighbour from, ByteSpan rest) {
  const std::size_t before = from == Neighbour::kNext
                                 ? layer_out().size() + (open_out_.empty() ? 0 : kDigestBytes)
                                 : open_out_.size();
  const std::size_t after = from == Neighbour::kNext ? own_out_.size() : 0;
  if (rest.size() != before + pair_out_.size() + after) return;
  const ByteSpan pairs = rest.subspan(before, pair_out_.size());
  now_public(pairs.data(), pairs.size());
  for (const Comparison& one : comparisons_)
    if (!same(one.mine, pairs.subspan(one.offset))) set_deviation(kToldDifferently);
}

}  // namespace tkdc
