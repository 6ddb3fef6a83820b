// SPDX-License-Identifier: Apache-2.0
// Masked tables, each for one lookup (Keller and others, ACNS 2017, section 4, protocols 1 and 2):
//
//   ahead    s random, e its one-hot vector (demux.h); [T(i ⊕ s)] = Σ_j T(i ⊕ j) [e_j], as octets
//   online   h = x ⊕ s opened; [T(x)] is entry h
//
// What is kept of a table is e's 256 labels, 4,096 octets at each party. Expanded they become the
// table's entries, in the same place; then a lookup is one read of memory, else a sum of 256 terms.
//
// Each serves once (stock.h). A mask is wiped as it is used. Entries go with the tables: of one
// table they are 4,096 octets, and those of both parties say what s was.
//
// share level: entries of both at i sum to T(i ⊕ s) (1, Δ), tests/unit/lut/tables_test.cc.
//
// Calls block; one thread. Secret: s, e, entries. Public: h. Error: the session's; not enough
// tables.
#pragma once

#include "lut/demux.h"
#include "lut/kernel.h"
#include "lut/stock.h"

namespace tkdc::lut {

class Tables {
 public:
  // `count` tables of `table`, which outlives them. Checked when they come back.
  static Result<Tables> make(Dealer& dealer, const Table& table, std::size_t count);

  void expand();
  std::size_t left() const { return stock_.left(); }
  std::size_t octets() const { return (masks_.size() + vectors_.size()) * kLabelBytes; }

  // Replaces octets by what the table has for them: one round. What has been opened is to be
  // checked before anything is put out (dealer.h).
  Result<void> look_up(Dealer& dealer, std::span<Label> octets);

 private:
  friend struct Inside;  // tests/unit/lut
  explicit Tables(const Table& table) : table_(&table) {}
  const Table* table_;
  Stock stock_;
  Labels masks_, vectors_;
  bool expanded_ = false;
};

// FIPS 197, section 5.1.1: the S-box; the linear part of its affine map.
const Table& aes_sbox();
constexpr std::uint8_t affine_of_sbox(std::uint8_t y) {
  const unsigned twice = y << 8 | y;
  return static_cast<std::uint8_t>(twice ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7);
}

// An octet of up to eight bits, the lowest first.
Label octet_of(const Label* bits, std::size_t width = 8);

}  // namespace tkdc::lut
