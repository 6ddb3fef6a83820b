// SPDX-License-Identifier: Apache-2.0
// The party's engine: takes jobs from agents, runs them with the other two
// parties on the lanes of the current session, hands back replies.
//
// Threads: one per lane, started by run_session(); submit() and the queries
// may be called from any thread. Lane 0 runs key creation and removal, which
// wait for the disk; the other lanes run tickets.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "service/admit/rate_limits.h"
#include "service/job/clock_exchange.h"
#include "service/wire/message.h"
#include "service/revoke/revocations.h"
#include "session/course_tail.h"
#include "session/session.h"
#include "service/store/store.h"

namespace tkdc {

enum class AgentRole : std::uint8_t { kKdc = 1, kAdmin = 2 };

// A session that was given up while messages were being verified.
struct LostCheck {
  std::optional<int> party;  // who no longer held it, or sent what it could not; none: not seen
  bool opened = false;       // after this server's part of the factors X and Y had left
  bool held = false;         // its connections were lost before it was given up
};

struct EngineOptions {
  InstallationId installation{};
  int party = 0;
  std::string backend = "auto";  // auto, cpu, scalar, avx2, gfni, cuda
  std::size_t max_pending_jobs = 16'384;
  std::uint64_t seal_limit = std::uint64_t{1} << 38;  // per key of GCM form
  std::uint32_t equal_burst = 512;                    // comparisons: service/admit/equal_limit.h
  std::chrono::seconds equal_every{10};
  // Masks that each lane makes while it is idle, for so many AES-256 blocks; cohorts of at
  // most a quarter of it use them (docs/protocols/16-one-hot-aes.md). Equal at all three. 0: none.
  std::size_t masked_blocks = 0;
  RateLimitOptions limits;  // none unless set
  // Where this server's audit log stands, and what a peer says of its own;
  // called by lane 0's thread.
  std::function<AuditHead()> audit_head;
  std::function<void(int party, const AuditHead&)> peer_audit_head;
  std::chrono::milliseconds audit_head_every = std::chrono::minutes(5);
  std::chrono::milliseconds clock_every = std::chrono::seconds(10);  // service/job/clock_exchange.h
  std::function<void(const LostCheck&)> lost_check;  // by the thread of run_session()
};

struct EngineStatus {
  bool session_up = false;
  std::size_t lanes = 0;
  std::size_t pending_jobs = 0;
  std::uint64_t jobs_done = 0;
  std::uint64_t jobs_refused = 0;  // wrong passwords, forged tickets, keys that are not there
  std::uint64_t jobs_failed = 0;
  std::uint64_t jobs_late = 0;  // of the failed: finished after their deadline, unheard
  std::uint64_t message_bytes_sent = 0;
  std::uint64_t aes_blocks = 0;
  std::uint64_t masked_blocks = 0;  // of the AES blocks: computed by masks
  std::uint64_t masks_made = 0;     // of a state each
  std::uint64_t sha1_blocks = 0;
  std::uint64_t sha2_blocks = 0;
  std::uint64_t rounds = 0;
  // Batches: operations started and the cohorts they started in; operations at work, added up
  // over all rounds, so that divided by `rounds` it says how many share one.
  std::uint64_t operations = 0, cohorts = 0, operation_rounds = 0;
  std::string backend;
  std::uint64_t most_seals = 0;  // upper bound, of the key that has sealed most
  bool seals_near_limit = false;
  std::uint64_t logins_unheralded = 0;  // service/admit/preauth_watch.h
  std::uint64_t heads_abandoned = 0;    // service/job/half_done.h
  std::uint64_t agents_limited = 0;     // operations refused because an agent asked too often
  std::uint64_t keys_limited = 0;       // or because one key was asked for too often
  std::vector<RateLimits::AgentCount> agents;
  RevocationState revoked;                          // service/revoke/revocations.h
  std::array<std::optional<bool>, 2> peers_lift{};  // previous and next; none: not heard
  bool revoked_unwritten = false;
  std::uint64_t tickets_revoked = 0;  // opens refused for it
  ClocksAhead clocks_ahead;           // the peers', of this server's
};

class Engine {
 public:
  // `reply` is called from lane threads, once for each submitted job.
  // `audit` gets one line per event: operation, key id, principal digest,
  // agent, cohort, result.
  using Reply = std::function<void(const JobName&, JobReply)>;
  using Audit = std::function<void(const std::string& json)>;

  static Result<std::unique_ptr<Engine>> create(const EngineOptions& options, Store& store,
                                                Reply reply, Audit audit);
  virtual ~Engine() = default;

  // The representations this CPU is good at, for the session handshake. Malicious
  // sessions are always in bytes: only they have claims to verify.
  static Representation preferred_representation(const std::string& backend, Security security);
  // What this server says about zero-shares: `wanted` is "auto", "aes-ctr" or "chacha20". A GPU is
  // looked for, as create() does, when both say "auto".
  static ZeroOffer zero_offer(const std::string& wanted, const std::string& backend,
                              Security security);

  // Never blocks. A job beyond the limits is answered at once.
  virtual void submit(AgentRole role, JobRequest request) = 0;

  // Runs the lanes until a link fails or stop() is called. Returns why it ended (empty after
  // stop()). Where only connections were lost the session is held: its jobs wait, and a
  // Session with `goes_on` set continues it octet for octet. A new session gives a held one up
  // first: its jobs are answered with TKDC_STATUS_UNAVAILABLE.
  virtual std::string run_session(Session& session) = 0;
  // Which session is held; zeros: none. By the thread of run_session().
  virtual SessionId held() const = 0;
  // Gives it up, if one is held: it has been forgotten by that party, or nobody goes on with it.
  virtual void give_up(std::optional<int> forgotten_by) = 0;
  // Set when the last session ended because a server computed wrongly: which lane
  // and cohort, and how it showed. Nobody can tell which server it was. No new
  // session may start before an operator says so.
  virtual std::optional<std::string> deviation() const = 0;
  virtual void stop() = 0;

  // For the handshake: where a lane's course stood when the last session ended, and what a
  // peer says of it. Error: the two were told different things in that session, which is a
  // deviation. By the thread of run_session().
  virtual CourseTail course(std::size_t lane) const = 0;
  virtual Result<void> hear_course(std::size_t lane, int party, const CourseTail& theirs) = 0;

  // This server's administrator; see service/revoke/revocations.h. A window is in force when it
  // returns, also where an error says that it is not on disk.
  virtual Result<void> revoke(SealWindow window) = 0;
  virtual Result<void> lift_revocations() = 0;

  // Answers waiting jobs whose deadline is over and writes down seal counts;
  // call it a few times a second.
  virtual void expire() = 0;
  virtual EngineStatus status() const = 0;
};

}  // namespace tkdc
