// SPDX-License-Identifier: Apache-2.0
#include "service/server/surroundings.h"

#include "base/log.h"
#include "base/secret_file.h"
#include "link/certificate.h"
#include "link/tls_network.h"
#include "service/server/control_plane.h"
#include "service/server/control_socket.h"
#include "service/server/session_advice.h"
#include "service/store/store_key.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxPemBytes = 64 * 1024;

Result<void> open_store(const ServerConfig& config, Surroundings& out) {
  auto key = read_store_key(config.store_key_file);
  if (!key.ok()) return key.error();
  StoreOptions options;
  options.path = config.store_path;
  options.installation = config.installation;
  options.party = config.party;
  options.map_bytes = config.store_map_bytes;
  auto store = Store::open(options, *key);
  if (!store.ok()) return store.error();
  out.store = std::move(*store);
  return {};
}

Result<void> open_network(const ServerConfig& config, Surroundings& out) {
  auto certificate = read_text_file(config.certificate_file, kMaxPemBytes);
  if (!certificate.ok()) return certificate.error();
  auto end_s = certificate_end(*certificate);
  if (!end_s.ok()) return end_s.error();
  out.certificate_end_s = *end_s;
  auto fingerprint = certificate_fingerprint(*certificate);
  if (!fingerprint.ok()) return fingerprint.error();
  out.certificate = *fingerprint;
  auto key = read_secret_file(config.private_key_file, kMaxPemBytes);
  if (!key.ok()) return key.error();
  TlsNetworkOptions options;
  options.certificate_pem = std::move(*certificate);
  options.private_key_pem = std::move(*key);
  options.pin_advice = session_advice(config.parties).pin;
  auto network = make_tls_network(options);
  if (!network.ok()) return network.error();
  out.network = std::move(*network);
  return {};
}

Result<void> open_agents(const ServerConfig& config, Surroundings& out) {
  auto secret = read_curve_secret(config.curve_secret_key_file);
  if (!secret.ok()) return secret.error();
  if (!decode_curve_secret(*secret, out.curve_secret.span().first<kCurveKeyBytes>()))
    return fail("config: " + config.curve_secret_key_file + " is no CURVE secret key");
  ControlSocketOptions options;
  options.listen = config.control_listen;
  options.curve_secret_key = std::move(*secret);
  options.agents = config.agents;
  options.max_answers_waiting = out.max_pending_per_agent;
  options.log = [](const std::string& line) { log_line(LogLevel::kWarning, line); };
  auto socket = open_control_socket(options);
  if (!socket.ok()) return socket.error();
  out.agents = std::move(*socket);
  return {};
}

}  // namespace

// A server that cannot be asked to export serves all the same.
Result<Surroundings> real_surroundings(const ServerConfig& config) {
  Surroundings out;
  auto done = open_store(config, out);
  if (done.ok()) done = open_agents(config, out);
  if (done.ok()) done = open_network(config, out);
  if (!done.ok()) return done.error();
  auto local = LocalSocket::open(local_socket_path(config.store_path));
  if (local.ok())
    out.local = std::move(*local);
  else
    log_line(LogLevel::kWarning, "no socket for `tkdc approve`: " + local.error().message);
  if (config.status_socket.empty()) return out;
  auto status = LocalSocket::open(config.status_socket, LocalSocket::Who::kGroup);
  if (status.ok())
    out.status = std::move(*status);
  else
    log_line(LogLevel::kWarning,
             "no socket for monitoring (control.status_socket): " + status.error().message);
  return out;
}

}  // namespace tkdc
