// SPDX-License-Identifier: Apache-2.0
// Whether the other servers can be reached: at a server by TLS, and each has to show the
// certificate that is pinned; at an agent by TCP, since CURVE says nothing to whom it does not
// know. The other end writes one line about a caller that it does not know.
#include <poll.h>

#include "base/strict_toml.h"
#include "link/socket.h"
#include "link/tls_network.h"
#include "service/server/session_advice.h"
#include "tools/cli/doctor_checks.h"

namespace tkdc::cli {
namespace {

constexpr long long kPortMs = 3'000;

// Empty: it is the peer that is expected.
std::string try_tls(Network& network, const PeerEntry& peer) {
  const long long deadline = monotonic_ms() + kPortMs;
  auto stream =
      network.dial(peer.address, peer.certificate, "server " + std::to_string(peer.party));
  if (!stream) return stream.error().message;
  auto connected = (*stream)->connect(deadline);
  if (!connected) return connected.error().message;
  for (bool on = *connected; on && monotonic_ms() < deadline; (*stream)->wait(deadline)) {
    auto done = (*stream)->handshake();
    if (!done) return done.error().message;
    if (*done) return {};
  }
  return "no answer within " + std::to_string(kPortMs / 1000) + " s";
}

std::string try_tcp(const std::string& address) {
  auto socket = start_dial(address);
  if (!socket) return socket.error().message;
  if (!wait_ready(socket->get(), POLLOUT, monotonic_ms() + kPortMs))
    return "no answer within " + std::to_string(kPortMs / 1000) + " s";
  return connect_error(socket->get());
}

Finding unreachable(const std::string& address, const std::string& why) {
  return wrong(address + ": " + why,
               "compare this configuration's entry of that server with what it is; on its host: "
               "systemctl start the unit tkdc-server@NAME, and let this host through its packet "
               "filter: nft list ruleset");
}

Finding of_server(const ServerConfig& config) {
  auto own = make_certificate("tkdc doctor");
  if (!own) return wrong(own.error().message, "openssl version");
  TlsNetworkOptions options;
  options.certificate_pem = own->certificate_pem;
  options.private_key_pem = std::move(own->private_key_pem);
  options.pin_advice = session_advice(config.parties).pin;
  auto network = make_tls_network(options);
  if (!network) return wrong(network.error().message, "openssl version");
  // Of two servers the first one calls, and listens to nobody.
  if (config.parties == 2 && config.party == 1)
    return good("server 0 connects to this one: see there");
  for (const PeerEntry& peer : config.peers)
    if (const std::string why = try_tls(**network, peer); !why.empty())
      return unreachable("server " + std::to_string(peer.party) + " at " + peer.address, why);
  return good(config.parties == 2 ? "the other server shows the certificate that is pinned"
                                  : "both other servers show the certificates that are pinned");
}

Finding of_agent(const std::string& config) {
  constexpr std::string_view kScheme = "tcp://";
  StrictToml file;
  if (auto loaded = file.load(config); !loaded) return unknown("the configuration cannot be read");
  std::size_t all = 0;
  for (TomlTable& server : file.tables("servers")) {
    std::string address = server.text("address", "");
    if (address.starts_with(kScheme)) address.erase(0, kScheme.size());
    if (const std::string why = try_tcp(address); !why.empty())
      return unreachable("server at " + address, why);
    ++all;
  }
  return good(std::to_string(all) + " servers take connections");
}

}  // namespace

Finding check_ports(const Patient& patient) {
  if (patient.kind == Patient::Kind::kAgent) return of_agent(patient.config);
  if (!patient.server) return unknown("the configuration cannot be read");
  return of_server(*patient.server);
}

}  // namespace tkdc::cli
