// SPDX-License-Identifier: Apache-2.0
// The server's side of the agents. Takes job requests from its socket, checks who sends them, hands
// them to the job service, sends the answers back. docs/protocols/04-control-plane.md.
//
// Threads: run() is the control thread and the only one that touches the
// socket; reply() is called by lane threads and queues. Secret: the share components in requests
// and answers, wiped after use.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "service/job/job_service.h"
#include "service/server/agent_runs.h"
#include "service/server/agent_socket.h"
#include "service/server/config.h"

namespace tkdc {

struct ControlOptions {
  std::vector<AgentEntry> agents;
  std::size_t max_pending_per_agent = kMaxPendingPerAgent;
  std::function<void(const std::string&)> log;  // any thread
};

struct ControlCounters {
  std::uint64_t requests = 0;
  std::uint64_t malformed = 0;
  std::uint64_t replayed = 0;
  std::uint64_t refused = 0;      // beyond an agent's limit
  std::uint64_t undelivered = 0;  // the agent had gone or did not read
};

class ControlPlane {
 public:
  using Submit = std::function<void(AgentRole, JobRequest)>;
  using StatusJson = std::function<std::string()>;
  // The page of keys behind this one; for agents with the role admin.
  using ListKeys = std::function<Result<Bytes>(tkdc_wire_op op, const KeyId& after)>;

  ControlPlane(std::unique_ptr<AgentSocket> socket, ControlOptions options, Submit submit,
               StatusJson status_json);

  // Until stop(). Error: the socket is unusable.
  Result<void> run();
  void stop();  // any thread

  // Any thread; once for each job handed to submit.
  void reply(const JobName& name, JobReply reply);

  ControlCounters counters() const;  // any thread
  // When each of ControlOptions::agents last asked anything, by monotonic_ms(); 0: not yet. Any
  // thread.
  std::vector<long long> heard_ms() const;
  // Before run(). Without it nobody gets a list.
  void list_keys_by(ListKeys list) { list_keys_ = std::move(list); }

 private:
  struct Answer {
    JobName name;
    SecretVector frame;
  };

  void receive_some();
  void handle(const AgentSocket::Message& message);
  void answer_status(std::size_t agent, const JobRequest& request);
  void answer_list(std::size_t agent, const JobRequest& request);
  void refuse(std::size_t agent, const JobRequest& request);
  void send_answers();
  void complain(const std::string& message);

  ControlOptions options_;
  Submit submit_;
  StatusJson status_json_;
  ListKeys list_keys_;
  std::unique_ptr<AgentSocket> socket_;

  std::vector<std::uint64_t> agent_ids_;  // JobName.agent, by index
  std::vector<AgentRuns> runs_;           // by index; control thread only
  std::vector<std::atomic<long long>> heard_ms_;
  long long next_complaint_ms_ = 0;
  bool listed_ = false;  // since receive_some() began; control thread only

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::deque<Answer> answers_;

  std::atomic<std::uint64_t> requests_{0}, malformed_{0}, replayed_{0}, refused_{0},
      undelivered_{0};
};

// JobName.agent of the agent with that key: equal at all three servers.
std::uint64_t agent_id(const std::string& curve_public_key);

}  // namespace tkdc
