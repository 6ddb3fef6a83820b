// SPDX-License-Identifier: Apache-2.0
// Bulk streams: many octets in one direction between two parties, beside a lane's ticks.
//
// Gigabytes in a lane's packets would hold its ticks up. A bulk stream has a connection of its
// own and, at each end, a ring of fixed size with a thread that moves octets between the ring and
// the connection. The lane's thread waits only where it asks to, and memory stays within the
// rings whatever the peer does: a full ring makes the writer wait, TCP passes that on.
//
//   BulkWriter, ring, thread, TLS, thread, ring, BulkReader     tls_bulk_stream.h
//   BulkWriter, ring, BulkReader                                memory_bulk_stream.h
//
// Its owner
//   1. makes the writer at one party and the reader at the other, from one connection;
//   2. in a lane, calls on_change([&link] { link.wake(); }), and asks room() or available() when
//      Link::wait() says kWake;
//   3. writes tens of KiB at a time: each put takes a lock, and wakes the thread behind the ring;
//   4. at the end calls finish() and wait_finished(), and reads until wait() says kEnd. A writer
//      or reader that is destroyed before that fails the other one: its stream is cut short, and
//      no reader takes that for an end;
//   5. on an error gives both ends up. A stream that has failed stays failed.
//
// One thread uses an end; abort(), counters() and buffered() may be used from any. A call with
// timeout_ms 0 never waits. Every error names the peer. Secret: the octets; rings are wiped.
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"
#include "link/octet_ring.h"

namespace tkdc {

struct BulkOptions {
  std::size_t ring_bytes = std::size_t{1} << 20;
  // A stream fails where a call has waited, or octets of the writer have, and none moved for so
  // long: longer than the peer ever computes between two reads or writes. 0: never.
  int stall_ms = 30'000;
};

struct BulkCounters {
  std::uint64_t octets = 0;       // that left the writer's ring, or came into the reader's
  std::uint64_t blocked_us = 0;   // that calls of this end have waited
  std::size_t most_buffered = 0;  // octets in this end's ring
};

// What stands behind a ring. Its destructor ends its thread.
class BulkCarrier {
 public:
  virtual ~BulkCarrier() = default;
};

// What both ends have in common.
class BulkEnd {
 public:
  BulkEnd(RingSide side, std::shared_ptr<OctetRing> ring, std::unique_ptr<BulkCarrier> carrier,
          std::string peer);
  ~BulkEnd();
  BulkEnd(const BulkEnd&) = delete;
  BulkEnd& operator=(const BulkEnd&) = delete;

  const std::string& peer() const { return peer_; }
  std::size_t capacity() const { return ring_->capacity(); }
  std::size_t buffered() const { return ring_->size(); }  // in the ring, never above capacity()

  // Called, mostly by another thread, when octets have arrived, there is more room, the end has
  // come or the stream has failed. It wakes its thread and calls nothing of a stream.
  void on_change(std::function<void()> callback);

  // Fails every call at both ends, those that wait too; the peer is told the reason, which must
  // not be secret. No effect once the end has arrived. Thread-safe.
  void abort(const std::string& reason);

  // abort() for one who may outlive this end.
  std::function<void(const std::string& reason)> breaker() const;

  BulkCounters counters() const;

 protected:
  // Why calls fail, for whoever reads the log.
  Error failed() const;
  // Of a call whose time is over: octets of it may have moved, so the stream ends.
  Error too_late(const std::string& what, int timeout_ms);

  const RingSide side_;
  const std::shared_ptr<OctetRing> ring_;
  std::unique_ptr<BulkCarrier> carrier_;  // null: the other end has the same ring

 private:
  const std::string peer_;
};

class BulkWriter final : public BulkEnd {
 public:
  BulkWriter(std::shared_ptr<OctetRing> ring, std::unique_ptr<BulkCarrier> carrier,
             std::string peer)
      : BulkEnd(RingSide::kWriter, std::move(ring), std::move(carrier), std::move(peer)) {}

  // Octets that can be written now. Error: the stream has failed.
  Result<std::size_t> room();
  // Waits until room() is `octets`, at most capacity(). False: the time is over.
  Result<bool> wait_room(std::size_t octets, int timeout_ms);

  // As many of the first octets as there is room for.
  Result<std::size_t> try_write(ByteSpan octets);
  // All of them. Error also: the time is over, and then the stream has failed.
  Result<void> write(ByteSpan octets, int timeout_ms);

  // Without a copy: the writer fills the first octets of place(), which is room() or, at the
  // ring's border, a part of it, and says how many it has filled.
  MutableByteSpan place() { return ring_->place(); }
  void put(std::size_t octets) { ring_->put(octets); }

  // Nothing more is written. The octets go on to the reader.
  void finish();
  // Whether they have all arrived in the reader's ring. False: the time is over.
  Result<bool> wait_finished(int timeout_ms);
};

class BulkReader final : public BulkEnd {
 public:
  BulkReader(std::shared_ptr<OctetRing> ring, std::unique_ptr<BulkCarrier> carrier,
             std::string peer)
      : BulkEnd(RingSide::kReader, std::move(ring), std::move(carrier), std::move(peer)) {}

  enum class Event : std::uint8_t { kOctets, kEnd, kTimeout };

  // Octets that can be read now. Error: the stream has failed, and none is left. What came before
  // a connection was lost can still be read; after abort() nothing can.
  Result<std::size_t> available();
  // Waits until available() is `octets`, at most capacity(). kEnd: the writer has finished and
  // fewer are left.
  Result<Event> wait(std::size_t octets, int timeout_ms);
  // All octets of a finished stream have been read.
  bool at_end() const { return ring_->confirmed() && ring_->size() == 0; }

  // As many as are there and fit; 0 at the end too.
  Result<std::size_t> try_read(MutableByteSpan out);
  // Fills `out`. Error also: the stream ends before; or the time is over, and then it has failed.
  Result<void> read(MutableByteSpan out, int timeout_ms);

  // Without a copy: the oldest octets in one piece, some if available() is; valid until drop().
  ByteSpan front() const { return ring_->front(capacity())[0]; }
  void drop(std::size_t octets) { ring_->drop(octets); }
};

}  // namespace tkdc
