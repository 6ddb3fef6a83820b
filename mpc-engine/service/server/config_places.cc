// SPDX-License-Identifier: Apache-2.0
#include "service/server/config_places.h"

#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace tkdc {
namespace {

namespace fs = std::filesystem;

Error wrong(const ServerConfig& config, const std::string& key, const std::string& why) {
  const auto line = config.lines.find(key);
  return fail("config: " + config.path + ": '" + key + "': " + why +
              (line != config.lines.end() ? " (line " + std::to_string(line->second) + ")" : ""));
}

// The StateDirectory= of config/tkdc-server@.service for the unit that reads this file.
std::string state_directory(const ServerConfig& config) {
  const fs::path folder = fs::absolute(config.path).parent_path();
  return folder.parent_path() == "/etc/tkdc" ? "/var/lib/tkdc/" + folder.filename().string() : "";
}

bool is_made_by_systemd(const ServerConfig& config, const std::string& key,
                        const fs::path& folder) {
  if (key == "control.status_socket") return folder.parent_path() == "/run/tkdc";
  return folder == state_directory(config);
}

bool is_of_this_host(const std::string& host) {
  return host.empty() || host == "*" || ::if_nametoindex(host.c_str()) != 0;
}

}  // namespace

std::uint64_t memory_of_this_host() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? std::uint64_t(pages) * std::uint64_t(bytes) : ~std::uint64_t{0};
}

Result<void> check_memory(const ServerConfig& config, std::uint64_t memory_bytes) {
  const std::uint64_t tables = config.pair_tables_bytes, circuits = config.pair_prepared_bytes;
  if (config.parties != 2 || tables + circuits <= memory_bytes / 4 * 3) return {};
  const auto mib = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  return wrong(config, tables > circuits ? "data.tables_mb" : "data.prepared_mb",
               mib(tables) + " of lookup tables and " + mib(circuits) +
                   " of circuits (data.prepared_mb) may stand ready, and this host has " +
                   mib(memory_bytes) +
                   " of memory, of which they have three quarters at most: set them lower at both "
                   "servers; `tkdc tables plan` says what so many logins take");
}

Result<std::string> check_folders(const ServerConfig& config) {
  std::string remark;
  struct stat store {};
  if (::stat(config.store_path.c_str(), &store) == 0 && (store.st_mode & 0022) != 0)
    return wrong(config, "store.path",
                 config.store_path +
                     " is open to others, who could put another store in its place: chmod 0700");
  std::error_code error;
  if (fs::is_directory(config.status_socket, error))
    return wrong(config, "control.status_socket",
                 config.status_socket + " is a folder; name a file in it");
  for (const auto& [key, path] :
       {std::pair("store.path", config.store_path), std::pair("audit.file", config.audit_file),
        std::pair("control.status_socket", config.status_socket)}) {
    const fs::path folder = fs::path(path).parent_path();
    error.clear();
    if (path.empty() || fs::is_directory(folder, error)) continue;
    if (error && error != std::errc::no_such_file_or_directory)
      return wrong(config, key, folder.string() + ": " + error.message());
    if (fs::exists(folder, error) || !is_made_by_systemd(config, key, folder))
      return wrong(
          config, key,
          "there is no folder " + folder.string() + "; make it, for this service's user alone");
    remark = folder.string() + " will be made by systemd when the unit starts";
  }
  return remark;
}

Result<std::string> check_hosts(const ServerConfig& config, const LookUp& look) {
  std::vector<NamedHost> named;
  for (const PeerEntry& peer : config.peers) named.push_back({peer.key, host_of(peer.address)});
  if (const std::string host = host_of(config.control_listen); !is_of_this_host(host))
    named.push_back({"control.listen", host, true});
  if (const std::string host = host_of(config.data_listen); !host.empty())
    named.push_back({"data.listen", host, true});
  return check_names(
      named,
      [&](const std::string& key, const std::string& why) { return wrong(config, key, why); },
      "a server that starts now has no session", look);
}

}  // namespace tkdc
