// SPDX-License-Identifier: Apache-2.0
// When requests are meant to be sent.
//
// Open model: moments on a schedule that knows nothing of the KDC. A request
// that goes out late, since the generator or its sockets were busy, keeps its
// moment, and its latency counts from there: otherwise a KDC that stands still
// for a second would hide the whole second behind one slow request
// ("coordinated omission"). Closed model: N users, each of whom asks again when
// the answer has come and the pause is over; the rate then follows the KDC.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>

namespace tkdc::storm {

using Nanoseconds = std::int64_t;
constexpr Nanoseconds kSecond = 1'000'000'000;
inline constexpr Nanoseconds kMs = 1'000'000;

// One request that is due.
struct Demand {
  Nanoseconds intended;
  std::uint64_t client;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  // The next request whose moment has come.
  virtual std::optional<Demand> pop(Nanoseconds now) = 0;
  // When pop() will next have one; nothing if that depends on answers.
  virtual std::optional<Nanoseconds> next() const = 0;
  // Nothing will come any more.
  virtual bool over(Nanoseconds now) const = 0;
  virtual void finished(std::uint64_t client, Nanoseconds now) = 0;
  // Gives up what should have been sent before `before` and was not.
  virtual std::uint64_t drop_before(Nanoseconds before) = 0;
};

class OpenSchedule final : public Schedule {
 public:
  // Moments in [start, end), evenly spaced or as a Poisson process; clients in turn.
  OpenSchedule(double rate, Nanoseconds start, Nanoseconds end, bool poisson, std::uint64_t clients,
               std::uint64_t first_client = 0);
  std::optional<Demand> pop(Nanoseconds now) override;
  std::optional<Nanoseconds> next() const override;
  bool over(Nanoseconds) const override { return next_ >= end_; }
  void finished(std::uint64_t, Nanoseconds) override {}
  std::uint64_t drop_before(Nanoseconds before) override;

 private:
  void advance();
  double rate_;
  Nanoseconds start_, end_, next_;
  bool poisson_;
  std::uint64_t clients_, client_, number_ = 0;
  double elapsed_ = 0;
  std::mt19937_64 generator_{0x7374'6f72'6d21};  // the same moments in every run
};

class ClosedSchedule final : public Schedule {
 public:
  // The users' first requests are spread over `spread`.
  ClosedSchedule(std::uint64_t users, Nanoseconds pause, Nanoseconds start, Nanoseconds end,
                 Nanoseconds spread = 0);
  std::optional<Demand> pop(Nanoseconds now) override;
  std::optional<Nanoseconds> next() const override;
  bool over(Nanoseconds now) const override { return now >= end_; }
  void finished(std::uint64_t client, Nanoseconds now) override;
  std::uint64_t drop_before(Nanoseconds) override { return 0; }

 private:
  Nanoseconds pause_, end_;
  std::deque<Demand> ready_;  // by moment: the pause is the same for all
};

// Searches for the highest rate at which a step passes: grows by `factor` until
// one fails, then halves the gap `refinements` times, in ratio.
class Ramp {
 public:
  Ramp(double first, double factor, int refinements, double limit)
      : rate_(first), factor_(factor), refinements_(refinements), limit_(limit) {}
  // The rate of the next step; nothing when the search is over.
  std::optional<double> next() const;
  void judge(bool passed);
  double best() const { return best_; }  // 0 when none passed

 private:
  double rate_, factor_;
  int refinements_;
  double limit_;
  double best_ = 0;
  std::optional<double> worst_;
  bool over_ = false;
};

}  // namespace tkdc::storm
