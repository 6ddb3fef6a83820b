// SPDX-License-Identifier: Apache-2.0
#include "link/bulk_stream.h"

#include <algorithm>
#include <cstring>

#include "link/socket.h"

namespace tkdc {

using Waited = OctetRing::Waited;
using By = OctetRing::Failure::By;

namespace {

int left_ms(long long deadline_ms) {
  return static_cast<int>(std::max(deadline_ms - monotonic_ms(), 0LL));
}

}  // namespace

BulkEnd::BulkEnd(RingSide side, std::shared_ptr<OctetRing> ring,
                 std::unique_ptr<BulkCarrier> carrier, std::string peer)
    : side_(side), ring_(std::move(ring)), carrier_(std::move(carrier)), peer_(std::move(peer)) {}

BulkEnd::~BulkEnd() {
  ring_->set_callback(side_, nullptr);
  abort("closed before its end");
  carrier_.reset();
}

void BulkEnd::on_change(std::function<void()> callback) {
  if (!callback) return ring_->set_callback(side_, nullptr);
  ring_->set_callback(side_, [call = std::move(callback)](OctetRing::Change) { call(); });
}

void BulkEnd::abort(const std::string& reason) { breaker()(reason); }

std::function<void(const std::string&)> BulkEnd::breaker() const {
  return [ring = ring_, by = side_ == RingSide::kWriter ? By::kWriter : By::kReader](
             const std::string& reason) { ring->fail(by, reason); };
}

BulkCounters BulkEnd::counters() const {
  BulkCounters out;
  out.octets = side_ == RingSide::kWriter ? ring_->taken_octets() : ring_->put_octets();
  out.blocked_us = ring_->blocked_us(side_);
  out.most_buffered = ring_->most_octets();
  return out;
}

Error BulkEnd::failed() const {
  const bool writes = side_ == RingSide::kWriter;
  const std::string stream = (writes ? "stream to " : "stream from ") + peer_ + ": ";
  const auto failure = ring_->failure();
  if (!failure) return fail(stream + "has ended");
  switch (failure->by) {
    case By::kWriter:
    case By::kReader:
      if ((failure->by == By::kWriter) == writes)
        return fail(stream + "given up here: " + failure->reason);
      return fail(stream + peer_ + " gave it up: " + failure->reason);
    case By::kStall:
      return fail(stream + failure->reason + "; see whether " + peer_ +
                  " runs, what its log says, and whether the network between has room");
    case By::kPeer:
      return fail(stream + failure->reason + "; see whether both run the same version");
    case By::kConnection: break;
  }
  return fail(stream + failure->reason + "; it is cut short after " +
              std::to_string(counters().octets) + " octets, see the log of " + peer_);
}

Error BulkEnd::too_late(const std::string& what, int timeout_ms) {
  abort(what + " within " + std::to_string(timeout_ms) + " ms");
  return failed();
}

Result<std::size_t> BulkWriter::room() {
  ring_->check_stall();
  if (ring_->failure()) return failed();
  return ring_->room();
}

Result<bool> BulkWriter::wait_room(std::size_t octets, int timeout_ms) {
  const Waited waited = ring_->wait_room(octets, timeout_ms);
  if (waited == Waited::kFailed) return failed();
  return waited == Waited::kReady;
}

Result<std::size_t> BulkWriter::try_write(ByteSpan octets) {
  if (auto free = room(); !free.ok()) return free;
  std::size_t written = 0;
  while (written < octets.size()) {
    const MutableByteSpan to = place();
    const std::size_t bytes = std::min(to.size(), octets.size() - written);
    if (bytes == 0) break;
    std::memcpy(to.data(), octets.data() + written, bytes);
    put(bytes);
    written += bytes;
  }
  return written;
}

Result<void> BulkWriter::write(ByteSpan octets, int timeout_ms) {
  const long long deadline_ms = monotonic_ms() + timeout_ms;
  for (;;) {
    auto written = try_write(octets);
    if (!written.ok()) return written.error();
    octets = octets.subspan(*written);
    if (octets.empty()) return {};
    // A quarter at a time: for each octet alone the threads would only wake each other.
    auto waited = wait_room(std::min(octets.size(), std::max(capacity() / 4, std::size_t{1})),
                            left_ms(deadline_ms));
    if (!waited.ok()) return waited.error();
    if (!*waited) return too_late("not all octets could be written", timeout_ms);
  }
}

void BulkWriter::finish() { ring_->finish(carrier_ == nullptr); }

Result<bool> BulkWriter::wait_finished(int timeout_ms) {
  const Waited waited = ring_->wait_confirmed(timeout_ms);
  if (waited == Waited::kFailed) return failed();
  return waited == Waited::kReady;
}

Result<std::size_t> BulkReader::available() {
  const auto failure = ring_->failure();
  const std::size_t octets = ring_->size();
  if (failure && (octets == 0 || !failure->after_octets())) return failed();
  return octets;
}

Result<BulkReader::Event> BulkReader::wait(std::size_t octets, int timeout_ms) {
  switch (ring_->wait_octets(octets, timeout_ms)) {
    case Waited::kReady: return Event::kOctets;
    case Waited::kEnd: return Event::kEnd;
    case Waited::kTimeout: return Event::kTimeout;
    case Waited::kFailed: break;
  }
  return failed();
}

Result<std::size_t> BulkReader::try_read(MutableByteSpan out) {
  auto there = available();
  if (!there.ok()) return there;
  std::size_t got = 0;
  for (ByteSpan piece : ring_->front(out.size())) {
    if (piece.empty()) continue;
    std::memcpy(out.data() + got, piece.data(), piece.size());
    got += piece.size();
  }
  drop(got);
  return got;
}

Result<void> BulkReader::read(MutableByteSpan out, int timeout_ms) {
  const long long deadline_ms = monotonic_ms() + timeout_ms;
  for (;;) {
    if (out.empty()) return {};
    auto event =
        wait(std::min(out.size(), std::max(capacity() / 4, std::size_t{1})), left_ms(deadline_ms));
    if (!event.ok() && !available().ok()) return event.error();
    auto got = try_read(out);
    if (!got.ok()) return got.error();
    out = out.subspan(*got);
    if (out.empty()) return {};
    if (!event.ok()) return event.error();
    if (*event == Event::kTimeout) return too_late("not all octets came", timeout_ms);
    if (at_end())
      return fail("stream from " + peer() + ": it ends " + std::to_string(out.size()) +
                  " octets too early; see whether both run the same version");
  }
}

}  // namespace tkdc
