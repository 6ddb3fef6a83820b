// SPDX-License-Identifier: Apache-2.0
// A job's two stages in a lane, and what all lanes of a server share.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "protocol/protocol.h"
#include "service/admit/admission.h"
#include "service/admit/equal_limit.h"
#include "service/admit/preauth_watch.h"
#include "service/job/clock_exchange.h"
#include "service/job/half_done.h"
#include "service/job/options.h"
#include "service/job/pending.h"
#include "service/lifecycle/staged.h"
#include "service/sealing/revocations.h"
#include "service/sealing/seal_counts.h"
#include "service/store/store.h"

namespace tkdc {

// One lane's sides in the session's protocols, in the session's order.
using SessionProtocols = std::vector<std::unique_ptr<Protocol>>;

// A job between manifest and verdict.
struct Candidate {
  JobName name;
  std::uint8_t protocol = 0;        // of the session's
  std::unique_ptr<PendingJob> job;  // null: not received
  std::shared_ptr<const KeyRecord> record;
  JobDigests digests;
  Verdict verdict = kMissing;  // own first, then the three servers' together
  bool holds_key = false;      // its ids are in JobChecks
  Verdict own = kMissing;      // this server's alone
  bool head_missing = false;   // a tail whose head it has not answered, or no more
  bool no_protocol = false;    // that it asks for, or that takes its key's shares
  bool clock_wrong = false;    // this server's clock does not take the manifest's time
};

// The jobs of one manifest.
struct AdmissionRound {
  std::uint32_t sealed_at = 0;
  std::vector<Candidate> candidates;
};

// An admitted job.
struct ActiveJob {
  std::unique_ptr<PendingJob> job;
  std::shared_ptr<const KeyRecord> record;
  std::uint8_t protocol = 0;  // of the session's
  std::uint32_t sealed_at = 0;
  std::uint64_t number = 0, cohort = 0, first_round = 0;
  std::size_t input_bytes = 0;
  bool holds_key = false;
  bool answered = false;  // finished; goes at the end of the tick
};

struct LaneCounters {
  std::atomic<std::uint64_t> rounds{0}, layer_bytes{0}, aes_blocks{0}, sha1_blocks{0},
      sha2_blocks{0}, masked_blocks{0}, masks_made{0};
  // How large batches are: operations started, in how many cohorts; and those at work, added
  // up over all rounds.
  std::atomic<std::uint64_t> operations{0}, cohorts{0}, operation_rounds{0};
  std::atomic<std::uint64_t> jobs_done{0}, jobs_refused{0}, jobs_failed{0}, jobs_late{0};
  std::atomic<std::uint64_t> tickets_revoked{0};

  void answered(tkdc_status status) {
    (status == TKDC_STATUS_OK         ? jobs_done
     : tkdc_status_is_refusal(status) ? jobs_refused
                                      : jobs_failed)++;
  }
};

// What all lanes of a server share.
struct LaneShared {
  const EngineOptions& options;
  Store& store;
  PendingJobs& pending;
  StagedKeys& staged;  // lane 0's only
  LaneCounters& counters;
  SealCounts& seals;
  PreauthWatch& preauth;
  EqualLimit& equals;
  HalfDone& half_done;
  RateLimits& limits;
  Revocations& revocations;
  ClockDifferences& clocks;
  // The leader's: its clock stands before what the lane has sealed, so nothing can be sealed before
  // there is a new session.
  const std::function<void()>& set_back;
  const EngineReply& reply;
  const EngineAudit& audit;
};

}  // namespace tkdc
