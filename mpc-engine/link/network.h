// SPDX-License-Identifier: Apache-2.0
// How the three parties reach each other: connections before they are links, and who calls.
// TlsNetwork (tls_network.h) is the real one; tests/sim has one in which a seed decides what
// arrives, when, and what is broken off (docs/adr/0029-a-realm-in-a-bottle.md).
//
// A network and its listener are used by the threads of one mesh, a stream by one thread at a
// time. Secret: received packets, in memory that is wiped.
#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "link/bulk_stream.h"
#include "link/certificate.h"
#include "link/link.h"
#include "link/link_breaker.h"

namespace tkdc {

// A connection that carries packets. Nothing but connect() and wait() waits.
class PacketStream {
 public:
  virtual ~PacketStream() = default;

  // Of one that was dialled: waits for the connection. False: the time is over. Error: there will
  // be none, and why.
  virtual Result<bool> connect(long long deadline_ms) = 0;
  // A step of the handshake, in which the peer proves its pinned identity; true when done.
  virtual Result<bool> handshake() = 0;
  // The peer ended the connection by itself, rather than that one of both refused the other.
  virtual bool is_left() const { return false; }

  Result<void> send(ByteSpan packet) { return send_pieces({&packet, 1}); }
  virtual Result<void> send_pieces(std::span<const ByteSpan> pieces) = 0;

  // Reads until a packet is complete or nothing more is there. Once it has failed it always fails;
  // packets received before can still be taken.
  virtual Result<void> fill() = 0;
  virtual bool has_packet() const = 0;
  // The oldest packet; valid until the next take(). Requires has_packet().
  virtual ByteSpan take() = 0;

  // Until something can be done with it, or the time is over.
  virtual void wait(long long deadline_ms) = 0;
  // By this a listener waits for it, and for what: as poll(2).
  virtual int id() const = 0;
  virtual short poll_events() const = 0;

  virtual const std::string& peer() const = 0;  // for messages: "party 1"
  virtual void set_peer(std::string peer) = 0;
  virtual void set_max_packet_bytes(std::size_t bytes) = 0;
  virtual std::uint64_t bytes_received() const = 0;  // to bound a stranger

  // A secret of both ends, under this label: the same octets at both.
  virtual Result<void> export_key(const std::string& label, MutableByteSpan out) const = 0;
};

// Whoever calls this party.
class Listener {
 public:
  virtual ~Listener() = default;
  // Null: nobody waits. What he is has to be shown by handshake().
  virtual Result<std::unique_ptr<PacketStream>> accept() = 0;
  // Until one of `watched` is as it is asked for, somebody calls, interrupt() was called or the
  // time is over. Ids, since another thread may do away with a stream meanwhile.
  virtual void wait(std::vector<pollfd>& watched, int most_ms) = 0;
  virtual void interrupt() = 0;  // any thread
  virtual int port() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // Callers prove to be `pin`.
  virtual Result<std::unique_ptr<Listener>> listen(const std::string& address,
                                                   const PeerPin& pin) = 0;
  // A connection is begun; `name` for messages.
  virtual Result<std::unique_ptr<PacketStream>> dial(const std::string& address, const PeerPin& pin,
                                                     std::string name) = 0;
  // A lane's, out of two streams of this network whose handshakes are done.
  virtual Result<std::unique_ptr<Link>> link(std::unique_ptr<PacketStream> prev,
                                             std::unique_ptr<PacketStream> next,
                                             std::shared_ptr<LinkBreaker> breaker) = 0;
  // A bulk stream's end, out of a stream of this network whose handshake is done and in which
  // nothing is under way. Error: this network has none.
  virtual Result<std::unique_ptr<BulkWriter>> bulk_writer(
      std::unique_ptr<PacketStream> /*stream*/) {
    return fail("link: this network has no bulk streams");
  }
  virtual Result<std::unique_ptr<BulkReader>> bulk_reader(
      std::unique_ptr<PacketStream> /*stream*/) {
    return fail("link: this network has no bulk streams");
  }
};

}  // namespace tkdc
