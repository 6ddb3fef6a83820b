// SPDX-License-Identifier: Apache-2.0
// `tkdc restore`: a server's store, and its folder where that is lost too, of a backup.
//
// The backup is checked to its end before anything is looked at here. Root makes the folder; the
// store is made by a process that is its owner (tools/cli/owner.h). Secret: the administrator's
// key, the store's, and what is in the backup.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/hardening.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/backup/restore.h"
#include "tools/cli/backup_files.h"
#include "tools/cli/backup_words.h"
#include "tools/cli/commands.h"
#include "tools/cli/long_work.h"
#include "tools/cli/owner.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "tkdc restore";
constexpr const char* kNoState = "none";
constexpr int kRestoredUnsynced = 99;  // within this program: the store is in its place
constexpr const char* kNextOfTwo =
    "Start the server. If keys were made or removed since the backup, there is no session, and the "
    "journal says that the inventories differ. Then restore the other server from its backup of "
    "the same state; or stop both, `tkdc store list` at each, and `tkdc store agree` with both "
    "lists. Take a backup of each when the realm serves.\n";

struct RestoreWords {
  std::string file, key, into, digest, state;
  bool replace = false, all_three = false, unproved = false;
};

std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }

// A backup whose contents are good, and what is left to do with it.
struct Checked {
  const UniqueFd& fd;
  const SecretBuffer& secret;
  const WholeHead& head;
  const std::vector<BackupFile>& files;
};

// Locks are not inherited.
bool lock_again(const SecretBuffer& key) { return ::mlock(key.data(), key.size()) == 0; }

void say_of_folder(const RestoreWords& words, bool made_folder) {
  if (made_folder)
    std::cout << "Its folder was made with a new store.key. Next:\n\n  chown -R tkdc-server: "
              << shell_word(words.into) << "\n  tkdc unit --config "
              << shell_word(words.into + "/tkdc.toml") << "\n\n";
}

void say_what_is_next(const RestoreWords& words, bool made_folder) {
  if (words.all_three && words.state == kNoState)
    std::cout
        << "Restore the two others in the same way, and start none: `tkdc store list` at each, "
           "then `tkdc store agree` with the three lists. There are no tickets until `tkdc "
           "rotate krbtgt --now` on the KDC's host has drawn a new key.\n";
  else if (words.all_three)
    std::cout << "Restore the two others in the same way, of backups of this state, and start all "
                 "three. There are no tickets until `tkdc rotate krbtgt --now` on the KDC's host "
                 "has drawn a new key: those of before only open.\n";
  else
    std::cout << (made_folder
                      ? "If the server's audit log is lost too, it does not notice itself how "
                        "far its nonce epochs went back; the two others know. If another "
                        "server is restored as well, restore them all with --all-three.\n"
                      : "")
              << "Start the server. If the two others have made or removed keys since, or were "
                 "refreshed, there is no session, and `tkdc status` says so: then have it repaired "
                 "from them, \"A lost server\" in docs/operations.md.\n";
}

// With three servers the others hold each component, too. Of one of two servers all would be as
// whoever made the backup likes: the other server could.
Result<void> check_maker(const RestoreWords& words, bool of_two) {
  if (!of_two || words.unproved || !words.digest.empty()) return {};
  return fail(
      "this is a backup of one of two servers, and who made it shows in its digest alone: whoever "
      "has backup.pub, the other server among them, can make one whose keys it knows. Give the "
      "digest of the journal's line, or of what was noted when it was made, as --digest; "
      "--unproved goes without");
}

// In a process that gives root up.
int restore_as(const Owner& owner, const RestoreWords& words, const Checked& backup,
               const StoppedStore& at, bool made_folder) {
  if (auto proved = check_maker(words, at.config.parties == 2); !proved)
    return say_failure(kName, proved.error(), kBackupRefused);
  if (!lock_again(backup.secret) || !lock_again(at.key))
    return say_failure(kName, system_error("cannot lock keys in memory"), kBackupFailed);
  if (auto became = become(owner); !became)
    return say_failure(kName, became.error(), kBackupFailed);
  RestoreOptions options;
  options.store = at.options();
  options.replace = words.replace;
  options.all_three = words.all_three;
  options.now_s = static_cast<std::uint64_t>(std::time(nullptr));
  options.watch = watched("MiB restored", kMebibyte);
  if (words.all_three)
    if (auto three = only_of_three(at.config,
                                   "no nonce there counts sessions: restore each "
                                   "without --all-three");
        !three)
      return say_failure(kName, three.error(), kBackupRefused);
  auto restore = Restore::begin(options, backup.head, at.key);
  if (!restore) return say_failure(kName, restore.error(), kBackupRefused);
  auto reader = BackupReader::open(backup.fd, words.file, backup.secret);
  if (!reader) return say_failure(kName, reader.error(), kBackupBad);
  auto done = (*restore)->run(**reader);
  if (!done)
    return say_failure(kName, fail("nothing was changed: " + done.error().message), kBackupFailed);
  const BackupHead& head = backup.head.head;
  std::cout << head.records << " keys are in " << at.config.store_path << ", of state "
            << state_of(head) << ", refresh epoch " << head.refresh_epoch << ", era " << done->era
            << ".\n";
  if (!done->former.empty())
    std::cout << "The store of before is in " << done->former
              << ": destroy it when the realm serves.\n";
  say_of_folder(words, made_folder);
  if (!done->unsynced.empty())
    return say_failure(
        kName,
        fail("the restored store is in its place, but a loss of power may undo that: " +
             done->unsynced + ". Mend that disk; before the server starts look which store is in " +
             at.config.store_path),
        kRestoredUnsynced);
  if (at.config.parties == 2)
    std::cout << kNextOfTwo;
  else
    say_what_is_next(words, made_folder);
  return kBackupGood;
}

int restore_store(const RestoreWords& words, const Checked& backup, const std::string& config,
                  bool made_folder) {
  auto at = find_store_or_none(config);
  if (!at) return say_failure(kName, at.error(), kBackupFailed);
  // systemd gives it to the unit's user when that is started.
  if (made_folder) (void)::mkdir(parent_of(at->config.store_path).c_str(), 0700);
  for (const std::string& path : member_files(at->config))
    if (made_folder && ::access(path.c_str(), F_OK) != 0)
      std::cout << printable(path) << ", which the configuration names, is not in the backup: put "
                << "it there before the server starts.\n";
  auto owner = owner_of_store(config, at->config.store_path);
  if (!owner) return say_failure(kName, owner.error(), kBackupRefused);
  const auto status =
      in_another_process([&] { return restore_as(*owner, words, backup, *at, made_folder); });
  if (!status.ok()) return say_failure(kName, status.error(), kBackupFailed);
  return *status;
}

// All three are to be of one state; where there is no such three, that is said.
Result<void> check_state(const RestoreWords& words, const BackupHead& head) {
  if (!words.all_three || words.state == kNoState || words.state == state_of(head)) return {};
  if (words.state.empty())
    return fail(
        "--all-three takes three backups of one state: say with --state which one they have "
        "(tkdc backup list); this one has " +
        state_of(head) +
        ". Where no three are alike, "
        "`--state none`, and `tkdc store agree` on all three before they start");
  return fail(words.file + " is of state " + state_of(head) + ", and not of " + words.state +
              ": take one of that state, or for all three `--state none`");
}

int restore_checked(const RestoreWords& words, const Checked& backup) {
  const std::string config = words.into + "/tkdc.toml";
  const bool make_folder = ::access(config.c_str(), F_OK) != 0;
  if (make_folder)
    if (auto made = write_member_files(words.into, backup.files); !made)
      return say_failure(kName, made.error(), kBackupRefused);
  const int status = restore_store(words, backup, config, make_folder);
  if (status == kRestoredUnsynced) return kBackupFailed;
  std::error_code ignored;
  if (status != kBackupGood && make_folder) fs::remove_all(words.into, ignored);
  return status;
}

int restore(const RestoreWords& words) {
  auto secret = read_backup_secret_key(words.key);
  if (!secret) return say_failure(kName, secret.error(), kBackupFailed);
  auto backup = open_backup(words.file);
  if (!backup) return say_failure(kName, backup.error(), kBackupFailed);
  auto reader = BackupReader::open(*backup, words.file, *secret);
  if (!reader) return say_failure(kName, reader.error(), kBackupBad);
  auto contents = check_backup(**reader, watched("MiB checked", kMebibyte));
  if (!contents)
    return say_failure(kName, contents.error(), stop_asked() ? kBackupFailed : kBackupBad);
  const BackupHead& head = (*reader)->head();
  const std::string digest = to_hex(head.body_digest);
  std::cout << printable(words.file) << ": made "
            << format_utc(static_cast<std::int64_t>(head.made_at_s)) << ", digest " << digest
            << "\n";
  if (!words.digest.empty() && words.digest != digest)
    return say_failure(
        kName,
        fail(words.file + " has another digest than the one given: the server did "
                          "not make it; take the one it made, of the journal's line"),
        kBackupRefused);
  if (auto proved = check_maker(words, contents->pools > 0); !proved)
    return say_failure(kName, proved.error(), kBackupRefused);
  if (auto state = check_state(words, head); !state)
    return say_failure(kName, state.error(), kBackupRefused);
  return restore_checked(words, {*backup, *secret, (*reader)->whole_head(), contents->files});
}

}  // namespace

void add_restore(CLI::App& app, int& exit_status) {
  auto words = std::make_shared<RestoreWords>();
  CLI::App* command = app.add_subcommand("restore", "make a stopped server's store of a backup");
  command->add_option("file", words->file, "the backup")->required();
  command->add_option("--key", words->key, "the secret half of the key, of `tkdc backup key`")
      ->required();
  command
      ->add_option("--into", words->into,
                   "the server's folder, with its tkdc.toml; where there is none it is made of the "
                   "backup")
      ->required();
  command->add_option("--digest", words->digest,
                      "what the server's journal says of the backup; another one is refused");
  command->add_flag("--unproved", words->unproved,
                    "of two servers: take it without its digest, from whomever it is");
  command->add_flag("--all-three", words->all_three,
                    "all three servers are restored: their nonce epochs begin anew, and krbtgt's "
                    "versions of before only open");
  command->add_option("--state", words->state,
                      "with --all-three: the state that the three backups have; none: they have "
                      "different ones");
  command->add_flag("--replace", words->replace,
                    "also over a store that is newer, or that cannot be read");
  command->callback([words, &exit_status] {
    forbid_dumps();
    exit_status = restore(*words);
  });
}

}  // namespace tkdc::cli
