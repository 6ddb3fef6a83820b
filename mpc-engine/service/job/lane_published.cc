// SPDX-License-Identifier: Apache-2.0
#include "service/job/lane_published.h"

#include <utility>

namespace tkdc {

LanePublished::~LanePublished() {
  counters_.masks_held -= protocols_.masks_held;
  counters_.garbled_ready -= garbling_.ready;
  counters_.garbled_bytes -= garbling_.bytes;
  counters_.garbled_kinds -= garbling_.kinds;
}

void LanePublished::protocols(const SessionProtocols& protocols, std::uint64_t cohorts) {
  ProtocolCounts now;
  for (const auto& protocol : protocols) now += protocol->counts();
  LaneCounters& c = counters_;
  c.masked_blocks += now.masked_blocks - protocols_.masked_blocks;
  c.masks_made += now.masks_made - protocols_.masks_made;
  c.masks_held += now.masks_held - protocols_.masks_held;
  c.layer_bytes += now.message_bytes - protocols_.message_bytes;
  c.aes_blocks += now.aes_blocks - protocols_.aes_blocks;
  c.sha1_blocks += now.sha1_blocks - protocols_.sha1_blocks;
  c.sha2_blocks += now.sha2_blocks - protocols_.sha2_blocks;
  protocols_ = now;
  c.cohorts += cohorts - std::exchange(cohorts_, cohorts);
}

void LanePublished::garbling(const LaneGarbling::Counts& now) {
  LaneCounters& c = counters_;
  const LaneGarbling::Counts& was = garbling_;
  c.garbled_made += now.made - was.made;
  c.garbled_jobs += now.taken - was.taken;
  c.garbled_missed += now.missed - was.missed;
  c.garbled_ready += now.ready - was.ready;
  c.garbled_bytes += now.bytes - was.bytes;
  c.garbled_kinds += now.kinds - was.kinds;
  garbling_ = now;
}

}  // namespace tkdc
