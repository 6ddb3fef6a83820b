// SPDX-License-Identifier: Apache-2.0
// Where a server's audit log stands: its number of lines and the hash of the
// last. Servers tell one another and write down what they hear, so that a log
// that is cut short or rewritten later disagrees with the two others.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "base/codec.h"
#include "session/owners_note.h"

namespace tkdc {

struct AuditHead {
  std::uint64_t lines = 0;
  std::array<std::uint8_t, 32> hash{};
  bool operator==(const AuditHead&) const = default;
};

template <class AnyWriter>
void put_audit_head(AnyWriter& w, const AuditHead& head) {
  w.u64(head.lines);
  w.raw(head.hash);
}

inline AuditHead get_audit_head(Reader& r) {
  AuditHead head;
  head.lines = r.u64();
  r.array(head.hash);
  return head;
}

// In a handshake each server's audit head is its owner's note.
inline OwnersNote note_of(const AuditHead& head) {
  Bytes octets;
  Writer w(octets);
  put_audit_head(w, head);
  OwnersNote note{};
  assert(octets.size() == note.size());
  std::ranges::copy(octets, note.begin());
  return note;
}

inline AuditHead audit_head_of(const OwnersNote& note) {
  Reader r(note);
  return get_audit_head(r);
}

}  // namespace tkdc
