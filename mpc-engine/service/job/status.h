// SPDX-License-Identifier: Apache-2.0
// What a party's job service counts, and says when it is asked.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/protocol.h"
#include "service/admit/rate_limits.h"
#include "service/job/check_times.h"
#include "service/job/clock_notice.h"
#include "service/job/share_upkeep.h"
#include "service/sealing/revocations.h"
#include "service/wire/operation_times.h"

namespace tkdc {

// Of two servers (docs/protocols/27-two-server-jobs.md).
struct PairJobsStatus {
  std::size_t pools = 0;                         // on this server's disk
  std::size_t pools_spent = 0;                   // of them: given up, with no block left
  std::uint64_t pool_blocks = 0, pool_left = 0;  // of the one that new keys are of
  std::uint64_t pool_least = 0;                  // left of the one that has fewest, but not none
  // Circuits that are prepared, and their octets here; jobs that found theirs, and that had to
  // prepare it while their agent waited.
  // And what both agree to keep of them at most.
  std::size_t prepared = 0, prepared_bytes = 0, prepared_most = 0;
  std::uint64_t found = 0, missed = 0;
  // At the leader: operations whose key had had its quota of what stands ready, so that it was left
  // to others. Of agents: garbled_agents_had.
  std::uint64_t key_had = 0;
  // Lookup tables left, of AES's S-box and its inverse; their octets here, and how many at most (0:
  // none are kept); jobs whose AES they did, and that did without; seconds that they last at the
  // present rate, or -1: nobody asks for them.
  std::size_t tables_forward = 0, tables_inverse = 0, tables_bytes = 0, tables_most = 0;
  std::uint64_t tables_jobs = 0, tables_missed = 0;
  std::int64_t tables_last_s = -1;
  std::uint64_t may_be_known = 0;  // jobs that failed when the other server may have had the result
};

struct JobServiceStatus {
  bool session_up = false;
  std::size_t lanes = 0;
  std::size_t pending_jobs = 0;
  std::array<std::uint64_t, TKDC_STATUS_INTERNAL + 1> results{};  // of jobs, by tkdc_status
  std::uint64_t jobs_done() const { return results[TKDC_STATUS_OK]; }
  // Wrong passwords, forged tickets, keys that are not there.
  std::uint64_t jobs_refused() const { return sum_of(true); }
  std::uint64_t jobs_failed() const { return sum_of(false); }
  std::uint64_t jobs_late = 0;  // of the failed: finished after their deadline, unheard
  std::uint64_t message_bytes_sent = 0;
  std::uint64_t aes_blocks = 0;
  std::uint64_t masked_blocks = 0;  // of the AES blocks: computed by masks
  std::uint64_t masks_made = 0;     // of a state each
  std::uint64_t masks_held = 0;     // of them: made, and not used yet
  std::uint64_t sha1_blocks = 0;
  std::uint64_t sha2_blocks = 0;
  std::uint64_t rounds = 0;
  // Batches: operations started and the cohorts they started in; operations at work, added up
  // over all rounds, so that divided by `rounds` it says how many share one.
  std::uint64_t operations = 0, cohorts = 0, operation_rounds = 0;
  // From a job's arrival to its answer; of jobs that ran.
  OperationTotals times;
  CheckTotals checks;
  struct OfLane {
    std::uint64_t rounds, operations, busy_ns;
    std::size_t jobs;  // that wait or run in it, at the leader; at the others: that run
  };
  std::vector<OfLane> by_lane;
  std::vector<ProtocolInfo> protocols;  // of the session; the last one's while there is none
  std::uint64_t most_seals = 0;         // upper bound, of the key that has sealed most
  bool seals_near_limit = false;
  std::uint64_t logins_unheralded = 0;  // service/admit/preauth_watch.h
  std::uint64_t heads_abandoned = 0;    // service/job/half_done.h
  std::uint64_t agents_limited = 0;     // operations refused because an agent asked too often
  std::uint64_t keys_limited = 0;       // or because one key was asked for too often
  std::vector<RateLimits::AgentCount> agents;
  RevocationState revoked;                          // service/sealing/revocations.h
  std::array<std::optional<bool>, 2> peers_lift{};  // previous and next; none: not heard
  bool revoked_unwritten = false;
  std::uint64_t tickets_revoked = 0;  // opens refused for it
  // Garbled circuits, of ticket lanes: operations that took an instance, and that found none left
  // of their kind; instances made, ready now, their octets here at most; kinds.
  bool garbles = false;  // the session does
  std::uint64_t garbled_jobs = 0, garbled_missed = 0, garbled_made = 0, garbled_ready = 0,
                garbled_bytes = 0, garbled_kinds = 0;
  // At the leader: operations shared since their key, or agent, had had its quota of the circuits.
  std::uint64_t garbled_key_had = 0;
  std::map<std::uint64_t, std::uint64_t> garbled_agents_had;
  std::uint64_t garbled_sent_bytes = 0;       // to make instances
  std::vector<std::string> garbled_circuits;  // whose layouts are there
  std::uint64_t garbled_layouts = 0;          // that were made
  std::vector<std::string> garbled_unfit;     // circuits that cannot be laid out, and why
  ShareUpkeepStatus shares;                   // audits of them, and MACs that are dealt
  std::uint32_t refresh_epoch = 0;  // how often the store was refreshed, and when last; 0: never
  std::uint64_t refreshed_at_s = 0;
  // Two servers: of the refresh under way, and when the last one ended; 0: none is, or has.
  std::uint64_t refreshing_since_s = 0, refresh_ended_s = 0;
  std::uint64_t share_alarms = 0;  // since this server's start
  std::vector<std::string> share_alarms_named;
  ClocksAhead clocks_ahead;  // the peers', of this server's
  std::optional<PairJobsStatus> pair;

 private:
  std::uint64_t sum_of(bool refused) const {
    std::uint64_t sum = 0;
    for (std::uint16_t k = TKDC_STATUS_OK + 1; k < results.size(); ++k)
      if (tkdc_status_is_refusal(k) == refused) sum += results[k];
    return sum;
  }
};

}  // namespace tkdc
