// SPDX-License-Identifier: Apache-2.0
// What tkdc's servers count during a run, asked of the agent once a second: how large their
// batches are. Only for a KDC with tkdc behind it, and only if asked for (--agent).
//
// Server 0 stands for the three: they do the same operations in the same rounds. What one of
// them refuses by itself, its limits, is looked for at each.
//
// A thread of its own asks, since an answer may take seconds under load; rows() is for after
// end(). An answer that does not come, or counters that begin anew (a server restarted), leave
// a gap.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tkdc::storm {

// Since the server started.
struct ServerCounts {
  std::uint64_t operations = 0, cohorts = 0, rounds = 0, operation_rounds = 0;
  std::uint64_t limited = 0;  // the most that one of the three refused for its limits
};

// Of `tkdc status --json`, or the agent's own document; nothing unless server 0 answered.
std::optional<ServerCounts> parse_counts(const std::string& document);

// From one answer to the next.
struct BatchRow {
  double at_s = 0;  // the later one, since begin()
  double seconds = 0;
  ServerCounts counts;
  double per_cohort() const;  // operations that start together
  double at_once() const;     // operations that share a round
};

// Nothing when the counters began anew, or there is no time between the two.
std::optional<BatchRow> between(const ServerCounts& before, double before_s,
                                const ServerCounts& after, double after_s);

class Servers {
 public:
  explicit Servers(std::string agent_socket) : socket_(std::move(agent_socket)) {}
  ~Servers() { end(); }
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  void begin();  // does nothing without a socket
  void end();
  const std::vector<BatchRow>& rows() const { return rows_; }
  std::uint64_t unanswered() const { return unanswered_; }

 private:
  void ask_each_second();
  void ask();

  const std::string socket_;
  std::chrono::steady_clock::time_point start_;
  std::optional<ServerCounts> last_;
  double last_s_ = 0;
  std::vector<BatchRow> rows_;
  std::uint64_t unanswered_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace tkdc::storm
