// SPDX-License-Identifier: Apache-2.0
// The two wire-format.txt, of session/ and of rep3/, and session/wire-format-later.txt: a hash of
// what each party sends, by protocol, mode and party.
#pragma once

#include <sodium.h>

#include <array>
#include <map>
#include <string>

#include "base/secret.h"

namespace tkdc::test {

// Of the packets of one party, their sizes too.
class TraceHash {
 public:
  TraceHash() { crypto_generichash_init(&state_, nullptr, 0, 32); }
  void add(ByteSpan packet);
  std::string hex();

 private:
  crypto_generichash_state state_;
};

// "protocol mode party" -> hash
using Traces = std::map<std::string, std::string>;

void add_trace(Traces& traces, const std::string& protocol, const std::string& mode,
               const std::array<std::string, 3>& by_party);

// Of one mode: "control", "later", or one of a protocol. Expects them to be as committed; with
// TKDC_UPDATE_GOLDEN (`make golden`) commits them.
void expect_golden(const std::string& mode, const Traces& now);

// Of what servers say beside the protocols, by party.
using Hashes = std::array<TraceHash, 3>;
void expect_control(const std::string& name, Hashes& hashes);
// Of a whole lane, by the protocol that computes in it.
void expect_lane(const std::string& name, const std::string& protocol, Hashes& hashes);

}  // namespace tkdc::test
