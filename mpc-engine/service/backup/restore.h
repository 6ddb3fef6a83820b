// SPDX-License-Identifier: Apache-2.0
// A server's store is made of a backup, in place of the one that is there or of none.
//
// What says no changes nothing: the new store is made beside the place, checked, and moved there in
// one step. Secret: both keys.
#pragma once

#include <memory>
#include <string>

#include "service/backup/backup_check.h"
#include "service/store/store.h"

namespace tkdc {

struct RestoreOptions {
  StoreOptions store;
  // Also over a store that is newer than the backup, or that cannot be read.
  bool replace = false;
  // All three servers are restored: their nonce epochs begin anew, so that no nonce comes twice.
  bool all_three = false;
  std::uint64_t now_s = 0;
  Watch watch;  // counts the backup's octets
};

struct RestoredStore {
  std::string former;  // where the store of before is now; empty: there was none
  std::uint32_t era = 0;
  std::string unsynced;  // why a loss of power may undo it; empty: it is on disk
};

// While this is there no server starts in the place.
class Restore {
 public:
  // `checked`: of a backup that check_backup() found good. Error: it must not be done: another's
  // backup, a server that runs, a store that is newer.
  static Result<std::unique_ptr<Restore>> begin(const RestoreOptions& options,
                                                const WholeHead& checked,
                                                const SecretBuffer& wrapping);
  virtual ~Restore() = default;
  // `reader`: at the beginning of that backup. Error: it is another one now; nothing was changed.
  virtual Result<RestoredStore> run(BackupReader& reader) = 0;
};

}  // namespace tkdc
