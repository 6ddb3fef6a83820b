// SPDX-License-Identifier: Apache-2.0
// One run: its seed and plan, its hosts and fibers, and what is noted of it. There is one at a
// time, and everything simulated finds it by world().
#pragma once

#include <sodium.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "sim/fibers.h"
#include "sim/plan.h"

namespace tkdc::sim {

// At most so many servers: a run has servers() of them, and the others' places are empty.
inline constexpr int kServers = 3, kKdc = 3, kAdmin = 4, kSecondKdc = 5, kHosts = 6;

class World {
 public:
  explicit World(const Plan& plan, bool talks);
  ~World();

  const Plan& plan;
  Random random;   // of what happens
  Random secrets;  // of keys and plaintexts: another one shows what depends on them
  Fibers fibers;
  std::array<Host, kHosts> hosts;
  Host nature{"nature"};  // whose fibers are nobody's: workload and faults

  // Of this run.
  int servers() const { return plan.of_two() ? 2 : kServers; }
  Us now() const { return fibers.now(); }
  Host& here();  // of the fiber that runs
  bool blocked(int from, int to) const {
    return blocked_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  void block(int from, int to, bool is) {
    blocked_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = is;
  }
  // How long a packet takes.
  Us delay(int from, int to);

  // Of the fiber that runs: waits so long, or until something is so.
  bool wait(Us time, const std::function<bool()>& there);
  void sleep(Us time);

  // The run's course, octet by octet in its digest; a line of the timeline if somebody reads.
  void note(const std::string& who, const std::string& what);
  // The line alone.
  void tell(const std::string& who, const std::string& what) const;
  std::string digest() const;
  // What servers send to each other; with other keys it is another.
  void sent(ByteSpan octets);
  std::string digest_of_octets() const;
  // A state of a named list was reached (coverage.h).
  void reached(const std::string& state);
  void injected(const std::string& fault) { ++injected_[fault]; }

  // Something that must never be so. The first one ends the run.
  void broken(const std::string& invariant, const std::string& how);
  bool failed() const { return !invariant_.empty(); }
  const std::string& invariant() const { return invariant_; }
  const std::string& how() const { return how_; }

  std::map<std::string, std::uint64_t> reached_, injected_;
  std::uint64_t operations = 0, answered = 0, packets = 0;
  std::int64_t most_memory = 0;  // of a server, in octets
  bool calm = false;             // no fault is made any more
  bool quiet = false;            // nothing is asked any more
  bool idle = false;             // clients and administrators ask nothing any more
  Us calm_since = kNever;

 private:
  std::array<std::array<bool, kHosts>, kHosts> blocked_{};
  bool talks_;
  crypto_generichash_state course_, octets_;
  std::string invariant_, how_;
};

World& world();

// From now on.
void set_drift(Host& host, std::int64_t ppm);

// Of Machine, Disk, the log and libsodium's randomness: the simulated side. Once in a program.
void take_the_place_of_the_machine();

}  // namespace tkdc::sim
