// SPDX-License-Identifier: Apache-2.0
#include "service/backup/backup_shelf.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "service/backup/take_backup.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

using Server = std::pair<InstallationId, int>;

Server server_of(const ShelvedBackup& one) { return {one.head.installation, one.head.party}; }

ShelvedBackup look_at(const std::string& path) {
  ShelvedBackup out{path, {}, 0, false, {}};
  auto fd = open_backup(path);
  auto whole = fd.ok() ? read_backup_head(*fd, path) : Result<WholeHead>(fd.error());
  if (!whole.ok()) {
    out.trouble = whole.error().message;
    return out;
  }
  out.head = whole->head;
  out.bytes = kBackupHeadBytes + out.head.body_bytes;
  if (auto same = compare_body_digest(*fd, path, out.head); !same.ok())
    out.trouble = same.error().message;
  return out;
}

bool before(const ShelvedBackup& a, const ShelvedBackup& b) {
  const auto rank = [](const ShelvedBackup& one) {
    return std::tuple(!one.trouble.empty(), server_of(one), ~one.head.era, ~one.head.refresh_epoch,
                      ~one.head.generation, ~one.head.made_at_s, one.path);
  };
  return rank(a) < rank(b);
}

}  // namespace

std::string own_backups(const std::string& store_path) {
  return (fs::path(store_path).parent_path() / "backups").string();
}

Result<std::vector<ShelvedBackup>> look_at_backups(const std::string& folder) {
  std::vector<ShelvedBackup> out;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (entries->path().extension() == kBackupEnding)
      out.push_back(look_at(entries->path().string()));
  if (error) return fail("cannot look into " + folder + ": " + error.message());
  std::ranges::sort(out, before);
  std::map<Server, std::uint32_t> serves;  // the refresh epoch of the newest, which comes first
  for (ShelvedBackup& one : out)
    if (one.trouble.empty())
      one.stale = serves.try_emplace(server_of(one), one.head.refresh_epoch).first->second !=
                  one.head.refresh_epoch;
  return out;
}

std::optional<BackupHead> newest_backup(const std::string& folder,
                                        const InstallationId& installation, int party) {
  std::optional<BackupHead> newest;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() != kBackupEnding) continue;
    auto fd = open_backup(entries->path().string());
    auto whole =
        fd.ok() ? read_backup_head(*fd, entries->path().string()) : Result<WholeHead>(fd.error());
    if (!whole.ok() || whole->head.installation != installation || whole->head.party != party)
      continue;
    if (!newest || whole->head.made_at_s > newest->made_at_s) newest = whole->head;
  }
  return newest;
}

std::vector<std::string> left_drafts(const std::string& folder, std::uint64_t now_s) {
  constexpr std::uint64_t kDayS = 86'400;
  std::vector<std::string> out;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string path = entries->path().string();
    struct stat st {};
    if (path.ends_with(kBackupDraftEnding) && ::lstat(path.c_str(), &st) == 0 &&
        S_ISREG(st.st_mode) && static_cast<std::uint64_t>(st.st_mtime) + kDayS <= now_s)
      out.push_back(path);
  }
  std::ranges::sort(out);
  return out;
}

bool of_several_servers(const std::vector<ShelvedBackup>& shelf) {
  std::set<Server> servers;
  for (const ShelvedBackup& one : shelf)
    if (one.trouble.empty()) servers.insert(server_of(one));
  return servers.size() > 1;
}

std::vector<ShelvedBackup> of_another_epoch(const std::vector<ShelvedBackup>& shelf,
                                            const InstallationId& installation, int party,
                                            std::uint32_t refresh_epoch) {
  std::vector<ShelvedBackup> out;
  for (const ShelvedBackup& one : shelf)
    if (one.trouble.empty() && server_of(one) == Server{installation, party} &&
        one.head.refresh_epoch != refresh_epoch)
      out.push_back(one);
  for (ShelvedBackup& one : out) one.stale = true;
  return out;
}

std::vector<ShelvedBackup> to_remove(const std::vector<ShelvedBackup>& shelf,
                                     const Retention& retention, std::uint64_t now_s) {
  std::vector<ShelvedBackup> out;
  std::map<Server, std::size_t> kept;
  for (const ShelvedBackup& one : shelf) {
    if (!one.trouble.empty()) continue;
    const bool old = one.head.made_at_s + retention.stale_after_s <= now_s;
    if (one.stale ? old : ++kept[server_of(one)] > retention.keep) out.push_back(one);
  }
  return out;
}

}  // namespace tkdc
