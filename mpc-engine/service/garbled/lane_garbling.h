// SPDX-License-Identifier: Apache-2.0
// Garbled circuits in one lane of a session: which kinds of operations its reserve has, the thread
// that makes instances while the lane is idle, and the bulk streams that they travel over.
//
// Kinds are learned, since lengths differ from realm to realm: the first operation of a kind is
// computed by sharing, and from then on the lane keeps instances for it. All three servers admit
// the same jobs in the same order, so they learn the same kinds in the same order; the reserve's
// state is compared with every decision of the lane (threegarble/side.h).
//
// A stream that breaks by itself ends the making, and operations are computed by sharing; it begins
// again over new connections. Tables that are found wrong end the session.
//
// Used by the lane's thread. Secret: what the reserve holds.
#pragma once

#include <functional>
#include <set>

#include "service/garbled/garbling_options.h"
#include "service/garbled/run_whole.h"
#include "threegarble/maker.h"

namespace tkdc {

class LaneGarbling {
 public:
  static constexpr std::size_t kMostKinds = 24, kInstancesOfKind = 6;

  // What the handshake says (MeshOptions::streamed). Servers that say the same make the same
  // instances: programs of one `build`, whose circuits are the same, with the same bounds.
  static OfferedProtocol offered(const GarblingOptions& options, std::string_view build);

  // `session_keys`: the lane's. `shapes`: the server's. `say`: for the journal. Error: the lane has
  // no room for it.
  static Result<std::unique_ptr<LaneGarbling>> join(Lane& lane, std::uint32_t number,
                                                    const PairwiseKeys& session_keys,
                                                    std::size_t most_bytes, LaneStreams streams,
                                                    WholeShapes& shapes,
                                                    std::function<void(const std::string&)> say);

  // The lane goes on over new connections. Nothing: without streams, so nothing more is made.
  void use(std::optional<LaneStreams> streams);
  // A job that all three have admitted.
  void note(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage, std::size_t input_bytes);
  // Between ticks, where no job runs: begins to make what the reserve lacks. `busy`: whether jobs
  // run again, the same at all three; then it stops after the instance that it is at.
  void prepare(std::function<bool()> busy);
  bool preparing() const { return filling_; }

  // Whether an instance for it stands ready: the same at all three in the same tick.
  bool serves(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
              std::size_t input_bytes);
  GarbledLane lane() { return {*side_, kinds_, at_work_}; }
  // Of the next job that is garbled; `about`: the digest of all that is public of it.
  threegarble::JobTag next_job(const threegarble::Digest& about);

  struct Counts {
    std::uint64_t ready = 0, made = 0, taken = 0, missed = 0, bytes = 0, kinds = 0;
  };
  Counts counts() const;

 private:
  LaneGarbling(Lane& lane, WholeShapes& shapes, std::function<void(const std::string&)> say)
      : lane_(lane), shapes_(shapes), say_(std::move(say)) {}
  Task<void> learn();
  Task<void> fill_up(std::function<bool()> busy);

  Lane& lane_;
  WholeShapes& shapes_;
  const std::function<void(const std::string&)> say_;
  std::unique_ptr<threegarble::LaneSide> side_;
  WholeKinds kinds_;
  std::deque<std::string> noted_;  // circuits that have no kind yet
  std::set<std::string> known_;    // those, and all that have one or cannot have one
  std::unique_ptr<threegarble::Maker> maker_, next_maker_;
  bool filling_ = false, broken_ = false;
  std::size_t at_work_ = 0;
  std::uint64_t jobs_ = 0;
  std::uint64_t missed_ = 0;  // when they were named
};

}  // namespace tkdc
