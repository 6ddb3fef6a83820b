// SPDX-License-Identifier: Apache-2.0
// `tkdc epochs`: what a stopped server's store says of nonce epochs, raises them, or begins
// them anew (docs/operations.md, Nonce epochs). It opens the store itself, which a running
// server does not allow. Nothing that it shows is secret.
#include <algorithm>
#include <iostream>
#include <memory>

#include "service/server/config.h"
#include "session/epoch_ledger.h"
#include "tools/cli/commands.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

struct EpochsOptions {
  std::string config;
  std::uint32_t to = 0, era = 0;
  bool now = false;
};

struct Opened {
  ServerConfig config;
  std::unique_ptr<Store> store;
};

Result<Opened> open_store(const std::string& path) {
  auto found = find_stopped_store(path);
  if (!found) return found.error();
  if (auto owner = become_owner(*found); !owner) return owner.error();
  auto store = found->open();
  if (!store) return store.error();
  return Opened{std::move(found->config), std::move(*store)};
}

void show(Opened& at) {
  const EpochReport report = EpochLedger(*at.store, at.config.epochs_per_day).report();
  std::cout << "server " << at.config.party << ": era " << report.epochs.era << ", epoch "
            << report.epochs.used << " used, " << report.epochs.reserved << " reserved, "
            << report.left << " left; " << report.spent << " of " << report.per_day
            << " a day spent\n";
}

constexpr const char* kNoEpochs = "no ticket there is sealed under one";
constexpr const char* kNothingChanged = "Nothing was changed: --now does it.\n";

Result<int> raise(Opened& at, const EpochsOptions& options) {
  if (auto three = only_of_three(at.config, kNoEpochs); !three) return three.error();
  Epochs epochs = at.store->epochs();
  if (options.to > kMaxEpoch) return fail("epochs end at " + std::to_string(kMaxEpoch));
  if (options.to <= epochs.used)
    return fail("this server has used epoch " + std::to_string(epochs.used) +
                " already; raise the server that is behind");
  std::cout << "Epochs " << epochs.used + 1 << " to " << options.to
            << " will never be used by this server. First make sure that the server which claims "
               "them does not lie: docs/operations.md, Nonce epochs.\n";
  if (!options.now) {
    std::cout << kNothingChanged;
    return 2;
  }
  epochs.used = options.to;
  epochs.reserved = std::max(epochs.reserved, options.to);
  if (auto done = at.store->set_epochs(epochs); !done.ok()) return done.error();
  show(at);
  return 0;
}

Result<int> begin_anew(Opened& at, const EpochsOptions& options) {
  if (auto three = only_of_three(at.config, kNoEpochs); !three) return three.error();
  Epochs epochs = at.store->epochs();
  if (options.now && options.era == epochs.era) {
    std::cout << "This server has begun era " << epochs.era << " already.\n";
    return 0;
  }
  const std::string next = std::to_string(epochs.era + 1);
  std::cout << "From era " << next
            << " on no version of krbtgt that exists seals any ticket at this server, for good; "
               "they open those that they sealed. There are no tickets before all three servers "
               "have begun the same era and `tkdc rotate krbtgt --now` has drawn a new version.\n";
  if (!options.now) {
    std::cout << "Nothing was changed: --era " << next << " --now does it.\n";
    return 2;
  }
  if (options.era != epochs.era + 1)
    return fail("this server is in era " + std::to_string(epochs.era) + ": --era " + next +
                " is the next one; all three administrators name the same");
  epochs = {epochs.era + 1, 0, 0, epochs.spent, epochs.spent_at_s};
  if (auto done = at.store->set_epochs(epochs); !done.ok()) return done.error();
  show(at);
  return 0;
}

using Action = Result<int> (*)(Opened&, const EpochsOptions&);

int run_epochs(const EpochsOptions& options, Action action) {
  auto opened = open_store(options.config);
  auto done = opened.ok() ? action(*opened, options) : Result<int>(opened.error());
  if (done.ok()) return *done;
  std::cerr << "tkdc epochs: " << done.error().message << "\n";
  return 1;
}

}  // namespace

void add_epochs(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<EpochsOptions>();
  CLI::App* command = app.add_subcommand("epochs", "the nonce epochs of a stopped server");
  command->add_option("--config", options->config, "the server's tkdc.toml")->required();
  command->require_subcommand(0, 1);
  CLI::App* up = command->add_subcommand(
      "raise", "catch up, when this store and another one were restored from backups");
  up->add_option("--to", options->to, "the epoch that the third server has used")->required();
  CLI::App* anew = command->add_subcommand(
      "begin-anew", "count epochs from 0 in a new era; krbtgt's versions of before only open");
  anew->add_option("--era", options->era, "the era to begin, the same at all three servers");
  for (CLI::App* sub : {up, anew}) {
    sub->add_flag("--now", options->now, "do it; without, only say what would be done");
    sub->fallthrough();
  }
  command->callback([=, &exit_status] {
    const Action only_show = [](Opened& at, const EpochsOptions&) -> Result<int> {
      show(at);
      return 0;
    };
    exit_status = run_epochs(*options, up->parsed()     ? raise
                                       : anew->parsed() ? begin_anew
                                                        : only_show);
  });
}

}  // namespace tkdc::cli
