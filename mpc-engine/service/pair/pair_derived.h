// SPDX-License-Identifier: Apache-2.0
// Keys that are made for one operation (docs/protocols/14-fast.md), by two servers. Three circuits,
// one after the other:
//
//   PRF+        from the record's "prf", of public octets: 32 octets. Kept with the record's bits
//               while the session lasts, where the pepper is one of FAST's two
//   its keys    PRF+ ⊕ the known half, that an agent has dealt by itself; then Ke and Ki, or Kc, of
//               one usage
//   operation   the one of a stored key of that enctype and length, under those
//
// What may each server see? PRF+, the derived key, Ke, Ki, Kc and all hashes' states: nothing. They
// go from circuit to circuit as authenticated bits (pair/carried.h): both see them masked by bits
// that neither knows and that serve once. No server and no agent is ever told one of them, nor the
// servers the known half. Kind, enctype, pepper and lengths are public, as with three servers. Used
// by the lane's thread. Error: the session's; where it still stands, both have dropped the job.
#pragma once

#include "pair/carried.h"
#include "service/operation/derived.h"
#include "service/pair/pair_session.h"

namespace tkdc {

struct PairDerivation {
  std::string prf, keys;  // kinds of circuits
  Bytes in;               // what PRF+ is of, as its circuit takes it
  std::string pepper;     // empty: PRF+ is not kept
  bool needs_half = false;
  KeyRecord shape;  // of the derived key: a record without octets
};

// Nothing: the record has not what PRF+ starts from.
std::optional<PairDerivation> derivation_of(const KeyRecord& record, const JobRequest& request);

// The circuit's inputs that a record has else: Ke and Ki, or Kc. `half`: what an agent has dealt;
// nothing for keys without a known half. `has_prf`: both have kept PRF+.
Result<std::vector<pair::Held>> derive_once(const PairAtWork& at_work, const KeyRecord& record,
                                            const PairDerivation& by,
                                            std::optional<pair::Dealt> half, bool has_prf);

}  // namespace tkdc
