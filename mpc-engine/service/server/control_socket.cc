// SPDX-License-Identifier: Apache-2.0
#include "service/server/control_socket.h"

#include <zmq.h>

#include <algorithm>
#include <cstdint>

#include "base/curve_key.h"
#include "service/server/zap.h"
#include "service/wire/message.h"

namespace tkdc {
namespace {

// A request is at most two components, 4,096 public octets and a small header.
constexpr std::int64_t kMaxMessageBytes = 2 * std::int64_t{kMaxInputBytes} + 8'192;
constexpr int kRequestsWaiting = 1'024;  // per connection, before TCP pushes back
constexpr int kHeartbeatMs = 5'000;
constexpr int kHeartbeatTimeoutMs = 15'000;
constexpr int kHandshakeMs = 5'000;
// ZMQ_ZAP_ENFORCE_DOMAIN: libzmq 4.3 has it in every build, its header shows it
// to draft builds only. A libzmq that does not know it makes us fail.
constexpr int kZapEnforceDomain = 93;

bool set(void* socket, int option, int value) {
  return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

bool set_limits(void* socket, std::size_t max_answers_waiting) {
  return set(socket, ZMQ_LINGER, 0) && set(socket, ZMQ_IPV6, 1) &&
         set(socket, ZMQ_ROUTER_MANDATORY, 1) && set(socket, ZMQ_RCVHWM, kRequestsWaiting) &&
         set(socket, ZMQ_SNDHWM,
             static_cast<int>(std::min<std::size_t>(2 * max_answers_waiting, 1 << 20))) &&
         zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &kMaxMessageBytes, sizeof kMaxMessageBytes) == 0 &&
         set(socket, ZMQ_HANDSHAKE_IVL, kHandshakeMs) &&
         set(socket, ZMQ_HEARTBEAT_IVL, kHeartbeatMs) &&
         set(socket, ZMQ_HEARTBEAT_TIMEOUT, kHeartbeatTimeoutMs) &&
         set(socket, ZMQ_HEARTBEAT_TTL, kHeartbeatTimeoutMs) && set(socket, ZMQ_TCP_KEEPALIVE, 1);
}

bool set_security(void* socket, const SecretVector& curve_secret_key) {
  SecretBuffer key(kCurveKeyBytes);
  std::string domain = kZapDomain;
  return decode_curve_secret(curve_secret_key, key.span().first<kCurveKeyBytes>()) &&
         set(socket, ZMQ_CURVE_SERVER, 1) &&
         zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, key.data(), key.size()) == 0 &&
         zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, domain.data(), domain.size()) == 0 &&
         set(socket, kZapEnforceDomain, 1);
}

}  // namespace

Result<void*> open_control_socket(void* context, const std::string& endpoint,
                                  const SecretVector& curve_secret_key,
                                  std::size_t max_answers_waiting) {
  void* socket = zmq_socket(context, ZMQ_ROUTER);
  if (socket == nullptr)
    return fail(std::string("control: no socket: ") + zmq_strerror(zmq_errno()));
  std::string problem;
  if (!set_limits(socket, max_answers_waiting) || !set_security(socket, curve_secret_key))
    problem = "control: this libzmq lacks CURVE, or curve_secret_key_file is not a Z85 key";
  else if (zmq_bind(socket, endpoint.c_str()) != 0)
    problem = "control: cannot listen on " + endpoint + ": " + zmq_strerror(zmq_errno()) +
              "; is the address this host's and the port free?";
  if (problem.empty()) return socket;
  zmq_close(socket);
  return fail(problem);
}

}  // namespace tkdc
