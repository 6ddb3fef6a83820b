// SPDX-License-Identifier: Apache-2.0
// Who may talk to the control plane: a ZAP handler (ZeroMQ RFC 27) that lets
// in exactly the listed CURVE public keys. Without it CURVE would accept any
// client key. If its thread is gone, libzmq refuses everybody, because the
// server socket sets ZMQ_ZAP_ENFORCE_DOMAIN.
//
// The user id given to libzmq with each admitted connection is the agent's
// index in the list; the control plane reads it back from every message.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "base/curve_key.h"
#include "base/result.h"
#include "service/server/config.h"

namespace tkdc {

inline constexpr char kZapDomain[] = "tkdc-control";

class ZapHandler {
 public:
  // Binds inproc://zeromq.zap.01 of `context`, so there is one for each context;
  // must exist before the server socket binds.
  static Result<std::unique_ptr<ZapHandler>> start(zmq::context_t& context,
                                                   const std::vector<AgentEntry>& agents,
                                                   std::function<void(const std::string&)> log);
  ~ZapHandler();

 private:
  ZapHandler(zmq::socket_t socket, const std::vector<AgentEntry>& agents,
             std::function<void(const std::string&)> log);
  void run();
  bool answer();
  bool answer(const std::vector<std::string>& frames);
  int agent_of(const std::vector<std::string>& frames) const;

  zmq::socket_t socket_;  // used by the thread once it runs
  std::vector<CurvePublicKey> keys_;
  std::function<void(const std::string&)> log_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace tkdc
