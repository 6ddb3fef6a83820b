// SPDX-License-Identifier: Apache-2.0
// A stack that a test has made itself: whoever wipes what was on it is looked at when he has gone.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <functional>

#include "base/secret.h"

namespace tkdc {

// What a thread leaves on its stack.
class OwnStack {
 public:
  OwnStack() {
    EXPECT_EQ(pthread_attr_init(&attributes_), 0);
    EXPECT_EQ(pthread_attr_setstack(&attributes_, octets_.data(), octets_.size()), 0);
  }
  ~OwnStack() { pthread_attr_destroy(&attributes_); }
  void run(std::function<void()> what) {
    pthread_t thread;
    const auto start = [](void* function) -> void* {
      (*static_cast<std::function<void()>*>(function))();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes_, start, &what), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
  }
  template <typename T>
  bool has(const T& secret) const {
    return memmem(octets_.data(), octets_.size(), &secret, sizeof secret) != nullptr;
  }

 private:
  SecretVector octets_ = SecretVector(std::size_t{1} << 20);
  pthread_attr_t attributes_;
};

}  // namespace tkdc
