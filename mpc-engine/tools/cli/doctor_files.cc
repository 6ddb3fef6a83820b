// SPDX-License-Identifier: Apache-2.0
// What can be seen of a member while its daemon is down.
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/credential.h"
#include "base/secret_file.h"
#include "base/utc_time.h"
#include "link/certificate.h"
#include "service/server/certificate_watch.h"
#include "service/server/disk_watch.h"
#include "tools/cli/child.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/printable.h"
#include "tools/setup/unit_drop_in.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;
using Kind = Patient::Kind;

constexpr auto kProgramTime = std::chrono::seconds(10);
constexpr std::size_t kMaxPemBytes = 64 * 1024;

// Beside this one in a build, in PATH where it is installed.
std::string program_of(const Patient& patient) {
  const std::string name = patient.kind == Kind::kAgent ? "tkdc-agent" : "tkdc-server";
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / name;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : name;
}

// Without the level that journald reads before it.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  if (text.size() > 3 && text[0] == '<' && text[2] == '>') text.erase(0, 3);
  return text;
}

std::string owner_name(uid_t user) {
  const passwd* found = ::getpwuid(user);
  return found != nullptr ? found->pw_name : std::to_string(user);
}

// Whose a secret may be: as its folder, or, where that is root's, the service's.
uid_t secrets_owner(const Patient& patient, uid_t folder) {
  const passwd* service = ::getpwnam(patient.kind == Kind::kAgent ? "tkdc-agent" : "tkdc-server");
  return folder == 0 && ::geteuid() == 0 && service != nullptr ? service->pw_uid : folder;
}

// Root follows no name of a service's folder: the service's account could put a link there.
std::string chmod_as(uid_t owner, const std::string& mode, const std::string& path) {
  const std::string command = "chmod " + mode + " " + shell_word(path);
  return owner == 0 || owner == ::geteuid() ? command
                                            : "runuser -u " + owner_name(owner) + " -- " + command;
}

// What is wrong with the owner or the mode of one file; good, where nothing is. `forbidden`: bits
// that the mode must not have. `named`: its path is root's choice, or an entry of such a folder.
// Other paths stand in a configuration that the service's account can write: it could name any file
// of the host, so root is told to look, and gets nothing to type.
Finding check_file(const std::string& path, mode_t forbidden, const char* mode, uid_t owner,
                   bool named) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0 || S_ISLNK(st.st_mode)) return good("");
  const std::string give = "chown -h " + owner_name(owner) + ": " + shell_word(path);
  const std::string look = "look whether it is this member's; if so it belongs to " +
                           owner_name(owner) + " with the mode " + mode;
  const bool may = named && (S_ISDIR(st.st_mode) || st.st_nlink == 1);
  if (st.st_uid != owner && st.st_uid != 0)
    return wrong(path + " belongs to " + owner_name(st.st_uid) + ", not to " + owner_name(owner),
                 may ? give : look);
  if ((st.st_mode & forbidden) != 0)
    return wrong(
        path + " is open to others",
        may ? (st.st_uid == owner ? "" : give + "; ") + chmod_as(owner, mode, path) : look);
  return good("");
}

// What the server opens in its store's folder, and its audit log. One of root's, as a copy that was
// put back by hand may be, it cannot open; and systemd changes owners only where the folder's is
// another one.
Finding check_store_files(const ServerConfig& config, uid_t owner) {
  std::vector<std::string> files = {config.audit_file};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(config.store_path, error))
    if (entry.is_regular_file(error) && !entry.is_symlink(error))
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  for (const std::string& path : files) {
    struct stat st {};
    if (::lstat(path.c_str(), &st) == 0 && st.st_uid != owner)
      return wrong(path + " belongs to " + owner_name(st.st_uid) + ", and the store to " +
                       owner_name(owner) + ": the server cannot open it",
                   "look whether it is this server's; if so it belongs to " + owner_name(owner) +
                       ", as does all that lies in " + shell_word(config.store_path));
  }
  return good("");
}

struct NamedCredential {
  std::string drop_in, file;
};

// By the drop-ins of a member's unit.
std::vector<NamedCredential> named_credentials(const Patient& patient) {
  constexpr std::string_view kLine = "LoadCredentialEncrypted=";
  std::vector<NamedCredential> out;
  const fs::path folder = fs::path(patient.root + setup::drop_in_path(patient.unit)).parent_path();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::ifstream in(entry.path());
    for (std::string line; entry.path().extension() == ".conf" && std::getline(in, line);)
      if (const auto colon = line.find(':'); line.starts_with(kLine) && colon != std::string::npos)
        out.push_back({entry.path().string(), line.substr(colon + 1)});
  }
  return out;
}

// Those of the unit are those of the folder. After a restore into a new folder, or a copy from
// another host, they are not.
Finding check_credentials(const Patient& patient) {
  const std::string again = "tkdc unit --config " + shell_word(patient.config) +
                            "; systemctl daemon-reload; systemctl restart " + patient.unit;
  const std::vector<NamedCredential> named = named_credentials(patient);
  std::error_code error;
  for (const NamedCredential& one : named)
    if (!fs::exists(patient.root + one.file, error))
      return wrong(one.drop_in + " names the credential " + one.file +
                       ", which is not there: the unit does not start",
                   again);
  for (const auto& entry : fs::directory_iterator(patient.folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_named = std::ranges::any_of(
        named, [&](const NamedCredential& one) { return fs::path(one.file).filename() == name; });
    if (name.ends_with(kCredentialEnding) && !is_named)
      return wrong("no drop-in of " + patient.unit + " names the credential " +
                       entry.path().string() + ": the unit does not get it",
                   again);
  }
  return good("");
}

bool is_secret(const std::string& name) { return name.ends_with(".key") || name == "tls.key.pem"; }

}  // namespace

Finding check_configuration(const Patient& patient) {
  const std::string program = program_of(patient);
  const std::vector<std::string> command = {program, "--config", patient.config, "--check-config"};
  auto done = run_child(command, {}, kProgramTime);
  if (!done) return wrong(done.error().message, "apt install the package of " + program);
  if (done->status == 0) return good(last_line(done->output));
  return wrong(last_line(done->output),
               "mend what it names, then: " + fs::path(program).filename().string() + " --config " +
                   shell_word(patient.config) + " --check-config");
}

Finding check_files(const Patient& patient) {
  struct stat folder {};
  if (::stat(patient.folder.c_str(), &folder) != 0)
    return wrong(patient.folder + " cannot be looked at", "run this as root");
  std::vector<Finding> found = {check_file(patient.folder, 0022, "go-w", folder.st_uid, true),
                                check_file(patient.config, 0022, "go-w", folder.st_uid, true)};
  std::vector<std::string> secrets;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(patient.folder, error))
    if (is_secret(entry.path().filename().string())) secrets.push_back(entry.path().string());
  if (error) return wrong(patient.folder + ": " + error.message(), "run this as root");
  if (patient.server) {
    const ServerConfig& config = *patient.server;
    for (const std::string& path :
         {config.curve_secret_key_file, config.private_key_file, config.store_key_file})
      secrets.push_back(path);
    // Its folder may be another account's: the store belongs to whom it belongs.
    struct stat store {};
    if (::stat(config.store_path.c_str(), &store) == 0)
      found.insert(found.end(), {check_file(config.store_path, 0077, "0700", store.st_uid, false),
                                 check_store_files(config, store.st_uid)});
  }
  found.push_back(check_credentials(patient));
  for (const std::string& path : secrets)
    found.push_back(check_file(path, 0177, "0600", secrets_owner(patient, folder.st_uid),
                               fs::path(path).parent_path() == patient.folder));
  for (const Finding& one : found)
    if (one.state == Finding::State::kWrong) return one;
  return good(patient.folder + ": owners and modes are right");
}

Finding check_certificate(const Patient& patient) {
  const std::string renew = "tkdc renew --folder " + shell_word(patient.folder);
  if (patient.only_status) return told(patient, "certificate_warning", renew, "its end is far");
  if (!patient.server) return unknown("the configuration cannot be read");
  const std::string& file = patient.server->certificate_file;
  auto pem = read_text_file(file, kMaxPemBytes);
  auto end = pem ? certificate_end(*pem) : Result<std::int64_t>(pem.error());
  if (!end) return wrong(end.error().message, renew);
  const std::string alarm = certificate_alarm(*end, std::time(nullptr));
  if (!alarm.empty()) return warning(alarm, renew);
  return good("until " + format_utc_spaced(*end));
}

Finding check_disks(const Patient& patient) {
  if (patient.only_status)
    return told(patient, "disk_warning", "df -h; then make room there",
                "room for store and audit log");
  if (!patient.server) return unknown("the configuration cannot be read");
  const auto rooms = disk_rooms(patient.server->store_path, patient.server->store_map_bytes,
                                patient.server->audit_file);
  const std::string alarm = disk_alarm(rooms);
  if (!alarm.empty())
    return warning(alarm, "df -h " + shell_word(patient.server->store_path) + " " +
                              shell_word(patient.server->audit_file) + "; then make room there");
  return good("room for store and audit log");
}

}  // namespace tkdc::cli
