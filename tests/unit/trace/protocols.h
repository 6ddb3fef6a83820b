// SPDX-License-Identifier: Apache-2.0
// The engine's protocols as functions of a secret string: what the golden wire
// traces and the network simulator run. Inputs come from the party's seed.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "cipher/aes_keys.h"
#include "cipher/gcm.h"
#include "cipher/rfc3962.h"
#include "rep3/unit/rep3_protocol.h"

namespace tkdc::test {

struct TracedProtocol {
  std::string name;
  std::size_t secret_bytes;
  std::function<Task<SharedBytes>(Rep3Protocol&, SharedBytes secret)> run;
  bool verified = true;  // else there is none of it in malicious sessions
};

// So that a parameterised test's name is all that is printed of it.
inline void PrintTo(const TracedProtocol& protocol, std::ostream* out) { *out << protocol.name; }

// AES in counter mode, GCM seal and open (a true tag and a forged one), CBC-CTS both
// ways, SHA-1 and HMAC-SHA1 in two shapes, RFC 3962 and RFC 8009 seal and open, DK, BIND of both
// forms, zero test, EQUAL.
const std::vector<TracedProtocol>& protocols();

// Of the programming interface: inputs, products and comparisons in its rings.
const std::vector<TracedProtocol>& api_protocols();

}  // namespace tkdc::test
