// SPDX-License-Identifier: Apache-2.0
// What clients have asked for, and the table of what the servers are working on: by number, with
// their deadlines in order.
//
// One thread. Secret: inputs that wait, output components that arrived early, wiped with their
// entry. Bounded by count and by octets, so that neither clients nor slow
// servers make the agent grow.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>

#include "agent/operation.h"
#include "agent/server_link.h"

namespace tkdc::agent {

inline constexpr std::size_t kMaxPendingBytes = 64u << 20;
// Questions of clients for the state, apart from `max_pending`: when that is full, an
// administrator asks why.
inline constexpr std::size_t kMaxPendingStatuses = 16;

// Whom to answer: a connection of the agent's socket, and its request id.
struct Asker {
  std::uint64_t client = 0;
  std::uint64_t request = 0;
};

// A client's request from its frame to the answer.
struct Pending {
  Asker asker;
  Operation operation;      // of three servers: its secret until they have it in shares
  SecretVector ciphertext;  // of a tail: what its head gave
  JobCost spent;            // and what that cost
  std::size_t input_bytes = 0;
  std::size_t bytes = 0;  // what it counts against kMaxPendingBytes
  Clock::time_point started;
  Clock::time_point deadline;
  std::uint8_t expected = 0;  // bit i: server i is to answer
  std::uint8_t answered = 0;
  std::vector<JobReply> replies;   // by party
  int deals = 1;                   // how often it was shared out
  Clock::time_point not_before{};  // of the next time

  tkdc_wire_op op() const { return operation.job.op; }
  const KeyRef& key() const { return operation.job.key; }
  bool complete() const { return (answered & expected) == expected; }
};

class PendingTable {
 public:
  // Takes a place; the caller has checked full().
  Pending& add(std::uint64_t number, Pending pending);
  Pending* find(std::uint64_t number);
  // The entry leaves the table.
  Pending take(std::uint64_t number);

  // The number of the job whose deadline comes first, when it is over.
  std::optional<std::uint64_t> expired(Clock::time_point now) const;
  std::optional<Clock::time_point> first_deadline() const;
  // When the operation began whose deadline comes first; none: it is a STATUS, or there is none.
  std::optional<Clock::time_point> oldest_start() const;
  // All numbers, for going through them while entries leave.
  std::vector<std::uint64_t> numbers() const;

  std::size_t size() const { return jobs_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t statuses() const { return statuses_; }

 private:
  std::unordered_map<std::uint64_t, Pending> jobs_;
  std::set<std::pair<Clock::time_point, std::uint64_t>> deadlines_;
  std::size_t bytes_ = 0, statuses_ = 0;
};

}  // namespace tkdc::agent
