// SPDX-License-Identifier: Apache-2.0
// Whether a server is backed up: by the heads of what lies beside its store, where it has a key for
// backups at all.
#include <unistd.h>

#include <ctime>

#include "base/utc_time.h"
#include "service/backup/backup_shelf.h"
#include "service/server/backup_watch.h"
#include "tools/cli/backup_files.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kBackupDueS = 3 * 86'400;  // tkdc-backup@.timer: each night
constexpr std::int64_t kClocksDifferS = 3'600;    // it may have been set since

// How often its shares were refreshed, by its status; 0 where it does not say.
std::uint32_t refresh_epoch(const Patient& patient) {
  if (!patient.status.is_object()) return 0;
  const auto shares = patient.status.find("shares");
  if (shares == patient.status.end() || !shares->is_object()) return 0;
  const auto epoch = shares->find("refresh_epoch");
  const bool told = epoch != shares->end() && epoch->is_number_integer();
  return told ? static_cast<std::uint32_t>(epoch->get<std::int64_t>()) : 0;
}

}  // namespace

// The folder's path is a service's word, so it is in no command.
Finding check_backups(const Patient& patient) {
  const std::string make = "tkdc backup make --config " + shell_word(patient.config);
  if (patient.only_status)
    return told(patient, "backup_warning", make, "none are made, or the newest is of these days");
  if (!patient.server) return unknown("its configuration cannot be read");
  const bool has_key = ::access((patient.folder + "/" + kBackupPublicName).c_str(), F_OK) == 0;
  if (!has_key && patient.server->parties == 2)
    return warning(
        "there is none, and with two servers a backup of each is the only way back: put "
        "the public half of a key of `tkdc backup key` beside its tkdc.toml, as " +
            std::string(kBackupPublicName),
        make);
  if (!has_key)
    return warning("none are made, and this server's store is all that is left of its shares",
                   "tkdc backup key --out backup.key, on another machine; its public half beside "
                   "tkdc.toml as " +
                       std::string(kBackupPublicName) + "; " + make);
  const std::string folder = own_backups(patient.server->store_path);
  const auto newest = newest_backup(folder, patient.server->installation, patient.server->party);
  if (!newest)
    return warning(
        "there is no backup in " + folder,
        make + "; systemctl enable --now tkdc-backup@" + shell_word(patient.name) + ".timer");
  const auto made = static_cast<std::int64_t>(newest->made_at_s);
  if (made > std::time(nullptr) + kClocksDifferS)
    return warning(
        "a backup says that it is of " + format_utc_spaced(made) +
            ", which is yet to come: nothing shows how old the newest really is",
        "compare this host's clock; then move that file out of " + folder + ", and " + make);
  if (newest->refresh_epoch < refresh_epoch(patient))
    return warning("the newest backup, of " + format_utc_spaced(made) +
                       ", is of before the last refresh: it does not serve any more",
                   make + "; then, with the folder of the backups: tkdc backup prune");
  if (std::time(nullptr) - made > kBackupDueS)
    return warning(
        "the newest backup is of " + format_utc_spaced(made),
        make + "; systemctl enable --now tkdc-backup@" + shell_word(patient.name) + ".timer");
  const auto seen = backups_seen(patient.config, patient.server->store_path,
                                 static_cast<int>(patient.server->parties));
  if (const std::string alarm = copy_alarm(seen, std::time(nullptr)); !alarm.empty())
    return warning(alarm, "tkdc backup copy --config " + shell_word(patient.config));
  return good("the newest is of " + format_utc_spaced(made) +
              (seen && seen->copied_s
                   ? "; all were at another host at " + format_utc_spaced(*seen->copied_s)
                   : ""));
}

}  // namespace tkdc::cli
