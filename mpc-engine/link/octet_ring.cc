// SPDX-License-Identifier: Apache-2.0
#include "link/octet_ring.h"

#include <algorithm>
#include <cassert>

namespace tkdc {

OctetRing::OctetRing(std::size_t bytes, int stall_ms)
    : memory_(bytes), stall_(std::chrono::milliseconds(stall_ms)), written_at_(Clock::now()),
      taken_at_(written_at_) {
  assert(bytes > 0 && stall_ms >= 0);
}

std::size_t OctetRing::size() const {
  std::lock_guard lock(mutex_);
  return filled();
}

std::size_t OctetRing::room() const {
  std::lock_guard lock(mutex_);
  return capacity() - filled();
}

MutableByteSpan OctetRing::place() {
  std::lock_guard lock(mutex_);
  const std::size_t at = static_cast<std::size_t>(put_ % capacity());
  return MutableByteSpan(memory_).subspan(at, std::min(capacity() - filled(), capacity() - at));
}

void OctetRing::put(std::size_t bytes) {
  if (bytes == 0) return;
  {
    std::lock_guard lock(mutex_);
    assert(bytes <= capacity() - filled() && !finished_);
    written_at_ = Clock::now();
    if (filled() == 0) taken_at_ = written_at_;  // nothing waited before
    put_ += bytes;
    most_ = std::max(most_, filled());
    Side& reader = side(RingSide::kReader);
    if (filled() >= reader.wanted) reader.changed.notify_all();
  }
  tell(RingSide::kReader, Change::kOctets);
}

void OctetRing::finish(bool arrived) {
  {
    std::lock_guard lock(mutex_);
    finished_ = true;
    confirmed_ = arrived && !failure_;
    taken_at_ = Clock::now();
    side(RingSide::kReader).changed.notify_all();
  }
  tell(RingSide::kReader, Change::kState);
}

std::array<ByteSpan, 2> OctetRing::front(std::size_t most) const {
  std::lock_guard lock(mutex_);
  const std::size_t bytes = std::min(filled(), most);
  const std::size_t at = static_cast<std::size_t>(taken_ % capacity());
  const std::size_t first = std::min(bytes, capacity() - at);
  const ByteSpan all(memory_);
  return {all.subspan(at, first), all.first(bytes - first)};
}

void OctetRing::drop(std::size_t bytes) {
  if (bytes == 0) return;
  {
    std::lock_guard lock(mutex_);
    assert(bytes <= filled());
    taken_ += bytes;
    taken_at_ = Clock::now();
    Side& writer = side(RingSide::kWriter);
    if (capacity() - filled() >= writer.wanted) writer.changed.notify_all();
  }
  tell(RingSide::kWriter, Change::kOctets);
}

void OctetRing::confirm() {
  {
    std::lock_guard lock(mutex_);
    if (failure_) return;
    confirmed_ = true;
    side(RingSide::kWriter).changed.notify_all();
  }
  tell(RingSide::kWriter, Change::kState);
}

bool OctetRing::finished() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

bool OctetRing::confirmed() const {
  std::lock_guard lock(mutex_);
  return confirmed_;
}

std::optional<OctetRing::Failure> OctetRing::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void OctetRing::fail_locked(Failure::By by, const std::string& reason) {
  if (failure_ || confirmed_) return;
  failure_ = Failure{by, reason};
  for (Side& one : sides_) one.changed.notify_all();
}

void OctetRing::fail(Failure::By by, const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    fail_locked(by, reason);
  }
  tell_both();
}

void OctetRing::touch() {
  std::lock_guard lock(mutex_);
  written_at_ = taken_at_ = Clock::now();
}

std::string OctetRing::stall_reason() const {
  using std::chrono::milliseconds;
  const auto ms = std::chrono::duration_cast<milliseconds>(stall_).count();
  return "no octet moved for " + std::to_string(ms) + " ms";
}

void OctetRing::check_stall() {
  {
    std::lock_guard lock(mutex_);
    if (stall_.count() == 0 || filled() == 0 || Clock::now() - taken_at_ < stall_) return;
    fail_locked(Failure::By::kStall, stall_reason());
  }
  tell_both();
}

// `decide` says what the wait ends with, or nothing yet. A stall's time begins at the last
// movement, for a reader not before it waits. A writer's octets that have left the ring may stand
// in the reader's kernel for long: no stall then.
template <class Decide>
OctetRing::Waited OctetRing::wait(RingSide which, std::size_t wanted, int timeout_ms,
                                  Decide decide) {
  std::unique_lock lock(mutex_);
  std::optional<Waited> decided = decide();
  if (decided || timeout_ms <= 0) return decided.value_or(Waited::kTimeout);
  const auto began = Clock::now();
  const auto deadline = began + std::chrono::milliseconds(timeout_ms);
  bool stall = false;
  side(which).wanted = wanted;
  while (!(decided = decide())) {
    const auto moved = which == RingSide::kWriter ? taken_at_ : std::max(began, written_at_);
    const bool may_stall = stall_.count() > 0 && (which == RingSide::kReader || filled() > 0);
    const auto end = may_stall ? std::min(deadline, moved + stall_) : deadline;
    const auto now = Clock::now();
    if (now >= end) {
      stall = now < deadline;
      if (stall) fail_locked(Failure::By::kStall, stall_reason());
      decided = stall ? Waited::kFailed : Waited::kTimeout;
      break;
    }
    const auto most = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    machine().wait(side(which).changed, lock, most, [&] { return decide().has_value(); });
  }
  side(which).blocked += Clock::now() - began;
  lock.unlock();
  if (stall) tell_both();
  return *decided;
}

OctetRing::Waited OctetRing::wait_room(std::size_t bytes, int timeout_ms) {
  assert(bytes <= capacity());
  return wait(RingSide::kWriter, bytes, timeout_ms, [&]() -> std::optional<Waited> {
    if (failure_) return Waited::kFailed;
    if (capacity() - filled() >= bytes) return Waited::kReady;
    return std::nullopt;
  });
}

OctetRing::Waited OctetRing::wait_octets(std::size_t bytes, int timeout_ms) {
  assert(bytes <= capacity());
  return wait(RingSide::kReader, bytes, timeout_ms, [&]() -> std::optional<Waited> {
    if (failure_ && !failure_->after_octets()) return Waited::kFailed;
    if (filled() >= bytes) return Waited::kReady;
    if (failure_) return Waited::kFailed;
    if (confirmed_) return Waited::kEnd;
    return std::nullopt;
  });
}

OctetRing::Waited OctetRing::wait_confirmed(int timeout_ms) {
  return wait(RingSide::kWriter, 0, timeout_ms, [&]() -> std::optional<Waited> {
    if (confirmed_) return Waited::kReady;
    if (failure_) return Waited::kFailed;
    return std::nullopt;
  });
}

void OctetRing::set_callback(RingSide which, Callback callback) {
  std::lock_guard lock(side(which).calling);
  side(which).callback = std::move(callback);
}

void OctetRing::tell(RingSide which, Change change) {
  std::lock_guard lock(side(which).calling);
  if (side(which).callback) side(which).callback(change);
}

void OctetRing::tell_both() {
  tell(RingSide::kWriter, Change::kState);
  tell(RingSide::kReader, Change::kState);
}

std::uint64_t OctetRing::put_octets() const {
  std::lock_guard lock(mutex_);
  return put_;
}

std::uint64_t OctetRing::taken_octets() const {
  std::lock_guard lock(mutex_);
  return taken_;
}

std::uint64_t OctetRing::blocked_us(RingSide which) const {
  std::lock_guard lock(mutex_);
  const auto blocked = sides_[static_cast<std::size_t>(which)].blocked;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(blocked).count());
}

std::size_t OctetRing::most_octets() const {
  std::lock_guard lock(mutex_);
  return most_;
}

}  // namespace tkdc
