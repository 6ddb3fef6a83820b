// SPDX-License-Identifier: Apache-2.0
// Called by shares.cc. Nothing is asked where nobody sits at a terminal, nor in a realm on two
// servers: there backups of before go only when both servers have new ones, since two of them are
// the only way back. Nothing that is shown is secret.
#include "tools/cli/refreshed_backups.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "service/backup/backup_shelf.h"
#include "tools/cli/backup_shelf_command.h"
#include "tools/cli/owner.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

constexpr const char* kDanger =
    "no realm takes them any more, and with another server's store of their time they are every "
    "key";

// The folder is a service's word, so it is in no command.
std::string make_one(const ServerConfig& server) {
  return "`tkdc backup make --config " + shell_word(server.path) + "`";
}

void say_who_prunes(const std::string& why) {
  std::cout << why
            << ": where this server's backups lie, `tkdc backup prune` with that folder destroys "
               "those of before the refresh, once a new one lies there\n";
}

Result<std::vector<ShelvedBackup>> look(const ServerConfig& server, const std::string& folder) {
  auto owner = owner_of_store(server.path, server.store_path);
  if (!owner) return owner.error();
  if (auto became = become(*owner); !became) return became.error();
  return look_at_backups(folder);
}

bool has_new_one(const std::vector<ShelvedBackup>& shelf, const RefreshedShares& shares) {
  return std::ranges::any_of(shelf, [&](const ShelvedBackup& one) {
    return one.trouble.empty() && one.head.installation == shares.server.installation &&
           one.head.party == shares.server.party && one.head.refresh_epoch == shares.epoch;
  });
}

bool destroy(const std::vector<ShelvedBackup>& going) {
  if (auto gone = destroy_backups(going); !gone) {
    std::cerr << "tkdc refresh: " << printable(gone.error().message) << "\n";
    return false;
  }
  std::cout << going.size() << " removed.\n";
  return true;
}

bool settle(const RefreshedShares& shares, const std::string& folder) {
  if (::access(folder.c_str(), F_OK) != 0) {
    say_who_prunes("there is no folder " + printable(folder));
    return true;
  }
  auto shelf = look(shares.server, folder);
  if (!shelf) {
    say_who_prunes(printable(shelf.error().message));
    return !shares.prune;
  }
  const auto old =
      of_another_epoch(*shelf, shares.server.installation, shares.server.party, shares.epoch);
  if (old.empty()) {
    std::cout << "no backup of before the refresh is in " << printable(folder) << "\n";
    return true;
  }
  const bool asks = may_ask() && shares.server.parties != 2;
  if (!shares.prune && !asks) {
    std::cout << "in " << printable(folder) << " lie backups of before the refresh (" << old.size()
              << "); " << kDanger << ": type " << make_one(shares.server)
              << (shares.server.parties == 2 ? " at both servers" : "")
              << ", then `tkdc backup prune` with that folder\n";
    return true;
  }
  std::cout << "backups of before the refresh, in " << printable(folder) << "; " << kDanger
            << ":\n";
  show_backups(old);
  if (shares.prune) return destroy(old);
  if (!has_new_one(*shelf, shares))
    std::cout << "There is none of the new shares yet: first type " << make_one(shares.server)
              << " in another terminal.\n";
  if (typed_yes()) return destroy(old);
  std::cout << "`tkdc backup prune` with that folder does it later, once a new one lies there.\n";
  return true;
}

}  // namespace

bool settle_backups(const RefreshedShares& shares) {
  const bool settled = settle(shares, own_backups(shares.server.store_path));
  std::cout << "Copies elsewhere, and the other servers' backups, cannot be seen from here: each "
               "server's administrator destroys his own\n";
  return settled;
}

}  // namespace tkdc::cli
