// SPDX-License-Identifier: Apache-2.0
#include "admit/policy.h"

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
  for (KeyClass c : {kUser, kService}) {
    allow(c, kKdc, {TKDC_OP_OPEN}, {usage::kAsReqTimestamp});
    allow(c, kKdc, {TKDC_OP_SEAL}, {usage::kAsRepEncPart});
    allow(c, kKdc, {TKDC_OP_MAC}, {usage::kAsReqChecksum});
  }
  // Tickets and PAC signatures for a server's key.
  for (KeyClass c : {kService, kKadmin, kCrossRealm, kKrbtgt}) {
    allow(c, kKdc, {TKDC_OP_SEAL, TKDC_OP_OPEN}, {usage::kTicket});
    allow(c, kKdc, {TKDC_OP_MAC, TKDC_OP_VERIFY}, {usage::kPacSignature});
  }
  allow(kKrbtgt, kKdc, {TKDC_OP_MAC, TKDC_OP_VERIFY}, {usage::kCammac});
  allow(kKrbtgt, kKdc, {TKDC_OP_SEAL, TKDC_OP_OPEN}, {usage::kFreshness});
  // kadmind accepts tickets for kadmin/admin and kadmin/changepw.
  allow(kKadmin, AgentRole::kAdmin, {TKDC_OP_OPEN}, {usage::kTicket});
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
  return c.size() == 1 ? KeyClass::kUser : KeyClass::kService;
}

std::string_view class_name(KeyClass key_class) {
  switch (key_class) {
    case KeyClass::kUser: return "user";
    case KeyClass::kService: return "service";
    case KeyClass::kKadmin: return "kadmin";
    case KeyClass::kKrbtgt: return "krbtgt";
    case KeyClass::kCrossRealm: return "cross-realm";
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

bool may_manage(AgentRole role, tkdc_wire_op op) {
  const bool management = op == TKDC_OP_STAGE || op == TKDC_OP_EXPORT || op == TKDC_OP_BIND ||
                          op == TKDC_OP_DESTROY;
  return management && role == AgentRole::kAdmin;
}

Usages usages_of(KeyClass key_class) {
  Usages out;
  auto add = [](std::vector<std::uint32_t>& to, std::uint32_t u) {
    if (std::ranges::find(to, u) == to.end()) to.push_back(u);
  };
  for (const Permission& p : permissions()) {
    if (p.key_class != key_class) continue;
    const bool encryption = p.op == TKDC_OP_SEAL || p.op == TKDC_OP_OPEN;
    add(encryption ? out.encryption : out.checksum, p.usage);
  }
  return out;
}

}  // namespace tkdc
