// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/kdc_profile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>

#include "base/nearest.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDeep = 3;  // a file may include itself

}  // namespace

void KdcProfile::add_file(const std::string& root, const std::string& path) {
  add(root, path, kMostDeep);
}

void KdcProfile::add(const std::string& root, const std::string& path, int depth) {
  static const std::regex kInclude(R"(^(include|includedir)\s+(/\S+)\s*$)");
  static const std::regex kSection(R"(^\s*\[([^\]]+)\].*$)");
  static const std::regex kValue(R"re(^\s*([^=\s;#]+)\s*=\s*"?(.*?)"?\s*$)re");
  if (depth == 0) return;
  std::vector<std::string> at;
  std::ifstream lines(root + path);
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, kInclude)) {
      const std::string named = found[2];
      if (found[1] == "include") add(root, named, depth - 1);
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(root + named, error))
        if (const std::string name = entry.path().filename().string(); name.front() != '.')
          add(root, named + "/" + name, depth - 1);
    } else if (std::regex_match(line, found, kSection)) {
      at = {found[1]};
    } else if (line.find_first_not_of(" \t\r") != std::string::npos &&
               line[line.find_first_not_of(" \t\r")] == '}') {
      if (at.size() > 1) at.pop_back();
    } else if (std::regex_match(line, found, kValue) && !at.empty()) {
      at.push_back(found[1]);
      if (found[2] == "{") {
        if (std::ranges::find(sections_, at) == sections_.end()) sections_.push_back(at);
        continue;
      }
      names_.insert(found[1]);
      values_.emplace(at, found[2]);
      at.pop_back();
    }
  }
}

std::string KdcProfile::value(const std::vector<std::string>& path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? "" : found->second;
}

std::vector<std::string> KdcProfile::sections(const std::string& section) const {
  std::vector<std::string> out;
  for (const auto& path : sections_)
    if (path.size() == 2 && path[0] == section) out.push_back(path[1]);
  return out;
}

bool KdcProfile::has_section(const std::string& section, const std::string& name) const {
  return std::ranges::find(sections_, std::vector{section, name}) != sections_.end();
}

std::set<std::string> KdcProfile::names_in(const std::string& section,
                                           const std::string& name) const {
  std::set<std::string> out;
  for (const auto& [path, value] : values_)
    if (path.size() == 3 && path[0] == section && path[1] == name) out.insert(path[2]);
  return out;
}

std::string misspelt_module_key(const KdcProfile& profile) {
  // Which database it is, of which module. No other key of krb5's is nearly one of these.
  static const std::set<std::string> kInModules = {"db_library", "database_name"};
  static const std::set<std::string> kInRealms = {"database_module", "database_name"};
  for (const auto& [section, known] :
       {std::pair("dbmodules", &kInModules), std::pair("realms", &kInRealms)})
    for (const std::string& name : profile.sections(section))
      for (const std::string& key : profile.names_in(section, name)) {
        const std::string meant = known->contains(key) ? "" : nearest(key, *known);
        if (!meant.empty())
          return std::string("[") + section + "], " + name + ": there is no key " + key +
                 ", and krb5 passes over it; did you mean " + meant + "?";
      }
  return {};
}

RealmModule module_of_realm(const KdcProfile& profile, const std::string& realm) {
  RealmModule out;
  out.realm = realm;
  out.stanza = profile.value({"realms", realm, "database_module"});
  out.is_named = !out.stanza.empty();
  if (!out.is_named) out.stanza = realm;
  out.is_there = profile.has_section("dbmodules", out.stanza);
  out.library = profile.value({"dbmodules", out.stanza, "db_library"});
  if (out.library.empty()) out.library = "db2";
  return out;
}

std::string ktkdc_stanza(const KdcProfile& profile) {
  for (const std::string& name : profile.sections("dbmodules"))
    if (profile.value({"dbmodules", name, "db_library"}) == "ktkdc") return name;
  return {};
}

}  // namespace tkdc::cli
