// SPDX-License-Identifier: Apache-2.0
// What a database holds before anything is changed: which keys are to be imported, and
// what stands in the way. Nothing in it is secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "migrate/realm_db.h"

namespace tkdc::migrate {

struct Options {
  std::string realm, journal;
  bool dry_run = false;
  bool drop_legacy = false;      // where the principal has other keys of its newest version
  bool leave_legacy = false;     // as plain keys
  bool without_history = false;  // drop what password histories remember
  unsigned keys_at_once = 32;
  unsigned patience_s = 120;
};

// What password histories remember in stock form.
struct Remembered {
  std::size_t keys = 0, passwords = 0;  // to import
  std::map<Loss, std::size_t> lost;     // keys to drop, and why; kNone: as --without-history says
  std::size_t forgotten = 0;            // passwords that are refused now and will not be
  std::vector<std::string> lines;       // "principal: 2 keys are dropped: why"
};

// A principal with keys of enctypes that do not exist as shares.
struct LegacyKeys {
  std::string principal;
  std::vector<std::string> keys;  // "version 3: arcfour-hmac (23)"
  bool has_other = false;         // a served key of its newest version
};

struct Survey {
  std::size_t principals = 0, handles = 0;
  std::map<std::int32_t, std::size_t> plain;  // keys, by enctype
  std::vector<std::string> names;             // with keys to import or drop
  std::vector<std::string> remembering;       // with remembered keys to import
  std::size_t keys = 0;                       // to import, without the remembered ones
  Remembered remembered;
  std::vector<LegacyKeys> legacy;
  std::vector<std::string> may_serve;   // names of one component among `names`
  std::vector<std::string> unreadable;  // "principal: why"
  std::vector<std::string> damaged;     // with a password history that makes no sense
  std::vector<std::string> own_krbtgt;  // "version 2: aes256-cts-hmac-sha1-96 (18)"
};

// Counts an entry.
void add_entry(Survey& out, const EntryKeys& entry, const std::string& own_krbtgt,
               const Options& options);

// With the principals that an import with these options has to write in `names`.
Result<Survey> survey(RealmDb& db, const Options& options);

// A screenful for the administrator: what there is and what an import would do.
std::string report(const std::string& realm, const Survey& survey, const Options& options);

// Of principals, by name, and why the servers refuse their keys: what to do.
std::string report_refused(const std::map<std::string, std::string>& refused);

// What stands in the way with these options, each with what to do; empty: nothing.
std::vector<std::string> obstacles(const Survey& survey, const Options& options);

// Legacy keys that stay as they are with these options.
std::size_t legacy_left(const Survey& survey, const Options& options);

}  // namespace tkdc::migrate
