// SPDX-License-Identifier: Apache-2.0
#include "service/job/lane_control.h"

namespace tkdc {
namespace {

enum Parts : std::uint8_t {
  kManifest = 1,
  kVerdicts = 2,
  kWindows = 4,
  kAuditHead = 8,
  kClock = 16,
  kShares = 32,
  kAll = 63
};

}  // namespace

Bytes encode(const LaneControl& said) {
  const int parts = (said.manifest ? kManifest : 0) | (said.verdicts.empty() ? 0 : kVerdicts) |
                    (said.revoked ? kWindows : 0) | (said.audit_head ? kAuditHead : 0) |
                    (said.clock_ms ? kClock : 0) | (said.share_task ? kShares : 0);
  Bytes out;
  if (parts == 0) return out;
  Writer w(out);
  w.u8(static_cast<std::uint8_t>(parts));
  if (said.manifest) put_manifest(out, *said.manifest);
  w.raw(said.verdicts);
  if (said.revoked) {
    w.u64(said.revoked->version);
    put_revocations(out, said.revoked->state);
  }
  if (said.audit_head) put_audit_head(w, *said.audit_head);
  if (said.clock_ms) w.u64(*said.clock_ms);
  if (said.share_task) w.u8(static_cast<std::uint8_t>(*said.share_task));
  return out;
}

Result<LaneControl> decode_lane_control(ByteSpan octets, const LaneExpects& expected) {
  const Error malformed = fail("lane: a neighbour's admission data are malformed");
  LaneControl said;
  if (octets.empty()) {
    if (expected.verdicts == 0) return said;
    return malformed;
  }
  Reader in(octets);
  const std::uint8_t parts = in.u8();
  if (parts == 0 || (parts & ~kAll) != 0) return malformed;
  if (((parts & kVerdicts) != 0) != (expected.verdicts > 0)) return malformed;
  if ((parts & kManifest) != 0) {
    if (!expected.leader) return malformed;
    auto manifest = get_manifest(in, expected.most_jobs, expected.protocols);
    if (!manifest) return manifest.error();
    if (manifest->jobs.empty()) return malformed;
    said.manifest = std::move(*manifest);
  }
  if ((parts & kVerdicts) != 0) {
    auto verdicts = get_verdicts(in, expected.verdicts);
    if (!verdicts) return verdicts.error();
    said.verdicts = std::move(*verdicts);
  }
  if ((parts & kWindows) != 0) {
    said.revoked.emplace();
    said.revoked->version = in.u64();
    if (!get_revocations(in, said.revoked->state)) return malformed;
  }
  if ((parts & kAuditHead) != 0) said.audit_head = get_audit_head(in);
  if ((parts & kClock) != 0) said.clock_ms = in.u64();
  if ((parts & kShares) != 0) {
    const std::uint8_t task = in.u8();
    if (!expected.shares || !is_share_task(task, expected.repair)) return malformed;
    said.share_task = static_cast<ShareTask>(task);
  }
  if (!in.complete()) return malformed;
  return said;
}

}  // namespace tkdc
