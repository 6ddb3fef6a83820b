// SPDX-License-Identifier: Apache-2.0
// What the control plane remembers of each agent: where its answers go, the
// last job number of each of its sessions, and how many jobs are under way.
//
// Numbers must grow within a session, so a frame that comes twice runs once.
// Used by the control thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace tkdc {

class AgentSessions {
 public:
  static constexpr std::size_t kMaxSessions = 64;  // remembered per agent

  struct Session {
    std::string route;  // ZeroMQ routing id of its newest connection
    std::uint64_t last_number = 0;
    std::size_t pending = 0;
  };

  enum class Arrival { kNew, kReplay, kTooManySessions };

  // A job arrived. kNew: the session's route and number are updated.
  Arrival arrived(std::uint64_t session, std::uint64_t number, const std::string& route) {
    auto found = sessions_.find(session);
    if (found == sessions_.end()) {
      if (sessions_.size() >= kMaxSessions && !forget_idle()) return Arrival::kTooManySessions;
      found = sessions_.emplace(session, Session{}).first;
      order_.push_back(session);
    } else if (number <= found->second.last_number) {
      return Arrival::kReplay;
    }
    found->second.last_number = number;
    found->second.route = route;
    return Arrival::kNew;
  }

  void started(std::uint64_t session) {
    sessions_[session].pending++;
    pending_++;
  }

  // Null when the session is unknown.
  const Session* answered(std::uint64_t session) {
    auto found = sessions_.find(session);
    if (found == sessions_.end() || found->second.pending == 0) return nullptr;
    found->second.pending--;
    pending_--;
    return &found->second;
  }

  std::size_t pending() const { return pending_; }

 private:
  // The oldest session without work; an agent that starts anew draws a new one.
  bool forget_idle() {
    auto idle = std::find_if(order_.begin(), order_.end(),
                             [this](std::uint64_t s) { return sessions_[s].pending == 0; });
    if (idle == order_.end()) return false;
    sessions_.erase(*idle);
    order_.erase(idle);
    return true;
  }

  std::map<std::uint64_t, Session> sessions_;
  std::deque<std::uint64_t> order_;
  std::size_t pending_ = 0;
};

}  // namespace tkdc
