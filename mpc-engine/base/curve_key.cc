// SPDX-License-Identifier: Apache-2.0
#include "base/curve_key.h"

#include <zmq.h>

#include <cstring>

namespace tkdc {
namespace {

// With a NUL behind the text. libzmq writes 4 octets for each 5 characters before the first NUL, so
// the text has to be as long as a key there too.
bool decode(const char* text, std::uint8_t* out) {
  return std::strlen(text) == kCurveTextBytes && zmq_z85_decode(out, text) != nullptr;
}

}  // namespace

bool is_curve_key(const std::string& text) { return decode_curve_public(text).has_value(); }

std::optional<CurvePublicKey> decode_curve_public(const std::string& text) {
  CurvePublicKey key{};
  if (text.size() != kCurveTextBytes || !decode(text.c_str(), key.data())) return std::nullopt;
  return key;
}

bool decode_curve_secret(const SecretVector& text, std::span<std::uint8_t, kCurveKeyBytes> out) {
  if (text.size() != kCurveTextBytes) return false;
  SecretVector terminated;
  terminated.reserve(kCurveTextBytes + 1);
  terminated.assign(text.begin(), text.end());
  terminated.push_back(0);
  return decode(reinterpret_cast<const char*>(terminated.data()), out.data());
}

std::optional<CurveKeys> new_curve_keys() {
  char public_text[kCurveTextBytes + 1];
  SecretVector secret_text(kCurveTextBytes + 1);
  if (zmq_curve_keypair(public_text, reinterpret_cast<char*>(secret_text.data())) != 0)
    return std::nullopt;
  secret_text.pop_back();
  return CurveKeys{public_text, std::move(secret_text)};
}

}  // namespace tkdc
