// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/backup_copy.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/durable_file.h"
#include "base/secret_file.h"
#include "base/system_error.h"
#include "service/backup/backup_shelf.h"
#include "service/server/backup_watch.h"
#include "service/server/config.h"
#include "tools/cli/backup_words.h"
#include "tools/cli/child.h"
#include "tools/cli/owner.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopyCommand = "tkdc backup copy";
constexpr const char* kSshName = "backup.ssh";
constexpr const char* kPartial = ".partial";
constexpr std::size_t kMostDestinationBytes = 1024;

class OtherHost {
 public:
  OtherHost(CopyDestination to, std::string ssh_config, std::string batch_file)
      : to_(std::move(to)), ssh_config_(std::move(ssh_config)), batch_(std::move(batch_file)) {}
  ~OtherHost() { ::unlink(batch_.c_str()); }
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  // In the folder there. Error: what sftp printed, of the first command that failed.
  Result<std::string> run(const std::string& commands) const {
    if (!overwrite_durably(batch_, "cd \"" + to_.folder + "\"\n" + commands))
      return system_error("cannot write " + batch_);
    std::vector<std::string> argv{"sftp", "-oBatchMode=yes", "-oConnectTimeout=20",
                                  "-oServerAliveInterval=15", "-oServerAliveCountMax=4"};
    if (!ssh_config_.empty()) argv.insert(argv.end(), {"-F", ssh_config_});
    argv.insert(argv.end(), {"-b", batch_, to_.host});
    auto done = run_child(argv, {"LC_ALL=C"});
    if (!done) return fail(done.error().message + " (Debian's package openssh-client has sftp)");
    if (done->status != 0)
      return fail("sftp to " + to_.host + ":" + to_.folder + " ended with " +
                  std::to_string(done->status) + ": " + last_lines(done->output) +
                  ". Try it as this user: sftp" +
                  (ssh_config_.empty() ? "" : " -F " + ssh_config_) + " " + to_.host);
    return std::move(done->output);
  }
  std::string name() const { return to_.host + ":" + to_.folder; }

 private:
  // sftp says what it does before what went wrong.
  static std::string last_lines(const std::string& printed) {
    std::istringstream lines(printed);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && line.rfind("sftp> ", 0) != 0) out += (out.empty() ? "" : "; ") + line;
    }
    return out.empty() ? "it said nothing" : out;
  }

  CopyDestination to_;
  std::string ssh_config_, batch_;
};

std::vector<ShelvedBackup> lacking(const std::vector<ShelvedBackup>& shelf,
                                   const std::map<std::string, std::uint64_t>& there) {
  std::vector<ShelvedBackup> out;
  for (const ShelvedBackup& one : shelf) {
    const auto at = there.find(fs::path(one.path).filename().string());
    if (at == there.end() || at->second != one.bytes) out.push_back(one);
  }
  return out;
}

Result<std::map<std::string, std::uint64_t>> files_there(const OtherHost& other) {
  auto printed = other.run("ls -ln\n");
  if (!printed) return printed.error();
  return files_in_listing(*printed);
}

Result<void> send(const OtherHost& other, const std::vector<ShelvedBackup>& going) {
  for (const ShelvedBackup& one : going) {
    const std::string name = fs::path(one.path).filename().string();
    auto sent = other.run("put -f \"" + one.path + "\" \"" + name + kPartial + "\"\nrename \"" +
                          name + kPartial + "\" \"" + name + "\"\n");
    if (!sent) return sent.error();
    std::cout << printable(name) << ": copied to " << printable(other.name()) << "\n" << std::flush;
  }
  return {};
}

void say_what_is_left(const std::vector<ShelvedBackup>& shelf,
                      const std::map<std::string, std::uint64_t>& there) {
  std::size_t left = 0;
  for (const auto& [name, bytes] : there)
    if (name.ends_with(".tkdc-backup"))
      left += std::ranges::none_of(shelf, [&](const ShelvedBackup& one) {
        return !one.stale && fs::path(one.path).filename().string() == name;
      });
  if (left > 0)
    std::cout << left << " lie there that are not here any more, or stale: `tkdc backup prune` "
              << "there destroys those that are to go\n";
}

struct OwnShelf {
  std::vector<ShelvedBackup> good;  // of this server's own, whole and of use
  std::size_t bad = 0;
};

// What sftp would take for a pattern, or for the end of a name, is among the bad ones.
Result<OwnShelf> own_shelf(const ServerConfig& config, const std::string& folder) {
  auto shelf = look_at_backups(folder);
  if (!shelf) return shelf.error();
  OwnShelf out;
  for (ShelvedBackup& one : *shelf) {
    std::string trouble = one.trouble;
    if (trouble.empty() && one.path.find_first_of("\"\\\n*?[") != std::string::npos)
      trouble = "sftp cannot be given such a name";
    if (!trouble.empty()) {
      ++out.bad;
      std::cerr << kCopyCommand << ": not copied: " << printable(one.path) << ": "
                << printable(trouble) << "\n";
    } else if (one.head.party == config.party && one.head.installation == config.installation) {
      out.good.push_back(std::move(one));
    }
  }
  return out;
}

Result<void> copy_backups(const std::string& config_file) {
  auto config = load_server_config(config_file);
  if (!config) return config.error();
  const std::string folder = own_backups(config->store_path);
  if (auto owner = owner_of_store(config_file, config->store_path); !owner)
    return owner.error();
  else if (auto became = become(*owner); !became)
    return became.error();
  const fs::path beside = fs::absolute(config_file).lexically_normal().parent_path();
  auto text = read_text_file((beside / kBackupCopyName).string(), kMostDestinationBytes);
  if (!text)
    return fail(text.error().message + ": it is to have one line, HOST:FOLDER, of where copies go");
  auto to = parse_copy_destination(*text);
  if (!to) return fail((beside / kBackupCopyName).string() + ": " + to.error().message);
  auto own = own_shelf(*config, folder);
  if (!own) return own.error();
  const std::vector<ShelvedBackup>& shelf = own->good;
  const fs::path ssh = beside / kSshName;
  std::error_code error;
  const OtherHost other(*to, fs::exists(ssh, error) ? ssh.string() : "", folder + "/copying");
  auto there = files_there(other);
  if (!there) return there.error();
  std::vector<ShelvedBackup> going = lacking(shelf, *there);
  std::erase_if(going, [](const ShelvedBackup& one) { return one.stale; });
  if (auto sent = send(other, going); !sent) return sent.error();
  if (!going.empty()) there = files_there(other);
  if (!there) return there.error();
  if (const auto missing = lacking(going, *there); !missing.empty())
    return fail(other.name() + " does not have " +
                fs::path(missing.front().path).filename().string() +
                " whole after it was sent there: is its disk full?");
  if (own->bad > 0)
    return fail(std::to_string(own->bad) + " backups in " + folder +
                " were not copied, for the reasons above; the others were");
  if (shelf.empty()) return fail("there is no backup in " + folder + " to copy: tkdc backup make");
  if (!overwrite_durably(folder + "/" + kBackupsCopiedName, other.name() + "\n"))
    return system_error("cannot write " + folder + "/" + kBackupsCopiedName);
  const auto stale = static_cast<std::size_t>(
      std::ranges::count_if(shelf, [](const ShelvedBackup& one) { return one.stale; }));
  std::cout << printable(other.name()) << " has all " << shelf.size() - stale - going.size()
            << " of before and " << going.size() << " new ones\n";
  say_what_is_left(shelf, *there);
  return {};
}

}  // namespace

Result<CopyDestination> parse_copy_destination(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const auto colon = line.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == line.size() ||
      text.size() > line.size() + 1)
    return fail("\"" + line + "\" is not HOST:FOLDER, in one line");
  CopyDestination out{line.substr(0, colon), line.substr(colon + 1)};
  const auto of_host = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._@-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (out.host.front() == '-' || !std::ranges::all_of(out.host, of_host))
    return fail("\"" + out.host +
                "\" is no host of SSH: letters, digits, dots and dashes, before "
                "them USER@; what else it needs stands in " +
                kSshName + " beside it");
  for (const char c : out.folder)
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7f)
      return fail("the folder has a character that sftp takes for something else");
  return out;
}

std::map<std::string, std::uint64_t> files_in_listing(const std::string& printed) {
  std::map<std::string, std::uint64_t> out;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mode, links, user, group, month, day, time, name;
    std::uint64_t bytes = 0;
    if (words >> mode >> links >> user >> group >> bytes >> month >> day >> time >> name &&
        mode.front() == '-')
      out[name] = bytes;
  }
  return out;
}

void add_copy_word(CLI::App& backup, int& exit_status) {
  auto config = std::make_shared<std::string>();
  CLI::App* copy = backup.add_subcommand(
      "copy", "send this server's backups to another host, by the sftp that backup.copy names");
  copy->add_option("--config", *config, "the server's tkdc.toml")->required();
  copy->callback([config, &exit_status] {
    auto done = copy_backups(*config);
    exit_status = done ? kBackupGood : say_failure(kCopyCommand, done.error(), kBackupFailed);
  });
}

}  // namespace tkdc::cli
