// SPDX-License-Identifier: Apache-2.0
// A request at a server, from the agent's frame to the answer: one object, in the hands of one
// place after the other.
//
//   waiting    received; PendingJobs, until a manifest names it
//   named      LaneAdmission: this server looks at it (JobChecks), the three compare and conclude.
//              A job that another server has not received waits again.
//   running    LaneRunner: all three have admitted it
//   answered   Answers; it goes at the end of the tick
//
// What a job holds is secret: its request's components.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/machine.h"
#include "service/admit/admission.h"
#include "service/admit/rate_limits.h"
#include "service/garbled/garbling_options.h"
#include "service/wire/message.h"
#include "service/wire/role.h"

namespace tkdc {

struct Job {
  using Clock = SteadyClock;

  // ---- since it was received
  JobRequest request;
  AgentRole role = AgentRole::kKdc;
  Clock::time_point received;
  Clock::time_point deadline;
  bool expired = false;  // answered UNAVAILABLE at its deadline; a lane may still work on it

  // ---- kept while it waits and is named again
  // How long the leader waits before it names the job again while another
  // server has not got it: doubled each time, up to kMaxRetryAfter.
  static constexpr auto kMaxRetryAfter = std::chrono::milliseconds(50);
  std::chrono::milliseconds retry_after{1};
  // Counted once, however often it is named: what the limits said then.
  std::optional<RateVerdict> rate;
  bool head_taken = false;  // of a tail, once: service/job/half_done.h

  // ---- what this server found when it was last named
  struct Found {
    std::shared_ptr<const KeyRecord> record;
    JobDigests digests;
    Verdict own = kMissing;          // this server's alone
    bool holds_key = false;          // its ids are in JobChecks
    const char* why = nullptr;       // of `own`, where its status alone does not say it
    Garbled garbled = Garbled::kNo;  // as it was named, if it can be; then in one part
    bool learns = false;             // its kind of circuit, by the manifest
  };
  Found found;

  // ---- while it runs
  struct Running {
    std::uint8_t protocol = 0;  // of the session's
    std::uint32_t sealed_at = 0;
    std::uint64_t number = 0, cohort = 0, first_round = 0;
    Clock::time_point started;  // at this server
    std::size_t input_bytes = 0;
    bool answered = false;
  };
  Running running;
};

// Of a lane, in the order in which they were admitted.
using RunningJobs = std::vector<std::unique_ptr<Job>>;

// A line of a manifest between manifest and verdict.
struct Candidate {
  NamedJob named;
  std::unique_ptr<Job> job;    // null: not received
  Verdict verdict = kMissing;  // own first, then the three servers' together
};

// The jobs of one manifest.
struct ManifestJobs {
  std::uint32_t sealed_at = 0;
  std::vector<Candidate> candidates;
};

}  // namespace tkdc
