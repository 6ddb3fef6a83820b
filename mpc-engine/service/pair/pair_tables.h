// SPDX-License-Identifier: Apache-2.0
// What a session has ready of lookup tables: AES's S-box and its inverse, in batches, filled in
// steps while no job waits and taken from by jobs (docs/protocols/29-tables-in-jobs.md). Both
// servers do the same, in the same order: the leader says what. Each table serves once, and all of
// it dies with its session; nothing is stored.
//
// Where both have not agreed to keep some, there is none, and what a statement has of them is 0.
//
// One thread. Secret: all but numbers. Error: the session's.
#pragma once

#include <optional>

#include "lut/pair_dealer.h"
#include "lut/table_queue.h"

namespace tkdc {

// What both have to have alike before a word of a job is said.
struct PairTablesLeft {
  std::uint32_t forward = 0, inverse = 0;
  std::uint64_t bits = 0;  // random ones that have served: masks of what enters and leaves
  std::uint32_t of(lut::SboxWay way) const {
    return way == lut::SboxWay::kForward ? forward : inverse;
  }
  friend bool operator==(const PairTablesLeft&, const PairTablesLeft&) = default;
};

class PairTables {
 public:
  using Way = lut::SboxWay;
  static constexpr std::size_t kStep = 4'096;  // some two tenths of a second
  static constexpr std::size_t kBytesOfOne = lut::NormTables::kLabels * lut::kLabelBytes;
  // Of one way: so that there is room for the other one.
  static constexpr std::size_t most_of_one(std::size_t most_bytes) { return most_bytes / 4 * 3; }

  // `most_bytes`: the same at both; less than a step of both ways is none.
  PairTables(pair::Session& session, std::size_t most_bytes);

  bool work() const { return dealer_.has_value(); }
  std::size_t left(Way way) const { return of(way).left(); }
  PairTablesLeft left() const;
  std::size_t bytes() const { return queues_[0].octets() + queues_[1].octets(); }
  std::size_t most_bytes() const { return work() ? most_bytes_ : 0; }
  // Of one way.
  std::size_t most() const { return most_of_one(most_bytes()) / kBytesOfOne; }
  bool has_room(Way way) const;
  // kStep more of them. Error also: there is no room.
  Result<void> step(Way way);

  // Where there are some.
  lut::PairDealer& dealer() { return *dealer_; }
  lut::TableQueue& of(Way way) { return queues_[static_cast<std::size_t>(way)]; }

 private:
  const lut::TableQueue& of(Way way) const { return queues_[static_cast<std::size_t>(way)]; }

  pair::Session& session_;
  const std::size_t most_bytes_;
  std::optional<lut::PairDealer> dealer_;
  lut::TableQueue queues_[2];
};

}  // namespace tkdc
