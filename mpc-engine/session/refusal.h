// SPDX-License-Identifier: Apache-2.0
// A packet that tells a neighbour why the handshake has failed, before its connection closes. Its
// text is the neighbour's: bounded, and made printable when it is read.
#pragma once

#include <string>

#include "base/codec.h"

namespace tkdc {

inline constexpr std::size_t kMaxRefusalBytes = 512;
inline constexpr std::uint8_t kRefusalTag = 'X';

inline Bytes encode_refusal(const std::string& reason) {
  Bytes out;
  Writer w(out);
  w.u8(kRefusalTag);
  w.text(reason.substr(0, kMaxRefusalBytes));
  return out;
}

inline bool is_refusal(ByteSpan packet) { return !packet.empty() && packet[0] == kRefusalTag; }

// Text of a peer, for a log.
inline std::string printable(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

inline std::string refusal_text(ByteSpan packet) {
  Reader r(packet);
  r.u8();
  std::string text = printable(r.text(kMaxRefusalBytes));
  return r.complete() ? text : "unreadable reason";
}

}  // namespace tkdc
