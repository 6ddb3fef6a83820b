// SPDX-License-Identifier: Apache-2.0
// Requests to the agent, many at a time on one connection, so that the servers can work
// on them together.
//
// One thread. Secret: keys in requests under way, wiped by the stream as they drain.
// Failure: when the connection breaks or is silent for too long, every request under way
// is answered UNAVAILABLE; nothing is repeated here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "request.h"
#include "stream.h"

namespace tkdc::migrate {

class AgentPipe {
 public:
  using Done = std::function<void(const tkdc_reply&)>;
  static constexpr std::uint32_t kDeadlineMs = 60'000;

  // Connects and greets. Error: says what to look at.
  static Result<std::unique_ptr<AgentPipe>> connect(const std::string& path);
  ~AgentPipe();
  AgentPipe(const AgentPipe&) = delete;

  // Of the greeting.
  const std::uint8_t* installation() const { return installation_; }
  const std::string& security() const { return security_; }

  // `done` is called once, from turn().
  void ask(const tkdc_request& request, Done done);
  // Sends and receives, waits up to `timeout_ms` for something to happen.
  void turn(int timeout_ms);
  std::size_t pending() const { return waiting_.size(); }
  bool alive() const { return stream_.fd >= 0; }

  // One request alone, answered before it returns; the reply is `done`'s while that runs.
  void call(const tkdc_request& request, const Done& done);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    std::uint8_t op = 0;
    Done done;
  };
  AgentPipe() = default;
  Result<void> greet();
  void on_frame(const tkdc_wire_header& header, tkdc_span body);
  void fail_all(const char* why);

  tkdc_stream stream_{.fd = -1, .in = {}, .out = {}};
  std::uint8_t installation_[TKDC_WIRE_INSTALLATION_BYTES]{};
  std::string security_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, Waiting> waiting_;
  Clock::time_point heard_ = Clock::now();
};

// "what the status means: the agent's words".
std::string describe(const tkdc_reply& reply);

}  // namespace tkdc::migrate
