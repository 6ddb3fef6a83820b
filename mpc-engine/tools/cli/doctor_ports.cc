// SPDX-License-Identifier: Apache-2.0
// Whether the other servers can be reached: at a server by TLS, and each has to show the
// certificate that is pinned; at an agent by TCP, since CURVE says nothing to whom it does not
// know. Neither shows the other end anything; where its certificate is right it takes no notice.
#include <poll.h>

#include "base/host_names.h"
#include "base/strict_toml.h"
#include "link/socket.h"
#include "link/tls_network.h"
#include "service/server/session_advice.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

constexpr long long kPortMs = 3'000;

// Why a server is not to be had, by what mends it.
struct Unreachable {
  enum class Cause : std::uint8_t { kNetwork, kName, kCertificate };
  Cause cause = Cause::kNetwork;
  std::string why;  // empty: it can be reached
};
using Cause = Unreachable::Cause;

bool has_no_host(const std::string& address) {
  return look_up(host_of(address)) == Lookup::kUnknown;
}

Unreachable says_nothing() {
  return {Cause::kNetwork, "no answer within " + std::to_string(kPortMs / 1000) + " s"};
}

// Whether it is the peer that is expected.
Unreachable try_tls(Network& network, const PeerEntry& peer) {
  if (has_no_host(peer.address)) return {Cause::kName, "there is no such host"};
  const long long deadline = monotonic_ms() + kPortMs;
  auto stream =
      network.dial(peer.address, peer.certificate, "server " + std::to_string(peer.party));
  if (!stream) return {Cause::kNetwork, stream.error().message};
  auto connected = (*stream)->connect(deadline);
  if (!connected) return {Cause::kNetwork, connected.error().message};
  for (bool on = *connected; on && monotonic_ms() < deadline; (*stream)->wait(deadline)) {
    auto done = (*stream)->handshake();
    if (!done) {
      const std::string& why = done.error().message;
      const bool is_other = why.find("presented the certificate") != std::string::npos;
      return {is_other ? Cause::kCertificate : Cause::kNetwork, why};
    }
    if (*done) return {};
  }
  return says_nothing();
}

Unreachable try_tcp(const std::string& address) {
  if (has_no_host(address)) return {Cause::kName, "there is no such host"};
  auto socket = start_dial(address);
  if (!socket) return {Cause::kNetwork, socket.error().message};
  if (!wait_ready(socket->get(), POLLOUT, monotonic_ms() + kPortMs)) return says_nothing();
  return {Cause::kNetwork, connect_error(socket->get())};
}

// `file`: the configuration that has the address.
Finding unreachable(const std::string& who, const Unreachable& found, const std::string& file) {
  std::string remedy =
      "on its host: systemctl start the unit tkdc-server@NAME, and let this host through its "
      "packet filter: nft list ruleset; or this address is not its own: correct it in " +
      file;
  if (found.cause == Cause::kName)
    remedy = "correct the address in " + file + ", or /etc/hosts and the DNS; then tkdc unit " +
             "--config " + file + "; systemctl daemon-reload, and a restart";
  if (found.cause == Cause::kCertificate)
    remedy = "compare certificate_sha256 of its [[peers]] entry in " + file +
             " with the fingerprint of its newest introduction, which its administrator reads to "
             "you; then tkdc join, and a restart: docs/operations.md, Changing keys";
  return wrong(who + ": " + found.why, remedy);
}

Finding of_server(const ServerConfig& config, const std::string& file) {
  TlsNetworkOptions options;
  options.anonymous = true;
  options.pin_advice = session_advice(config.parties).pin;
  auto network = make_tls_network(options);
  if (!network) return wrong(network.error().message, "openssl version");
  // Of two servers the first one calls, and listens to nobody.
  if (config.parties == 2 && config.party == 1)
    return good("server 0 connects to this one: see there");
  for (const PeerEntry& peer : config.peers)
    if (const Unreachable found = try_tls(**network, peer); !found.why.empty())
      return unreachable("server " + std::to_string(peer.party) + " at " + peer.address, found,
                         file);
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
    if (const Unreachable found = try_tcp(address); !found.why.empty())
      return unreachable("server at " + address, found, shell_word(config));
    ++all;
  }
  return good(std::to_string(all) + " servers take connections");
}

}  // namespace

Finding check_ports(const Patient& patient) {
  if (patient.kind == Patient::Kind::kAgent) return of_agent(patient.config);
  if (!patient.server) return unknown("the configuration cannot be read");
  return of_server(*patient.server, shell_word(patient.config));
}

}  // namespace tkdc::cli
