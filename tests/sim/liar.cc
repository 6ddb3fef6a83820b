// SPDX-License-Identifier: Apache-2.0
#include "sim/liar.h"

#include "sim/garbling.h"
#include "sim/repairs.h"
#include "sim/two_faced.h"

namespace tkdc::sim {
namespace {

// One bit of so many circuits at most.
constexpr unsigned kMostBits = 40;
// And one of so many packets of instances, or of jobs that use them.
constexpr unsigned kMostGarbled = 60;

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

void new_liar() {
  liar() = {};
  new_two_faced();
}

void begin_to_lie(const Fault& fault) {
  if (liar().has_lied) return;
  if (fault.kind == "two-faced")
    return let_server_lie(static_cast<int>(fault.a), static_cast<int>(fault.b),
                          static_cast<unsigned>(fault.c % kLiesOfKind), fault.c / kLiesOfKind);
  liar() = {};
  liar().server = static_cast<int>(fault.a);
  liar().left = static_cast<int>(fault.b);
  liar().one_in = static_cast<unsigned>(fault.c);
  liar().about_bits = world().plan.of_two() && fault.kind == "liar" && fault.c % 2 == 0;
  if (liar().about_bits) liar().one_in = 1 + liar().one_in % kMostBits;
  liar().to_agents = !liar().about_bits;
  liar().to_servers = fault.kind == "liar" && !liar().about_bits;
  if (!world().plan.garbles() || !liar().to_servers) return;
  constexpr Liar::About kAbout[] = {Liar::About::kAll, Liar::About::kJobs, Liar::About::kTables};
  liar().about = kAbout[fault.c % 3];
  if (liar().about != Liar::About::kAll) liar().one_in = 1 + liar().one_in % kMostGarbled;
}

Delivery lie(const Wire& wire, int from_end, SecretVector& octets) {
  const Delivery becomes = show_a_face(wire, from_end, octets);
  if (wire.host[0] >= kServers || wire.host[1] >= kServers || octets.empty()) return becomes;
  if (!liar().to_servers || !is_about(wire)) return becomes;
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
  return becomes;
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
