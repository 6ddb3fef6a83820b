// SPDX-License-Identifier: Apache-2.0
// One party's side of a lane: the tasks of one thread, the ticks in which its three parties move
// together, and what they have to have decided alike. It knows no sharing: a protocol adds its own
// octets to each tick (TickPart), or lets its tasks exchange messages (Exchange, Passed).
//
// In each tick every task that waits for a message gets it; all of them travel in one packet to
// each neighbour. Everything is deterministic: the parties run the same tasks on the same public
// data, so they agree on the order and length of every message and none carries a tag. This class
// does no I/O: ticker.h moves packets, tests join three of these in one thread. Used by one thread.
//
// To the previous neighbour: what the protocol adds, exchanges, passed messages. To the next one:
// what the protocol adds, exchanges, handed messages.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "lane/course.h"
#include "lane/scheduler.h"
#include "link/link.h"
#include "session/security.h"

namespace tkdc {

class Lane;

// A neighbour that lost its connection lacks packets of so many ticks at most.
inline constexpr std::size_t kKeptTicks = 3;

// A lane has so many parts at most: a protocol's whose messages are alike at all three, and one's
// whose messages go by role. In the order in which they joined, which is the same at all parties.
inline constexpr std::size_t kMostParts = 2;

// What a protocol adds to each tick, besides the messages of its tasks.
class TickPart {
 public:
  virtual ~TickPart() = default;

  // This tick's octets for the previous neighbour. Once in a tick; they stay as they are until
  // kKeptTicks later.
  virtual ByteSpan finish_to_prev() = 0;
  virtual ByteSpan sent_to_prev(std::uint64_t tick) const = 0;
  virtual ByteSpan to_next() const = 0;
  // How many octets a neighbour adds to this tick, once it is finished here.
  virtual std::size_t bytes_from(Neighbour from) const = 0;
  // Both neighbours', of these lengths. `from_next` stays until the next tick's are taken. Error:
  // what the lane deviates for.
  virtual Result<void> consume(ByteSpan from_next, ByteSpan from_prev) = 0;
  // While the neighbours' packets are on their way.
  virtual void prefetch() {}
};

struct FromBoth {
  Bytes prev, next;
};

// The same few octets to both neighbours.
class [[nodiscard]] Exchange {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  FromBoth await_resume();

 private:
  friend class Lane;
  Exchange(Lane& lane, ByteSpan octets);
  Lane& lane_;
  std::size_t offset_, bytes_;
};

// One message to the previous neighbour that goes out as it stands: whoever makes it has masked it.
class [[nodiscard]] Passed {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  SecretVector await_resume();  // the next neighbour's

 private:
  friend class Lane;
  Passed(Lane& lane, ByteSpan masked);
  Lane& lane_;
  std::size_t offset_, bytes_;
};

// To each neighbour a message of its own, which the other one does not hear. It goes out as it
// stands: the neighbour may know it, or whoever makes it has masked it.
struct FromEach {
  SecretVector prev, next;
};

class [[nodiscard]] Handed {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h);
  FromEach await_resume();  // as long as this party's to the other side

 private:
  friend class Lane;
  Handed(Lane& lane, ByteSpan to_prev, ByteSpan to_next);
  Lane& lane_;
  std::size_t prev_offset_, prev_bytes_, next_offset_, next_bytes_;
};

class Lane : public Scheduler {
 public:
  Lane(int party, Security security) : party_(party), security_(security) {}
  ~Lane() { drop_tasks(); }

  int party() const { return party_; }
  Security security() const { return security_; }
  // What a protocol of this name, a literal, adds; it outlives the ticks. Whether there was room,
  // and none of this name.
  [[nodiscard]] bool use(TickPart& part, std::string_view name);
  // How far somebody has come: who computes something else than the others has come elsewhere.
  // In an order that is the same at all parties; compared by agree().
  void add_progress(std::function<void(Writer&)> put) { progress_.push_back(std::move(put)); }

  // ---- for tasks
  // Resumes h when this tick's messages are there.
  void wait(std::coroutine_handle<> h) { waiting_.push_back(h); }
  Exchange exchange(ByteSpan octets) { return Exchange(*this, octets); }
  Passed pass(ByteSpan masked) { return Passed(*this, masked); }
  Handed hand(ByteSpan to_prev, ByteSpan to_next) { return Handed(*this, to_prev, to_next); }
  // The same where the others' octets have to begin with what this server expects: else it
  // deviates, for `what`, and nobody is resumed. Also when the tick fails for want of one
  // neighbour's packet, if what the other sent shows it. Malicious mode only.
  // `expected` is a variable of the caller's: g++ 12 destroys a temporary that is made by braces in
  // a co_await twice.
  struct Expected {
    Bytes from_prev, from_next;
  };
  Task<FromBoth> exchange(Bytes octets, Expected expected, const char* what);

  // ---- decisions that all three must have taken alike
  Course& course() { return course_; }
  const Course& course() const { return course_; }
  // Compares with both others what was decided so far, how far each protocol has come, and
  // `about`; `word` travels beside it, and both others' come back. Goes on only when
  // all three are the same: else this server deviates, and nobody is resumed. One tick.
  // Malicious mode only.
  Task<FromBoth> agree(Bytes about, Bytes word);
  // The same, where the first `decisions` have not been compared yet; else at once. All of them
  // unless said. Semi-honest: at once.
  Task<void> agreed();
  Task<void> agreed(std::uint64_t decisions);

  // Set when a server has computed or answered wrongly: nothing more may leave
  // the lane, and no new session starts before an operator says so.
  const std::optional<std::string>& deviation() const { return deviation_; }
  void set_deviation(std::string what) { deviation_ = std::move(what); }
  // The same for what this server knows by itself and tells the others in this tick first: it
  // stands even if the tick fails because somebody does not want to hear it.
  void deviates_with_this_tick(std::string what) { known_ = std::move(what); }

  // Ticks so far.
  std::uint64_t rounds() const { return tick_; }

  // ---- for the ticker
  // Runs tasks until each is waiting for a message. True if any waits.
  bool advance();
  bool waits() const { return !waiting_.empty(); }
  // Whether this tick's packets to the next neighbour carry anything.
  bool needs_next() const {
    return !pair_out_.empty() || !handed_out_.empty() ||
           std::ranges::any_of(parts_,
                               [](const Part& one) { return !one.part->to_next().empty(); });
  }
  // This tick's packet to the previous neighbour: once in a tick; the views are good until
  // consume().
  struct ToPrev {
    std::array<ByteSpan, kMostParts> parts;
    ByteSpan rest;
  };
  ToPrev finish_to_prev();
  // The same, of this tick or one of the kKeptTicks - 1 before it, octet for octet.
  ToPrev sent_to_prev(std::uint64_t tick) const;
  void append_to_prev(SecretVector& packet);
  void append_to_next(SecretVector& packet) const;
  // The neighbours' octets of the tick. `from_prev` is empty when needs_next() was false.
  // `from_next` stays until the next advance() is over.
  Result<void> consume(ByteSpan from_next, ByteSpan from_prev);
  // How long they have to be.
  std::size_t expected_from(Neighbour from) const {
    return parts_bytes_from(from) + pair_out_.size() +
           (from == Neighbour::kNext ? passed_out_.size() : handed_out_.size());
  }
  void prefetch() {
    for (const Part& one : parts_) one.part->prefetch();
  }
  // What one neighbour said where this tick compares: for a tick that failed for want of the
  // other's packet. Notes a deviation.
  void hear_comparisons(Neighbour from, ByteSpan octets);
  void tick_failed() {
    if (known_ && !deviation_) deviation_ = known_;
  }

 private:
  friend class Exchange;
  friend class Passed;
  friend class Handed;

  Course::Digest state_digest(ByteSpan about) const;
  void compare(Neighbour from, ByteSpan pairs);
  std::size_t parts_bytes_from(Neighbour from) const {
    std::size_t bytes = 0;
    for (const Part& one : parts_) bytes += one.part->bytes_from(from);
    return bytes;
  }
  Result<void> of_another_length() const;
  Result<void> deviates(const std::string& why);
  // Behind the parts' octets.
  void take_messages(ByteSpan from_next, ByteSpan from_prev);

  const int party_;
  const Security security_;
  struct Part {
    TickPart* part;
    std::string_view name;
  };
  std::vector<Part> parts_;
  std::vector<std::function<void(Writer&)>> progress_;
  std::optional<std::string> deviation_, known_;
  std::uint64_t tick_ = 0;

  Course course_;
  std::optional<std::uint64_t> compared_;  // so many of its decisions
  // What this tick compares, at which place of the exchanges.
  struct Comparison {
    std::size_t offset;
    Expected expected;
    const char* what;
  };
  std::vector<Comparison> comparisons_;

  std::vector<std::coroutine_handle<>> waiting_;  // for this tick's messages
  Bytes pair_out_, pair_prev_, pair_next_;        // exchanges; the last tick's
  SecretVector passed_out_, passed_got_;          // to the previous neighbour, from the next one
  SecretVector handed_out_, handed_got_;          // the other way
  // To the previous neighbour, of the last ticks: exchanges and passed messages.
  std::array<SecretVector, kKeptTicks> rest_;
};

}  // namespace tkdc
