// SPDX-License-Identifier: Apache-2.0
#include "service/server/control_router.h"

#include <algorithm>
#include <cstdint>

#include "base/curve_key.h"
#include "service/server/zap.h"
#include "service/wire/message.h"

namespace tkdc {
namespace {

// A request is at most two components or what is dealt in their place, 4,096 public octets and a
// small header.
constexpr std::int64_t kMaxMessageBytes =
    std::max<std::int64_t>(2 * std::int64_t{kMaxInputBytes}, kMaxDealtBytes) + 8'192;
constexpr int kRequestsWaiting = 1'024;  // per connection, before TCP pushes back
constexpr int kHeartbeatMs = 5'000;
constexpr int kHeartbeatTimeoutMs = 15'000;
constexpr int kHandshakeMs = 5'000;
// libzmq 4.3 has this option in every build, its header shows it to draft builds only. A libzmq
// that does not know it makes us fail.
constexpr zmq::sockopt::integral_option<93, int, true> kZapEnforceDomain{};

void set_limits(zmq::socket_t& socket, std::size_t max_answers_waiting) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::ipv6, true);
  socket.set(zmq::sockopt::router_mandatory, true);
  socket.set(zmq::sockopt::rcvhwm, kRequestsWaiting);
  socket.set(zmq::sockopt::sndhwm,
             static_cast<int>(std::min<std::size_t>(2 * max_answers_waiting, 1 << 20)));
  socket.set(zmq::sockopt::maxmsgsize, kMaxMessageBytes);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket.set(zmq::sockopt::heartbeat_ivl, kHeartbeatMs);
  socket.set(zmq::sockopt::heartbeat_timeout, kHeartbeatTimeoutMs);
  socket.set(zmq::sockopt::heartbeat_ttl, kHeartbeatTimeoutMs);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
}

// False: no CURVE key.
bool set_security(zmq::socket_t& socket, const SecretVector& curve_secret_key) {
  SecretBuffer key(kCurveKeyBytes);
  if (!decode_curve_secret(curve_secret_key, key.span().first<kCurveKeyBytes>())) return false;
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, zmq::buffer(key.data(), key.size()));
  socket.set(zmq::sockopt::zap_domain, kZapDomain);
  socket.set(kZapEnforceDomain, true);
  return true;
}

bool configure(zmq::socket_t& socket, const SecretVector& curve_secret_key,
               std::size_t max_answers_waiting) {
  try {
    set_limits(socket, max_answers_waiting);
    return set_security(socket, curve_secret_key);
  } catch (const zmq::error_t&) {
    return false;
  }
}

}  // namespace

Result<zmq::socket_t> open_control_router(zmq::context_t& context, const std::string& endpoint,
                                          const SecretVector& curve_secret_key,
                                          std::size_t max_answers_waiting) {
  zmq::socket_t socket;
  try {
    socket = zmq::socket_t(context, zmq::socket_type::router);
  } catch (const zmq::error_t& error) {
    return fail(std::string("control: no socket: ") + error.what());
  }
  if (!configure(socket, curve_secret_key, max_answers_waiting))
    return fail("control: this libzmq lacks CURVE, or curve_secret_key_file is not a Z85 key");
  try {
    socket.bind(endpoint);
  } catch (const zmq::error_t& error) {
    return fail("control: cannot listen on " + endpoint + ": " + error.what() +
                "; is the address this host's and the port free?");
  }
  return socket;
}

}  // namespace tkdc
