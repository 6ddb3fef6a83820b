// SPDX-License-Identifier: Apache-2.0
#include "base/strict_toml.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <toml++/toml.h>

#include "base/nearest.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc {
namespace {

const toml::table* as_table(const void* node) { return static_cast<const toml::table*>(node); }

std::string at_line(const toml::node& node) {
  return " (line " + std::to_string(node.source().begin.line) + ")";
}

// The parser says of all of these that line 0 cannot be opened.
Result<void> check_readable(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error("config: cannot open " + path);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return system_error("config: cannot look at " + path);
  if (S_ISDIR(st.st_mode)) return fail("config: " + path + " is a folder; name the file in it");
  // Who reads it would wait for a writer.
  if (S_ISFIFO(st.st_mode)) return fail("config: " + path + " is a pipe; name a file");
  return {};
}

}  // namespace

struct StrictToml::Document {
  toml::table root;
};

StrictToml::StrictToml() = default;
StrictToml::~StrictToml() = default;

Result<void> StrictToml::load(const std::string& path) {
  path_ = path;
  if (auto readable = check_readable(path); !readable.ok()) return readable;
  try {
    document_ = std::make_unique<Document>(Document{toml::parse_file(path)});
  } catch (const toml::parse_error& error) {
    const std::string what(error.description());
    const bool twice = what.find("redefine") != std::string::npos;
    return fail("config: " + path + ": " + what + " (line " +
                std::to_string(error.source().begin.line) + ")" +
                (twice ? "; it stands twice in this table: remove one of both" : ""));
  }
  return {};
}

void StrictToml::report(const std::string& message) {
  if (error_.empty()) error_ = "config: " + path_ + ": " + message;
}

TomlTable StrictToml::table(const std::string& name) {
  known_[""].insert(name);
  const toml::node* node = document_->root.get(name);
  if (node == nullptr) return TomlTable(this, name, nullptr);
  asked_for(node);
  if (!node->is_table()) {
    report("'" + name + "' must be a [" + name + "] table" + at_line(*node));
    return TomlTable(this, name, nullptr);
  }
  return TomlTable(this, name, node->as_table());
}

std::vector<TomlTable> StrictToml::tables(const std::string& name) {
  known_[""].insert(name);
  std::vector<TomlTable> out;
  const toml::node* node = document_->root.get(name);
  if (node == nullptr) return out;
  asked_for(node);
  if (!node->is_array_of_tables()) {
    report("'" + name + "' must be written as [[" + name + "]] tables" + at_line(*node));
    return out;
  }
  for (const toml::node& one : *node->as_array()) {
    asked_for(&one);
    out.push_back(TomlTable(this, name + "[" + std::to_string(out.size()) + "]", one.as_table()));
  }
  return out;
}

// `prefix` as of find_unknown().
std::string StrictToml::meant_by(const std::string& prefix, const std::string& key) const {
  const std::string table = prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1));
  if (auto here = known_.find(table); here != known_.end())
    if (const std::string one = nearest(key, here->second); !one.empty())
      return "did you mean '" + prefix + one + "'?";
  for (const auto& [other, keys] : known_)
    if (!table.empty() && !other.empty() && keys.contains(key))
      return "it belongs in [" + other + "]";
  return "remove it or correct its spelling";
}

void StrictToml::find_unknown(const void* table, const std::string& prefix) {
  for (const auto& [key, node] : *as_table(table)) {
    std::string name = prefix + std::string(key.str());
    if (!asked_.contains(&node)) {
      report("unknown key '" + name + "'" + at_line(node) + "; " +
             meant_by(prefix, std::string(key.str())));
    } else if (node.is_table()) {
      find_unknown(node.as_table(), name + ".");
    } else if (node.is_array_of_tables()) {
      for (const toml::node& one : *node.as_array()) find_unknown(one.as_table(), name + ".");
    }
  }
}

Result<void> StrictToml::finish() {
  // A misspelt key is the likely reason for a missing one: it is named first.
  find_unknown(&document_->root, "");
  if (error_.empty()) error_ = missing_;
  if (!error_.empty()) return fail(error_);
  return {};
}

std::string StrictToml::resolve(const std::string& path) const {
  if (path.rfind("%d/", 0) == 0) {
    const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
    return std::string(directory != nullptr ? directory : "/run/credentials/none") + path.substr(2);
  }
  std::filesystem::path given(path);
  if (given.is_absolute()) return path;
  return (std::filesystem::absolute(path_).parent_path() / given).lexically_normal().string();
}

TomlTable::TomlTable(StrictToml* file, std::string name, const void* node)
    : file_(file), name_(std::move(name)), node_(node) {}

bool TomlTable::has(const std::string& key) const {
  return node_ != nullptr && as_table(node_)->contains(key);
}

int TomlTable::line(const std::string& key) const {
  const toml::node* node = node_ != nullptr ? as_table(node_)->get(key) : nullptr;
  return node != nullptr ? static_cast<int>(node->source().begin.line) : 0;
}

bool TomlTable::look_for(const std::string& key) {
  file_->known_[name_.substr(0, name_.find('['))].insert(key);
  return has(key);
}

void TomlTable::missing(const std::string& key) {
  if (file_->missing_.empty())
    file_->missing_ = "config: " + file_->path_ + ": '" + key + "' is missing in [" + name_ + "]";
}

void TomlTable::reject(const std::string& key, const std::string& why) {
  const toml::node* node = node_ != nullptr ? as_table(node_)->get(key) : nullptr;
  if (node == nullptr) return missing(key);
  file_->report("'" + name_ + "." + key + "' " + why + at_line(*node));
}

std::string TomlTable::text(const std::string& key, const std::optional<std::string>& fallback) {
  if (!look_for(key)) {
    if (!fallback) missing(key);
    return fallback.value_or("");
  }
  const toml::node* node = as_table(node_)->get(key);
  file_->asked_for(node);
  if (auto value = node->value_exact<std::string>()) return *value;
  reject(key, "must be a string in quotes");
  return fallback.value_or("");
}

std::vector<std::string> TomlTable::texts(const std::string& key,
                                          const std::vector<std::string>& fallback) {
  if (!look_for(key)) return fallback;
  const toml::node* node = as_table(node_)->get(key);
  file_->asked_for(node);
  std::vector<std::string> out;
  const toml::array* list = node->as_array();
  if (list != nullptr)
    for (const toml::node& one : *list)
      if (auto value = one.value_exact<std::string>()) out.push_back(*value);
  if (list != nullptr && out.size() == list->size()) return out;
  reject(key, "must be a list of strings in quotes, as in [\"one\", \"two\"]");
  return fallback;
}

std::int64_t TomlTable::integer(const std::string& key, std::int64_t low, std::int64_t high,
                                std::optional<std::int64_t> fallback) {
  if (!look_for(key)) {
    if (!fallback) missing(key);
    return fallback.value_or(low);
  }
  const toml::node* node = as_table(node_)->get(key);
  file_->asked_for(node);
  auto value = node->value_exact<std::int64_t>();
  if (value && *value >= low && *value <= high) return *value;
  reject(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return fallback.value_or(low);
}

bool TomlTable::boolean(const std::string& key, bool fallback) {
  if (!look_for(key)) return fallback;
  const toml::node* node = as_table(node_)->get(key);
  file_->asked_for(node);
  if (auto value = node->value_exact<bool>()) return *value;
  reject(key, "must be true or false");
  return fallback;
}

std::string TomlTable::choice(const std::string& key, const std::vector<std::string>& allowed,
                              const std::optional<std::string>& fallback) {
  std::string value = text(key, fallback);
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  std::string list;
  for (const std::string& one : allowed) list += (list.empty() ? "" : ", ") + ("'" + one + "'");
  reject(key, "must be one of " + list);
  return allowed.front();
}

}  // namespace tkdc
