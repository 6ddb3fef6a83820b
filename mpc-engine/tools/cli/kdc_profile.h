// SPDX-License-Identifier: Apache-2.0
// kdc.conf and krb5.conf of a KDC's host as text, which may be another host's image: what the
// doctor has to know of them. krb5's own library reads this host's alone.
//
// Nothing secret. A file that cannot be read is an empty one; what krb5 would not take is skipped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tkdc::cli {

class KdcProfile {
 public:
  // Files below `root`, each with what it includes. Of a value that is set twice the first counts.
  void add_file(const std::string& root, const std::string& path);

  // By its section, subsections and name: {"realms", "EXAMPLE.TEST", "database_module"}. Empty:
  // it is not set.
  std::string value(const std::vector<std::string>& path) const;
  // Subsections of a section.
  std::vector<std::string> sections(const std::string& section) const;
  bool has_section(const std::string& section, const std::string& name) const;
  // Names of values that stand directly in such a subsection.
  std::set<std::string> names_in(const std::string& section, const std::string& name) const;
  // Names of values, wherever they stand.
  const std::set<std::string>& names() const { return names_; }

 private:
  void add(const std::string& root, const std::string& path, int depth);

  std::map<std::vector<std::string>, std::string> values_;
  std::vector<std::vector<std::string>> sections_;  // in their order
  std::set<std::string> names_;
};

// How krb5 opens a realm's database, by [realms] and [dbmodules].
struct RealmModule {
  std::string realm;
  std::string stanza;  // of [dbmodules]
  std::string library;
  bool is_named = false;  // by database_module; else the stanza has the realm's name
  bool is_there = false;  // the stanza
};
RealmModule module_of_realm(const KdcProfile& profile, const std::string& realm);
// A name in [dbmodules] or [realms] that krb5 does not know, as it passes over without a word, and
// which is nearly one that decides which database it opens. What is wrong, or empty.
std::string misspelt_module_key(const KdcProfile& profile);
// The first stanza of [dbmodules] with db_library = ktkdc; empty: there is none.
std::string ktkdc_stanza(const KdcProfile& profile);

}  // namespace tkdc::cli
