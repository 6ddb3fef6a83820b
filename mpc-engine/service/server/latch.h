// SPDX-License-Identifier: Apache-2.0
// The latch that shuts a server's door after a deviation: some server computed
// wrongly, nobody knows which, and trying again would let it try again. While
// the latch's file exists no session starts; `tkdc release` removes it when the
// operators have looked at all three servers (docs/operations.md).
//
// Threads: one.
#pragma once

#include <string>

#include "base/result.h"

namespace tkdc {

class Latch {
 public:
  // `file`: beside the store, on the same disk.
  explicit Latch(std::string file) : file_(std::move(file)) {}

  // Closes it, now and after a restart. Error: the file cannot be written; then
  // it stays closed until this process ends, and each look tries again to write
  // it: what the disk has taken is released like any other.
  Result<void> close(const std::string& reason);

  // Why it is closed; empty when it is open. Looks at the disk.
  std::string reason();

 private:
  std::string file_;
  std::string unwritten_;
};

// Opens the latch of a server that is `reason()`-closed; true if it was closed.
Result<bool> release_latch(const std::string& file);

// Where the latch of a store is.
inline std::string latch_file(const std::string& store_path) { return store_path + "/latched"; }

}  // namespace tkdc
