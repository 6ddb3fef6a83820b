// SPDX-License-Identifier: Apache-2.0
// How long to wait before an attempt is made again.
#pragma once

namespace tkdc {

// 100 ms, doubled up to 2 s; back to the start by reset().
class Backoff {
 public:
  int next_ms() {
    int ms = ms_;
    ms_ = ms_ * 2 > 2'000 ? 2'000 : ms_ * 2;
    return ms;
  }
  void reset() { ms_ = 100; }

 private:
  int ms_ = 100;
};

}  // namespace tkdc
