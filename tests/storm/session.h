// SPDX-License-Identifier: Apache-2.0
// One invocation: tickets for TGS-REQ, warmup, then a run or a ramp of runs.
#pragma once

#include "storm/results.h"
#include "storm/servers.h"

namespace tkdc::storm {

class Session {
 public:
  Session(const Options& options, Workload& workload, Transport& transport, Noise& noise,
          Watch& watch, Servers& servers, Results& results);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The tickets that TGS-REQ need, by AS-REQ.
  Result<void> collect_tickets();
  void measure();
  // Ends the session that is running, if any; for signal handlers.
  static void stop();

 private:
  void say(const char* what, const Second& second) const;
  void run(double rate, double seconds, Recorder& recorder);
  void ramp();
  RampStep step(double rate, Recorder& recorder);

  const Options& o_;
  Workload& workload_;
  Watch& watch_;
  Servers& servers_;
  Results& results_;
  Storm storm_;
  std::uint64_t next_user_ = 0;
};

}  // namespace tkdc::storm
