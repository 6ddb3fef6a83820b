// SPDX-License-Identifier: Apache-2.0
#include "sim/liar.h"

#include "sim/garbling.h"
#include "sim/repairs.h"

namespace tkdc::sim {
namespace {

void change(SecretVector& octets) {
  Random& random = world().random;
  const std::size_t at = random.below(octets.size());
  switch (random.below(4)) {
    case 0: octets.resize(random.below(octets.size()) + 1); break;  // shorter
    case 1: octets[at] ^= static_cast<std::uint8_t>(1 + random.below(255)); break;
    default: octets[at] ^= static_cast<std::uint8_t>(1u << random.below(8)); break;
  }
}

bool wants(int server) {
  Liar& one = liar();
  if (one.server != server || one.left <= 0 || world().calm) return false;
  if (one.in_repairs && !is_repairing(server)) return false;
  if (world().random.below(one.one_in) != 0) return false;
  --one.left;
  one.has_lied = true;
  return true;
}

bool is_about(const Wire& wire) {
  using enum Liar::About;
  if (liar().about == kAll) return true;
  if (liar().about == kTables) return wire.bulk;
  return !wire.bulk && is_garbling(liar().server);
}

}  // namespace

Liar& liar() {
  static Liar one;
  return one;
}

void lie(const Wire& wire, int from_end, SecretVector& octets) {
  if (wire.host[0] >= kServers || wire.host[1] >= kServers || octets.empty()) return;
  if (!liar().to_servers || !is_about(wire)) return;
  const int from = wire.host[from_end], to = wire.host[1 - from_end];
  const std::string& who = world().hosts[static_cast<std::size_t>(liar().server)].name;
  if (wants(from)) {
    change(octets);
    world().injected("lie to a server");
    world().note(who, "lies");
  } else if (wants(to)) {
    octets[world().random.below(octets.size())] ^=
        static_cast<std::uint8_t>(1u << world().random.below(8));
    world().injected("lie about what was heard");
    world().note(who, "computes with something else than it was sent");
  }
}

bool lies_about_a_bit(int server) {
  if (!liar().about_bits || !wants(server)) return false;
  world().injected("lie about a bit");
  world().note(world().hosts[static_cast<std::size_t>(server)].name, "has another bit");
  return true;
}

void lie_to_agent(int server, SecretVector& frame) {
  if (!liar().to_agents || frame.empty() || !wants(server)) return;
  change(frame);
  world().injected("lie to an agent");
  world().note(world().hosts[static_cast<std::size_t>(server)].name, "lies to an agent");
}

}  // namespace tkdc::sim
