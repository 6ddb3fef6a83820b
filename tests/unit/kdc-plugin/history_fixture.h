// SPDX-License-Identifier: Apache-2.0
// libkadm5's record of a principal, written as libkadm5srv's XDR routines write it: for tests of
// what reads it.
#pragma once

extern "C" {  // the header does not speak C++ throughout
#include <kdb.h>
}

#include <cstdint>
#include <string>
#include <vector>

namespace tkdc::test {

using Octets = std::vector<std::uint8_t>;

inline void put_number(Octets& out, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(v >> shift));
}

inline void put_octets(Octets& out, const Octets& in) {
  put_number(out, static_cast<std::uint32_t>(in.size()));
  out.insert(out.end(), in.begin(), in.end());
  while (out.size() % 4 != 0) out.push_back(0);
}

// Passwords, of each its keys' octets.
inline Octets kadm5_record(const std::string& policy,
                           const std::vector<std::vector<Octets>>& history) {
  Octets out;
  put_number(out, 0x12345C01);
  Octets name(policy.begin(), policy.end());
  if (!name.empty()) name.push_back(0);
  put_octets(out, name);
  for (std::uint32_t number : {0x800u, 1u, 2u}) put_number(out, number);
  put_number(out, static_cast<std::uint32_t>(history.size()));
  for (const auto& password : history) {
    put_number(out, static_cast<std::uint32_t>(password.size()));
    for (const Octets& key : password) {
      for (std::uint32_t number : {1u, 1u, 18u, 0u}) put_number(out, number);
      put_number(out, static_cast<std::uint32_t>(key.size()));
      put_number(out, 0);
      put_octets(out, key);
      put_octets(out, {});
    }
  }
  return out;
}

}  // namespace tkdc::test
