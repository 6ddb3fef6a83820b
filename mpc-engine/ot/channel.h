// SPDX-License-Identifier: Apache-2.0
// Two parties' streams to each other: what this one writes, and what it reads. Octets in the order
// in which they were written; whoever uses it knows what comes next, and how long it is.
//
// Calls wait, `timeout_ms` each; one thread. What one party writes before it reads again has to fit
// into the rings of both (BulkOptions::ring_bytes), or two parties may wait for each other until
// that time is over. Error: the stream's, which names the peer; everything after it fails too.
#pragma once

#include "link/bulk_stream.h"

namespace tkdc::ot {

class Channel {
 public:
  Channel(BulkWriter& out, BulkReader& in, int timeout_ms)
      : out_(out), in_(in), timeout_ms_(timeout_ms) {}

  Result<void> write(ByteSpan octets) {
    sent_ += octets.size();
    return noted(out_.write(octets, timeout_ms_));
  }
  Result<void> read(MutableByteSpan octets) {
    received_ += octets.size();
    return noted(in_.read(octets, timeout_ms_));
  }
  // Objects without pointers and gaps, in this machine's order of octets: low word first.
  template <class T>
  Result<void> write_all(std::span<const T> objects) {
    return write({reinterpret_cast<const std::uint8_t*>(objects.data()), objects.size_bytes()});
  }
  template <class T>
  Result<void> read_all(std::span<T> objects) {
    return read({reinterpret_cast<std::uint8_t*>(objects.data()), objects.size_bytes()});
  }

  const std::string& peer() const { return in_.peer(); }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t received() const { return received_; }
  // Whether a call has failed: then what ended a protocol may be the link.
  bool broken() const { return broken_; }
  // Fails both streams, at the peer too. The reason must not be secret.
  void abort(const std::string& reason) {
    out_.abort(reason);
    in_.abort(reason);
  }

 private:
  Result<void> noted(Result<void> done) {
    broken_ = broken_ || !done;
    return done;
  }

  BulkWriter& out_;
  BulkReader& in_;
  const int timeout_ms_;
  std::uint64_t sent_ = 0, received_ = 0;
  bool broken_ = false;
};

}  // namespace tkdc::ot
