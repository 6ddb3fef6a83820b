// SPDX-License-Identifier: Apache-2.0
// One value of a store, decrypted: what a backup holds, whatever database the store has and
// whatever keys it is under. Secret: `plain`.
#pragma once

#include <functional>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// In the order in which a snapshot gives them. The numbers stand in backups.
enum class ValueKind : std::uint8_t {
  kMeta = 1,  // names: meta_values.h
  kRecord = 2,
  kPrepared = 3,
  kTombstone = 4,
  kCondemned = 5,
  kSeals = 6,
  kMacs = 7,
  kDropped = 8,  // the header says since when
  kKept = 9      // kept_values.h
};

struct StoredValue {
  ValueKind kind = ValueKind::kMeta;
  ByteSpan name, header, plain;
};

// They are good until it returns.
using SeeValue = std::function<Result<void>(const StoredValue&)>;

}  // namespace tkdc
