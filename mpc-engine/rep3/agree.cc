// SPDX-License-Identifier: Apache-2.0
// The one place where servers compare what they have decided (course.h). In a file of its own:
// tests that show what it prevents are linked with another in its place.
#include "rep3/rep3.h"

namespace tkdc {
namespace {

constexpr const char* kToldDifferently =
    "the servers were told different things about which jobs to run";

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
  const Bytes digest(mine.begin(), mine.end());
  Bytes message = digest;
  message.insert(message.end(), word.begin(), word.end());
  Expected expected{digest, digest};
  FromBoth others = co_await exchange(std::move(message), std::move(expected), kToldDifferently);
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

}  // namespace tkdc
