// SPDX-License-Identifier: Apache-2.0
// What is authenticated: one party's two components of a value, under a name that all three agree
// on, and the tags with which it proves them (mac/role.h).
//
// Secret: components and tags. The name and the dealing are public to the servers.
#pragma once

#include "field/gf128.h"
#include "mac/keys.h"

namespace tkdc {

struct MacSubject {
  Bytes name;       // of the value: no other one has it
  Dealing dealing;  // of its tags
  MacKeyId key{};   // under which both dealers said that they deal
  // Of one length, whole blocks of 16 octets; by place, as SharedBytes has them.
  SecretVector component[2];
  SecretVector tag[2];  // of the same length, once they are dealt

  std::size_t bytes() const { return component[0].size(); }
};

inline constexpr std::size_t kMacBlockBytes = kGf128Bytes;
// A field's in whole blocks.
constexpr std::size_t mac_padded(std::size_t bytes) {
  return (bytes + kMacBlockBytes - 1) / kMacBlockBytes * kMacBlockBytes;
}

// What q is drawn under: the name and the dealing.
inline Bytes mac_name(ByteSpan name, const Dealing& dealing) {
  Bytes out;
  Writer w(out);
  w.bytes(name);
  put_dealing(w, dealing);
  return out;
}

}  // namespace tkdc
