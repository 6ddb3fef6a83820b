// SPDX-License-Identifier: Apache-2.0
// What a session has ready: ANDs, and circuits that are prepared for one use each
// (pair/prepared.h). It is filled in short steps while no job waits, and taken from by jobs; what
// is not there is made when it is asked for. Both servers do the same, in the same order: the
// leader says what. It dies with its session.
//
// One thread. Secret: all but names and numbers. Error: the session's.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "pair/buckets.h"
#include "service/pair/pair_circuits.h"

namespace tkdc {

class PairReserve {
 public:
  static constexpr std::size_t kMostOfKind = 8;
  static constexpr std::size_t kStepAnds = 32'768;  // made in one step
  static constexpr std::size_t kMostMade = std::size_t{1} << 17;

  // `most_bytes` of what is prepared: the same at both.
  PairReserve(pair::Session& session, std::size_t most_bytes)
      : session_(session), most_bytes_(most_bytes) {}

  std::size_t ready(const std::string& kind) const;
  std::size_t ready() const;
  std::size_t bytes() const { return bytes_; }
  std::size_t most_bytes() const { return most_bytes_; }
  std::vector<std::string> kinds() const;  // of which some are ready
  // Whether one more of it may stand here.
  bool has_room(const std::string& kind, std::uint64_t ands) const;

  // The job at work leaves what is ready of these kinds to others, until the next call.
  void leave(std::set<std::string> kinds) { left_ = std::move(kinds); }
  // One that is ready, or is made now.
  Result<pair::Prepared> take(const PairKindPtr& kind);
  // Some tenths of a second of work at most towards one more. Error also: there is no room.
  Result<void> step(const PairKindPtr& kind);
  void forget(const std::string& kind);

  // Kinds that jobs have asked for since the last time.
  std::vector<std::string> asked() { return std::exchange(asked_, {}); }
  std::uint64_t taken() const { return taken_; }    // that were ready
  std::uint64_t missed() const { return missed_; }  // that were made while a job waited

 private:
  Result<void> stock_up(std::uint64_t ands);
  Result<pair::Prepared> make(const PairKind& kind);

  struct Ready {
    PairKindPtr kind;  // which what is prepared points to
    std::deque<pair::Prepared> prepared;
  };
  pair::Session& session_;
  const std::size_t most_bytes_;
  std::map<std::string, Ready> ready_;
  pair::AuthAnds stock_;
  std::size_t bytes_ = 0;
  std::vector<std::string> asked_;
  std::set<std::string> left_;
  std::uint64_t taken_ = 0, missed_ = 0;
};

}  // namespace tkdc
