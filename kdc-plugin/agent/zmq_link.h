// SPDX-License-Identifier: Apache-2.0
// The real connections to the servers: ZeroMQ DEALERs with CURVE, and their
// monitors.
//
// ZeroMQ reconnects by itself; messages go only to a connection whose
// handshake is done (ZMQ_IMMEDIATE), so nothing waits in a queue for a server
// that is away. ZMQ_FD is edge-triggered: it
// fires when the socket's state may have changed and says nothing about what
// is ready; whoever waits on it asks readable() first, after every send.
#pragma once

#include <zmq.hpp>

#include "agent/config.h"
#include "agent/server_link.h"

namespace tkdc::agent {

// Registers its descriptors with `epoll_fd`, level-triggered, with `tag`. It has to go before
// `config` and `epoll_fd` do.
Result<std::unique_ptr<ServerLink>> open_zmq_link(std::shared_ptr<zmq::context_t> context,
                                                  const AgentConfig& config, int party,
                                                  int epoll_fd, std::uint64_t tag);
// To all of them.
Result<ServerLinks> open_zmq_links(const AgentConfig& config, int epoll_fd, std::uint64_t tag);

}  // namespace tkdc::agent
