// SPDX-License-Identifier: Apache-2.0
// What `tkdc refresh` does about backups when it has ended: those of before are of no use to their
// server, and to a thief as good as its disk of then.
#pragma once

#include <cstdint>
#include <string>

#include "service/server/config.h"

namespace tkdc::cli {

struct RefreshedShares {
  const ServerConfig& server;
  std::uint32_t epoch = 0;  // that they are of now
  bool prune = false;       // destroy without a question
};

// Shows this server's backups of before, where it keeps them on this host, and asks on a terminal
// whether to destroy them; else says what does it. This process becomes the store's owner, if it
// was root's. False: some were to go, and could not.
bool settle_backups(const RefreshedShares& shares);

}  // namespace tkdc::cli
