// SPDX-License-Identifier: Apache-2.0
// `tkdc backup`: `key` makes an administrator's key for backups, `make` writes one beside the
// running server, `verify` opens one with the secret key, without a server or a realm.
//
// Secret: the wrapping key of the store, what is in the store, the administrator's secret key.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/durable_file.h"
#include "base/hardening.h"
#include "base/hex.h"
#include "base/output_file.h"
#include "base/system_error.h"
#include "base/utc_time.h"
#include "service/backup/backup_check.h"
#include "service/backup/backup_shelf.h"
#include "service/backup/take_backup.h"
#include "tools/cli/backup_copy.h"
#include "tools/cli/backup_files.h"
#include "tools/cli/backup_shelf_command.h"
#include "tools/cli/backup_words.h"
#include "tools/cli/commands.h"
#include "tools/cli/long_work.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {

namespace {

struct BackupOptions {
  std::string config, to, recipient, file, key, out, public_out;
  bool store_only = false;
};

Result<void> make_key(const BackupOptions& options) {
  auto secret_file = OutputFile::create(options.out);
  if (!secret_file) return secret_file.error();
  auto public_file = OutputFile::create(options.public_out);
  if (!public_file) return public_file.error();
  const SecretBuffer secret = draw_backup_key();
  const BackupPublicKey key = backup_public_key(secret);
  const std::string text = encode_backup_public_key(key);
  auto done = secret_file->finish(encode_backup_secret_key(secret));
  if (done)
    done = public_file->finish({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (!done) return done;
  if (::chmod(options.public_out.c_str(), 0644) != 0) return system_error(options.public_out);
  std::cout << options.out << " opens your server's backups: it stays on this machine, which is "
            << "not the server's, and a copy of it in a safe. Without it they are worth nothing.\n"
            << options.public_out << " goes to your server, as " << kBackupPublicName
            << " beside its tkdc.toml. It is the key\n"
            << to_hex(key) << "\n";
  return {};
}

// It is the store's owner's, who is this process from here on.
Result<void> make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return system_error("cannot make " + folder);
}

Result<void> make_backup(const BackupOptions& options) {
  namespace fs = std::filesystem;
  auto at = find_stopped_store(options.config);
  if (!at) return at.error();
  const fs::path folder = fs::absolute(options.config).parent_path();
  TakeOptions take;
  if (!options.store_only) {
    auto credentials = open_member_credentials(options.config);
    if (!credentials) return credentials.error();
    take.files = std::move(*credentials);
  }
  // By root, who may have put it there for himself alone: nothing but a key is taken from it.
  auto recipient = read_backup_public_key(
      options.recipient.empty() ? (folder / kBackupPublicName).string() : options.recipient);
  if (!recipient) return recipient.error();
  take.recipient = *recipient;
  if (auto owner = become_owner(*at); !owner) return owner;
  if (!options.store_only) {
    auto missing = read_member_files(at->config, take.files);
    if (!missing) return missing.error();
    for (const std::string& path : *missing)
      std::cerr << "tkdc backup make: not in the backup: " << printable(path)
                << ", which the configuration names. Keep a copy of it, or have it beside "
                << options.config << "\n";
    const std::string key = encode_backup_public_key(*recipient);
    take.files.push_back({kBackupPublicName, SecretVector(key.begin(), key.end())});
  }
  take.store = at->options();
  take.folder = options.to.empty() ? own_backups(at->config.store_path) : options.to;
  take.now_s = static_cast<std::uint64_t>(std::time(nullptr));
  if (auto made = make_folder(take.folder); !made) return made;
  for (const std::string& draft : left_drafts(take.folder, take.now_s))
    std::cerr << "tkdc backup make: " << printable(draft)
              << (remove_wiped(draft) ? " was left by a run that was killed, and is removed\n"
                                      : ", left by a run that was killed, cannot be removed\n");
  take.watch = watched("values");
  auto taken = take_backup(take, at->key);
  take.watch = {};
  if (!taken) return taken.error();
  std::cout << taken->path << ": server " << taken->head.party << ", " << taken->head.records
            << " keys, refresh epoch " << taken->head.refresh_epoch << ", generation "
            << taken->head.generation << ", state " << state_of(taken->head) << ", digest "
            << to_hex(taken->head.body_digest) << "\n";
  return {};
}

int verify(const BackupOptions& options) {
  constexpr const char* kName = "tkdc backup verify";
  auto secret = read_backup_secret_key(options.key);
  if (!secret) return say_failure(kName, secret.error(), kBackupFailed);
  auto fd = open_backup(options.file);
  if (!fd) return say_failure(kName, fd.error(), kBackupFailed);
  auto reader = BackupReader::open(*fd, options.file, *secret);
  if (!reader) return say_failure(kName, reader.error(), kBackupBad);
  auto contents = check_backup(**reader, watched("MiB of the backup", kMebibyte));
  if (!contents)
    return say_failure(kName, contents.error(), stop_asked() ? kBackupFailed : kBackupBad);
  show_head((*reader)->head());
  const auto refreshed = static_cast<std::int64_t>(contents->refreshed_at_s);
  std::cout << "refreshed        " << (refreshed == 0 ? "never" : format_utc(refreshed))
            << "\nhalf made        " << contents->prepared << "\nto be removed    "
            << contents->condemned << "\ndropped          " << contents->dropped
            << "\nremoved          " << contents->tombstones << "\ncounts of seals  "
            << contents->seals << "\nwith MACs        " << contents->macs << "\nwithout MACs     "
            << contents->without_macs;
  if (contents->pools > 0) std::cout << "\npools            " << contents->pools;
  std::cout << "\nfiles           ";
  for (const BackupFile& file : contents->files) std::cout << " " << file.name;
  std::cout << (contents->files.empty() ? " none" : "") << "\n"
            << printable(options.file) << " is whole.\n";
  return kBackupGood;
}

CLI::App* add_word(CLI::App& backup, const char* word, const char* what,
                   const std::function<void()>& run) {
  CLI::App* command = backup.add_subcommand(word, what);
  command->callback([run] {
    forbid_dumps();
    run();
  });
  return command;
}

}  // namespace

void add_backup(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<BackupOptions>();
  CLI::App* backup = app.add_subcommand("backup", "encrypted backups of a server's store");
  backup->require_subcommand(1);
  const auto outcome = [&exit_status](const char* name, const Result<void>& done) {
    exit_status = done ? kBackupGood : say_failure(name, done.error(), kBackupFailed);
  };
  CLI::App* key =
      add_word(*backup, "key", "on a machine that is offline: make the key that opens backups",
               [=] { outcome("tkdc backup key", make_key(*options)); });
  key->add_option("--out", options->out, "the secret half's file")->required();
  key->add_option("--public", options->public_out, "the public half's file")->required();
  CLI::App* make = add_word(*backup, "make", "write a backup, also while the server runs",
                            [=] { outcome("tkdc backup make", make_backup(*options)); });
  make->add_option("--config", options->config, "the server's tkdc.toml")->required();
  make->add_option("--to", options->to,
                   "the folder that it comes to lie in, which the store's owner can write; unless "
                   "given, backups beside the store");
  make->add_option("--recipient", options->recipient,
                   "the public half of the key; unless given, backup.pub beside tkdc.toml");
  make->add_flag("--store-only", options->store_only,
                 "without configuration, certificate and keys of the server");
  CLI::App* check = add_word(*backup, "verify", "open a backup and check all that is in it",
                             [=, &exit_status] { exit_status = verify(*options); });
  check->add_option("file", options->file, "the backup")->required();
  check->add_option("--key", options->key, "the secret half of the key")->required();
  add_copy_word(*backup, exit_status);
  add_shelf_words(*backup, exit_status);
}

}  // namespace tkdc::cli
