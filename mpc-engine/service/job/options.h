// SPDX-License-Identifier: Apache-2.0
// What a party's job service is told when it is made.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "protocol/offer.h"
#include "service/admit/rate_limits.h"
#include "service/garbled/garbling_options.h"
#include "service/job/audit_head.h"
#include "service/store/record.h"
#include "service/wire/message.h"

namespace tkdc {

// Called from lane threads, once for each submitted job.
using JobServiceReply = std::function<void(const JobName&, JobReply)>;
// One line for each event: operation, key id, principal digest, agent, cohort, result. False: it
// cannot be written, and what the job yields is not answered.
using JobServiceAudit = std::function<bool(const std::string& json)>;

// A session that was given up while messages were being verified.
struct LostCheck {
  std::optional<int> party;  // who no longer held it, or sent what it could not; none: not seen
  bool opened = false;       // after this server's part of the factors X and Y had left
  bool held = false;         // its connections were lost before it was given up
};

struct GarblingParts;  // service/garbled/garbling_parts.h
struct PairParts;      // service/pair/pair_parts.h

struct JobServiceOptions {
  InstallationId installation{};
  int party = 0;
  ProtocolOffers protocols;  // that this server offers, the one that is used most first
  GarblingOptions garbling;  // in sessions whose servers all have it
  std::size_t max_pending_jobs = 16'384;
  std::uint64_t seal_limit = std::uint64_t{1} << 38;  // per key of GCM form
  std::uint32_t equal_burst = 512;                    // comparisons: service/admit/equal_limit.h
  std::chrono::seconds equal_every{10};
  RateLimitOptions limits;  // none unless set
  // Where this server's audit log stands, and what a peer says of its own;
  // called by lane 0's thread.
  std::function<AuditHead()> audit_head;
  std::function<void(int party, const AuditHead&)> peer_audit_head;
  std::chrono::milliseconds audit_head_every = std::chrono::minutes(5);
  std::chrono::milliseconds clock_every = std::chrono::seconds(10);  // service/job/clock_notice.h
  // False: no job is run, since what it does could not be written down. Unset: always true.
  std::function<bool()> audit_works;
  // For the journal: what this server could not do that its administrator has to mend.
  std::function<void(const std::string& text)> trouble;
  std::function<void(const std::string&)> share_alarm;  // what an audit of shares found; lane 0's
  // Of two administrators' approvals that this server has: lane 0's thread.
  std::function<bool(const KeyRecord&)> may_give_back;
  std::function<void(const KeyId&)> given_back;
  std::function<void(const LostCheck&)> lost_check;     // by the thread of run_session()
  std::size_t pair_pool_blocks = std::size_t{1} << 16;  // of a pool that two servers make
  // ANDs for tickets of lengths that nobody has sealed: two of the longest at once, and as many
  // again in 48 s.
  std::uint64_t pair_unproved_ands = 2'400'000;
  std::size_t pair_prepared_bytes = std::size_t{384} << 20;  // of circuits that stand ready
  std::size_t pair_tables_bytes = 0;                         // of lookup tables; 0: none
  // How long a job may wait longer for messages, where its AES is done by tables; 0: they
  // do it wherever there are enough.
  std::chrono::milliseconds pair_tables_wait{50};
  bool pair_ahead = true;  // two servers prepare circuits while no job waits
  // Until two servers look again whether a refresh can end.
  std::chrono::milliseconds pair_refresh_again{5000};
  // How many moves of keys more than one each second since 2026 two servers may have made.
  std::uint64_t pair_moves_ahead = std::uint64_t{1} << 20;
  // Null: what a server has by itself.
  std::shared_ptr<const PairParts> pair_parts;
  std::shared_ptr<const GarblingParts> garbling_parts;
};

}  // namespace tkdc
