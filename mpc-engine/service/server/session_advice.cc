// SPDX-License-Identifier: Apache-2.0
#include "service/server/session_advice.h"

namespace tkdc {
namespace {

std::string the_same(const std::string& setting) {
  return "set the same " + setting + " in the three tkdc.toml";
}

}  // namespace

SessionAdvice session_advice() {
  SessionAdvice out;
  out.version = "upgrade all three servers";
  out.installation = "compare [installation] id in the three tkdc.toml";
  out.party = "compare [installation] party and the [[peers]] in the three tkdc.toml";
  out.security = the_same("[installation] security");
  out.representation = "malicious mode computes in bytes at all three: upgrade that server";
  out.zero_shares = the_same("[data] zero_shares, or \"auto\",");
  out.lanes = the_same("[data] lanes");
  out.cohort_limit = "install the same release on all three servers";
  out.wire_format = "install releases on the three servers that CHANGELOG.md says work together";
  out.protocols = the_same("[data] protocols") + ", or install one release";
  out.masked_blocks = the_same("[data] masked_blocks");
  out.era =
      "whoever has the lower one runs `tkdc epochs begin-anew` or restores a newer store, all "
      "three administrators agreeing: docs/operations.md, Nonce epochs";
  out.no_call =
      "is its tkdc-server running, and does its [[peers]] entry have this server's data address?";
  out.no_answer = "is its tkdc-server running and the port open?";
  out.pin = "if it was replaced on purpose, set certificate_sha256 in [[peers]] to this value";
  out.unsettled = "restore this server's store";
  out.inventories =
      "no service until that store is restored from a backup of the others' refresh epoch and "
      "state (tkdc backup list), or repaired from the two others (tkdc repair): "
      "docs/operations.md, Backup";
  out.epoch_reused = "see docs/operations.md, Nonce epochs";
  out.allowance_spent =
      "sessions end too soon, or a server pushes epochs ahead (limits.epochs_per_day): see "
      "docs/operations.md, Nonce epochs";
  out.epoch_not_believed =
      "only if both others were restored from backups, raise one of them by `tkdc epochs raise` "
      "(docs/operations.md, Nonce epochs)";
  out.epochs_used_up =
      "all three administrators begin them anew by `tkdc epochs begin-anew` (docs/operations.md, "
      "Nonce epochs)";
  return out;
}

}  // namespace tkdc
