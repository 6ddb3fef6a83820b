// SPDX-License-Identifier: Apache-2.0
// One server that deviates: what it sends differs from what its program meant, in any packet to
// another server and in any answer to an agent. Or it computes with something else than it was
// sent, so that all it says fits together and is wrong. What it does with what it knows besides is
// not simulated; tests/unit/attack has that.
#pragma once

#include "base/secret.h"
#include "sim/plan.h"
#include "sim/wire.h"

namespace tkdc::sim {

struct Liar {
  int server = -1;      // nobody lies
  int left = 0;         // so many lies more
  unsigned one_in = 0;  // of its packets
  bool to_agents = false, to_servers = false;
  bool about_bits = false;  // of two servers: of what it has MACs of
  bool has_lied = false;
  bool in_repairs = false;  // and at no other time
  // Of three that garble: in anything, in messages of jobs that use an instance, in tables.
  enum class About : std::uint8_t { kAll, kJobs, kTables };
  About about = About::kAll;
};

Liar& liar();
void new_liar();
// As the fault says: `liar`, `liar to agents` or `two-faced`.
void begin_to_lie(const Fault& fault);

// What becomes of a message.
struct Delivery {
  bool withheld = false;
  Us late = 0;
};
// Changes what a liar sends.
Delivery lie(const Wire& wire, int from_end, SecretVector& octets);
void lie_to_agent(int server, SecretVector& frame);
// Whether it computes with another bit of its own than it has the MAC of, in all that it says.
bool lies_about_a_bit(int server);

}  // namespace tkdc::sim
