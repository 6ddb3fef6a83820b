// SPDX-License-Identifier: Apache-2.0
// lane/agree.cc without the comparison: the same packets, and nobody looks at them. What leaves a
// server then is what the tests of this folder must see; no program that is installed has this.
#include "lane/lane.h"

namespace tkdc {

Course::Digest Lane::state_digest(ByteSpan) const { return course_.digest(); }

Task<FromBoth> Lane::agree(Bytes, Bytes word) {
  Bytes message;
  Writer w(message);
  w.raw(Course::Digest());
  w.raw(word);
  const std::uint64_t decisions = course_.decisions();
  FromBoth others = co_await exchange(message);
  compared_ = std::max(compared_.value_or(0), decisions);
  for (Bytes* one : {&others.prev, &others.next})
    one->erase(one->begin(), one->begin() + sizeof(Course::Digest));
  co_return others;
}

}  // namespace tkdc
