// SPDX-License-Identifier: Apache-2.0
// `tkdc store`: a stopped server's store gets other keys, or another key for its recovery
// (docs/adr/0034).
//
// rekey: a new wrapping key lies beside the old one first; both open the store from begin_rekey()
// on; the new one takes the old one's place; all values are rewritten; then only the new one opens
// it. It may be killed between any two of these and be run again, and the server may run in
// between.
//
// Secret: wrapping keys, which go from the random generator to the disk, or into a credential.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/credential.h"
#include "base/durable_file.h"
#include "base/hardening.h"
#include "base/system_error.h"
#include "service/store/keyring.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 1'000;
constexpr std::chrono::seconds kSayEvery{5};

struct StoreCommand {
  std::string config, out, with = "auto";
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The new wrapping key as the file that takes the old one's place.
Result<SecretVector> as_file(const StoppedStore& at, const SecretBuffer& key,
                             const std::string& with) {
  if (!at.credential) return SecretVector(key.data(), key.data() + key.size());
  auto sealed = seal_credential(credential_not_given(at.config.store_key_file), key.span(), with);
  if (!sealed) return sealed.error();
  return SecretVector(sealed->begin(), sealed->end());
}

// The old file's octets are overwritten when nothing names it any more.
Result<void> put_in_place(const std::string& draft, const std::string& path) {
  const UniqueFd old(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat st {};
  if (::rename(draft.c_str(), path.c_str()) != 0 || !sync_folder_of(path))
    return system_error("cannot put " + draft + " in the place of " + path);
  // A backup may have another name for it.
  if (!old || ::fstat(old.get(), &st) != 0 || st.st_nlink != 0) return {};
  const Bytes zeros(static_cast<std::size_t>(st.st_size));
  if (::pwrite(old.get(), zeros.data(), zeros.size(), 0) > 0) (void)::fsync(old.get());
  return {};
}

Result<std::size_t> rewrite(Store& store) {
  const Clock::time_point start = Clock::now();
  Clock::time_point said = start;
  std::size_t all = 0;
  RekeyAt at;
  for (;;) {
    auto seen = store.reseal(kBatch, at);
    if (!seen) return seen.error();
    if (*seen == 0) return all;
    all += *seen;
    if (Clock::now() - said < kSayEvery) continue;
    said = Clock::now();
    std::cout << "rewritten: " << all << " values in " << static_cast<int>(seconds_since(start))
              << " s; it may be interrupted, and run again\n"
              << std::flush;
  }
}

Result<void> rekey(const StoreCommand& command) {
  auto at = find_stopped_store(command.config);
  if (!at) return at.error();
  const SecretBuffer next = draw_store_key();
  auto file = as_file(*at, next, command.with);
  if (!file) return file.error();
  if (auto owner = become_owner(*at); !owner) return owner;
  auto store = at->open();
  if (!store) return store.error();
  const bool again = (*store)->rekey_is_under_way();
  std::cout << (again ? "Taking up a change of keys that was begun before; " : "")
            << (*store)->count() << " keys in " << at->config.store_path
            << ". The realm has no tickets until this server runs again.\n"
               "A recovery key of before does not open this store from now on: make another when "
               "this has ended, `tkdc store recovery`.\n"
            << std::flush;
  const Clock::time_point start = Clock::now();
  const std::string draft = at->key_file + ".new";
  ::unlink(draft.c_str());  // of a run that was interrupted: its key opens nothing yet, or is kept
  const UniqueFd fd = create_file(draft);
  if (!fd || !write_synced(fd.get(), ByteSpan(*file)) || !sync_folder_of(draft))
    return system_error("cannot write " + draft);
  Result<void> done = (*store)->begin_rekey(at->key, next);
  if (done) done = put_in_place(draft, at->key_file);
  if (!done) return done;
  auto values = rewrite(**store);
  if (!values) return values.error();
  done = (*store)->end_rekey(next);
  if (!done) return done;
  std::printf(
      "%zu values are under new keys, in %.1f s. The old ones do not open this store any more.\n",
      *values, seconds_since(start));
  std::cout << "Start the server, and take a backup: data.mdb and keys of the store's folder. Then "
               "destroy older backups and the old keys: together they open what this store was.\n";
  return {};
}

Result<void> recovery(const StoreCommand& command) {
  auto at = find_stopped_store(command.config);
  if (!at) return at.error();
  // Its name is on disk before this process is no longer who may write there.
  const UniqueFd file = create_file(command.out);
  if (!file || !sync_folder_of(command.out)) return system_error("cannot make " + command.out);
  const SecretBuffer another = draw_store_key();
  if (auto owner = become_owner(*at); !owner) return owner;
  auto store = at->open();
  if (!store) return store.error();
  if (!(*store)->two_levels())
    return fail("this store has one key, " + at->key_file +
                ", which is its recovery; `tkdc store rekey` gives it two levels");
  // Before it opens anything: a slot without its key would only take room.
  if (!write_synced(file.get(), another.span())) return system_error("cannot write " + command.out);
  auto added = Keyring(at->config.store_path, {at->config.installation, at->config.party})
                   .add(at->key, another);
  if (!added) return added;
  std::cout << command.out
            << " opens this server's store and its backups, wherever they are. Take it off this "
               "host, into a safe; on another host it is store.key_file.\n";
  return {};
}

void add_store_word(CLI::App& store, const char* word, const char* what, int& exit_status,
                    Result<void> (*run)(const StoreCommand&), bool to_file) {
  auto options = std::make_shared<StoreCommand>();
  CLI::App* command = store.add_subcommand(word, what);
  command->add_option("--config", options->config, "the server's tkdc.toml")->required();
  if (to_file)
    command->add_option("--out", options->out, "the file to make; it is secret")->required();
  else
    command
        ->add_option("--with-key", options->with,
                     "of a credential: what opens it, as systemd-creds has it")
        ->check(CLI::IsMember({"auto", "host", "tpm2", "host+tpm2"}))
        ->capture_default_str();
  command->callback([options, word, run, &exit_status] {
    forbid_dumps();
    const Result<void> done = run(*options);
    if (!done)
      std::cerr << "tkdc store " << word << ": " << printable(done.error().message) << "\n";
    exit_status = done ? 0 : 1;
  });
}

}  // namespace

void add_store(CLI::App& app, int& exit_status) {
  CLI::App* store = app.add_subcommand("store", "the keys that a stopped server's store is under");
  store->require_subcommand(1);
  add_store_word(*store, "rekey", "give it new keys, and forget the old ones", exit_status, rekey,
                 false);
  add_store_word(*store, "recovery", "make another key that opens it, to be kept elsewhere",
                 exit_status, recovery, true);
}

}  // namespace tkdc::cli
