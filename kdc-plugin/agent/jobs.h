// SPDX-License-Identifier: Apache-2.0
// Jobs on their way: shared out to the servers, two or three, answers put together (sharing.h).
//
// A job goes to all servers or to none, under one name (run,
// number). While a server's connection is being made, jobs wait for at most
// kConnectGrace; a server that is away for longer makes them fail at once. A
// lost connection fails what it still owed, because a restarted server does
// not know old jobs. The agent's thread only. Secret: inputs until they are
// shares, shares, outputs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "agent/counters.h"
#include "agent/operation.h"
#include "agent/operations_log.h"
#include "agent/pending.h"
#include "agent/sharing.h"

namespace tkdc::agent {

inline constexpr auto kConnectGrace = std::chrono::seconds(2);
inline constexpr auto kStatusTime = std::chrono::seconds(3);
// Servers warn of an agent that says nothing for long (service/server/agent_watch.h).
inline constexpr auto kSpeakAfter = std::chrono::seconds(30);
// A job is dealt again at once when two servers ask for it, and then each time after a while.
inline constexpr auto kDealAgainAfter = std::chrono::milliseconds(250);
inline constexpr int kMostDeals = 10;

class Jobs {
 public:
  using Deliver = std::function<void(const Asker&, tkdc_wire_op, const KeyId&, Outcome)>;

  // `deliver` is called once per submitted job, from within the calls below.
  static Result<std::unique_ptr<Jobs>> create(const AgentConfig& config, ServerLinks links,
                                              Deliver deliver);

  void submit(const Asker& asker, Operation operation, Clock::time_point now,
              Clock::time_point deadline);
  // Asks every connected server for its status; the outcome's output is JSON.
  void submit_status(const Asker& asker, Clock::time_point now, Clock::time_point deadline);

  // Asks the servers how they are where it has asked them nothing for a while: they see that it
  // lives.
  void speak(Clock::time_point now);

  // Takes in what the servers sent, sends what waited, lets deadlines pass.
  void pump(Clock::time_point now);
  // True when more input waits: the loop must not sleep.
  bool input_waits();
  // When pump() is to be called at the latest.
  Clock::time_point next_due(Clock::time_point now) const;
  // When it asks who is silent, unless there is nobody to wait for: pump() is to be called then.
  std::optional<Clock::time_point> probe_due() const;

  // Answers everything with UNAVAILABLE.
  void abandon(const std::string& why, Clock::time_point now);
  void reopen_log() { log_.reopen(); }

  Counters& counters() { return counters_; }
  std::size_t pending() const { return pending_.size() + waiting_.size(); }
  int connected_servers() const;

 private:
  Jobs(const AgentConfig& config, OperationsLog log, ServerLinks links, Deliver deliver);
  bool all_ready();
  std::string who_is_away() const;
  bool within_grace(Clock::time_point now) const;
  // An operation's end; asking for the state is none.
  void count(const Pending& job, const Outcome& outcome, Clock::time_point now);
  bool has_room(const Pending& job) const;
  void ask(Pending entry, Clock::time_point now);
  Pending status_question(const Asker& asker, Clock::time_point now,
                          Clock::time_point deadline) const;
  void ask_status(Pending entry, Clock::time_point now);
  void ask_tail(std::uint64_t head_number, Outcome answer, Clock::time_point now);
  void ask_again(std::uint64_t number, const Outcome& answer, Clock::time_point now);
  bool send_to_all(std::vector<SecretVector> frames);
  void handle_reply(std::size_t party, ByteSpan frame, Clock::time_point now);
  void handle_loss(std::size_t party, Clock::time_point now);
  void pump_waiting(Clock::time_point now);
  void probe(Clock::time_point now);
  std::string who_is_silent(const Pending& job) const;
  void expire(Clock::time_point now);
  void finish(std::uint64_t number, Outcome outcome, Clock::time_point now);
  void complete(std::uint64_t number, Clock::time_point now);
  void refuse(const Pending& job, tkdc_status status, const std::string& why,
              Clock::time_point now);
  Outcome status_outcome(const Pending& job) const;

  const AgentConfig& config_;
  OperationsLog log_;
  Deliver deliver_;
  ServerLinks links_;
  std::unique_ptr<Sharing> sharing_;
  PendingTable pending_;
  std::deque<Pending> waiting_;  // for connections
  std::size_t waiting_bytes_ = 0;
  Counters counters_;
  std::uint64_t run_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Clock::time_point> heard_;  // when each server last said anything
  Clock::time_point probed_{};
  Clock::time_point asked_{};  // anything
};

}  // namespace tkdc::agent
