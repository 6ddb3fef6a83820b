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
#include <numeric>

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

// Counts in buckets whose bounds double, and the sum of what was counted, at one moment. What is
// beyond the last bound is in the last bucket.
template <std::uint64_t kFirstBound> struct Histogram {
    static constexpr std::size_t kBounds = 16, kBuckets = kBounds + 1;
    std::array<std::uint64_t, kBuckets> counts{};
    std::uint64_t sum = 0;

    static constexpr std::uint64_t bound(std::size_t bucket)
    {
        return kFirstBound << bucket;
    }
    // A bound belongs to the bucket that it ends.
    static std::size_t bucket_of(std::uint64_t value)
    {
        const std::uint64_t firsts = value == 0 ? 0 : (value - 1) / kFirstBound;
        return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(firsts)), kBounds);
    }
    std::uint64_t count() const
    {
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    }
    bool operator==(const Histogram &) const = default;
};

using TimeHistogram = Histogram<500>;  // microseconds: 0.5 ms to 16 s
using RoundHistogram = Histogram<1>;   // 1 to 32,768 rounds
using ByteHistogram = Histogram<4096>; // 4 KiB to 128 MiB

// One thread adds.
template <class Totals> class Counted
{
  public:
    void add(std::uint64_t value)
    {
        counts_[Totals::bucket_of(value)].add(1);
        sum_.add(value);
    }
    void add_to(Totals &totals) const
    {
        for (std::size_t k = 0; k < counts_.size(); ++k)
            totals.counts[k] += counts_[k].get();
        totals.sum += sum_.get();
    }

  private:
    std::array<OneWriterCount, Totals::kBuckets> counts_;
    OneWriterCount sum_;
};

inline std::uint64_t in_microseconds(std::chrono::nanoseconds took)
{
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    return us < 0 ? 0 : static_cast<std::uint64_t>(us);
}

// What was counted, at one moment.
struct OperationTotals {
    static constexpr std::size_t kOperations = TKDC_OP_LIST_DROPPED + 1;

    struct One {
        TimeHistogram microseconds;
        RoundHistogram rounds;
        ByteHistogram message_bytes;
    };
    std::array<One, kOperations> by_op{}; // tkdc_wire_op
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
        one.microseconds.add(in_microseconds(took));
        one.rounds.add(rounds);
        one.message_bytes.add(message_bytes);
    }

    void add_to(OperationTotals &totals) const
    {
        for (std::size_t op = 0; op < by_op_.size(); ++op) {
            by_op_[op].microseconds.add_to(totals.by_op[op].microseconds);
            by_op_[op].rounds.add_to(totals.by_op[op].rounds);
            by_op_[op].message_bytes.add_to(totals.by_op[op].message_bytes);
        }
    }

  private:
    struct One {
        Counted<TimeHistogram> microseconds;
        Counted<RoundHistogram> rounds;
        Counted<ByteHistogram> message_bytes;
    };
    std::array<One, OperationTotals::kOperations> by_op_;
};

} // namespace tkdc
