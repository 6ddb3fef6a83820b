// SPDX-License-Identifier: Apache-2.0
// What a SEAL or OPEN takes where its AES is done by lookup tables, and how long both wait for each
// other then (docs/protocols/29-tables-in-jobs.md). Public.
#pragma once

#include "lut/cts.h"
#include "service/pair/pair_circuits.h"
#include "service/pair/pair_tables.h"

namespace tkdc {

struct PairTableJob {
  PairTables::Way way = PairTables::Way::kForward;
  std::string kind;  // of the circuit beside tables
  std::size_t key_bytes = 0;
  std::size_t text_bytes = 0;  // that AES is of

  std::size_t lookups() const { return lut::cts_lookups(key_bytes, text_bytes); }
  std::size_t schedule() const { return lut::schedule_lookups(key_bytes); }
  // What there has to be of a way. `has_keys`: round keys are there.
  std::size_t needs(PairTables::Way of, bool has_keys) const {
    const bool forward = of == PairTables::Way::kForward;
    return (of == way ? lookups() : 0) + (forward && !has_keys ? schedule() : 0);
  }
  // Half round trips before the circuit's own messages.
  std::size_t waits(bool has_keys) const;
};

// Of a SEAL's or OPEN's circuit in the catalogue, such as "seal18:249": all follows from its name.
// Nothing: it is another operation's, there is none, or it goes by a circuit alone.
std::optional<PairTableJob> table_job(PairCircuits& circuits, const std::string& circuit);

}  // namespace tkdc
