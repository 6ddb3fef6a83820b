// SPDX-License-Identifier: Apache-2.0
// Which circuit computes a whole operation under a key's record, and in which order its inputs
// stand (circuits/operations.cc): OPEN, SEAL, MAC and VERIFY of enctypes 17 to 20 in their standard
// form. Of krbtgt's GCM form only AES is garbled (garbled_gcm.h); operations in two parts and those
// of derived keys are computed by sharing alone.
//
// Public: from the record's fields' names and the input's length.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "service/operation/plain.h"
#include "threegarble/reserve.h"

namespace tkdc {

struct Whole {
  struct Held {
    std::string field;  // of the record
    std::size_t bytes;  // its first ones: round keys begin with the key
  };
  std::string circuit;         // of the catalogue, with its size
  std::vector<Held> held;      // in the order of the circuit's inputs
  std::size_t confounder = 0;  // octets that nobody knows, behind them; then the job's input
  bool holds = false;          // the first octet of the result says whether a check held
};

// Nothing: by sharing.
std::optional<Whole> whole_of(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                              std::size_t input_bytes);

// The kinds of a reserve, by circuit. The same at all servers, in the same order.
class WholeKinds {
 public:
  struct Wanted {
    std::string circuit;
    std::size_t instances;
  };
  // Error: no such circuit, one that cannot be garbled, or one twice: its numbers would be, too.
  static Result<WholeKinds> of(const std::vector<Wanted>& wanted);
  using ShapePtr = std::shared_ptr<const threegarble::Shape>;
  // Error: as above. Takes 0.1 to 2.5 s of a CPU for operations up to 400 octets.
  static Result<ShapePtr> shape_of(const std::string& circuit);
  // Behind the others; a reserve gets the same kind.
  void add(const std::string& circuit, ShapePtr shape, std::size_t instances);
  bool has(const threegarble::Digest& digest) const;
  std::vector<threegarble::Reserve::Kind> reserve_kinds() const { return kinds_; }
  std::optional<std::size_t> find(const std::string& circuit) const;

 private:
  std::vector<std::string> names_;
  std::vector<threegarble::Reserve::Kind> kinds_;
};

// Circuits that are laid out once for all lanes of a server, and for its later sessions too: a
// layout says nothing of keys or jobs. Those that no lane has are kept while all together have
// `most_bytes` at most; who was asked for longest ago goes first. Any thread.
class WholeShapes {
 public:
  using LayOut = std::function<Result<WholeKinds::ShapePtr>(const std::string& circuit,
                                                            std::size_t most_bytes)>;
  explicit WholeShapes(std::size_t most_bytes, LayOut by = lay_out)
      : most_bytes_(most_bytes), lay_out_(std::move(by)) {}
  // Error: as get().
  static Result<WholeKinds::ShapePtr> lay_out(const std::string& circuit, std::size_t most_bytes);
  // As WholeKinds::shape_of(). One is laid out at a time, which takes some six times its memory:
  // who asks for another meanwhile waits. Error also: it has more gates than half of `most_bytes`
  // takes.
  Result<WholeKinds::ShapePtr> get(const std::string& circuit);
  // Those that cannot be laid out, each with its reason: their operations are computed by sharing.
  // They are not tried again.
  std::vector<std::string> unfit() const;
  // Those that are there.
  std::vector<std::string> laid_out() const;
  // How often one has been laid out.
  std::uint64_t times() const;

 private:
  struct Entry {
    WholeKinds::ShapePtr shape;
    std::uint64_t asked = 0;
  };
  void make_room();
  static constexpr std::size_t kMostUnfit = 64;

  const std::size_t most_bytes_;
  const LayOut lay_out_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool under_way_ = false;
  std::uint64_t asked_ = 0, times_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Error> unfit_;  // kMostUnfit at most
};

}  // namespace tkdc
