// SPDX-License-Identifier: Apache-2.0
#include "service/server/epoch_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace tkdc {

Result<void> notice_restored_epochs(Store& store, AuditLog& audit) {
  const Epochs stored = store.epochs();
  const SessionEpoch seen = audit.last_epoch();
  if (seen <= SessionEpoch{stored.era, stored.used} || seen.epoch > kMaxEpoch) return {};
  Epochs raised = stored;
  if (seen.era > stored.era) raised.reserved = 0;
  raised.era = seen.era;
  raised.used = seen.epoch;
  raised.reserved = std::max(raised.reserved, seen.epoch);
  if (auto done = store.set_epochs(raised); !done.ok()) return done;
  log_line(LogLevel::kWarning, "the store is older than the audit log (era " +
                                   std::to_string(stored.era) + ", epoch " +
                                   std::to_string(stored.used) + "; the log " +
                                   std::to_string(seen.era) + ", " + std::to_string(seen.epoch) +
                                   "): it was restored from a backup; no nonce epoch is used "
                                   "again, but see \"Backup\" in docs/operations.md");
  const nlohmann::json event = {
      {"event", "store restored"}, {"stored", stored.used}, {"seen", seen.epoch}};
  if (auto written = audit.append(event.dump()); !written.ok())
    log_line(LogLevel::kError, written.error().message);
  return {};
}

EpochAlarms epoch_alarms(const EpochReport& report) {
  EpochAlarms out;
  if (report.spent > report.per_day / 4)
    out.spent = std::to_string(report.spent) +
                " nonce epochs were used up lately, of an allowance of " +
                std::to_string(report.per_day) +
                " a day (limits.epochs_per_day): sessions end too soon, or a server pushes epochs "
                "ahead; see docs/operations.md, Nonce epochs";
  if (report.left < (kMaxEpoch + 1) / 8)
    out.left = "only " + std::to_string(report.left) +
               " nonce epochs are left; plan to begin them anew, all administrators together "
               "(tkdc epochs begin-anew); see docs/operations.md, Nonce epochs";
  return out;
}

void tell_epochs(nlohmann::json& json, const EpochReport& report) {
  json["epoch_era"] = report.epochs.era;
  json["epochs_left"] = report.left;
  json["epochs_spent"] = report.spent;
  json["epochs_per_day"] = report.per_day;
  const EpochAlarms alarms = epoch_alarms(report);
  for (const std::string& alarm : {alarms.spent, alarms.left})
    if (!alarm.empty()) json["epoch_alarms"].push_back(alarm);
}

}  // namespace tkdc
