// SPDX-License-Identifier: Apache-2.0
// `tkdc store list` and `tkdc store agree`: after all servers were restored from backups of
// different states, or one of two, what not all hold is dropped at each, so that they serve
// together again. On each stopped server; nothing but lists, which its administrators exchange,
// goes from one to another. Secret: the store's wrapping key.
#include "tools/cli/store_agree.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "base/hardening.h"
#include "base/output_file.h"
#include "base/secret_file.h"
#include "base/utc_time.h"
#include "service/store/store_list.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

struct AgreeWords {
  std::string config, out;
  std::vector<std::string> lists;
  bool yes = false;
};

// Of two servers, which start to see whether they differ.
constexpr char kHalfMade[] =
    "A change is half done here: start both servers first, which settles it, and make lists only\n"
    "where they begin no session then. Agreeing forgets it, and keys go that would have stayed.\n";

// Of a server that is stopped: what the store holds is what it will start with.
Result<StoreList> list_stopped(const StoppedStore& at) {
  {
    auto opened = at.open();
    if (!opened) return opened.error();
    auto half_made = (*opened)->prepared();
    if (!half_made) return half_made.error();
    if (!half_made->empty() && at.config.parties == 2) std::cout << kHalfMade;
  }
  auto snapshot = StoreSnapshot::take(at.options(), at.key);
  if (!snapshot) return snapshot.error();
  return list_store(**snapshot, at.options());
}

Result<void> write_list(const AgreeWords& words) {
  auto at = find_stopped_store(words.config);
  if (!at) return at.error();
  auto file = OutputFile::create(words.out);
  if (!file) return file.error();
  if (auto owner = become_owner(*at); !owner) return owner;
  auto list = list_stopped(*at);
  if (!list) return list.error();
  const std::string text = encode(*list);
  auto written = file->finish({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (!written) return written;
  std::cout << "Server " << list->party << ": " << list->keys.size() << " keys, refresh epoch "
            << list->refresh_epoch << ", generation " << list->generation << "\nlist         "
            << short_digest_of_list(text) << "\n";
  return {};
}

std::string all_of(std::size_t servers) { return servers == 2 ? "both" : "all three"; }

std::string named(const ListedRecord& one) {
  Reader r(one.key.header);
  const std::uint32_t kvno = r.u32(), enctype = r.u32();
  return "    " + printable(one.principal) + ", version " + std::to_string(kvno) + ", enctype " +
         std::to_string(enctype);
}

void show_lone(const std::vector<LoneKey>& lone, std::size_t servers) {
  if (lone.empty()) return;
  std::cout << lone.size()
            << " keys are not, were purged or were removed at one, and go for good:\n";
  for (const LoneKey& one : lone) {
    std::string where;
    for (std::size_t p = 0; p < 3; ++p)
      if (one.at[p]) where += (where.empty() ? "" : ", ") + std::to_string(p);
    std::cout << named(one.record) << ": at server " << where
              << (one.versions && servers == 2 ? ", of which one has moved it since" : "")
              << (one.removed ? ", of which one says that it was removed" : "") << "\n";
  }
  if (servers == 2 && std::ranges::any_of(lone, &LoneKey::versions))
    std::cout << "Keys that one server has moved into another pool since are lost only so: restore "
                 "the other\nserver too, from its backup of the same state, and they stay.\n";
}

// What this store is to change. How much that is, of what people have to confirm.
std::size_t show(const StoreAgreement& agreed, const StoreList& own, std::size_t servers) {
  std::cout << agreed.kept << " keys are at " << all_of(servers) << " servers and stay\n";
  show_lone(agreed.lone, servers);
  const std::vector<ListedRecord> drops = drops_of(agreed, own);
  if (!drops.empty())
    std::cout << drops.size()
              << " keys of these have another server's word that they were removed. They serve no "
                 "more, and are\npurged when they have been so for long enough:\n";
  for (const ListedRecord& one : drops)
    std::cout << named(one) << ": since "
              << format_utc_spaced(static_cast<std::int64_t>(one.dropped_at_s)) << "\n";
  if (agreed.era > own.era)
    std::cout << "This store's era becomes " << agreed.era << ", from " << own.era
              << ": what it has of keys that seal under nonces only opens then\n";
  return agreed.lone.size() + drops.size() + (agreed.era > own.era ? 1 : 0);
}

bool confirmed(const AgreeWords& words, std::size_t changes) {
  if (words.yes || changes == 0) return true;
  std::cout << "To have these " << changes << " changes made type " << changes << ": "
            << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  return typed == std::to_string(changes);
}

Result<std::vector<StoreList>> read_lists(const AgreeWords& words, std::size_t servers) {
  std::vector<std::optional<StoreList>> found(servers);
  for (const std::string& path : words.lists) {
    auto text = read_text_file(path, kMaxStoreListBytes);
    if (!text) return text.error();
    auto list = decode_store_list(*text);
    if (!list) return fail(path + ": " + list.error().message);
    std::cout << "server " << list->party << ": refresh epoch " << list->refresh_epoch
              << ", generation " << list->generation << ", " << list->keys.size() << " keys, list "
              << short_digest_of_list(*text) << "\n";
    const auto party = static_cast<std::size_t>(list->party);
    if (party >= servers) return fail("with two servers there is no server 2");
    if (found[party]) return fail("there are two lists of server " + std::to_string(party));
    found[party] = std::move(*list);
  }
  std::vector<StoreList> out;
  for (auto& one : found) {
    if (!one) return fail("give the lists of " + all_of(servers) + " servers");
    out.push_back(std::move(*one));
  }
  return out;
}

Result<void> agree(const AgreeWords& words) {
  auto at = find_stopped_store(words.config);
  if (!at) return at.error();
  const auto servers = static_cast<std::size_t>(at->config.parties);
  auto lists = read_lists(words, servers);
  if (!lists) return lists.error();
  if (auto owner = become_owner(*at); !owner) return owner;
  auto now = list_stopped(*at);
  if (!now) return now.error();
  StoreList& mine = (*lists)[static_cast<std::size_t>(at->config.party)];
  now->generation = mine.generation;  // which opening it has raised
  if (encode(*now) != encode(mine))
    return fail(
        "this store is not as its list says: make a list anew at each server, or start the "
        "servers where they have agreed already");
  auto agreed = agree_on(*lists);
  if (!agreed) return agreed.error();
  if (!confirmed(words, show(*agreed, mine, servers))) return fail("nothing was changed");
  auto store = at->open();
  if (!store) return store.error();
  auto done = keep_common(**store, *agreed);
  Epochs epochs = (*store)->epochs();
  if (done && epochs.era < agreed->era)
    done = (*store)->set_epochs({agreed->era, 0, 0, epochs.spent, epochs.spent_at_s});
  if (!done) return done;
  std::cout << "This store has what " << all_of(servers)
            << " have. Do the same on each other server, compare the lists with its\n"
               "administrator, and start "
            << all_of(servers) << ".\n";
  return {};
}

CLI::App* add(CLI::App& store, const char* word, const char* what,
              const std::shared_ptr<AgreeWords>& words, int& exit_status,
              Result<void> (*run)(const AgreeWords&)) {
  CLI::App* command = store.add_subcommand(word, what);
  command->add_option("--config", words->config, "the server's tkdc.toml")->required();
  command->callback([words, word, run, &exit_status] {
    forbid_dumps();
    const Result<void> done = run(*words);
    if (!done)
      std::cerr << "tkdc store " << word << ": " << printable(done.error().message) << "\n";
    exit_status = done ? 0 : 1;
  });
  return command;
}

}  // namespace

void add_store_agreement(CLI::App& store, int& exit_status) {
  auto lists = std::make_shared<AgreeWords>(), agrees = std::make_shared<AgreeWords>();
  add(store, "list", "say which keys it has, for the other administrators", lists, exit_status,
      write_list)
      ->add_option("--out", lists->out, "the list's file")
      ->required();
  CLI::App* command = add(store, "agree", "keep what all servers' restored stores have", agrees,
                          exit_status, agree);
  command->add_option("lists", agrees->lists, "the servers' lists")->required()->expected(2, 3);
  command->add_flag("--yes", agrees->yes, "do not ask before");
}

}  // namespace tkdc::cli
