// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of one lane: whoever waits for a message or for others' work is resumed by
// ready(). No thread, no I/O: used by one thread.
#pragma once

#include <functional>
#include <vector>

#include "lane/task.h"

namespace tkdc {

class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;

  void spawn(Task<void> task);
  // Resumes h in run(), this one or the next; in the order of the calls.
  void ready(std::coroutine_handle<> h) { ready_.push_back(h); }
  // The same for all of `waiting`, which is empty afterwards.
  void ready_all(std::vector<std::coroutine_handle<>>& waiting) {
    if (ready_.empty()) {
      ready_.swap(waiting);
      return;
    }
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }
  // `gather` is called whenever no coroutine can run; true if it made one ready.
  void add_gatherer(std::function<bool()> gather) { gatherers_.push_back(std::move(gather)); }
  // Until every task waits or has ended.
  void run();
  // Those that have not ended.
  std::size_t tasks() const { return tasks_.size(); }

  // For what tasks refer to, before it goes.
  void drop_tasks() { tasks_.clear(); }

 private:
  std::vector<std::coroutine_handle<>> ready_, resuming_;
  std::vector<std::function<bool()>> gatherers_;
  std::vector<Task<void>> tasks_;
  std::vector<detail::PromiseBase*> ended_;  // of them, since they were last cleared away
};

// Runs `a` and `b` side by side; done when both are.
Task<void> both(Scheduler& scheduler, Task<void> a, Task<void> b);
// The same for any number.
Task<void> all(Scheduler& scheduler, std::vector<Task<void>> tasks);

// For results of tasks that run side by side.
template <class T>
Task<void> store(Task<T> task, T& out) {
  out = co_await task;
}

}  // namespace tkdc
