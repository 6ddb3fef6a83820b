// SPDX-License-Identifier: Apache-2.0
// Instances that were made ahead, by kind of operation, within a bound on octets.
//
// The three servers call it alike, in a lane's order: what is made next, which number it has and
// which instance a job takes follow from public figures that all have. So do the octets: each
// server counts what each of the three keeps, and the largest is bounded. E keeps tables, some
// megabytes, where garblers keep labels of outputs; roles rotate.
//
// In memory only, and no longer or shorter than the keys: only LaneSide, which owns both, makes
// one (side.h). Secret: instances; wiped when they are taken, dropped, or the session ends. Used
// by one lane's thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/codec.h"
#include "threegarble/tables.h"

namespace tkdc::threegarble {

class Reserve {
 public:
  struct Kind {
    std::shared_ptr<const Shape> shape;
    std::size_t wanted = 0;  // instances
  };
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  struct Next {
    std::size_t kind = 0;
    InstanceId id;
  };
  // One more kind; its number.
  std::size_t add(Kind kind);
  // Of the kind that lacks most of what is wanted of it. Nothing: none lacks, or it does not fit.
  std::optional<Next> next() const;
  // Whether there is room for one more of this kind.
  bool fits(std::size_t kind) const;
  // It is being made from now on: its number is gone, its octets count. One at a time.
  void begin(const Next& next);
  void put(const Next& next, Instance instance);
  void drop(const Next& next);  // it could not be made

  // The oldest of a kind. Nothing: there is none, and that is counted.
  std::optional<Instance> take(std::size_t kind);
  struct Counts {
    std::size_t ready = 0;
    std::uint64_t made = 0, taken = 0, missed = 0;
  };
  Counts counts(std::size_t kind) const;
  std::size_t kinds() const { return shelves_.size(); }
  const Shape& shape(std::size_t kind) const { return *shelves_[kind].kind.shape; }
  // That the party which keeps most keeps.
  std::size_t bytes() const;
  // What servers compare (Lane::add_progress).
  void put_progress(Writer& to) const;

 private:
  friend class LaneSide;
  Reserve(std::uint32_t lane, std::vector<Kind> kinds, std::size_t most_bytes);

  struct Shelf {
    Kind kind;
    std::uint64_t next_number = 0;
    std::uint64_t made = 0, taken = 0, missed = 0;
    std::deque<Instance> ready;
  };
  // Adds what each party keeps of an instance, or takes it away.
  using Bytes3 = std::array<std::size_t, 3>;
  static Bytes3 bytes_of(const Shape& shape, std::uint64_t n);

  const std::uint32_t lane_;
  const std::size_t most_bytes_;
  std::vector<Shelf> shelves_;
  Bytes3 bytes_{};
};

}  // namespace tkdc::threegarble
