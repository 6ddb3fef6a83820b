// SPDX-License-Identifier: Apache-2.0
// What all lanes of a server share, and one lane's protocols.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "protocol/protocol.h"
#include "service/admit/equal_limit.h"
#include "service/admit/preauth_watch.h"
#include "service/garbled/whole.h"
#include "service/job/check_times.h"
#include "service/job/clock_notice.h"
#include "service/job/half_done.h"
#include "service/job/options.h"
#include "service/job/pending.h"
#include "service/job/share_upkeep.h"
#include "service/lifecycle/share_alarm.h"
#include "service/lifecycle/staged.h"
#include "service/sealing/revocations.h"
#include "service/sealing/seal_counts.h"
#include "service/store/store.h"
#include "service/wire/operation_times.h"

namespace tkdc {

// One lane's sides in the session's protocols, in the session's order.
using SessionProtocols = std::vector<std::unique_ptr<Protocol>>;

// What a manifest names for a job: one of them; or, in a lane that garbles, behind the last one,
// the first one and what it is to do with a garbled circuit.
struct NamedProtocol {
  std::size_t protocol;
  Garbled garbled;
};
inline constexpr std::size_t kWaysToGarble = 3;
inline NamedProtocol protocol_named(std::uint8_t named, const SessionProtocols& protocols) {
  if (named < protocols.size()) return {named, Garbled::kNo};
  return {0, static_cast<Garbled>(named - protocols.size() + 1)};
}
inline std::uint8_t name_garbled(Garbled garbled, const SessionProtocols& protocols) {
  return static_cast<std::uint8_t>(protocols.size() + static_cast<std::size_t>(garbled) - 1);
}

struct LaneCounters {
  std::atomic<std::uint64_t> layer_bytes{0}, aes_blocks{0}, sha1_blocks{0}, sha2_blocks{0},
      masked_blocks{0}, masks_made{0}, masks_held{0};
  // How large batches are: in how many cohorts operations started; and those at work, added up
  // over all rounds.
  std::atomic<std::uint64_t> cohorts{0}, operation_rounds{0};
  std::array<std::atomic<std::uint64_t>, TKDC_STATUS_INTERNAL + 1> results{};  // by tkdc_status
  std::atomic<std::uint64_t> jobs_late{0};
  std::atomic<std::uint64_t> tickets_revoked{0};
  // Garbled circuits: jobs of kinds that have instances, with and without one left; instances that
  // stand ready, and their octets.
  std::atomic<std::uint64_t> garbled_jobs{0}, garbled_missed{0}, garbled_made{0}, garbled_ready{0},
      garbled_bytes{0}, garbled_kinds{0};
  // At the leader: operations shared because their key had had its quota of the circuits.
  std::atomic<std::uint64_t> garbled_key_had{0};

  void answered(tkdc_status status) {
    results[std::min<std::size_t>(status, TKDC_STATUS_INTERNAL)]++;
  }
};

// One lane's, of all sessions; its thread adds.
struct LaneFigures {
  OperationTimes times;
  CheckTimes checks;
  OneWriterCount rounds, operations, busy_ns;  // operations: that it has begun
};

// At the leader: how often an agent's operations were computed by sharing because it had had its
// share of the circuits. Thread-safe.
class AgentsGarbled {
 public:
  void had_its_quota(std::uint64_t agent) {
    const std::lock_guard lock(mutex_);
    ++agents_[agent];
  }
  std::map<std::uint64_t, std::uint64_t> all() const {
    const std::lock_guard lock(mutex_);
    return agents_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> agents_;  // as many as the configuration lists
};

// What all lanes of a server share.
struct LaneShared {
  const JobServiceOptions& options;
  Store& store;
  PendingJobs& pending;
  StagedKeys& staged;  // lane 0's only
  LaneCounters& counters;
  AgentsGarbled& agents_garbled;
  SealCounts& seals;
  PreauthWatch& preauth;
  EqualLimit& equals;
  HalfDone& half_done;
  RateLimits& limits;
  Revocations& revocations;
  ClockDifferences& clocks;
  WholeShapes& shapes;
  threegarble::Pace& pace;  // of garbled circuits that this server sends ahead
  ShareUpkeep& upkeep;      // lane 0's work
  ShareAlarm& share_alarm;
  // All lanes end, as at a stop.
  const std::function<void(std::string why)>& end_session;
  const JobServiceReply& reply;
  const JobServiceAudit& audit;
};

}  // namespace tkdc
