// SPDX-License-Identifier: Apache-2.0
// Garbled circuits in one lane of a session: which kinds of operations its reserve has, the thread
// that makes instances while the lane is idle, and the bulk streams that they travel over.
//
// Kinds are learned, since lengths differ from realm to realm: the lane keeps instances for each
// that it has met. The first operation of a kind is computed by sharing, or waits for an instance
// of it (Garbled::kMade); instances are made while jobs run then. All three servers admit
// the same jobs in the same order, so they learn the same kinds in the same order; the reserve's
// state is compared with every decision of the lane (threegarble/side.h).
//
// A stream that breaks by itself ends the making, and operations are computed by sharing. The three
// try again after the next job, since new connections bring new streams, which one of them may
// have a tick before another. Tables that are found wrong end the session.
//
// Used by the lane's thread. Secret: what the reserve holds.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "service/garbled/garbling_options.h"
#include "service/garbled/instance_quotas.h"
#include "service/garbled/run_whole.h"
#include "threegarble/maker.h"

namespace tkdc {

class LaneGarbling {
 public:
  static constexpr std::size_t kMostKinds = 24;
  // Of operations that open or verify. Anybody can send many lengths of what the KDC has opened;
  // the other kinds are then still learned.
  static constexpr std::size_t kMostOpeningKinds = 16;

  // What the handshake says (MeshOptions::streamed). Servers that say the same make the same
  // instances: their messages and circuits are the same (threegarble/wire-format.txt,
  // circuits/wire-format.txt), and so are their bounds, what a layout counts, and the rules of
  // kRules. Which build they are does not count.
  static OfferedProtocol offered(const GarblingOptions& options);
  // Of the digests of those two files.
  static OfferedProtocol offered(const GarblingOptions& options, std::uint64_t wire_format,
                                 std::uint64_t circuits);

  // What all lanes of a server have in common, and outlives them. `say`: for the journal.
  struct Common {
    const GarblingOptions& options;
    WholeShapes& shapes;
    threegarble::Pace& pace;
    std::function<void(const std::string&)> say;
    threegarble::SeeStep watch;
  };
  // `session_keys`: the lane's. Error: the lane has no room for it.
  static Result<std::unique_ptr<LaneGarbling>> join(Lane& lane, std::uint32_t number,
                                                    const PairwiseKeys& session_keys,
                                                    LaneStreams streams, Common common);

  // The lane has streams, or goes on over new connections. Nothing: without streams, so nothing
  // more is made.
  void use(std::optional<LaneStreams> streams);
  // A job that all three have admitted. Where making had ended, it is tried again.
  void note(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage, std::size_t input_bytes);
  // Between ticks, where no job runs or one waits: begins to make what the reserve lacks. `busy`:
  // whether jobs run, the same at all three; then, and if none of them waits, it stops after the
  // instance that it is at.
  void prepare(std::function<bool()> busy);
  bool waited_for() const { return waiters_ > 0; }
  bool preparing() const { return filling_; }

  // Whether an instance for it stands ready; or, kMade, can be had: the same at all three in the
  // same tick.
  bool serves(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
              std::size_t input_bytes, Garbled garbled);
  // What stands ready of its kind. Nothing: no circuit computes it.
  std::optional<InstanceSupply> supply(const KeyRecord& record, tkdc_wire_op op,
                                       std::uint32_t usage, std::size_t input_bytes,
                                       Garbled garbled) const;
  // Of a job that has been noted: one that stands ready is held for it; kMade: as soon as one does.
  // None: none does, or can be had. In the same tick at all three; who waits longest has it first.
  Task<InstanceHold> hold(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                          std::size_t input_bytes, Garbled garbled);
  GarbledLane lane(InstanceHold& hold) { return {*side_, kinds_, at_work_, &hold}; }
  // Of the next job that is garbled; `about`: the digest of all that is public of it.
  threegarble::JobTag next_job(const threegarble::Digest& about);

  struct Counts {
    std::uint64_t ready = 0, made = 0, taken = 0, missed = 0, bytes = 0, kinds = 0;
  };
  Counts counts() const;

 private:
  LaneGarbling(Lane& lane, Common common) : lane_(lane), common_(std::move(common)) {}
  bool is_room_for_kind(tkdc_wire_op op) const;
  bool is_room_for_layout(std::size_t bytes, bool opens) const;
  bool is_noted(const std::string& circuit) const;
  std::size_t ready(const std::string& circuit) const;
  std::size_t held(const std::string& circuit) const;
  InstanceHold hold_one(const std::string& circuit);
  bool can_be_made(const std::string& circuit) const;
  void note_missed();
  void wake();
  void take_next_maker();
  Task<void> learn();
  Task<void> fill_up(std::function<bool()> busy);

  Lane& lane_;
  const Common common_;
  std::unique_ptr<threegarble::LaneSide> side_;
  WholeKinds kinds_;
  struct Noted {
    std::string circuit;
    bool opens = false;  // or verifies
  };
  std::deque<Noted> noted_;      // circuits that have no kind yet
  std::string learning_;         // the one that is being laid out
  std::set<std::string> known_;  // those, and all that have one or cannot have one
  std::unique_ptr<threegarble::Maker> maker_, next_maker_;
  std::uint8_t streams_ = 0, next_streams_ = 0;  // of either: LaneStreams::handshake
  std::size_t apart_ = 0;                        // attempts in a row that ended so
  std::size_t opening_kinds_ = 0;
  std::size_t layout_bytes_ = 0, opening_layout_bytes_ = 0;  // of kinds
  // Both change in ticks that the three have in common, never where connections change.
  bool filling_ = false, broken_ = false;
  bool said_broken_ = false;  // of this maker, in the journal
  std::size_t waiters_ = 0;   // jobs that wait, and those of them that have not been woken
  std::vector<std::coroutine_handle<>> waiting_;
  std::map<std::string, std::size_t> held_;  // instances, by circuit
  bool let_go_ = false;                      // one was taken, or is held no more
  std::uint64_t ends_ = 0;                   // how often nothing was left that could be made
  std::size_t at_work_ = 0;
  std::uint64_t jobs_ = 0;
  std::uint64_t missed_ = 0;  // when they were named
};

}  // namespace tkdc
