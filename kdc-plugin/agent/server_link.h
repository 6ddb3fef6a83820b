// SPDX-License-Identifier: Apache-2.0
// The agent's connection to one server: a ZeroMQ DEALER with CURVE, and its
// monitor.
//
// ZeroMQ reconnects by itself; messages go only to a connection whose
// handshake is done (ZMQ_IMMEDIATE), so nothing waits in a queue for a server
// that is away. Used by the agent's thread only. ZMQ_FD is edge-triggered: it
// fires when the socket's state may have changed and says nothing about what
// is ready; whoever waits on it asks readable() first, after every send.
// Secret: the frames, each with two of three components, wiped when sent or read.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <zmq.hpp>

#include "agent/config.h"

namespace tkdc::agent {

using Clock = std::chrono::steady_clock;

class ServerLink {
 public:
  // Registers its descriptors with `epoll_fd`, level-triggered, with `tag`.
  static Result<std::unique_ptr<ServerLink>> open(zmq::context_t& context,
                                                  const AgentConfig& config, int party,
                                                  int epoll_fd, std::uint64_t tag);
  ~ServerLink();

  // False: no connection, or more than max_pending frames unsent.
  bool send(SecretVector frame);
  // True when send() would take a frame now.
  bool ready();
  // True when a frame or a monitor event waits.
  bool readable();

  // Hands over at most `max` received frames; each is wiped afterwards.
  void receive(const std::function<void(ByteSpan)>& handle, int max);

  // Takes note of connections made and lost. True when a connection was lost
  // since the last call: answers to what was sent on it will not come.
  bool update(Clock::time_point now);

  bool connected() const { return connected_; }
  // Since when there has been no connection.
  Clock::time_point down_since() const { return down_since_; }
  // "server 1 (tcp://...)", for messages.
  const std::string& title() const { return title_; }
  // Why the last connection failed; empty when nothing is known.
  const std::string& trouble() const { return trouble_; }

 private:
  ServerLink(zmq::context_t& context, const AgentConfig& config, int party, int epoll_fd,
             std::uint64_t tag);
  void connect();
  void disconnect();
  void watch(zmq::socket_t& socket);
  void handle_event(std::uint16_t event, Clock::time_point now);
  int events(zmq::socket_t& socket);

  zmq::context_t& context_;
  const AgentConfig& config_;
  int party_;
  int epoll_fd_;
  std::uint64_t tag_;
  std::string title_;
  std::string trouble_;
  zmq::socket_t socket_;
  zmq::socket_t monitor_;
  // Nothing was there when a socket was last asked, and nobody has used it since: its descriptor
  // will tell, and to ask again would be a system call for nothing.
  bool frames_awaited_ = false;
  bool events_awaited_ = false;
  bool connected_ = false;
  bool lost_ = false;
  Clock::time_point down_since_ = Clock::now();
  Clock::time_point opened_at_ = Clock::now();
};

}  // namespace tkdc::agent
