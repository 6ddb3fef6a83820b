// SPDX-License-Identifier: Apache-2.0
// How many nonce epochs this server lets be used up: an allowance for each day, so that
// sessions which come to nothing, or a server that pushes epochs ahead, cannot exhaust all
// of them before somebody looks.
//
// The allowance is a bucket. What is spent comes back evenly over a day, so a server that has
// spent all of it starts a session every 86,400 / per_day seconds, and is never stopped for good.
//
//   reserve  takes epochs from the allowance and writes them to disk, before EPOCH is sent;
//            an epoch that is reserved already is free
//   begin    notes that a session begins with one; it is never agreed to again
//
// Time: while this process runs, its own monotonic clock counts. The wall clock counts
// only for the time in which it did not run, and from the latest time ever written: a clock
// that is set back gives nothing back, and one that jumps ahead at most a day's allowance.
//
// Thread-safe. Nothing here is secret.
#pragma once

#include <functional>
#include <mutex>

#include "base/result.h"
#include "session/advice.h"
#include "session/entries.h"

namespace tkdc {

struct EpochReport {
  Epochs epochs;
  std::uint32_t per_day = 0;
  std::uint32_t spent = 0;  // of per_day, rounded up
  std::uint32_t left = 0;   // until they have to be begun anew
};

class EpochLedger {
 public:
  // Two honest servers have one each, and a wrong one may use up first one and then the other:
  // 1,048,575 epochs last 254 days of uninterrupted attack.
  static constexpr std::uint32_t kPerDay = 2'048;
  // Below, a start that two restored stores need (session/agreement.h) might never be granted.
  static constexpr std::uint32_t kMinPerDay = 64;

  struct Clocks {
    std::function<std::uint64_t()> wall_s, running_s;
  };
  static Clocks system_clocks();

  EpochLedger(Entries& entries, std::uint32_t per_day, SessionAdvice advice = {},
              Clocks clocks = system_clocks());

  // `vouched`: what two of the three servers have reserved; catching up with it is free.
  // Error: the allowance is spent, and when it will do; or the disk's.
  Result<void> reserve(std::uint32_t epoch, std::uint32_t vouched);
  Result<void> begin(std::uint32_t epoch);
  EpochReport report();

 private:
  void give_back();

  Entries& entries_;
  const std::uint32_t per_day_;
  const SessionAdvice advice_;
  const Clocks clocks_;
  std::mutex mutex_;
  std::uint64_t spent_ = 0;  // as of seen_s_
  std::uint64_t seen_s_ = 0;
};

}  // namespace tkdc
