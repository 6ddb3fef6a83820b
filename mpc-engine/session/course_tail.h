// SPDX-License-Identifier: Apache-2.0
// Where a lane's course stood when its session ended (lane/course.h): the next handshake
// compares it, since a server that withholds its packet keeps the two others from reading each
// other's last word within the session. Two honest servers are never more than one decision
// apart, so a few digests are enough. Nothing here is secret.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/codec.h"

namespace tkdc {

struct CourseTail {
  using Digest = std::array<std::uint8_t, 32>;
  static constexpr std::size_t kMost = 4;

  std::array<std::uint8_t, 32> session{};  // its id; zeros: no session yet, or nothing to compare
  std::uint64_t decisions = 0;
  std::vector<Digest> last;  // after each of the last decisions, the newest at the end
};

template <class AnyWriter>
void put_course_tail(AnyWriter& w, const CourseTail& tail) {
  w.raw(tail.session);
  w.u64(tail.decisions);
  w.u8(static_cast<std::uint8_t>(tail.last.size()));
  for (const CourseTail::Digest& digest : tail.last) w.raw(digest);
}

// False: malformed.
[[nodiscard]] inline bool get_course_tail(Reader& r, CourseTail& tail) {
  r.array(tail.session);
  tail.decisions = r.u64();
  const std::size_t count = r.u8();
  if (r.failed() || count > CourseTail::kMost || count > tail.decisions) return false;
  tail.last.resize(count);
  for (CourseTail::Digest& digest : tail.last) r.array(digest);
  return !r.failed();
}

// Whether two servers were in one session and have noted different decisions in it. The newest
// that both know is enough: each digest covers all before it.
inline bool contradict(const CourseTail& a, const CourseTail& b) {
  if (a.session != b.session || a.last.empty() || b.last.empty()) return false;
  const std::uint64_t common = std::min(a.decisions, b.decisions);
  const std::uint64_t a_back = a.decisions - common, b_back = b.decisions - common;
  // Honest servers are not so far apart: one of them has been told of a session of its own.
  if (a_back >= a.last.size() || b_back >= b.last.size()) return true;
  return a.last[a.last.size() - 1 - a_back] != b.last[b.last.size() - 1 - b_back];
}

}  // namespace tkdc
