// SPDX-License-Identifier: Apache-2.0
// What masks and tables have inside: for tests of what serves once.
#pragma once

#include "lut/aes.h"
#include "lut/bits_out.h"
#include "lut/des_tables.h"
#include "lut/norm_tables.h"
#include "lut/shares.h"
#include "lut/tables.h"
#include "lut/triples.h"

namespace tkdc::lut {

// What each has for one use, of all uses.
struct Inside {
  static std::span<const Label> of(const InputMasks& masks) { return masks.masks_; }
  static std::span<const Label> of(const Tables& tables) { return tables.masks_; }
  static std::span<const Label> of(const NormTables& tables) { return tables.labels_; }
  static ByteSpan of(const ShareTables& tables) { return tables.masks_; }
  static std::span<const Label> of(const DesTables& tables) { return tables.masks_; }
  static std::span<const Label> of(const Triples& triples) { return triples.labels_; }
  static std::span<const Label> of(const BitMasks& masks) { return masks.labels_; }
  static std::span<const Label> of(const BitsOut& masks) {
    return {reinterpret_cast<const Label*>(masks.bits_.data()), 2 * masks.bits_.size()};
  }
  static std::span<AuthBit> bits(BitsOut& masks) { return masks.bits_; }
  static std::span<Label> entries(Tables& tables) { return tables.vectors_; }
  // As if they had been made in it.
  static void belongs_to(Tables& tables, const pair::Session& session) {
    tables.stock_ = Stock(session, tables.stock_.size(), "tables");
  }
};

}  // namespace tkdc::lut
