// SPDX-License-Identifier: Apache-2.0
// Circuits as two servers compute them: of the catalogue (circuits/catalogue.h), with a pad on what
// an agent is answered or what is stored. They are laid out when they are first asked for, which
// takes up to some seconds, and kept within a bound. They say nothing of keys or jobs. One thread.
//
// A kind's name says all: "answer NAME" masks what an agent gets, "store NAME" what is stored, in
// whole blocks. NAME is the catalogue's, or "copy:OCTETS". "answer around-…": what an operation has
// beside AES, where that is done by tables (docs/protocols/29-tables-in-jobs.md).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "pair/output_rule.h"
#include "pair/prepared.h"

namespace tkdc {

// Of a circuit that is prepared, at the server that keeps more of it.
constexpr std::size_t pair_prepared_bytes(std::uint64_t ands) { return 192 * ands; }

struct PairKind {
  PairKind(std::string of, const circuit::Circuit& plain, const pair::PadRule& rule,
           const circuit::Circuit& padded);
  std::string name;
  pair::PairCircuit circuit;
  std::vector<std::size_t> input_bits;  // of each input but the pad
  std::size_t bare_bits = 0;            // of outputs that both servers may know, which come first
  std::size_t pad_bits = 0;
  std::size_t layout_bytes() const;
  std::size_t prepared_bytes() const { return pair_prepared_bytes(circuit.ands); }
};
using PairKindPtr = std::shared_ptr<const PairKind>;

std::string answer_kind(const std::string& circuit);
std::string store_kind(const std::string& circuit);
// Of a SEAL's or OPEN's circuit, the kind of what it has beside AES.
std::string around_kind(const std::string& circuit);

// How many ANDs a circuit of that name may have: what it takes to lay it out and to prepare it.
inline constexpr std::uint64_t kMostPairAnds = 1'200'000;

class PairCircuits {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

  // How many ANDs such a kind has. Takes milliseconds, and only once. Error: there is none, or it
  // is longer than kMostPairAnds.
  Result<std::uint64_t> look_up(const std::string& kind);
  // Error: as look_up().
  Result<PairKindPtr> get(const std::string& kind);

 private:
  void make_room(std::size_t bytes);

  struct Entry {
    PairKindPtr kind;
    std::uint64_t asked = 0;
  };
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::uint64_t> known_;  // what look_up() has counted; a bounded number
  std::uint64_t asked_ = 0;
};

}  // namespace tkdc
