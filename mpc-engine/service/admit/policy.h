// SPDX-License-Identifier: Apache-2.0
// What an agent may ask for: the table of key classes, roles, operations and
// key usages. Every server decides on its own; what is not listed is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/store/record.h"
#include "service/wire/message.h"
#include "service/wire/role.h"

namespace tkdc {

// The class of a principal's keys, from its unparsed name ("a/b@REALM", with
// RFC 1964's backslash escapes). Error: no realm, empty, or K/M, whose keys
// never leave the database.
Result<KeyClass> classify_principal(std::string_view name);

std::string_view class_name(KeyClass key_class);

// One row of the table: this role may do op at this usage with this class.
struct Permission {
  KeyClass key_class;
  AgentRole role;
  tkdc_wire_op op;
  std::uint32_t usage;
};
const std::vector<Permission>& permissions();

// SEAL to MAC_DERIVED on an existing key.
bool may_use(KeyClass key_class, AgentRole role, tkdc_wire_op op, std::uint32_t usage);
// Whether keys are derived from this class's for single operations.
bool may_derive(KeyClass key_class);
// STAGE, EXPORT, BIND, DESTROY, EQUAL: key management, for admin agents only.
bool may_manage(AgentRole role, tkdc_wire_op op);
// EQUAL: whose keys are compared with a new one. Where a password can be set and remembered;
// not the own realm's krbtgt.
bool may_compare(KeyClass key_class);

// Usages for which a class's keys are derived when a key is made.
struct Usages {
  std::vector<std::uint32_t> encryption;  // Ke and Ki
  std::vector<std::uint32_t> checksum;    // Kc
};
Usages usages_of(KeyClass key_class);

// RFC 4120 section 7.5.1 and MIT's assignments.
namespace usage {
inline constexpr std::uint32_t kAsReqTimestamp = 1;
inline constexpr std::uint32_t kTicket = 2;
inline constexpr std::uint32_t kAsRepEncPart = 3;
inline constexpr std::uint32_t kPacSignature = 17;
inline constexpr std::uint32_t kChallengeFromClient = 54;
inline constexpr std::uint32_t kChallengeFromKdc = 55;
inline constexpr std::uint32_t kAsReqChecksum = 56;
inline constexpr std::uint32_t kCammac = 64;
inline constexpr std::uint32_t kCookie = 513;
inline constexpr std::uint32_t kFreshness = 514;
}  // namespace usage

}  // namespace tkdc
