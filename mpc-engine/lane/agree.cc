// SPDX-License-Identifier: Apache-2.0
// The one place where servers compare what they have decided (course.h). In a file of its own:
// tests that show what it prevents are linked with another in its place.
#include "lane/lane.h"

namespace tkdc {
namespace {

constexpr const char* kToldDifferently =
    "the servers were told different things about which jobs to run";

}  // namespace

// Which jobs, in which order; and how far they have come: whoever has drawn or sent more than the
// others runs something else, whatever it was told.
Course::Digest Lane::state_digest(ByteSpan about) const {
  Bytes state;
  Writer w(state);
  w.u64(tick_);
  for (const auto& put : progress_) put(w);
  w.bytes(about);
  Course::Digest out;
  crypto_generichash(out.data(), out.size(), state.data(), state.size(), course_.digest().data(),
                     course_.digest().size());
  return out;
}

Task<FromBoth> Lane::agree(Bytes about, Bytes word) {
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

}  // namespace tkdc
