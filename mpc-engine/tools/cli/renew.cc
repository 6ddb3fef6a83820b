// SPDX-License-Identifier: Apache-2.0
// `tkdc renew`: a member's next CURVE key and certificate, and, with --take, these in the place of
// those in use (tools/setup/renewal.h).
//
// The folder is the service's own. Root makes credentials, and gives itself up for the folder's
// owner before it writes anything.
#include <iostream>
#include <memory>

#include "base/hardening.h"
#include "tools/cli/commands.h"
#include "tools/cli/owner.h"
#include "tools/cli/printable.h"
#include "tools/setup/renewal.h"

namespace tkdc::cli {
namespace {

struct RenewCommand {
  std::string folder, with = "auto";
  bool take = false;
};

void print_drawn(const std::string& folder, const setup::IntroductionFile& next, bool before) {
  const std::string name = next.introduction.name();
  std::cout << (before ? "Next keys of " : "Drew next keys of ") << name
            << (before ? " are there already, in " : " into ") << folder << setup::kNextFolder
            << "; those of now stay in use.\n\n  " << next.path
            << "   public: send it to the other administrators\n\n"
               "Fingerprint of it, which you read to them, by telephone say:\n\n  "
            << setup::fingerprint(next.text)
            << "\n\nEach of them joins it (`tkdc join`) and restarts: from then on both the former "
               "and the next\nkeys are good there. When all have said so:\n\n  tkdc renew --folder "
            << folder << " --take\n";
}

Result<void> draw(const RenewCommand& command) {
  auto file = setup::read_member_file(command.folder);
  if (!file) return file.error();
  auto before = setup::read_next(command.folder, file->introduction);
  if (before) {
    auto whole = setup::is_whole(command.folder, file->introduction);
    if (!whole) return whole.error();
    if (!*whole)
      return fail(command.folder + std::string(setup::kNextFolder) +
                  ": taking the next keys was cut off. Go on with it: tkdc renew --folder " +
                  command.folder + " --take");
  }
  auto own = setup::read_member(command.folder);
  if (!own) return own.error();
  if (before) {
    print_drawn(command.folder, *before, true);
    return {};
  }
  auto renewal = setup::draw_renewal(command.folder, *own, command.with);
  if (!renewal) return renewal.error();
  if (auto owner = become_owner_of(command.folder); !owner) return owner;
  auto cleared = setup::clear_unfinished(command.folder, own->introduction);
  if (!cleared) return cleared.error();
  if (!cleared->empty())
    std::cout << "Removed " << *cleared
              << ", which a run that was cut off has left; nobody knew what was in it.\n";
  if (auto written = setup::write_renewal(command.folder, *renewal); !written) return written;
  auto next = setup::read_next(command.folder, own->introduction);
  if (!next) return next.error();
  print_drawn(command.folder, *next, false);
  return {};
}

Result<void> take(const RenewCommand& command) {
  if (auto owner = become_owner_of(command.folder); !owner) return owner;
  auto taken = setup::take_renewal(command.folder);
  if (!taken) return taken.error();
  if (*taken == setup::Taken::kBefore)
    std::cout << "A run that was cut off had taken them all; its empty folder is gone now.\n";
  std::cout << "The next keys are in their places, and the former ones are gone. Restart the unit."
               "\nWhen it is back, the other members forget the former ones: `tkdc join "
               "--forget-former`,\nand a restart each.\n";
  return {};
}

}  // namespace

void add_renew(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RenewCommand>();
  CLI::App* command =
      app.add_subcommand("renew", "draw a member's next CURVE key and certificate, or take them");
  command->add_option("--folder", options->folder, "this member's, of `tkdc init`")->required();
  command->add_flag("--take", options->take, "put the next keys in the place of those in use");
  command
      ->add_option("--with-key", options->with,
                   "of credentials: what opens them, as systemd-creds has it")
      ->check(CLI::IsMember({"auto", "host", "tpm2", "host+tpm2"}))
      ->capture_default_str();
  command->callback([options, &exit_status] {
    forbid_dumps();
    const Result<void> done = options->take ? take(*options) : draw(*options);
    if (!done) std::cerr << "tkdc renew: " << printable(done.error().message) << "\n";
    exit_status = done ? 0 : 1;
  });
}

}  // namespace tkdc::cli
