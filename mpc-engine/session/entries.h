// SPDX-License-Identifier: Apache-2.0
// What the three parties must hold alike, as far as the handshake settles it (session/agreement.h).
//
// An entry is at all three or at none, so it is made in two steps: each party has prepared it
// before any commits it. It is removed in two: each has condemned it before any buries it. What a
// crash left half done the next handshake settles: an entry that any party has committed is
// committed, every other prepared one abandoned; an entry that any has buried is destroyed, every
// other condemned one pardoned. The owner of the entries implements it (service/store).
//
// Calls are thread-safe, and what they write is durable when they return.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "session/epochs.h"

namespace tkdc {

using EntryId = std::array<std::uint8_t, 16>;

class Entries {
 public:
  virtual ~Entries() = default;

  virtual Result<void> commit(const EntryId& id) = 0;
  virtual Result<void> abandon(const EntryId& id) = 0;
  virtual Result<void> pardon(const EntryId& id) = 0;
  // Leaves a tombstone. Unknown ids are not an error.
  virtual Result<void> destroy(const EntryId& id) = 0;

  // An error is no "no": an entry that could not be read would be dropped although a peer has
  // committed it.
  virtual Result<std::vector<EntryId>> prepared() = 0;
  virtual Result<std::vector<EntryId>> condemned() = 0;
  virtual Result<bool> committed(const EntryId& id) = 0;
  virtual Result<bool> buried(const EntryId& id) = 0;
  // Over all committed entries and tombstones: equal at all three parties.
  virtual Result<std::array<std::uint8_t, 32>> inventory() = 0;

  // All 0 at first.
  virtual Epochs epochs() = 0;
  // Error: epochs_fault(), or not written.
  virtual Result<void> set_epochs(const Epochs& epochs) = 0;
};

}  // namespace tkdc
