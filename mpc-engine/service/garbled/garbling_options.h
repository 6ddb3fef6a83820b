// SPDX-License-Identifier: Apache-2.0
// What a server's configuration says of garbled circuits (docs/protocols/20-three-servers.md).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tkdc {

// How a job is computed: by sharing; likewise, but its kind is learned for later ones; by a garbled
// circuit that stands ready; or by one for which it waits, also until its kind is learned.
enum class Garbled : std::uint8_t { kNo, kLearn, kReady, kMade };

struct GarblingOptions {
  // In the order of kUses. kFar: between servers that are `far` from each other; kAuto: also nearer
  // ones, while a lane has little to do.
  enum class Use : std::uint8_t { kNever, kFar, kAuto, kAlways };
  Use use = Use::kNever;  // the leader's decides, where no server's is kNever
  // Of instances in one lane, at the server that keeps most of them. The same at all three.
  std::size_t most_bytes = std::size_t{128} << 20;
  // Of each kind in one lane, wanted. The same at all three.
  std::size_t instances = 6;
  // What this server sends to make them, all lanes together; 0: as fast as it goes. Each server's
  // own: they make an instance together, so the slowest one's holds.
  std::uint64_t octets_per_s = 125'000'000;
  // One way: of ticks that take so long, the thousand that sharing takes are more than it takes to
  // lay a circuit out and to make one.
  std::chrono::microseconds far{1500};
  // kAuto, nearer than that: where jobs are at work for more of a lane's time, it makes instances
  // no faster than they are taken, and to make them takes CPU from jobs.
  double most_busy = 0.5;

  // As data.garbling and `tkdc status` say it.
  static constexpr std::array kUses{"never", "far", "auto", "always"};
  const char* use_name() const { return kUses[static_cast<std::size_t>(use)]; }
};

}  // namespace tkdc
