// SPDX-License-Identifier: Apache-2.0
// The party's engine: takes jobs from agents, runs them with the other two
// parties on the lanes of the current session, hands back replies.
//
// Threads: one per lane, started by run_session(); submit() and the queries
// may be called from any thread. Lane 0 runs key creation and removal, which
// wait for the disk; the other lanes run tickets.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "job/message.h"
#include "net/session.h"
#include "store/store.h"

namespace tkdc {

// Of the sources of the protocols: two servers whose values differ would lose
// step in the first round, so the handshake compares them.
std::uint64_t circuit_hash();

enum class AgentRole : std::uint8_t { kKdc = 1, kAdmin = 2 };

struct EngineOptions {
  InstallationId installation{};
  int party = 0;
  std::string backend = "auto";  // auto, scalar, avx2, gfni
  std::size_t max_pending_jobs = 16'384;
};

struct EngineStatus {
  bool session_up = false;
  std::size_t lanes = 0;
  std::size_t pending_jobs = 0;
  std::uint64_t jobs_done = 0;
  std::uint64_t jobs_failed = 0;
  std::uint64_t message_bytes_sent = 0;
  std::uint64_t aes_blocks = 0;
  std::uint64_t sha1_blocks = 0;
  std::uint64_t rounds = 0;
  std::string backend;
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

  // The representations this CPU is good at, for the session handshake.
  static Representation preferred_representation(const std::string& backend);

  // Never blocks. A job beyond the limits is answered at once.
  virtual void submit(AgentRole role, JobRequest request) = 0;

  // Runs the lanes until a link fails or stop() is called; jobs that were
  // running are answered with TKDC_STATUS_UNAVAILABLE. Returns why it ended
  // (empty after stop()).
  virtual std::string run_session(Session& session) = 0;
  virtual void stop() = 0;

  // Answers waiting jobs whose deadline is over; call it a few times a second.
  virtual void expire() = 0;
  virtual EngineStatus status() const = 0;
};

}  // namespace tkdc
