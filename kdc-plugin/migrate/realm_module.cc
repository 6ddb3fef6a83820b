// SPDX-License-Identifier: Apache-2.0
#include "migrate/realm_module.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "wire.h"

namespace tkdc::migrate {
namespace {

std::vector<std::string> subsections(profile_t profile, const char* section) {
  const char* path[] = {section, nullptr};
  char** names = nullptr;
  std::vector<std::string> out;
  if (profile_get_subsection_names(profile, path, &names) != 0) return out;
  for (char** name = names; *name != nullptr; ++name) out.emplace_back(*name);
  profile_free_list(names);
  return out;
}

std::string ktkdc_stanza(profile_t profile) {
  for (const std::string& name : subsections(profile, "dbmodules"))
    if (setting(profile, "dbmodules", name, "db_library") == "ktkdc") return name;
  return {};
}

}  // namespace

std::string setting(profile_t profile, const char* section, const std::string& name,
                    const char* key) {
  char* value = nullptr;
  if (profile_get_string(profile, section, name.c_str(), key, nullptr, &value) != 0 ||
      value == nullptr)
    return {};
  std::string text = value;
  profile_release_string(value);
  return text;
}

RealmModule module_of_realm(profile_t profile, const std::string& realm) {
  RealmModule out;
  out.stanza = setting(profile, "realms", realm, "database_module");
  if (out.stanza.empty()) out.stanza = realm;
  out.library = setting(profile, "dbmodules", out.stanza, "db_library");
  out.database = setting(profile, "dbmodules", out.stanza, "database_name");
  out.ktkdc = ktkdc_stanza(profile);
  const std::string& of = out.library == "ktkdc" || out.ktkdc.empty() ? out.stanza : out.ktkdc;
  const char* chosen = secure_getenv("TKDC_AGENT_SOCKET");
  out.socket = chosen != nullptr ? chosen : setting(profile, "dbmodules", of, "tkdc_admin_socket");
  if (out.socket.empty()) out.socket = setting(profile, "dbmodules", of, "tkdc_agent_socket");
  if (out.socket.empty()) out.socket = TKDC_ADMIN_SOCKET;
  return out;
}

Result<void> served_by_ktkdc(const RealmModule& module, const std::string& realm) {
  if (module.library == "ktkdc") return {};
  const std::string library = module.library.empty() ? "db2" : module.library;
  const std::string text = "realm " + realm + " is served by the database module \"" + library +
                           "\", by the stanza " + module.stanza + ": ";
  if (!module.ktkdc.empty())
    return fail(text + "in kdc.conf, [realms], " + realm +
                ", write database_module = " + module.ktkdc + ", then restart krb5kdc and kadmind");
  return fail(text +
              "set database_module to a stanza of [dbmodules] with db_library = ktkdc and "
              "tkdc_wrapped = " +
              library + " and the same database, then restart krb5kdc and kadmind");
}

std::optional<OtherModule> other_module(const std::string& realm) {
  krb5_context context = nullptr;
  if (kadm5_init_krb5_context(&context) != 0) return std::nullopt;
  std::string name = realm;
  char* usual = nullptr;
  if (name.empty() && krb5_get_default_realm(context, &usual) == 0) {
    name = usual;
    krb5_free_default_realm(context, usual);
  }
  RealmModule module;
  profile_t profile = nullptr;
  if (krb5_get_profile(context, &profile) == 0) {
    module = module_of_realm(profile, name);
    profile_release(profile);
  }
  krb5_free_context(context);
  const auto served = served_by_ktkdc(module, name);
  if (served || module.ktkdc.empty()) return std::nullopt;
  return OtherModule{name, served.error().message, module.socket};
}

Result<void> no_module_is_misspelt(krb5_context context) {
  profile_t profile = nullptr;
  if (krb5_get_profile(context, &profile) != 0) return {};
  const std::vector<std::string> stanzas = subsections(profile, "dbmodules");
  const std::string ktkdc = ktkdc_stanza(profile);
  std::string misspelt, in;
  if (!ktkdc.empty())
    for (const std::string& realm : subsections(profile, "realms")) {
      const std::string named = setting(profile, "realms", realm, "database_module");
      if (named.empty() || std::ranges::find(stanzas, named) != stanzas.end()) continue;
      misspelt = named;
      in = realm;
      break;
    }
  profile_release(profile);
  if (misspelt.empty()) return {};
  return fail("kdc.conf, [realms], " + in + ": database_module = " + misspelt +
              " is no stanza of [dbmodules], so krb5 would make whole keys in a database of its "
              "own choice; write database_module = " +
              ktkdc);
}

}  // namespace tkdc::migrate
