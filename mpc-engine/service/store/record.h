// SPDX-License-Identifier: Apache-2.0
// One party's record of one key version: what it is, what may be done with
// it, and this party's two components of everything derived from it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/replicated.h"
#include "service/wire/message.h"

namespace tkdc {

// Kerberos role of the key's principal, from its name when it was bound.
enum class KeyClass : std::uint8_t {
  kUser = 1,
  kService = 2,
  kKadmin = 3,
  kKrbtgt = 4,
  kCrossRealm = 5,
  kIprop = 6
};

// kStandard: others verify it, so its enctype's own form (RFC 3962, RFC 8009). kGcm:
// only the KDC does.
enum class KeyForm : std::uint8_t { kStandard = 1, kGcm = 2 };

// `sharing` of a record of two servers: of a field component[0] is this server's own blocks, 16
// octets each, and component[1] the MAC and the key of each, 32 octets.
inline constexpr std::string_view kPairSharing = "pair-2";

struct MacRow;  // service/store/mac_table.h

struct KeyRecord {
  KeyRef ref;
  std::string principal_name;
  KeyClass key_class = KeyClass::kUser;
  KeyForm form = KeyForm::kStandard;
  std::uint8_t origin = TKDC_ORIGIN_DRAWN;
  bool exported = false;
  // How its fields are shared: whichever protocol takes this form can use it.
  std::string sharing{kReplicatedSharing};
  std::uint64_t created_at_s = 0;  // Unix time
  std::uint32_t version = 1;       // grows with each refresh
  std::uint32_t era = 0;           // of nonce epochs (session/epochs.h); set by the store
  bool open_only = false;          // of another era than the store: set by the store, not kept
  // Since when it is dropped (dropped_table.h); 0: it is in use. Kept beside the record.
  std::uint64_t dropped_at_s = 0;
  // By field name, e.g. "key", "u1.ke", "u1.ki", "gcm.rk"; see cipher/. A field's two components
  // may be of different lengths, as `sharing` has them.
  std::map<std::string, SharedBytes> fields;
  // For Store::prepare(), which writes them beside the record. No record that is read has them.
  std::shared_ptr<const MacRow> macs;
};

}  // namespace tkdc
