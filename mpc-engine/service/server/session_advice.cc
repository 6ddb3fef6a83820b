// SPDX-License-Identifier: Apache-2.0
#include "service/server/session_advice.h"

namespace tkdc {
namespace {

// What two servers have of their own to say: no third one tells which of them is right.
void say_of_two(SessionAdvice& out) {
  out.no_answer =
      "is server 1's tkdc-server running, and the port of its [data] listen open to this server?";
  out.no_call =
      "server 0 calls: is its tkdc-server running, and does its [[peers]] entry have this server's "
      "data address?";
  out.protocols = "install one release on both servers; `tkdc status` names each one's";
  out.inventories =
      "no service until both administrators know which store is older: docs/operations.md, A realm "
      "on two servers";
  out.unsettled = "compare both servers' journals: docs/operations.md, A realm on two servers";
}

}  // namespace

SessionAdvice session_advice(int parties) {
  const std::string number = parties == 2 ? "two" : "three";
  const std::string all = parties == 2 ? "both" : "all three";
  const std::string in_each = " in the " + number + " tkdc.toml";
  const auto the_same = [&](const std::string& setting) {
    return "set the same " + setting + in_each;
  };
  SessionAdvice out;
  out.version = "upgrade " + all + " servers";
  out.installation = "compare [installation] id" + in_each;
  out.parties = "set the same [installation] parties in every tkdc.toml of the realm";
  out.party = "compare [installation] party and the [[peers]]" + in_each;
  out.security = the_same("[installation] security");
  out.representation = "malicious mode computes in bytes at " + all + ": upgrade that server";
  out.zero_shares = the_same("[data] zero_shares, or \"auto\",");
  out.lanes = the_same("[data] lanes");
  out.cohort_limit = "install the same release on " + all + " servers";
  out.wire_format =
      "install releases on the " + number + " servers that CHANGELOG.md says work together";
  out.protocols = the_same("[data] protocols") + ", or install one release";
  out.masked_blocks = the_same("[data] masked_blocks");
  out.era =
      "whoever has the lower one runs `tkdc epochs begin-anew` or restores a newer store, all "
      "three administrators agreeing: docs/operations.md, Nonce epochs";
  out.no_call =
      "is its tkdc-server running, and does its [[peers]] entry have this server's data address?";
  out.no_answer = "is its tkdc-server running and the port open?";
  out.pin =
      "if that server was given a new one, have its fingerprint read to you, then `tkdc join`: "
      "docs/operations.md, Changing keys";
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
  if (parties == 2) say_of_two(out);
  return out;
}

}  // namespace tkdc
