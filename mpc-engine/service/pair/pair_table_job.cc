// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_table_job.h"

#include <algorithm>

#include "cipher/rfc3962.h"
#include "enctype.h"

namespace tkdc {

namespace {
constexpr std::size_t kOfLookup = 3, kOfCheck = 3, kOfEntry = 4, kOfExit = 1;
}  // namespace

// A SEAL is a chain; of an OPEN all blocks go together but the one that was stolen from.
std::size_t PairTableJob::waits(bool has_keys) const {
  const std::size_t blocks = (text_bytes + lut::kBlockOctets - 1) / lut::kBlockOctets;
  const bool chain = way == PairTables::Way::kForward;
  const std::size_t turns = chain ? blocks : std::min<std::size_t>(blocks, 2);
  const std::size_t of_keys = kOfLookup * schedule() / 4 + kOfCheck;
  return kOfEntry + (has_keys ? 0 : of_keys) + turns * kOfLookup * lut::rounds_of(key_bytes) +
         kOfExit + kOfCheck;
}

std::optional<PairTableJob> table_job(PairCircuits& circuits, const Whole& whole, tkdc_wire_op op,
                                      std::uint32_t enctype, std::size_t input_bytes) {
  if (op != TKDC_OP_SEAL && op != TKDC_OP_OPEN) return std::nullopt;
  const bool seals = op == TKDC_OP_SEAL;
  const std::size_t mac = tkdc_enctype_of(enctype)->overhead_bytes - kConfounderBytes;
  PairTableJob out;
  out.way = seals ? PairTables::Way::kForward : PairTables::Way::kInverse;
  out.kind = around_kind(whole.circuit);
  out.key_bytes = whole.held.front().bytes;
  out.text_bytes = seals ? input_bytes + whole.confounder : input_bytes - mac;
  if (!circuits.look_up(out.kind)) return std::nullopt;
  return out;
}

}  // namespace tkdc
