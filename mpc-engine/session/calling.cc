// SPDX-License-Identifier: Apache-2.0
#include "session/calling.h"

#include <algorithm>

#include "base/machine.h"
#include "session/backoff.h"
#include "session/entries.h"

namespace tkdc {
namespace {

Result<void> pause(int ms, const Waiting& waiting) {
  const long long until = std::min(monotonic_ms() + ms, waiting.deadline_ms);
  while (monotonic_ms() < until) {
    if (auto open = waiting.check(); !open.ok()) return open;
    machine().pause(std::chrono::milliseconds(kSliceMs));
  }
  return {};
}

}  // namespace

Result<void> open_network(MeshOptions& options) {
  if (options.network) return {};
  auto tls = make_tls_network({options.certificate_pem, options.private_key_pem, options.records,
                               options.records_per_key, options.advice.pin});
  if (!tls.ok()) return tls.error();
  options.network = std::move(*tls);
  return {};
}

Result<std::unique_ptr<Acceptor>> hear_calls(const MeshOptions& options, const MeshPeer& caller,
                                             std::function<void(const Hello&)> on_offer) {
  auto listener = options.network->listen(options.listen_address, caller.pin);
  if (!listener.ok()) return listener.error();
  AcceptorOptions accept;
  accept.party = caller.party;
  accept.log = options.log;
  accept.no_call = options.advice.no_call;
  accept.on_offer = std::move(on_offer);
  return std::make_unique<Acceptor>(std::move(*listener), std::move(accept));
}

SecretVector random_contribution() {
  SecretVector out(kContributionBytes);
  randombytes_buf(out.data(), out.size());
  return out;
}

Result<Hello> begin_hello(const MeshOptions& options, Entries& entries) {
  auto inventory = entries.inventory();
  if (!inventory.ok()) return inventory.error();
  Hello mine;
  mine.version = options.protocol_version;
  mine.installation = options.installation;
  mine.party = options.party;
  mine.lanes = options.lanes;
  mine.security = security_name(options.security);
  mine.representation = options.representation;
  mine.zero_shares = options.zero_shares;
  mine.wire_format = options.wire_format;
  mine.protocols = options.protocols;
  mine.cohort_limit = options.cohort_limit;
  mine.inventory = *inventory;
  const Epochs epochs = entries.epochs();
  mine.epoch_era = epochs.era;
  mine.epoch = epochs.reserved;
  mine.epoch_used = epochs.used;
  if (options.note) mine.note = options.note();
  randombytes_buf(mine.nonce.data(), mine.nonce.size());
  return mine;
}

Result<std::unique_ptr<PacketStream>> dial_peer(Network& network, const MeshPeer& peer,
                                                const std::string& advice, const Waiting& waiting) {
  Backoff backoff;
  const std::string name = "party " + std::to_string(peer.party);
  for (;;) {
    auto stream = network.dial(peer.address, peer.pin, name);
    std::string reason = stream.ok() ? "no answer" : stream.error().message;
    while (stream.ok()) {
      auto connected = (*stream)->connect(monotonic_ms() + kSliceMs);
      if (connected.ok() && *connected) {
        (*stream)->set_max_packet_bytes(kMaxHelloBytes);
        return stream;
      }
      if (!connected.ok()) {
        reason = connected.error().message;
        break;
      }
      if (auto open = waiting.check(); !open.ok()) return open.error();
      if (monotonic_ms() >= waiting.deadline_ms) break;
    }
    if (auto paused = pause(backoff.next_ms(), waiting); !paused.ok()) return paused.error();
    if (monotonic_ms() >= waiting.deadline_ms)
      return fail("session: " + name + " at " + peer.address + " does not answer (" + reason + ")" +
                  followed_by(advice));
  }
}

Result<void> finish_handshake(PacketStream& stream, const Waiting& waiting) {
  for (;;) {
    auto done = stream.handshake();
    if (!done.ok()) return done.error();
    if (*done) return {};
    if (auto open = waiting.check(); !open.ok()) return open;
    if (monotonic_ms() >= waiting.deadline_ms)
      return fail("session: TLS handshake with " + stream.peer() + " not finished in time");
    stream.wait(monotonic_ms() + kSliceMs);
  }
}

Result<void> await_packet(PacketStream& stream, const Waiting& waiting,
                          const std::string& perhaps) {
  for (;;) {
    auto filled = stream.fill();
    if (stream.has_packet()) return {};
    if (!filled.ok()) return filled;
    if (auto open = waiting.check(); !open.ok()) return open;
    if (stream.has_packet()) return {};
    if (monotonic_ms() >= waiting.deadline_ms)
      return fail("session: no HELLO from " + stream.peer() + " in time" + perhaps);
    stream.wait(monotonic_ms() + kSliceMs);
  }
}

}  // namespace tkdc
