// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.h"

#include <array>
#include <cstdlib>
#include <new>

#include "sim/hosts.h"

namespace tkdc::sim {
namespace {

bool any_is_refused = false;  // some host's next allocation is refused

// In front of each piece of memory: whose it is.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Owner {
  std::size_t octets;
  int host;  // kHosts: nobody's
};
int paying = kHosts;
std::array<std::int64_t, kHosts + 1> held{}, held_at_first{};

void note_allocation() {
  Host& host = world().here();
  if (host.crash_at_memory == 0) host.refused = true;
}

void* allocate(std::size_t octets) {
  if (any_is_refused) note_allocation();
  if (octets > SIZE_MAX - sizeof(Owner)) return nullptr;
  auto* owner = static_cast<Owner*>(std::malloc(sizeof(Owner) + octets));
  if (owner == nullptr) return nullptr;
  *owner = {octets, paying};
  held[static_cast<std::size_t>(paying)] += static_cast<std::int64_t>(octets);
  return owner + 1;
}

void release(void* memory) {
  if (memory == nullptr) return;
  Owner* owner = static_cast<Owner*>(memory) - 1;
  held[static_cast<std::size_t>(owner->host)] -= static_cast<std::int64_t>(owner->octets);
  std::free(owner);
}

}  // namespace

bool ends_for_want_of_memory(Host& host) {
  if (host.dead || host.crash_at_memory < 0) return false;
  if (host.crash_at_memory > 0) {
    --host.crash_at_memory;
    host.refused = false;
    any_is_refused = true;
    return false;
  }
  if (!host.refused) return false;
  world().note(host.name, "is refused memory");
  world().injected("memory refused");
  crash(host, false);
  return true;
}

void new_memory() {
  any_is_refused = false;
  held_at_first = held;
}

void pays(const Host* host) {
  paying = host == nullptr || host->number < 0 ? kHosts : host->number;
}

std::int64_t memory_of(const Host& host) {
  const auto at = static_cast<std::size_t>(host.number);
  return held[at] - held_at_first[at];
}

}  // namespace tkdc::sim

// Inlined, g++ takes them for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t octets) {
  void* out = tkdc::sim::allocate(octets);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}
[[gnu::noinline]] void* operator new(std::size_t octets, const std::nothrow_t&) noexcept {
  return tkdc::sim::allocate(octets);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { tkdc::sim::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  tkdc::sim::release(memory);
}
