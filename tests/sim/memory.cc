// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.h"

#include <cstdlib>
#include <new>

#include "sim/hosts.h"

namespace tkdc::sim {
namespace {

bool any_is_refused = false;  // some host's next allocation is refused

void note_allocation() {
  Host& host = world().here();
  if (host.crash_at_memory == 0) host.refused = true;
}

void* allocate(std::size_t octets) {
  if (any_is_refused) note_allocation();
  return std::malloc(octets == 0 ? 1 : octets);
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

void new_memory() { any_is_refused = false; }

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
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
