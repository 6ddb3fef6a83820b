// SPDX-License-Identifier: Apache-2.0
// `tkdc store`: a stopped server's store gets other keys, or another key for its recovery
// (docs/adr/0034).
//
// rekey: a new wrapping key lies beside the old one first; both open the store from begin_rekey()
// on; the new one takes the old one's place; all values are rewritten; then only the new one opens
// it. It may be killed between any two of these and be run again, and the server may run in
// between. The old one is replaced after the new one has opened the keys, as it was read back: out
// of the credential that systemd made, or from the disk.
//
// Secret: wrapping keys, which go from the random generator to the disk, or into a credential.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>

#include "base/credential.h"
#include "base/durable_file.h"
#include "base/hardening.h"
#include "base/progress_line.h"
#include "base/system_error.h"
#include "service/store/keyring.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"
#include "tools/cli/store_agree.h"

namespace tkdc::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 1'000;

struct StoreCommand {
  std::string config, out, with = "auto";
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A wrapping key as it was read out of what takes the old one's place.
struct NextKey {
  SecretVector file;
  SecretBuffer key;
};

Result<NextKey> make_next(const StoppedStore& at, const std::string& with) {
  NextKey next{{}, draw_store_key()};
  next.file.assign(next.key.data(), next.key.data() + next.key.size());
  if (!at.credential) return next;
  const std::string name = credential_not_given(at.config.store_key_file);
  auto credential = encrypt_credential(name, next.key.span(), with);
  if (!credential) return credential.error();
  next.file.assign(credential->begin(), credential->end());
  auto decrypted = decrypt_credential(name, next.file);
  if (!decrypted || decrypted->size() != next.key.size() ||
      sodium_memcmp(decrypted->data(), next.key.data(), next.key.size()) != 0)
    return fail("this host does not open the credential that it made (--with-key=" + with +
                "); nothing was changed" + (decrypted ? "" : ": " + decrypted.error().message));
  std::memcpy(next.key.data(), decrypted->data(), next.key.size());
  return next;
}

// The file that will take the old one's place, on disk, with what it is to hold.
Result<void> write_checked(const std::string& draft, ByteSpan octets) {
  // One of a run that was interrupted goes: its key opens nothing yet, or is kept.
  if (!write_draft(draft, octets, 0600, OldFile::kWiped))
    return system_error("cannot write " + draft);
  const UniqueFd again(::open(draft.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  SecretVector read(octets.size() + 1);
  const ssize_t n = again ? ::read(again.get(), read.data(), read.size()) : -1;
  if (n != static_cast<ssize_t>(octets.size()) ||
      sodium_memcmp(read.data(), octets.data(), octets.size()) != 0)
    return fail(draft + " does not hold what was written to it; the old key is in place");
  return {};
}

// A failure leaves the old one in place, which opens the store all the same.
Result<void> opens_the_keys(const StoppedStore& at, const SecretBuffer& key) {
  auto keys = Keyring(at.config.store_path, {at.config.installation, at.config.party}).read(key);
  if (!keys) return fail("the old key is in place: " + keys.error().message);
  return {};
}

Result<std::size_t> rewrite(Store& store) {
  auto of = store.values_to_rewrite();
  if (!of) return of;
  ProgressLine line;
  std::size_t all = 0;
  RekeyAt at;
  for (;;) {
    line.show(all, *of, "values rewritten (it may be interrupted, and run again)");
    auto seen = store.rewrite(kBatch, at);
    if (!seen) return seen.error();
    if (*seen == 0) return all;
    all += *seen;
  }
}

Result<void> rekey(const StoreCommand& command) {
  auto at = find_stopped_store(command.config);
  if (!at) return at.error();
  auto next = make_next(*at, command.with);
  if (!next) return next.error();
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
  Result<void> done = write_checked(draft, next->file);
  if (done) done = (*store)->begin_rekey(at->key, next->key);
  if (done) done = opens_the_keys(*at, next->key);
  if (done && !put_in_place(draft, at->key_file, OldFile::kWiped))
    done = system_error("cannot put " + draft + " in the place of " + at->key_file);
  if (!done) return done;
  auto values = rewrite(**store);
  if (!values) return values.error();
  done = (*store)->end_rekey(next->key);
  if (!done) return done;
  std::printf(
      "%zu values are under new keys, in %.1f s. The old ones do not open this store any more.\n",
      *values, seconds_since(start));
  std::cout
      << "Start the server. Backups of `tkdc backup` are good as they are. Then destroy the old "
         "keys, and copies of the store's files of before (data.mdb, keys): together they open "
         "what this store was.\n";
  return {};
}

Result<void> recovery(const StoreCommand& command) {
  auto at = find_stopped_store(command.config);
  if (!at) return at.error();
  if (auto three =
          only_of_three(at->config,
                        "a copy of its store never serves again, and a backup has a key of "
                        "its own: `tkdc backup make`");
      !three)
    return three;
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
  CLI::App* store =
      app.add_subcommand("store", "a stopped server's store: its keys, and what it holds");
  store->require_subcommand(1);
  add_store_word(*store, "rekey", "give it new keys, and forget the old ones", exit_status, rekey,
                 false);
  add_store_word(*store, "recovery", "make another key that opens it, to be kept elsewhere",
                 exit_status, recovery, true);
  add_store_agreement(*store, exit_status);
}

}  // namespace tkdc::cli
