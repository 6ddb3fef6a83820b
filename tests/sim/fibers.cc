// SPDX-License-Identifier: Apache-2.0
#include "sim/fibers.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "sim/memory.h"

namespace tkdc::sim {
namespace {

constexpr std::size_t kStackBytes = 512 * 1024, kGuardBytes = 4096;
constexpr std::uint64_t kMostStepsAtOnce = 2'000'000;

// Stacks are used again; the first page of each is a guard.
std::vector<void*>& free_stacks() {
  static std::vector<void*> stacks;
  return stacks;
}

void* take_stack() {
  if (!free_stacks().empty()) {
    void* stack = free_stacks().back();
    free_stacks().pop_back();
    return stack;
  }
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, kGuardBytes, PROT_NONE) != 0) std::abort();
  return stack;
}

}  // namespace

struct Fibers::Fiber {
  Host* host = nullptr;
  std::function<void()> body;
  void* stack = nullptr;
  bool begun = false, done = false, joined = false;
  Us until = 0;
  Us late = 0;                                   // does not go on before
  const std::function<bool()>* there = nullptr;  // null: goes on at `until`
  bool is_there = false;
  jmp_buf at;
};

namespace {

// makecontext() begins a stack; from then on jumps are enough, and cost no system call.
jmp_buf scheduler;
ucontext_t begin_from, begin_at;
Fibers::Fiber* beginning = nullptr;

}  // namespace

Fibers::Fibers(Random& random) : random_(random) {}

Fibers::~Fibers() {
  for (auto& fiber : fibers_)
    if (fiber->stack != nullptr) free_stacks().push_back(fiber->stack);
}

Host* Fibers::here() const { return current_ == nullptr ? nullptr : current_->host; }

Fibers::Fiber* Fibers::start(Host& host, std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->host = &host;
  fiber->body = std::move(body);
  fiber->stack = take_stack();
  fiber->until = now_;
  ++host.fibers;
  fibers_.push_back(std::move(fiber));
  return fibers_.back().get();
}

void Fibers::enter() {
  Fiber& self = *beginning;
  self.body();
  self.body = nullptr;
  self.done = true;
  --self.host->fibers;
  _longjmp(scheduler, 1);
}

void Fibers::resume(Fiber& fiber) {
  current_ = &fiber;
  pays(fiber.host);
  if (_setjmp(scheduler) == 0) {
    if (fiber.begun) _longjmp(fiber.at, 1);
    fiber.begun = true;
    beginning = &fiber;
    getcontext(&begin_at);
    begin_at.uc_stack.ss_sp = static_cast<char*>(fiber.stack) + kGuardBytes;
    begin_at.uc_stack.ss_size = kStackBytes - kGuardBytes;
    begin_at.uc_link = nullptr;
    makecontext(&begin_at, &Fibers::enter, 0);
    swapcontext(&begin_from, &begin_at);
  }
  pays(nullptr);
  if (current_->done) ended_ = true;
  current_ = nullptr;
}

bool Fibers::wait(Us until, const std::function<bool()>& there) {
  Fiber& self = *current_;
  // However short it is, time passes: nobody can ask again and again at one time.
  self.until = std::max(until, now_ + 1);
  self.there = &there;
  if (self.host->dead) {
    const Us left = until == kNever ? kSecond : std::max<Us>(until - now_, kMs);
    self.host->skipped += left;
    self.until = now_;
  }
  self.late = 0;
  if (self.host->slow_until > now_ && random_.percent(10))
    self.late = now_ + random_.between(1, self.host->slow_by);
  if (_setjmp(self.at) == 0) _longjmp(scheduler, 1);
  return self.is_there;
}

void Fibers::join(Fiber* fiber) {
  const std::function<bool()> done = [fiber] { return fiber->done; };
  while (!fiber->done) wait(kNever, done);
  fiber->joined = true;
}

Fibers::Fiber* Fibers::pick() {
  const std::size_t count = fibers_.size();
  const std::size_t first = count == 0 ? 0 : random_.below(count);
  for (std::size_t k = 0; k < count; ++k) {
    Fiber& fiber = *fibers_[(first + k) % count];
    const Us not_before = std::max(fiber.host->hung_until, fiber.late);
    if (fiber.done || (not_before > now_ && !fiber.host->dead)) continue;
    current_ = &fiber;  // who asks for the time is told its host's
    fiber.is_there = fiber.there != nullptr && (*fiber.there)();
    current_ = nullptr;
    if (fiber.is_there || fiber.until <= now_ || fiber.host->dead) return &fiber;
  }
  return nullptr;
}

bool Fibers::pass_time() {
  Us next = kNever;
  for (const auto& fiber : fibers_) {
    if (fiber->done) continue;
    next = std::min(next, std::max(fiber->until, fiber->host->hung_until));
    if (fiber->late > now_) next = std::min(next, fiber->late);
  }
  while (!timers_.empty() && timers_.top() <= now_) timers_.pop();
  if (!timers_.empty()) next = std::min(next, timers_.top());
  if (next == kNever) return false;
  now_ = std::max(next, now_ + 1);
  steps_at_once_ = 0;
  return true;
}

void Fibers::collect() {
  ended_ = false;
  std::erase_if(fibers_, [](const std::unique_ptr<Fiber>& fiber) {
    if (!fiber->done || !fiber->joined) return false;
    free_stacks().push_back(fiber->stack);
    return true;
  });
}

bool Fibers::run(const std::function<bool()>& over) {
  while (!over()) {
    if (Fiber* fiber = pick()) {
      ++steps_;
      if (++steps_at_once_ > kMostStepsAtOnce) return false;
      resume(*fiber);
      if (ended_) collect();
    } else if (!pass_time()) {
      return false;
    }
  }
  return true;
}

}  // namespace tkdc::sim
