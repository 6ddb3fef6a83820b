// SPDX-License-Identifier: Apache-2.0
#include "sim/wire.h"

#include <algorithm>

#include "sim/hosts.h"
#include "sim/liar.h"
#include "sim/memory.h"

namespace tkdc::sim {
namespace {

Wires* current_wires = nullptr;
// As TCP_USER_TIMEOUT and the probes of link/socket.cc: of nobody who answers, and the first.
constexpr Us kVanished = 15 * kSecond, kProbed = 5 * kSecond;

bool is_blocked(const Wire& wire) {
  return world().blocked(wire.host[0], wire.host[1]) || world().blocked(wire.host[1], wire.host[0]);
}

}  // namespace

Wires& wires() { return *current_wires; }

void new_wires() {
  static Wires one;
  one = Wires();
  current_wires = &one;
}

std::vector<WirePtr> Wires::alive() {
  std::vector<WirePtr> out;
  std::erase_if(all_, [](const auto& one) { return one.expired(); });
  for (const auto& one : all_) out.push_back(one.lock());
  return out;
}

WirePtr Wires::find(int number) {
  const std::vector<WirePtr> all = alive();
  const auto found = std::ranges::find(all, number, [](const WirePtr& one) { return one->number; });
  return found == all.end() ? nullptr : *found;
}

WirePtr Wires::dial(int from, int to, std::string what) {
  auto wire = std::make_shared<Wire>();
  wire->number = next_++;
  if (from < kServers && to < kServers) ++calls_;
  wire->host[0] = from;
  wire->host[1] = to;
  wire->what = std::move(what);
  wire->dialled = world().now();
  const Us there = world().now() + 2 * world().delay(from, to);
  wire->connected = is_blocked(*wire) ? kNever : there;
  if (wire->connected == kNever) wire->held_since = world().now();
  world().fibers.wake_at(there);
  all_.push_back(wire);
  return wire;
}

void Wires::send(Wire& wire, int from_end, SecretVector octets) {
  Host& sender = world().here();
  if (sender.dead || ends_for_want_of_memory(sender)) return;
  if (sender.crash_at_packet >= 0 && sender.crash_at_packet-- == 0) {
    world().note(sender.name, "crashes as it sends a packet");
    world().injected("crash at a packet");
    crash(sender, false);
    return;
  }
  if (!wire.up(1 - from_end) || !wire.up(from_end)) return;
  if (wire.forgotten) return cut(wire);
  // What follows a loss in a stream never arrives. Packets of lanes are numbered.
  if (wire.bulk && wire.cut[0] != kNever && wire.cut[1] != kNever) return;
  ++world().packets;
  const Delivery becomes = lie(wire, from_end, octets);
  if (!becomes.withheld) carry(wire, from_end, std::move(octets), becomes.late);
}

void Wires::carry(Wire& wire, int from_end, SecretVector octets, Us late) {
  const int from = wire.host[from_end], to = wire.host[1 - from_end];
  if (!wire.up(1 - from_end) || !wire.up(from_end)) return;
  if (from < kServers && to < kServers) world().sent(octets);
  std::deque<Packet>& queue = wire.to[1 - from_end];
  Us arrives = world().now() + world().delay(from, to) + late;
  if (!queue.empty()) arrives = std::max(arrives, queue.back().arrives);
  if (wire.silent || world().blocked(from, to)) arrives = kNever;
  if (arrives == kNever)
    wire.held_since = std::min(wire.held_since, world().now());
  else
    world().fibers.wake_at(arrives);
  queue.push_back({arrives, std::move(octets)});
}

void Wires::close(Wire& wire, int by_end) {
  if (wire.cut[by_end] == kNever) wire.cut[by_end] = world().now();
  Us& other = wire.cut[1 - by_end];
  if (other != kNever || wire.silent) return;
  if (is_blocked(wire)) {
    wire.held_since = std::min(wire.held_since, world().now());
    return;
  }
  other = world().now() + world().delay(wire.host[by_end], wire.host[1 - by_end]);
  for (const Packet& packet : wire.to[1 - by_end])
    if (packet.arrives != kNever) other = std::max(other, packet.arrives);
  world().fibers.wake_at(other);
}

void Wires::refuse(Wire& wire) {
  wire.cut[0] = wire.cut[1] = wire.connected;
  wire.connected = kNever;
}

void Wires::cut(Wire& wire) {
  for (int end = 0; end < 2; ++end) {
    // What has arrived stays.
    std::erase_if(wire.to[end], [](const Packet& p) { return p.arrives > world().now(); });
    if (wire.cut[end] != kNever) continue;
    wire.cut[end] = world().now() + static_cast<Us>(world().random.below(5 * kMs));
    world().fibers.wake_at(wire.cut[end]);
  }
}

void Wires::block(int from, int to) {
  world().block(from, to, true);
  for (const WirePtr& wire : alive())
    for (int end = 0; end < 2; ++end)
      if (wire->host[1 - end] == from && wire->host[end] == to)
        for (Packet& packet : wire->to[end])
          if (packet.arrives > world().now()) {
            packet.arrives = kNever;
            wire->held_since = std::min(wire->held_since, world().now());
          }
}

void Wires::heal() {
  for (int a = 0; a < kHosts; ++a)
    for (int b = 0; b < kHosts; ++b) world().block(a, b, false);
  for (const WirePtr& wire : alive()) {
    if (wire->silent) continue;
    if (wire->connected == kNever && wire->cut[0] == kNever) {
      wire->connected = world().now() + 2 * world().delay(wire->host[0], wire->host[1]);
      world().fibers.wake_at(wire->connected);
      if (wire->unheard) refuse(*wire);
    }
    for (int end = 0; end < 2; ++end) {
      Us at = world().now() + world().delay(wire->host[1 - end], wire->host[end]);
      for (Packet& packet : wire->to[end]) {
        if (packet.arrives != kNever) continue;
        packet.arrives = at;
        world().fibers.wake_at(at);
      }
      // It was closed meanwhile.
      if (wire->cut[1 - end] != kNever && wire->cut[end] == kNever) {
        wire->cut[end] = at;
        world().fibers.wake_at(at);
      }
    }
    wire->held_since = kNever;
  }
}

void Wires::host_died(int host, bool without_a_word) {
  for (const WirePtr& wire : alive())
    for (int end = 0; end < 2; ++end) {
      if (wire->host[end] != host) continue;
      if (without_a_word) {
        wire->silent = true;
        wire->held_since = std::min(wire->held_since, world().now());
        for (Packet& packet : wire->to[1 - end])
          if (packet.arrives > world().now()) packet.arrives = kNever;
      } else {
        close(*wire, end);
      }
    }
}

// It knows nothing of connections that it had, and says so to whoever sends it something: a probe,
// at last.
void Wires::host_back(int host) {
  for (const WirePtr& wire : alive())
    for (int end = 0; end < 2; ++end) {
      if (!wire->silent || wire->host[end] != host) continue;
      wire->forgotten = true;
      if (!wire->to[end].empty()) cut(*wire);
    }
}

namespace {

bool cut_some(const std::vector<WirePtr>& some) {
  if (some.empty()) return false;
  Wire& wire = *some[world().random.below(some.size())];
  world().note("network", wire.what + " is broken off");
  wires().cut(wire);
  return true;
}

bool is_cut(const Wire& wire) { return wire.cut[0] != kNever || wire.cut[1] != kNever; }

}  // namespace

bool Wires::cut_one(Us age) {
  std::vector<WirePtr> some = alive();
  std::erase_if(some, [](const WirePtr& wire) {
    return is_cut(*wire) || wire->host[0] >= kServers || wire->host[1] >= kServers;
  });
  const auto is_old = [age](const WirePtr& wire) { return world().now() - wire->dialled > age; };
  if (!std::ranges::all_of(some, is_old)) std::erase_if(some, is_old);
  return cut_some(some);
}

bool Wires::cut_one_of(int agent) {
  std::vector<WirePtr> some = alive();
  std::erase_if(some,
                [agent](const WirePtr& wire) { return is_cut(*wire) || wire->host[0] != agent; });
  return cut_some(some);
}

void Wires::look() {
  for (const WirePtr& wire : alive()) {
    const bool held = is_blocked(*wire) || wire->silent;
    if (held && wire->held_since == kNever) wire->held_since = world().now();
    if (!held) continue;
    if (wire->held_since > world().now() - (wire->forgotten ? kProbed : kVanished)) continue;
    if (wire->cut[0] == kNever || wire->cut[1] == kNever) cut(*wire);
  }
}

}  // namespace tkdc::sim
