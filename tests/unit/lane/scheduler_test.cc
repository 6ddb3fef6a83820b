// SPDX-License-Identifier: Apache-2.0
#include "lane/scheduler.h"

#include <gtest/gtest.h>

#include <string>

namespace tkdc {
namespace {

// Suspends until somebody resumes it by hand.
struct Gate {
  std::coroutine_handle<> waiting;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) { waiting = h; }
  void await_resume() {}
};

Task<void> pass(Gate& gate, std::string& order, char name) {
  co_await gate;
  order += name;
}

TEST(Scheduler, ResumesInTheOrderOfTheCalls) {
  Scheduler scheduler;
  Gate a, b;
  std::string order;
  scheduler.spawn(pass(a, order, 'a'));
  scheduler.spawn(pass(b, order, 'b'));
  scheduler.run();
  EXPECT_EQ(scheduler.tasks(), 2u);
  scheduler.ready(b.waiting);
  scheduler.ready(a.waiting);
  scheduler.run();
  EXPECT_EQ(order, "ba");
  EXPECT_EQ(scheduler.tasks(), 0u);
}

Task<void> two(Scheduler& scheduler, Gate& a, Gate& b, std::string& order) {
  co_await both(scheduler, pass(a, order, 'a'), pass(b, order, 'b'));
  order += '!';
}

TEST(Scheduler, BothAreDoneWhenTheLastOneIs) {
  Scheduler scheduler;
  Gate a, b;
  std::string order;
  scheduler.spawn(two(scheduler, a, b, order));
  scheduler.run();
  scheduler.ready(a.waiting);
  scheduler.run();
  EXPECT_EQ(order, "a");
  scheduler.ready(b.waiting);
  scheduler.run();
  EXPECT_EQ(order, "ab!");
}

TEST(Scheduler, GathersWhenNobodyCanRun) {
  Scheduler scheduler;
  Gate gate;
  std::string order;
  int asked = 0;
  scheduler.add_gatherer([&] {
    ++asked;
    if (!gate.waiting) return false;
    scheduler.ready(std::exchange(gate.waiting, nullptr));
    return true;
  });
  scheduler.spawn(pass(gate, order, 'g'));
  scheduler.run();
  EXPECT_EQ(order, "g");
  EXPECT_EQ(asked, 2);
}

// What a task holds goes with it.
TEST(Scheduler, FreesTasksThatNeverEnd) {
  auto held = std::make_shared<int>(1);
  {
    Scheduler scheduler;
    Gate gate;
    const auto wait = [](Gate& at, std::shared_ptr<int> with) -> Task<void> {
      co_await at;
      *with = 2;
    };
    scheduler.spawn(wait(gate, held));
    scheduler.run();
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace tkdc
