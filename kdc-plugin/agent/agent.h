// SPDX-License-Identifier: Apache-2.0
// tkdc-agent's event loop: clients of the Unix socket on one side, the
// servers, three or two, on the other.
//
// One thread (ZeroMQ has one more for its sockets). Each pass of the loop
// reads what clients sent, hands it to the servers, takes in the servers'
// replies, lets deadlines pass and sends each client its replies together.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "agent/client.h"
#include "agent/jobs.h"
#include "agent/listener.h"

namespace tkdc::agent {

inline constexpr std::size_t kMaxClients = 1024, kMaxStatusClients = 16;
// Who comes by agent.status_socket shares a document that is so old at most.
inline constexpr auto kStatusFresh = std::chrono::seconds(1);
inline constexpr std::size_t kMaxStatusWaiters = 64;

class Agent {
 public:
  static Result<std::unique_ptr<Agent>> create(AgentConfig config);
  ~Agent();

  // Serves until stop(). Error: the loop itself broke.
  Result<void> run();

  // Both may be called from other threads and from signal handlers.
  void stop();
  void reopen_log();

 private:
  explicit Agent(AgentConfig config);
  Result<void> set_up();
  void pass();
  int wait_ms(Clock::time_point now);
  void accept_clients(Listener& listener, bool only_status);
  void read_client(Client& client);
  void handle_frame(Client& client, const Client::Frame& frame);
  void handle_hello(Client& client, const Client::Frame& frame);
  void share_status(Client& client, const Client::Frame& frame, Clock::time_point deadline);
  void tell_waiters(const Outcome& outcome);
  void deliver(const Asker& asker, tkdc_wire_op op, const KeyId& key_id, Outcome outcome);
  void refuse(Client& client, const Client::Frame& frame, tkdc_status status,
              const std::string& why);
  void mark(Client& client);
  void flush_clients();
  void update_interest(Client& client);
  void drop(std::uint64_t id);
  void tell_systemd();
  void shut_down();

  AgentConfig config_;
  int epoll_fd_ = -1;
  int wake_fd_ = -1;
  std::atomic<bool> stop_{false};
  std::atomic<bool> reopen_{false};
  std::unique_ptr<Jobs> jobs_;
  std::unique_ptr<Listener> listener_, status_listener_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::vector<std::uint64_t> dirty_;  // clients with replies of this pass
  std::uint64_t next_client_;
  // One question of agent.status_socket's clients at a time, and who waits for its answer.
  std::optional<Asker> status_asked_;
  std::vector<Asker> status_waiters_;
  SecretVector status_;  // the last good answer
  Clock::time_point status_at_{};
  Clock::time_point next_status_remark_{};
  Clock::time_point now_ = Clock::now();
  Clock::time_point next_tick_ = Clock::now();
  int told_connected_ = -1;
  bool told_ready_ = false;
};

}  // namespace tkdc::agent
