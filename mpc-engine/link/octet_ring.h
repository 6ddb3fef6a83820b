// SPDX-License-Identifier: Apache-2.0
// A bounded ring of octets between two threads: one puts octets in, the other takes them out.
//
// Bulk streams are made of it (bulk_stream.h). The writing side fills place() and says put(); the
// reading side uses front() and says drop(). Both touch the memory without the lock: places that
// are free and places that are filled never overlap.
//
// One thread a side; fail(), failure() and the counters may be used from any. Secret: the octets,
// in memory that is wiped when the ring goes.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/machine.h"
#include "base/secret.h"

namespace tkdc {

enum class RingSide : std::uint8_t { kWriter = 0, kReader = 1 };

class OctetRing {
 public:
  // Why nothing more moves.
  struct Failure {
    enum class By : std::uint8_t {
      kWriter,  // that side gave up
      kReader,
      kStall,       // nothing moved for stall_ms while a side waited
      kPeer,        // what came from the peer has no meaning here
      kConnection,  // it is lost
    };
    By by;
    std::string reason;
    // Whether the reading side still gets what is in the ring.
    bool after_octets() const { return by == By::kConnection || by == By::kStall; }
  };
  enum class Change : std::uint8_t { kOctets, kState };  // moved; end, confirmation, failure
  using Callback = std::function<void(Change)>;

  // `stall_ms` 0: a wait ends by its own time only.
  OctetRing(std::size_t bytes, int stall_ms);

  std::size_t capacity() const { return memory_.size(); }
  std::size_t size() const;

  // ---- the writing side
  std::size_t room() const;
  MutableByteSpan place();      // free octets in one piece: all of room(), or up to the border
  void put(std::size_t bytes);  // the first `bytes` of place()
  // No octet follows. `arrived`: the reader itself has this ring, and nobody needs to confirm.
  void finish(bool arrived);
  // Fails the ring where octets have waited for stall_ms; for a side that does not wait itself.
  void check_stall();

  // ---- the reading side
  std::array<ByteSpan, 2> front(
      std::size_t most) const;  // the oldest; the second behind the border
  void drop(std::size_t bytes);
  void confirm();  // what was put has arrived, its end too

  // ---- either
  bool finished() const;
  bool confirmed() const;
  std::optional<Failure> failure() const;
  // The first one counts. None once the end is confirmed.
  void fail(Failure::By by, const std::string& reason);
  // Octets move, although none comes into or out of the ring.
  void touch();

  enum class Waited : std::uint8_t { kReady, kEnd, kTimeout, kFailed };
  // Until so many octets have room; until so many are there; until the end is confirmed. kEnd: the
  // end has arrived, and fewer octets are there. `bytes` is at most capacity().
  Waited wait_room(std::size_t bytes, int timeout_ms);
  Waited wait_octets(std::size_t bytes, int timeout_ms);
  Waited wait_confirmed(int timeout_ms);

  // Called for the side when the other one or the connection has changed something, in the thread
  // that did it. It wakes somebody and calls nothing of a ring. Once set_callback() has returned,
  // the one before is not running.
  void set_callback(RingSide side, Callback callback);

  std::uint64_t put_octets() const;
  std::uint64_t taken_octets() const;
  std::uint64_t blocked_us(RingSide side) const;
  std::size_t most_octets() const;  // that were in the ring at once

 private:
  using Clock = SteadyClock;
  struct Side {
    std::condition_variable changed;
    std::size_t wanted = 0;  // octets, or room for them, that its wait needs
    Clock::duration blocked{};
    std::mutex calling;  // held while the callback runs
    Callback callback;
  };
  Side& side(RingSide which) { return sides_[static_cast<std::size_t>(which)]; }

  template <class Decide>
  Waited wait(RingSide which, std::size_t wanted, int timeout_ms, Decide decide);
  std::size_t filled() const { return static_cast<std::size_t>(put_ - taken_); }
  std::string stall_reason() const;
  void fail_locked(Failure::By by, const std::string& reason);
  void tell(RingSide which, Change change);
  void tell_both();

  SecretVector memory_;
  const Clock::duration stall_;
  mutable std::mutex mutex_;  // all below but Side's own
  std::uint64_t put_ = 0, taken_ = 0;
  std::size_t most_ = 0;
  bool finished_ = false, confirmed_ = false;
  std::optional<Failure> failure_;
  Clock::time_point written_at_, taken_at_;  // the last movement, as each side waits for it
  std::array<Side, 2> sides_;
};

}  // namespace tkdc
