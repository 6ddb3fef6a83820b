// SPDX-License-Identifier: Apache-2.0
#include "service/server/backup_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/utc_time.h"

namespace tkdc {
namespace {

constexpr std::int64_t kBackupDueS = 3 * 86'400;
constexpr const char* kBackupSuffix = ".tkdc-backup";

// When a file was last written; nothing: there is none.
std::optional<std::int64_t> written_s(const std::filesystem::path& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  return st.st_mtim.tv_sec;
}

// Of the name that a backup is given ("server0-20261127T120000Z"), where it has it still: of when
// it was written in any case.
std::int64_t begun_s(const std::filesystem::path& path, std::int64_t written_s) {
  const std::string name = path.stem().string();
  const auto dash = name.rfind('-');
  const auto begun =
      dash == std::string::npos ? std::nullopt : parse_utc_compact(name.substr(dash + 1));
  return std::min(written_s, begun.value_or(written_s));
}

std::string refresh_alarm(const BackupsSeen& seen, const RefreshSeen& refresh) {
  if (refresh.since_s != 0)
    return "a refresh of the keys of both servers is under way since " +
           format_utc_spaced(static_cast<std::int64_t>(refresh.since_s)) +
           ", and backups of before fit less with each key that moves. Take new ones of both "
           "servers when it has ended, and now, too, if it lasts; destroy those of before only "
           "when both have one of after its end";
  if (refresh.ended_s == 0 || *seen.newest_begun_s > static_cast<std::int64_t>(refresh.ended_s))
    return {};
  return "the newest backup of this server is of " + format_utc_spaced(*seen.newest_begun_s) +
         ", and serves no more: the keys of both servers were refreshed until " +
         format_utc_spaced(static_cast<std::int64_t>(refresh.ended_s)) +
         ". Type `tkdc backup make` at both servers, and destroy those of before only when both "
         "have a new one";
}

}  // namespace

std::optional<BackupsSeen> backups_seen(const std::string& config_file,
                                        const std::string& store_path, int parties) {
  namespace fs = std::filesystem;
  const auto since = written_s(fs::path(config_file).parent_path() / "backup.pub");
  if (!since && parties != 2) return std::nullopt;
  const fs::path folder = fs::path(store_path).parent_path() / "backups";
  BackupsSeen seen;
  seen.since_s = since.value_or(0);
  seen.of_two = parties == 2;
  seen.copies_since_s = written_s(fs::path(config_file).parent_path() / kBackupCopyName);
  seen.copied_s = written_s(folder / kBackupsCopiedName);
  std::error_code error;
  fs::directory_iterator files(folder, error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    if (files->path().extension() != kBackupSuffix) continue;
    const auto made = written_s(files->path());
    if (!made) continue;
    const std::int64_t begun = begun_s(files->path(), *made);
    seen.newest_s = std::max(seen.newest_s.value_or(*made), *made);
    seen.newest_begun_s = std::max(seen.newest_begun_s.value_or(begun), begun);
  }
  return seen;
}

std::string copy_alarm(const std::optional<BackupsSeen>& seen, std::int64_t now_s) {
  if (!seen || !seen->copies_since_s ||
      now_s - std::max(*seen->copies_since_s, seen->copied_s.value_or(0)) <= kBackupDueS)
    return {};
  return (seen->copied_s ? "no backup of this server has come to another host since " +
                               format_utc_spaced(*seen->copied_s)
                         : std::string("no backup of this server has come to another host yet")) +
         ": `tkdc backup copy` says why, and the journal of tkdc-backup-copy@ (docs/operations.md, "
         "Backup)";
}

namespace {

std::string making_alarm(const std::optional<BackupsSeen>& seen, std::int64_t now_s,
                         const RefreshSeen& refresh) {
  constexpr const char* kRemedy =
      ": its timer makes one each night, and `tkdc doctor` says what to type (docs/operations.md, "
      "Backup)";
  if (seen && seen->of_two && !seen->newest_s)
    return "there is no backup of this server, and with two servers a backup of each is the only "
           "way back: if either store is lost, so is every key. Put a backup.pub beside its "
           "tkdc.toml, then `tkdc backup make` (docs/operations.md, A realm on two servers)";
  const std::string refreshed =
      seen && seen->of_two ? refresh_alarm(*seen, refresh) : std::string();
  if (!seen || now_s - std::max(seen->since_s, seen->newest_s.value_or(0)) <= kBackupDueS)
    return refreshed;
  if (!seen->newest_s) return std::string("there is no backup of this server") + kRemedy;
  return "the newest backup of this server is of " + format_utc_spaced(*seen->newest_s) + kRemedy +
         (refreshed.empty() ? "" : ". And " + refreshed);
}

}  // namespace

std::string backup_alarm(const std::optional<BackupsSeen>& seen, std::int64_t now_s,
                         const RefreshSeen& refresh) {
  const std::string made = making_alarm(seen, now_s, refresh), copied = copy_alarm(seen, now_s);
  return made + (made.empty() || copied.empty() ? "" : ". And ") + copied;
}

void tell_backups(nlohmann::json& json, const std::optional<BackupsSeen>& seen, std::int64_t now_s,
                  const RefreshSeen& refresh) {
  if (seen && seen->newest_s) json["backup_newest_s"] = *seen->newest_s;
  if (const std::string alarm = backup_alarm(seen, now_s, refresh); !alarm.empty())
    json["backup_warning"] = alarm;
}

}  // namespace tkdc
