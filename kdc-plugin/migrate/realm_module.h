// SPDX-License-Identifier: Apache-2.0
// Which database module serves a realm, as krb5's own library reads kdc.conf and krb5.conf.
//
// Any thread that has the context. Nothing is opened and nothing is secret.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "migrate/kdb.h"

namespace tkdc::migrate {

// A value of kdc.conf or krb5.conf; empty when it is not set.
std::string setting(profile_t profile, const char* section, const std::string& name,
                    const char* key);

struct RealmModule {
  std::string stanza;    // of [dbmodules]: the realm's database_module, else the realm's name
  std::string library;   // its db_library; empty: krb5's own choice, db2
  std::string database;  // its database_name; empty: not set
  std::string socket;    // of the agent beside kadmind
  std::string ktkdc;     // the first stanza with db_library = ktkdc; empty: there is none
};
RealmModule module_of_realm(profile_t profile, const std::string& realm);

// Nothing where ktkdc serves the realm; else what to write where.
Result<void> served_by_ktkdc(const RealmModule& module, const std::string& realm);

// A realm that another module serves although kdc.conf names ktkdc.
struct OtherModule {
  std::string realm, trouble, socket;
};
// `realm`: empty for the default one.
std::optional<OtherModule> other_module(const std::string& realm);

// Of the realms whose database_module no stanza of [dbmodules] has, although one names ktkdc, the
// first: krb5 would serve it by db2, and make whole keys in its database. A realm that is set up
// or reverted to a stock module is none of these. Error: that realm, and what to write.
Result<void> no_module_is_misspelt(krb5_context context);

}  // namespace tkdc::migrate
