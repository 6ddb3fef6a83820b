// SPDX-License-Identifier: Apache-2.0
// Reads a configuration file so that nothing in it is ignored: an unknown key,
// a wrong type and a value out of range are errors that name key and line.
//
//   StrictToml file;                      auto loaded = file.load(path);
//   TomlTable data = file.table("data");
//   int lanes = data.integer("lanes", 1, 64, 2);
//   ...
//   auto done = file.finish();            // the first error, or unknown keys
//
// Getters return the default after an error, so that a reader is straight-line.
// Used by tkdc-server, tkdc-agent and tkdc. Holds no secrets: keys are in files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc {

class StrictToml;

// One table of the file; valid while its StrictToml lives.
class TomlTable {
 public:
  // Without a default the key must be there.
  std::string text(const std::string& key,
                   const std::optional<std::string>& fallback = std::nullopt);
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high,
                       std::optional<std::int64_t> fallback = std::nullopt);
  bool boolean(const std::string& key, bool fallback);
  // One of `allowed`.
  std::string choice(const std::string& key, const std::vector<std::string>& allowed,
                     const std::optional<std::string>& fallback = std::nullopt);

  // A list of strings.
  std::vector<std::string> texts(const std::string& key, const std::vector<std::string>& fallback);

  bool has(const std::string& key) const;
  // In which line of the file it stands; 0: it is not there.
  int line(const std::string& key) const;
  // Reports an error about a key of this table, with its line.
  void reject(const std::string& key, const std::string& why);

 private:
  friend class StrictToml;
  TomlTable(StrictToml* file, std::string name, const void* node);
  void missing(const std::string& key);
  bool look_for(const std::string& key);  // whether it is there

  StrictToml* file_;
  std::string name_;  // "data", or "peers[1]"
  const void* node_;  // toml::table, null when absent
};

class StrictToml {
 public:
  StrictToml();
  ~StrictToml();
  StrictToml(const StrictToml&) = delete;
  StrictToml& operator=(const StrictToml&) = delete;

  Result<void> load(const std::string& path);

  // A table that is absent reads as one without keys.
  TomlTable table(const std::string& name);
  // [[name]]: each of the tables; empty when absent.
  std::vector<TomlTable> tables(const std::string& name);

  // The first wrong value, else an unknown key (and which one was meant), else the first missing
  // one.
  Result<void> finish();

  const std::string& path() const { return path_; }
  // Relative paths are relative to the file; "%d/NAME" is systemd's
  // credentials directory.
  std::string resolve(const std::string& path) const;

 private:
  friend class TomlTable;
  struct Document;
  void report(const std::string& message);
  void asked_for(const void* node) { asked_.insert(node); }
  void find_unknown(const void* table, const std::string& prefix);
  std::string meant_by(const std::string& prefix, const std::string& key) const;

  std::string path_;
  std::unique_ptr<Document> document_;
  std::set<const void*> asked_;
  std::map<std::string, std::set<std::string>> known_;  // keys of each table; "": the tables
  std::string error_;                                   // the first
  std::string missing_;                                 // the first key that is not there
};

}  // namespace tkdc
