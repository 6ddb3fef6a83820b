// SPDX-License-Identifier: Apache-2.0
// Two stores of one process that settle what is half done, as two servers do before a session.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "service/store/store.h"
#include "session/settle.h"

namespace tkdc {

// Packets from one thread to the other.
class Mailbox {
 public:
  void put(Bytes packet) {
    const std::lock_guard lock(mutex_);
    packets_.push_back(std::move(packet));
    there_.notify_one();
  }
  Bytes take() {
    std::unique_lock lock(mutex_);
    there_.wait(lock, [&] { return !packets_.empty(); });
    Bytes out = std::move(packets_.front());
    packets_.erase(packets_.begin());
    return out;
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_;
  std::vector<Bytes> packets_;
};

class OtherStore final : public StepExchange {
 public:
  OtherStore(Mailbox& to, Mailbox& from) : to_(to), from_(from) {}
  std::vector<std::string> names() const override { return {"the other"}; }
  Result<std::vector<Bytes>> exchange(Step, const std::vector<Bytes>& bodies) override {
    to_.put(bodies[0]);
    return std::vector<Bytes>{from_.take()};
  }

 private:
  Mailbox &to_, &from_;
};

inline void settle_both(const std::array<Store*, 2>& stores) {
  Mailbox up, down;
  std::thread threads[2];
  for (const std::size_t p : {0, 1})
    threads[p] = std::thread([&, p] {
      OtherStore other(p == 0 ? up : down, p == 0 ? down : up);
      EXPECT_TRUE(settle_entries(other, *stores[p], {}).ok());
      EXPECT_TRUE(stores[p]->prepared().value().empty());
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(stores[0]->inventory().value(), stores[1]->inventory().value());
}

}  // namespace tkdc
