// SPDX-License-Identifier: Apache-2.0
// The agent's connection to one server, which is made anew by itself when it is lost. ZeroMQ's is
// the real one (zmq_link.h); tests/sim has one in which a seed decides what arrives and when.
//
// Used by the agent's thread only.
// Secret: the frames, each with what one server may see of a job, wiped when sent or read.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/machine.h"
#include "base/secret.h"

namespace tkdc::agent {

using Clock = SteadyClock;

class ServerLink {
 public:
  virtual ~ServerLink() = default;

  // False: no connection, or more than max_pending frames unsent.
  virtual bool send(SecretVector frame) = 0;
  // True when send() would take a frame now.
  virtual bool ready() = 0;
  // True when a frame or news of the connection waits.
  virtual bool readable() = 0;

  // Hands over at most `max` received frames; each is wiped afterwards.
  virtual void receive(const std::function<void(ByteSpan)>& handle, int max) = 0;

  // Takes note of connections made and lost. True when a connection was lost
  // since the last call: answers to what was sent on it will not come.
  virtual bool update(Clock::time_point now) = 0;

  virtual bool connected() const = 0;
  // Since when there has been no connection.
  virtual Clock::time_point down_since() const = 0;
  // "server 1 (tcp://...)", for messages.
  virtual const std::string& title() const = 0;
  // Why the last connection failed; empty when nothing is known.
  virtual const std::string& trouble() const = 0;
};

using ServerLinks = std::vector<std::unique_ptr<ServerLink>>;  // by party

}  // namespace tkdc::agent
