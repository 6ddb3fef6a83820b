// SPDX-License-Identifier: Apache-2.0
// The party's job service: takes jobs from agents, runs them with the other two
// parties on the lanes of the current session, hands back replies.
//
// Threads: one per lane, started by run_session(); submit() and the queries
// may be called from any thread. Lane 0 runs key creation and removal, which
// wait for the disk; the other lanes run tickets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "service/job/options.h"
#include "service/job/status.h"
#include "service/wire/message.h"
#include "service/wire/role.h"
#include "session/course_tail.h"
#include "session/session.h"

namespace tkdc {

class Store;

class JobService {
 public:
  using Reply = JobServiceReply;
  using Audit = JobServiceAudit;

  static Result<std::unique_ptr<JobService>> create(const JobServiceOptions& options, Store& store,
                                                    Reply reply, Audit audit);
  virtual ~JobService() = default;

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

  // This server's administrator; see service/sealing/revocations.h. A window is in force when it
  // returns, also where an error says that it is not on disk.
  virtual Result<void> revoke(SealWindow window) = 0;
  virtual Result<void> lift_revocations() = 0;

  // Work on all shares, for this server's administrator: begins when the three servers can.
  virtual void ask_shares(ShareTask task) = 0;
  // As was asked before this server's start: what is under way goes on.
  virtual void go_on_with_shares(ShareTask task) { ask_shares(task); }

  // Answers waiting jobs whose deadline is over and writes down seal counts;
  // call it a few times a second.
  virtual void expire() = 0;
  virtual JobServiceStatus status() const = 0;
};

}  // namespace tkdc
