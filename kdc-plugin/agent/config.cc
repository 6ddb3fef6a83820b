// SPDX-License-Identifier: Apache-2.0
#include "agent/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <toml++/toml.h>

namespace tkdc::agent {
namespace {

// Collects the first error of a file; later ones are consequences of it.
struct Problems {
  std::string file;
  std::optional<std::string> first;

  void add(const toml::source_region& where, const std::string& text) {
    if (!first) first = file + ":" + std::to_string(where.begin.line) + ": " + text;
  }
};

// One table of the file. Reading an absent or ill-typed key reports it and
// returns an empty value; finish() reports keys that nobody asked for, which
// are misspellings that would otherwise be silently ignored.
class Table {
 public:
  Table(const toml::table& table, std::string prefix, Problems& problems)
      : table_(table), prefix_(std::move(prefix)), problems_(problems) {}

  std::string text(const char* key,
                   const std::optional<std::string>& otherwise = std::nullopt) {
    const toml::node* node = find(key, otherwise.has_value());
    if (node == nullptr) return otherwise.value_or("");
    if (auto value = node->value_exact<std::string>(); value && !value->empty()) return *value;
    problems_.add(node->source(), name(key) + " must be a non-empty string");
    return "";
  }

  std::int64_t integer(const char* key, std::int64_t min, std::int64_t max,
                       std::optional<std::int64_t> otherwise = std::nullopt) {
    const toml::node* node = find(key, otherwise.has_value());
    if (node == nullptr) return otherwise.value_or(min);
    auto value = node->value_exact<std::int64_t>();
    if (value && *value >= min && *value <= max) return *value;
    problems_.add(node->source(), name(key) + " must be a whole number from " +
                                      std::to_string(min) + " to " + std::to_string(max));
    return min;
  }

  // Reports a value that has the right type but cannot be right.
  void reject(const char* key, const std::string& why) {
    const toml::node* node = table_.get(key);
    problems_.add(node != nullptr ? node->source() : table_.source(), name(key) + " " + why);
  }

  void finish() {
    for (auto&& [key, node] : table_)
      if (!asked_.contains(std::string(key.str())))
        problems_.add(node.source(), "unknown key " + name(std::string(key.str()).c_str()) +
                                         "; see tkdc-agent(8) for the keys there are");
  }

 private:
  std::string name(const char* key) const { return prefix_ + "." + key; }

  const toml::node* find(const char* key, bool optional) {
    asked_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && !optional) problems_.add(table_.source(), name(key) + " is missing");
    return node;
  }

  const toml::table& table_;
  std::string prefix_;
  Problems& problems_;
  std::set<std::string> asked_;
};

// Relative paths are relative to the file; %d/NAME is systemd's directory of
// credentials (LoadCredential=).
std::string resolve_path(const std::string& text, const std::string& file) {
  if (text.rfind("%d/", 0) == 0) {
    const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");
    return std::string(credentials != nullptr ? credentials : "/run/credentials") + text.substr(2);
  }
  std::filesystem::path path(text);
  if (path.is_absolute()) return text;
  return (std::filesystem::absolute(file).parent_path() / path).lexically_normal().string();
}

// systemd protects its credentials directory as a whole and marks files in it
// 0440 with an ACL, so only other files are held to 0600.
Result<void> read_curve_key(const std::string& path, bool credential, SecretBuffer& out) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return fail("cannot open " + path + ": " + std::strerror(errno));
  struct stat info {};
  SecretBuffer text(kZ85KeyChars + 2);
  SecretBuffer binary(32);
  Result<void> result;
  ssize_t n = -1;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    result = fail(path + " is not a regular file");
  else if (!credential && (info.st_mode & 077) != 0)
    result = fail(path + " can be read by others than its owner; run: chmod 0600 " + path);
  else if ((n = ::read(fd, text.data(), text.size())) < 0)
    result = fail("cannot read " + path + ": " + std::strerror(errno));
  ::close(fd);
  if (!result) return result;
  std::size_t length = static_cast<std::size_t>(n);
  if (length == kZ85KeyChars + 1 && text.data()[kZ85KeyChars] == '\n') --length;
  if (length == kZ85KeyChars) {
    std::copy_n(text.data(), kZ85KeyChars, out.data());
    out.data()[kZ85KeyChars] = 0;
    if (zmq_z85_decode(binary.data(), reinterpret_cast<const char*>(out.data())) != nullptr)
      return {};
  }
  return fail(path + " does not hold a CURVE secret key (40 characters of Z85)");
}

bool valid_z85_key(const std::string& text) {
  std::array<std::uint8_t, 32> binary{};
  return text.size() == kZ85KeyChars && zmq_z85_decode(binary.data(), text.c_str()) != nullptr;
}

void read_installation(const toml::table& table, Problems& problems, AgentConfig& config) {
  Table keys(table, "installation", problems);
  std::string id = keys.text("id");
  std::size_t bytes = 0;
  if (id.size() != 2 * config.installation.size() ||
      sodium_hex2bin(config.installation.data(), config.installation.size(), id.data(), id.size(),
                     nullptr, &bytes, nullptr) != 0 ||
      bytes != config.installation.size())
    keys.reject("id", "must be 32 hexadecimal digits, the same as in the servers' tkdc.toml");
  // Written by `tkdc init` for the servers; the agent says it in HELLO.
  if (keys.text("security", "semi-honest") != "semi-honest")
    keys.reject("security", "must be \"semi-honest\", the only mode of this version");
  keys.finish();
}

void read_agent(const toml::table& table, Problems& problems, AgentConfig& config) {
  Table keys(table, "agent", problems);
  config.name = keys.text("name");
  std::string role = keys.text("role");
  if (role == "kdc")
    config.role = TKDC_ROLE_KDC;
  else if (role == "admin")
    config.role = TKDC_ROLE_ADMIN;
  else
    keys.reject("role", "must be \"kdc\" or \"admin\"");

  config.socket_path = resolve_path(keys.text("socket"), problems.file);
  if (config.socket_path.size() >= sizeof(sockaddr_un{}.sun_path))
    keys.reject("socket", "is longer than a Unix socket's path may be: " + config.socket_path);
  config.socket_group = keys.text("socket_group", "");
  std::string log = keys.text("operations_log", "");
  if (!log.empty()) config.operations_log = resolve_path(log, problems.file);
  config.max_pending = static_cast<std::size_t>(
      keys.integer("max_pending", 1, kMaxPendingCeiling, std::int64_t(config.max_pending)));

  std::string key_file = keys.text("curve_secret_key_file");
  keys.finish();
  if (problems.first) return;
  Result<void> read = read_curve_key(resolve_path(key_file, problems.file),
                                     key_file.rfind("%d/", 0) == 0, config.curve_secret_key);
  if (!read) keys.reject("curve_secret_key_file", "cannot be used: " + read.error().message);
}

void read_servers(const toml::array& servers, Problems& problems, AgentConfig& config) {
  std::set<std::int64_t> parties;
  for (const toml::node& node : servers) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      problems.add(node.source(), "[[servers]] must be tables");
      return;
    }
    Table keys(*table, "servers", problems);
    std::int64_t party = keys.integer("party", 0, 2);
    if (!parties.insert(party).second)
      keys.reject("party", "stands twice: each of 0, 1 and 2 once");
    ServerAddress& server = config.servers[static_cast<std::size_t>(party)];
    server.address = keys.text("address");
    if (server.address.rfind("tcp://", 0) != 0)
      keys.reject("address", "must be of the form \"tcp://host:port\"");
    server.curve_public_key = keys.text("curve_public_key");
    if (!valid_z85_key(server.curve_public_key))
      keys.reject("curve_public_key", "must be a CURVE public key (40 characters of Z85)");
    keys.finish();
  }
  if (parties.size() != 3)
    problems.add(servers.source(), "[[servers]] must stand three times, for parties 0, 1 and 2");
}

void read_root(const toml::table& root, Problems& problems, AgentConfig& config) {
  auto section = [&](const char* name) -> const toml::table* {
    const toml::table* table = root[name].as_table();
    if (table == nullptr) problems.add(root.source(), "[" + std::string(name) + "] is missing");
    return table;
  };
  if (auto* table = section("installation")) read_installation(*table, problems, config);
  if (auto* table = section("agent")) read_agent(*table, problems, config);
  if (const toml::array* servers = root["servers"].as_array())
    read_servers(*servers, problems, config);
  else
    problems.add(root.source(), "[[servers]] is missing");
  for (auto&& [key, node] : root)
    if (key != "installation" && key != "agent" && key != "servers")
      problems.add(node.source(), "unknown section [" + std::string(key.str()) + "]");
}

}  // namespace

Result<AgentConfig> load_config(const std::string& path) {
  Problems problems{path, std::nullopt};
  try {
    toml::table root = toml::parse_file(path);
    AgentConfig config;
    read_root(root, problems, config);
    if (problems.first) return fail(*problems.first);
    return config;
  } catch (const toml::parse_error& error) {
    problems.add(error.source(), std::string(error.description()));
    return fail(*problems.first);
  }
}

}  // namespace tkdc::agent
