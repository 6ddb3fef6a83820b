// SPDX-License-Identifier: Apache-2.0
// How long operations took, by operation, and what they cost: counts in fixed buckets, from which
// `tkdc top` and tkdc-exporter work out quantiles. A lane has one of its own, an agent too.
//
// One thread adds, any thread reads: plain loads and stores of relaxed atomics, no lock. Nothing
// in it is secret, and nothing says which key or who asked.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>

#include "wire.h"

namespace tkdc
{

// A count that one thread adds to.
class OneWriterCount
{
  public:
    void add(std::uint64_t more)
    {
        count_.store(count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    std::uint64_t get() const
    {
        return count_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> count_{0};
};

// What was counted, at one moment.
struct OperationTotals {
    // 0.5 ms, doubled up to 16 s; what took longer is in the last bucket.
    static constexpr std::size_t kBounds = 16, kBuckets = kBounds + 1;
    static constexpr std::chrono::microseconds kFirstBound{500};
    static constexpr std::size_t kOperations = TKDC_OP_LIST_DROPPED + 1;

    struct One {
        std::array<std::uint64_t, kBuckets> counts{};
        std::uint64_t microseconds = 0, rounds = 0, message_bytes = 0;
        bool any() const
        {
            return std::ranges::any_of(counts, [](std::uint64_t count) { return count != 0; });
        }
    };
    std::array<One, kOperations> by_op{}; // tkdc_wire_op

    static double bound_ms(std::size_t bucket)
    {
        return static_cast<double>(kFirstBound.count() << bucket) / 1000;
    }
    // A bound belongs to the bucket that it ends.
    static std::size_t bucket_of(std::uint64_t microseconds)
    {
        const auto first = static_cast<std::uint64_t>(kFirstBound.count());
        const std::uint64_t firsts = microseconds == 0 ? 0 : (microseconds - 1) / first;
        return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(firsts)), kBounds);
    }
};

class OperationTimes
{
  public:
    void add(std::uint8_t op, std::chrono::nanoseconds took, std::uint64_t rounds,
             std::uint64_t message_bytes)
    {
        if (op >= by_op_.size())
            return;
        One &one = by_op_[op];
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
        const std::uint64_t microseconds = us < 0 ? 0 : static_cast<std::uint64_t>(us);
        one.counts[OperationTotals::bucket_of(microseconds)].add(1);
        one.microseconds.add(microseconds);
        one.rounds.add(rounds);
        one.message_bytes.add(message_bytes);
    }

    void add_to(OperationTotals &totals) const
    {
        for (std::size_t op = 0; op < by_op_.size(); ++op) {
            const One &one = by_op_[op];
            OperationTotals::One &sum = totals.by_op[op];
            for (std::size_t k = 0; k < one.counts.size(); ++k)
                sum.counts[k] += one.counts[k].get();
            sum.microseconds += one.microseconds.get();
            sum.rounds += one.rounds.get();
            sum.message_bytes += one.message_bytes.get();
        }
    }

  private:
    struct One {
        std::array<OneWriterCount, OperationTotals::kBuckets> counts;
        OneWriterCount microseconds, rounds, message_bytes;
    };
    std::array<One, OperationTotals::kOperations> by_op_;
};

} // namespace tkdc
