// SPDX-License-Identifier: Apache-2.0
// Where the requests of agents come in and their answers go out. A ZeroMQ ROUTER under CURVE is the
// real one (control_socket.h); tests/sim has one in which a seed decides what arrives and when.
//
// The control thread's, but for wake(). Secret: the share components in what it carries.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// Jobs of one agent that a server has not answered; what it asks beyond is refused.
inline constexpr std::size_t kMaxPendingPerAgent = 8'192;

class AgentSocket {
 public:
  virtual ~AgentSocket() = default;

  struct Ready {
    bool input = false, woken = false;
  };
  // Until a message is there or wake() was called. Error: the socket is unusable.
  virtual Result<Ready> wait(int most_ms) = 0;
  virtual void wake() = 0;  // any thread

  struct Message {
    int agent = -1;      // by its place in the configuration; -1: nobody that was admitted
    bool whole = false;  // one frame
    std::string route;   // where answers go
    ByteSpan body;
  };
  // Hands one message over; what it stands in is wiped afterwards. False: there is none.
  virtual bool receive(const std::function<void(const Message&)>& handle) = 0;
  // False: whoever is there has gone, or does not read.
  virtual bool send(const std::string& route, SecretVector frame) = 0;

  virtual std::string endpoint() const = 0;
};

}  // namespace tkdc
