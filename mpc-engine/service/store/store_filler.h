// SPDX-License-Identifier: Apache-2.0
// A new store that is filled with the values of another's snapshot, under keys of its own. For a
// restore, into a folder that no server has yet.
//
// One thread. Secret: the values.
#pragma once

#include <memory>
#include <string>

#include "service/store/store.h"
#include "service/store/stored_value.h"

namespace tkdc {

struct FillOptions {
  // Counted on from here (store_snapshot.h).
  std::uint64_t generation = 0;
  // Nonce epochs begin anew, in the era after the snapshot's: records of before only open.
  bool next_era = false;
};

class StoreFiller {
 public:
  virtual ~StoreFiller() = default;

  // `options.path`: a folder that is not there yet. Its keys are new, under `wrapping`.
  static Result<std::unique_ptr<StoreFiller>> create(const StoreOptions& options,
                                                     const SecretBuffer& wrapping,
                                                     const FillOptions& fill);
  // In any order. Error: disk or map full.
  virtual Result<void> put(const StoredValue& value) = 0;
  // All of it is on disk, and the store is closed.
  virtual Result<void> finish() = 0;
};

}  // namespace tkdc
