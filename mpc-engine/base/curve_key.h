// SPDX-License-Identifier: Apache-2.0
// CURVE keys of ZeroMQ: 32 octets, or 40 characters of Z85 (ZeroMQ RFC 32) as text.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/secret.h"

namespace tkdc {

inline constexpr std::size_t kCurveKeyBytes = 32;
inline constexpr std::size_t kCurveTextBytes = 40;

using CurvePublicKey = std::array<std::uint8_t, kCurveKeyBytes>;

// True for 40 characters of Z85.
bool is_curve_key(const std::string& text);

// Nothing when the text is no key.
std::optional<CurvePublicKey> decode_curve_public(const std::string& text);
// False when the text is no key.
[[nodiscard]] bool decode_curve_secret(const SecretVector& text,
                                       std::span<std::uint8_t, kCurveKeyBytes> out);

struct CurveKeys {
  std::string public_text;
  SecretVector secret_text;
};

// A new pair. Nothing when this libzmq has no CURVE.
std::optional<CurveKeys> new_curve_keys();

}  // namespace tkdc
