// SPDX-License-Identifier: Apache-2.0
// `tkdc backup list`: which backups lie in a folder, of which moment, and which are stale.
// `tkdc backup prune`: those that retention leaves over go, when they have been shown and agreed
// to. Neither has a key, and nothing that they show is secret.
#include "tools/cli/backup_shelf_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>

#include "base/durable_file.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/backup/backup_shelf.h"
#include "tools/cli/backup_words.h"
#include "tools/cli/owner.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

constexpr std::uint64_t kDay = 86'400;
constexpr const char* kStale = "stale";

struct ShelfOptions {
  std::string folder;
  std::size_t keep = 14;
  std::uint64_t stale_days = 0;
  bool yes = false;
};

std::uint64_t now_s() { return static_cast<std::uint64_t>(std::time(nullptr)); }

std::string age(const BackupHead& head) {
  const std::uint64_t now = now_s();
  if (head.made_at_s > now) return "0 h";
  const std::uint64_t hours = (now - head.made_at_s) / 3600;
  return hours < 48 ? std::to_string(hours) + " h" : std::to_string(hours / 24) + " d";
}

void show(const ShelvedBackup& one) {
  if (!one.trouble.empty()) {
    std::cout << "no backup        " << printable(one.trouble) << "\n";
    return;
  }
  std::printf("%6d  %13u  %10llu  %s  %6s  %9.1f  %s  %s  %-5s  %s\n", one.head.party,
              one.head.refresh_epoch, static_cast<unsigned long long>(one.head.generation),
              format_utc(static_cast<std::int64_t>(one.head.made_at_s)).c_str(),
              age(one.head).c_str(), static_cast<double>(one.bytes) / 1e6,
              state_of(one.head).c_str(), short_digest(one.head).c_str(), one.stale ? kStale : "",
              printable(one.path).c_str());
}

// As who owns the folder.
Result<std::vector<ShelvedBackup>> look(const std::string& folder) {
  if (auto owner = become_owner_of(folder); !owner) return owner.error();
  return look_at_backups(folder);
}

int list(const ShelfOptions& options) {
  auto shelf = look(options.folder);
  if (!shelf) return say_failure("tkdc backup list", shelf.error(), kBackupFailed);
  show_backups(*shelf);
  for (const std::string& draft : left_drafts(options.folder, now_s()))
    std::cout << printable(draft)
              << ": left by a run that was killed; the next `tkdc backup make` into this folder "
                 "removes it\n";
  std::size_t stale = 0, troubled = 0;
  for (const ShelvedBackup& one : *shelf) {
    stale += one.stale ? 1 : 0;
    troubled += one.trouble.empty() ? 0 : 1;
  }
  if (stale > 0)
    std::cout << stale
              << " of before a refresh: no realm takes them any more, and with another server's "
                 "store of their time they are every key. Destroy them, and their copies: `tkdc "
                 "backup prune`\n";
  return stale + troubled == 0 ? kBackupGood : kBackupBad;
}

// On a terminal; else --yes says it.
bool agreed(const ShelfOptions& options) {
  if (options.yes) return true;
  if (may_ask()) return typed_yes();
  std::cout << "Nothing was removed: --yes does it.\n";
  return false;
}

int prune(const ShelfOptions& options) {
  constexpr const char* kName = "tkdc backup prune";
  auto shelf = look(options.folder);
  if (!shelf) return say_failure(kName, shelf.error(), kBackupFailed);
  if (of_several_servers(*shelf))
    return say_failure(
        kName,
        fail(options.folder + " has backups of several servers: nothing is removed. What a backup "
                              "says of itself anybody can write; give each server's a folder of "
                              "their own, that nobody else writes into"),
        kBackupBad);
  const auto going = to_remove(*shelf, {options.keep, options.stale_days * kDay}, now_s());
  const auto troubled = [](const ShelvedBackup& one) { return !one.trouble.empty(); };
  for (const ShelvedBackup& one : *shelf)
    if (troubled(one)) show(one);
  const int left = std::ranges::any_of(*shelf, troubled) ? kBackupBad : kBackupGood;
  if (going.empty()) {
    std::cout << "nothing to remove: " << shelf->size() << " in " << printable(options.folder)
              << "\n";
    return left;
  }
  show_backups(going);
  if (!agreed(options)) return kBackupBad;
  if (auto gone = destroy_backups(going); !gone)
    return say_failure(kName, gone.error(), kBackupFailed);
  std::cout << going.size() << " removed. Copies elsewhere are not.\n";
  return left;
}

}  // namespace

void show_backups(const std::vector<ShelvedBackup>& shelf) {
  std::printf("server  refresh epoch  generation  %-20s  %6s  %9s  %-16s  %-16s\n", "made", "age",
              "MB", "state", "digest");
  for (const ShelvedBackup& one : shelf) show(one);
  std::fflush(stdout);
}

bool may_ask() { return ::isatty(STDIN_FILENO) == 1; }

bool typed_yes() {
  std::cout << "Type yes to destroy these: " << std::flush;
  std::string line;
  if (std::getline(std::cin, line) && line == "yes") return true;
  std::cout << "Nothing was removed.\n";
  return false;
}

Result<void> destroy_backups(const std::vector<ShelvedBackup>& going) {
  for (const ShelvedBackup& one : going)
    if (!remove_wiped(one.path)) return system_error("cannot remove " + one.path);
  return {};
}

void add_shelf_words(CLI::App& backup, int& exit_status) {
  auto options = std::make_shared<ShelfOptions>();
  CLI::App* shown = backup.add_subcommand("list", "which backups lie in a folder, and are stale");
  CLI::App* pruned = backup.add_subcommand("prune", "remove stale backups, and all but the newest");
  for (CLI::App* command : {shown, pruned})
    command->add_option("folder", options->folder, "the folder")->required();
  pruned->add_option("--keep", options->keep, "how many of each server stay")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  pruned->add_option("--stale-days", options->stale_days, "how old a stale one is that goes")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{36'500}))
      ->capture_default_str();
  pruned->add_flag("--yes", options->yes, "do not ask");
  shown->callback([=, &exit_status] { exit_status = list(*options); });
  pruned->callback([=, &exit_status] { exit_status = prune(*options); });
}

}  // namespace tkdc::cli
