// SPDX-License-Identifier: Apache-2.0
// The semi-honest switch: the same lookups on shares without MACs. It withstands a party that is
// read, not one that is changed.
//
// A one-hot vector by the paper's protocol 3 (ACNS 2017, section 4.2), its products from random OTs
// alone: of a bit b = s_j, whose MACs and keys an authenticated bit has, and a string v
//
//   both ways   U = H(key, u) ⊕ H(key ⊕ Δ, u) ⊕ v_own
//   b v         b_own v_own ⊕ H(key, u) ⊕ H(mac, u) ⊕ b_own U_peer
//
// 32 octets a table each way. A table is 256 octets, a share of an entry one. Each serves once
// (stock.h); a mask is wiped as it is used, entries go with the tables.
//
// share level: octets of both sum to x; tests/unit/lut/shares_test.cc.
//
// Calls block; one thread. Secret: shares. Error: the session's; not enough tables.
#pragma once

#include "lut/aes.h"
#include "lut/pair_dealer.h"

namespace tkdc::lut {

class ShareTables {
 public:
  // `table` outlives them.
  static Result<ShareTables> make(PairDealer& dealer, const Table& table, std::size_t count);

  std::size_t left() const { return stock_.left(); }
  std::size_t octets() const { return masks_.size() + entries_.size(); }
  Result<void> look_up(PairDealer& dealer, MutableByteSpan octets);

 private:
  friend struct Inside;  // tests/unit/lut
  ShareTables() = default;
  Stock stock_;
  SecretVector masks_, entries_;
};

// Round keys, and blocks in place. Inputs and outputs are the parties' shares as they are.
Result<SecretVector> expand_key_shares(PairDealer& dealer, ShareTables& tables, ByteSpan key);
Result<void> encrypt_shares(PairDealer& dealer, ShareTables& tables, ByteSpan round_keys,
                            MutableByteSpan blocks);

}  // namespace tkdc::lut
