// SPDX-License-Identifier: Apache-2.0
#include "sim/world.h"

#include <cstdio>

#include "base/hex.h"
#include "sim/coverage.h"
#include "sim/memory.h"

namespace tkdc::sim {
namespace {

World* current_world = nullptr;
constexpr std::uint64_t kSecretStream = 0x5ec2e7;

std::string digest_of(crypto_generichash_state state) {
  std::array<std::uint8_t, 32> out;
  crypto_generichash_final(&state, out.data(), out.size());
  return to_hex(out).substr(0, 32);
}

}  // namespace

World& world() { return *current_world; }

void set_drift(Host& host, std::int64_t ppm) {
  const Us now = world().now();
  host.drifted += (now - host.drift_since) * host.drift_ppm / 1'000'000;
  host.drift_since = now;
  host.drift_ppm = ppm;
}

World::World(const Plan& the_plan, bool talks)
    : plan(the_plan), random(the_plan.seed), secrets(the_plan.seed ^ the_plan.keys ^ kSecretStream),
      fibers(random), talks_(talks) {
  current_world = this;
  const char* names[kHosts] = {"server 0", "server 1", "server 2", "kdc", "admin", "second kdc"};
  for (int k = 0; k < kHosts; ++k) {
    hosts[static_cast<std::size_t>(k)].name = names[k];
    hosts[static_cast<std::size_t>(k)].number = k;
  }
  nature.number = -1;
  crypto_generichash_init(&course_, nullptr, 0, 32);
  crypto_generichash_init(&octets_, nullptr, 0, 32);
}

World::~World() {
  new_memory();  // who allocates asks for it
  current_world = nullptr;
}

Host& World::here() {
  Host* host = fibers.here();
  return host == nullptr ? nature : *host;
}

Us World::delay(int from, int to) {
  Us time = plan.latency_us +
            static_cast<Us>(random.below(static_cast<std::uint64_t>(plan.jitter_us) + 1));
  if (from == to) time /= 10;
  if (random.below(200) == 0) time += static_cast<Us>(random.below(20 * kMs));
  return time;
}

bool World::wait(Us time, const std::function<bool()>& there) {
  (void)ends_for_want_of_memory(here());
  const Us until = time > kNever - now() ? kNever : now() + time;
  return fibers.wait(until, there);
}

void World::sleep(Us time) {
  wait(time, [] { return false; });
}

void World::note(const std::string& who, const std::string& what) {
  const std::string line = std::to_string(now()) + who + what;
  crypto_generichash_update(&course_, reinterpret_cast<const unsigned char*>(line.data()),
                            line.size());
  tell(who, what);
}

void World::tell(const std::string& who, const std::string& what) const {
  if (talks_)
    std::printf("%11.6f %s: %s\n", static_cast<double>(now()) / kSecond, who.c_str(), what.c_str());
}

std::string World::digest() const { return digest_of(course_); }

void World::sent(ByteSpan octets) {
  crypto_generichash_update(&octets_, octets.data(), octets.size());
}

std::string World::digest_of_octets() const { return digest_of(octets_); }

void World::reached(const std::string& state) {
  if (!is_a_state(state)) broken("coverage", "no state is called '" + state + "'");
  ++reached_[state];
}

void World::broken(const std::string& invariant, const std::string& how) {
  if (failed()) return;
  invariant_ = invariant;
  how_ = how;
  note("INVARIANT", invariant + ": " + how);
}

}  // namespace tkdc::sim
