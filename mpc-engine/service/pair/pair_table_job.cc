// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_table_job.h"

#include <algorithm>
#include <charconv>

#include "cipher/rfc3962.h"
#include "enctype.h"
#include "service/operation/keys.h"

namespace tkdc {

namespace {
constexpr std::size_t kOfLookup = 3, kOfCheck = 3, kOfEntry = 4, kOfExit = 1;
constexpr std::string_view kSeal = "seal", kOpen = "open";
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

std::optional<PairTableJob> table_job(PairCircuits& circuits, const std::string& circuit) {
  const bool seals = circuit.starts_with(kSeal);
  const char* const end = circuit.data() + circuit.size();
  std::uint32_t number = 0;
  std::size_t octets = 0;
  if (!seals && !circuit.starts_with(kOpen)) return std::nullopt;
  const auto behind = std::from_chars(circuit.data() + kSeal.size(), end, number);
  const tkdc_enctype* enctype = tkdc_enctype_of(number);
  if (enctype == nullptr || behind.ptr == end || *behind.ptr != ':') return std::nullopt;
  if (std::from_chars(behind.ptr + 1, end, octets).ptr != end) return std::nullopt;
  PairTableJob out;
  out.way = seals ? PairTables::Way::kForward : PairTables::Way::kInverse;
  out.kind = around_kind(circuit);
  if (!circuits.look_up(out.kind)) return std::nullopt;
  out.key_bytes = key_bytes_of(number);
  out.text_bytes =
      seals ? octets + kConfounderBytes : octets - (enctype->overhead_bytes - kConfounderBytes);
  return out;
}

}  // namespace tkdc
