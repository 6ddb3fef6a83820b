// SPDX-License-Identifier: Apache-2.0
#include "lane/scheduler.h"

namespace tkdc {

void Scheduler::spawn(Task<void> task) {
  detail::PromiseBase& promise = task.handle().promise();
  promise.slot = tasks_.size();
  promise.ended = &ended_;
  tasks_.push_back(std::move(task));
  ready_.push_back(tasks_.back().handle());
}

void Scheduler::run() {
  for (;;) {
    while (!ready_.empty()) {
      resuming_.swap(ready_);
      for (auto h : resuming_) h.resume();
      resuming_.clear();
    }
    bool gathered = false;
    for (auto& gather : gatherers_) gathered |= gather();
    if (!gathered && ready_.empty()) break;
  }
  // Looking through all tasks would cost more than the rounds of small ones.
  for (const detail::PromiseBase* promise : ended_) {
    const std::size_t slot = promise->slot;
    std::swap(tasks_[slot], tasks_.back());
    tasks_[slot].handle().promise().slot = slot;
    tasks_.pop_back();
  }
  ended_.clear();
}

namespace {

// Resumes the awaiter when `left` children have counted down.
struct Countdown {
  Scheduler& scheduler;
  std::size_t left;
  std::coroutine_handle<> awaiter = nullptr;

  bool await_ready() const { return left == 0; }
  void await_suspend(std::coroutine_handle<> h) { awaiter = h; }
  void await_resume() {}
  void done() {
    if (--left == 0 && awaiter) scheduler.ready(awaiter);
  }
};

Task<void> counted(Task<void> task, Countdown& countdown) {
  co_await task;
  countdown.done();
}

}  // namespace

Task<void> all(Scheduler& scheduler, std::vector<Task<void>> tasks) {
  Countdown countdown{scheduler, tasks.size()};
  std::vector<Task<void>> children;
  children.reserve(tasks.size());
  for (auto& task : tasks) {
    children.push_back(counted(std::move(task), countdown));
    scheduler.ready(children.back().handle());
  }
  co_await countdown;
}

Task<void> both(Scheduler& scheduler, Task<void> a, Task<void> b) {
  std::vector<Task<void>> tasks;
  tasks.push_back(std::move(a));
  tasks.push_back(std::move(b));
  co_await all(scheduler, std::move(tasks));
}

}  // namespace tkdc
