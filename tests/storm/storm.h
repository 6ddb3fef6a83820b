// SPDX-License-Identifier: Apache-2.0
// The loop: sends what the schedule says is due, sends again what got no answer,
// gives up what got none in time, and hands the answers to the workload.
//
// One thread. It stops by itself: a run ends with its schedule and the last
// answer or timeout; stop() ends it sooner.
#pragma once

#include <array>

#include "storm/noise.h"
#include "storm/transport.h"
#include "storm/workload.h"

namespace tkdc::storm {

struct StormTerms {
  std::vector<Nanoseconds> retransmit_after;  // since the first datagram, growing
  Nanoseconds timeout = 15 * kSecond;
  std::uint32_t copies = 1;  // each request is sent so many times at once
};

class Storm {
 public:
  Storm(StormTerms terms, Workload& workload, Transport& transport, Noise& noise);

  // Called after each second.
  std::function<void(const Second&)> on_second;
  void run(Schedule& schedule, double rate, Recorder& recorder);
  // From a signal handler, too.
  void stop() { stopped_ = 1; }
  bool stopped() const { return stopped_ != 0; }

 private:
  struct Flight {
    Demand demand;
    Attempt attempt;
    std::uint32_t serial = 0;  // told apart from earlier flights on this slot
    std::uint32_t datagrams = 0;
    bool busy = false;
  };
  struct Alarm {
    Nanoseconds at;
    Slot slot;
    std::uint32_t serial;
  };

  void send_due(Nanoseconds now);
  void launch(Slot slot, const Demand& demand, Nanoseconds now);
  void ring_alarms(Nanoseconds now);
  void arrived(Slot slot, ByteSpan packet);
  void land(Slot slot, Outcome outcome, Nanoseconds now, bool clean);
  Nanoseconds pause(Nanoseconds now, Nanoseconds next_tick) const;

  StormTerms terms_;
  Workload& workload_;
  Transport& transport_;
  Noise& noise_;
  std::vector<Flight> flights_;
  std::vector<std::deque<Alarm>> alarms_;  // one queue for each retransmit, last the timeout
  std::vector<Nanoseconds> delays_;        // of those queues
  Schedule* schedule_ = nullptr;
  Recorder* recorder_ = nullptr;
  std::uint64_t in_flight_ = 0;
  Nanoseconds last_answer_ = 0;
  volatile int stopped_ = 0;
};

}  // namespace tkdc::storm
