// SPDX-License-Identifier: Apache-2.0
#include "service/admit/policy.h"

#include <algorithm>

namespace tkdc {
namespace {

struct Name {
  std::vector<std::string> components;
  std::string realm;
};

// Splits at unescaped '/' and the unescaped '@'; escapes stay as they stand.
Result<Name> split(std::string_view text) {
  Name name;
  std::string part;
  bool in_realm = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    char c = text[k];
    if (c == '\\' && k + 1 < text.size()) {
      part += c;
      part += text[++k];
    } else if (c == '@' && !in_realm) {
      name.components.push_back(std::exchange(part, {}));
      in_realm = true;
    } else if (c == '/' && !in_realm) {
      name.components.push_back(std::exchange(part, {}));
    } else {
      part += c;
    }
  }
  if (!in_realm || part.empty() || name.components.front().empty())
    return fail("principal \"" + std::string(text) + "\" has no name or no realm");
  name.realm = part;
  return name;
}

std::vector<Permission> make_permissions() {
  using enum KeyClass;
  std::vector<Permission> table;
  auto allow = [&](KeyClass c, AgentRole role, std::initializer_list<tkdc_wire_op> ops,
                   std::initializer_list<std::uint32_t> usages) {
    for (tkdc_wire_op op : ops)
      for (std::uint32_t u : usages) table.push_back({c, role, op, u});
  };
  const auto kKdc = AgentRole::kKdc;
  // A client's logins. A service logs in with its keytab, so it is a client too.
  for (KeyClass c : {kUser, kService, kIprop}) {
    allow(c, kKdc, {TKDC_OP_OPEN}, {usage::kAsReqTimestamp});
    allow(c, kKdc, {TKDC_OP_SEAL}, {usage::kAsRepEncPart});
    allow(c, kKdc, {TKDC_OP_MAC}, {usage::kAsReqChecksum});
    // In FAST; service/operation/derived.cc says which derivation goes with which usage.
    allow(c, kKdc, {TKDC_OP_OPEN_DERIVED}, {usage::kChallengeFromClient});
    allow(c, kKdc, {TKDC_OP_SEAL_DERIVED}, {usage::kChallengeFromKdc, usage::kAsRepEncPart});
    allow(c, kKdc, {TKDC_OP_MAC_DERIVED}, {usage::kAsReqChecksum});
  }
  // Tickets and PAC signatures for a server's key.
  for (KeyClass c : {kService, kIprop, kKadmin, kCrossRealm, kKrbtgt}) {
    allow(c, kKdc, {TKDC_OP_SEAL, TKDC_OP_OPEN}, {usage::kTicket});
    allow(c, kKdc, {TKDC_OP_MAC, TKDC_OP_VERIFY}, {usage::kPacSignature});
  }
  // Authentication indicators: the KDC verifies its own checksum of them, a service its one.
  for (KeyClass c : {kService, kIprop, kKadmin, kCrossRealm})
    allow(c, kKdc, {TKDC_OP_MAC}, {usage::kCammac});
  allow(kKrbtgt, kKdc, {TKDC_OP_MAC, TKDC_OP_VERIFY}, {usage::kCammac, usage::kFreshness});
  allow(kKrbtgt, kKdc, {TKDC_OP_SEAL_DERIVED, TKDC_OP_OPEN_DERIVED}, {usage::kCookie});
  // kadmind accepts tickets for kadmin/admin and kadmin/changepw, and kpropd's for kiprop/ its
  // host.
  for (KeyClass c : {kKadmin, kIprop})
    allow(c, AgentRole::kAdmin, {TKDC_OP_OPEN}, {usage::kTicket});
  return table;
}

}  // namespace

Result<KeyClass> classify_principal(std::string_view text) {
  auto name = split(text);
  if (!name) return name.error();
  const auto& c = name->components;
  if (c.size() == 2 && c[0] == "K" && c[1] == "M")
    return fail("K/M's keys are master keys; they stay in the KDC's database");
  if (c.size() == 2 && c[0] == "krbtgt")
    return c[1] == name->realm ? KeyClass::kKrbtgt : KeyClass::kCrossRealm;
  if (c.size() >= 2 && c[0] == "kadmin") return KeyClass::kKadmin;
  if (c.size() == 2 && c[0] == "kiprop") return KeyClass::kIprop;
  return c.size() == 1 ? KeyClass::kUser : KeyClass::kService;
}

std::string_view class_name(KeyClass key_class) {
  switch (key_class) {
    case KeyClass::kUser: return "user";
    case KeyClass::kService: return "service";
    case KeyClass::kKadmin: return "kadmin";
    case KeyClass::kKrbtgt: return "krbtgt";
    case KeyClass::kCrossRealm: return "cross-realm";
    case KeyClass::kIprop: return "kiprop";
  }
  return "unknown";
}

const std::vector<Permission>& permissions() {
  static const std::vector<Permission> table = make_permissions();
  return table;
}

bool may_use(KeyClass key_class, AgentRole role, tkdc_wire_op op, std::uint32_t key_usage) {
  return std::ranges::any_of(permissions(), [&](const Permission& p) {
    return p.key_class == key_class && p.role == role && p.op == op && p.usage == key_usage;
  });
}

bool may_derive(KeyClass key_class) {
  return std::ranges::any_of(permissions(), [&](const Permission& p) {
    return p.key_class == key_class && is_derived(p.op);
  });
}

bool may_manage(AgentRole role, tkdc_wire_op op) {
  return is_management(op) && role == AgentRole::kAdmin;
}

bool may_compare(KeyClass key_class) {
  switch (key_class) {
    case KeyClass::kUser:
    case KeyClass::kService:
    case KeyClass::kIprop:
    case KeyClass::kKadmin:
    case KeyClass::kCrossRealm: return true;
    case KeyClass::kKrbtgt: break;
  }
  return false;
}

Usages usages_of(KeyClass key_class) {
  Usages out;
  auto add = [](std::vector<std::uint32_t>& to, std::uint32_t u) {
    if (std::ranges::find(to, u) == to.end()) to.push_back(u);
  };
  for (const Permission& p : permissions()) {
    if (p.key_class != key_class || is_derived(p.op)) continue;
    const bool encryption = p.op == TKDC_OP_SEAL || p.op == TKDC_OP_OPEN;
    add(encryption ? out.encryption : out.checksum, p.usage);
  }
  return out;
}

}  // namespace tkdc
