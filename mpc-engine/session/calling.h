// SPDX-License-Identifier: Apache-2.0
// What one attempt at a session does between three parties and between two: its HELLO, and a
// connection from the first call to the peer's first packet.
//
// Called by the thread that makes sessions. Secret: contributions.
#pragma once

#include <functional>
#include <memory>

#include "session/acceptor.h"
#include "session/mesh_options.h"

namespace tkdc {

class Entries;

// How long an attempt waits, and what it looks at meanwhile, every few milliseconds. An error of
// `check` ends the waiting.
struct Waiting {
  long long deadline_ms = 0;
  std::function<Result<void>()> check;
};

inline constexpr int kSliceMs = 20;  // how late stop() may be noticed

// Over TLS, where the options name no other.
Result<void> open_network(MeshOptions& options);
// Hears `caller` on the options' address. `on_offer`: AcceptorOptions.
Result<std::unique_ptr<Acceptor>> hear_calls(const MeshOptions& options, const MeshPeer& caller,
                                             std::function<void(const Hello&)> on_offer);

SecretVector random_contribution();

// With what every party says, and a nonce of this attempt.
Result<Hello> begin_hello(const MeshOptions& options, Entries& entries);

// Connects, trying again while the peer is not up yet. `advice`: behind the error.
Result<std::unique_ptr<PacketStream>> dial_peer(Network& network, const MeshPeer& peer,
                                                const std::string& advice, const Waiting& waiting);
Result<void> finish_handshake(PacketStream& stream, const Waiting& waiting);
// Until a packet of `stream` is there. `perhaps`: why it may be late.
Result<void> await_packet(PacketStream& stream, const Waiting& waiting,
                          const std::string& perhaps = "");

}  // namespace tkdc
