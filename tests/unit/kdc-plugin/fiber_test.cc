// SPDX-License-Identifier: Apache-2.0
// Where a fiber's stack ends: it can be used almost to its end, and what goes beyond stops the
// program at the guard instead of writing into the neighbour's stack.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

extern "C" {
#include "fiber.h"
}

namespace tkdc::test {
namespace {

using Address = std::uintptr_t;

constexpr std::size_t kSparedBytes = 8 * 1024;  // below the deepest frame: room to return from it
constexpr std::size_t kLeapBytes = 48 * 1024;   // more than any frame in krb5kdc's process
constexpr std::size_t kPatternBytes =
    16 * 1024;  // at the top of a stack, next to the other's guard
constexpr int kAtGuard = 40, kElsewhere = 41, kNoFault = 42;

struct Stack {
  Address bottom = 0;
  std::string below;  // the permissions of what lies there
};

// From the kernel's list: the mapping that holds this frame, and the one that ends where it begins.
Stack stack_of(Address frame) {
  Stack out;
  std::ifstream maps("/proc/self/maps");
  std::string line, permissions, last;
  Address from = 0, to = 0, last_to = 0;
  while (std::getline(maps, line)) {
    char dash = 0;
    std::istringstream(line) >> std::hex >> from >> dash >> to >> permissions;
    if (frame >= from && frame < to) out = {from, last_to == from ? last : "none"};
    last_to = to;
    last = permissions;
  }
  return out;
}

Address frame_here() { return reinterpret_cast<Address>(__builtin_frame_address(0)); }

// As deep as `limit`; each frame is written to before and after the deeper ones.
__attribute__((noinline)) int descend(Address limit, int (*at_the_end)()) {
  volatile char frame[512];
  frame[0] = 1;
  int deeper = 0;
  if (frame_here() > limit)
    deeper = descend(limit, at_the_end);
  else if (at_the_end)
    deeper = at_the_end();
  return deeper + frame[0];
}

// Touches nothing but its frame's far end.
__attribute__((noinline)) int leap() {
  volatile char frame[kLeapBytes];
  frame[0] = 1;
  return frame[0];
}

struct Fiber {
  fiber* self = nullptr;
  Stack stack;
  const volatile char* pattern = nullptr;
  bool (*work)(const Stack&) = nullptr;  // nullptr: none
  bool worked = false;
};

bool pattern_holds(const Fiber& f) {
  return std::all_of(f.pattern, f.pattern + kPatternBytes, [](char c) { return c == 0x5c; });
}

// Fills the top of its stack, waits, does its work there.
void run(void* fiber, void*, void*) {
  auto& f = *static_cast<Fiber*>(fiber);
  volatile char pattern[kPatternBytes];
  std::fill(pattern, pattern + sizeof pattern, 0x5c);
  f.pattern = pattern;
  f.self = fiber_current();
  f.stack = stack_of(frame_here());
  fiber_suspend();
  if (f.work) f.worked = f.work(f.stack);
}

// The one that works and its neighbour, whose stack lies below.
struct Pair {
  explicit Pair(bool (*work)(const Stack&)) {
    for (Fiber& f : both) EXPECT_TRUE(fiber_start(run, &f, nullptr, nullptr));
    if (both[0].stack.bottom < both[1].stack.bottom) std::swap(upper, lower);
    upper->work = work;
  }
  // Ends both.
  void go() {
    fiber_resume(upper->self);
    EXPECT_TRUE(pattern_holds(*lower));
    fiber_resume(lower->self);
  }
  Fiber both[2];
  Fiber* upper = &both[0];
  Fiber* lower = &both[1];
};

Address guard_from, guard_to;
const Fiber* neighbour;

void on_fault(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<Address>(info->si_addr);
  _exit(at >= guard_from && at < guard_to && pattern_holds(*neighbour) ? kAtGuard : kElsewhere);
}

// In a child process, which ends with what came of it.
void overrun(bool (*work)(const Stack&)) {
  static char handlers_stack[64 * 1024];
  Pair pair(work);
  neighbour = pair.lower;
  guard_to = pair.upper->stack.bottom;
  guard_from = guard_to - FIBER_GUARD_BYTES;
  stack_t other{};
  other.ss_sp = handlers_stack;
  other.ss_size = sizeof handlers_stack;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaltstack(&other, nullptr) != 0 || sigaction(SIGSEGV, &action, nullptr) != 0) _exit(1);
  fiber_resume(pair.upper->self);
  _exit(pattern_holds(*neighbour) ? kNoFault : kElsewhere);
}

TEST(Fiber, ItsStackCanBeUsedAlmostToItsEnd) {
  Pair pair([](const Stack& stack) {
    return descend(stack.bottom + kSparedBytes, nullptr) > int{FIBER_STACK_BYTES} / 2 / 1024;
  });
  pair.go();
  EXPECT_TRUE(pair.upper->worked);
}

TEST(Fiber, BelowItsStackNothingCanBeTouched) {
  Pair pair(nullptr);
  for (const Fiber& f : pair.both) EXPECT_EQ(f.stack.below, "---p");
  pair.go();
}

TEST(FiberDeathTest, TooManyFramesEndAtTheGuard) {
  EXPECT_EXIT(overrun([](const Stack& stack) {
                return descend(stack.bottom - FIBER_GUARD_BYTES - kPatternBytes, nullptr) > 0;
              }),
              testing::ExitedWithCode(kAtGuard), "");
}

TEST(FiberDeathTest, AFrameOfManyPagesDoesNotSpanTheGuard) {
  EXPECT_EXIT(
      overrun([](const Stack& stack) { return descend(stack.bottom + kSparedBytes, leap) > 0; }),
      testing::ExitedWithCode(kAtGuard), "");
}

}  // namespace
}  // namespace tkdc::test
