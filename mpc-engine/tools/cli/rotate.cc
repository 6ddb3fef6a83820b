// SPDX-License-Identifier: Apache-2.0
// `tkdc rotate krbtgt`: a new version of the own realm's krbtgt, and with --purge the end
// of all older ones. By the stock kadmin.local on the KDC's host, whose database keeps the
// versions; what is new here is that each step's outcome is looked at: kadmin.local ends
// with 0 whatever happens.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "tools/cli/child.h"
#include "tools/cli/commands.h"

namespace tkdc::cli {
namespace {

constexpr const char* kLibrary = "libtkdc-k5.so";
constexpr const char* kLibraryFolder = TKDC_PRELOAD_FOLDER;

struct RotateOptions {
  std::string realm, library;
  bool now = false, purge = false;
};

class Rotation {
 public:
  explicit Rotation(RotateOptions options) : options_(std::move(options)) {}
  Result<int> run();

 private:
  Result<void> find_library();
  Result<void> find_realm();
  Result<std::string> kadmin(const std::string& query);
  Result<std::set<unsigned>> versions();
  Result<void> draw();
  Result<void> purge();
  std::string principal() const { return "krbtgt/" + options_.realm + "@" + options_.realm; }

  RotateOptions options_;
  std::set<unsigned> before_, after_;
};

bool is_realm(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

std::string listed(const std::set<unsigned>& numbers) {
  std::string text;
  for (unsigned number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

// Beside this program, as built, or where it is installed.
Result<void> Rotation::find_library() {
  if (!options_.library.empty()) return {};
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder : {self, std::filesystem::path(kLibraryFolder)}) {
    options_.library = folder / kLibrary;
    if (!error && ::access(options_.library.c_str(), R_OK) == 0) return {};
  }
  return fail(std::string(kLibrary) + " is neither beside tkdc nor in " + kLibraryFolder +
              "; name it with --library");
}

Result<std::string> Rotation::kadmin(const std::string& query) {
  std::vector<std::string> argv = {"kadmin.local"};
  if (!options_.realm.empty()) argv.insert(argv.end(), {"-r", options_.realm});
  argv.insert(argv.end(), {"-q", query});
  auto done = run_child(argv, {"LD_PRELOAD=" + options_.library, "LC_ALL=C"});
  if (!done) return done.error();
  std::istringstream lines(done->output);
  for (std::string line; std::getline(lines, line);)
    if (line.find(" while ") != std::string::npos || line.find("ktkdc: ") != std::string::npos)
      return fail(line);
  if (done->status != 0)
    return fail("kadmin.local ended with " + std::to_string(done->status) + ": " + done->output);
  return done->output;
}

// The own realm's krbtgt is the one that names one realm twice.
Result<void> Rotation::find_realm() {
  if (!options_.realm.empty()) {
    if (!is_realm(options_.realm)) return fail("--realm: not a realm that kadmin.local can name");
    return {};
  }
  auto list = kadmin("listprincs krbtgt/*");
  if (!list) return list.error();
  std::istringstream lines(*list);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.rfind('@');
    if (!line.starts_with("krbtgt/") || at == std::string::npos) continue;
    const std::string realm = line.substr(at + 1);
    if (line != "krbtgt/" + realm + "@" + realm || !is_realm(realm)) continue;
    if (!options_.realm.empty()) return fail("the database has several realms: use --realm");
    options_.realm = realm;
  }
  if (options_.realm.empty()) return fail("the database has no krbtgt of its own realm");
  return {};
}

Result<std::set<unsigned>> Rotation::versions() {
  auto entry = kadmin("getprinc " + principal());
  if (!entry) return entry.error();
  std::set<unsigned> out;
  std::istringstream lines(*entry);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kKey = "Key: vno ";
    if (!line.starts_with(kKey)) continue;
    std::istringstream rest(line.substr(kKey.size()));
    if (unsigned version = 0; rest >> version) out.insert(version);
  }
  if (out.empty()) return fail(principal() + " has no keys");
  return out;
}

Result<void> Rotation::draw() {
  auto changed = kadmin("cpw -randkey -keepold " + principal());
  if (!changed) return changed.error();
  auto now = versions();
  if (!now) return now.error();
  after_ = std::move(*now);
  if (*after_.rbegin() <= *before_.rbegin())
    return fail("kadmin.local has made no new version of " + principal());
  return {};
}

Result<void> Rotation::purge() {
  auto purged = kadmin("purgekeys " + principal());
  if (!purged)
    return fail(
        purged.error().message +
        "\nOld versions may still exist at the servers: `tkdc reconcile` names those that the "
        "database names no more. Revoke the time in which they sealed (tkdc revoke) at a "
        "server.");
  auto now = versions();
  if (!now) return now.error();
  if (now->size() != 1) return fail(principal() + " still has versions " + listed(*now));
  return {};
}

Result<int> Rotation::run() {
  auto done = find_library();
  if (done.ok()) done = find_realm();
  if (!done.ok()) return done.error();
  auto versions_before = versions();
  if (!versions_before) return versions_before.error();
  before_ = std::move(*versions_before);
  if (!options_.now) {
    std::cout << principal() << " has versions " << listed(before_)
              << ". Nothing was changed: --now draws a new one"
              << (options_.purge ? " and removes these at the servers, with all their tickets" : "")
              << ".\n";
    return 2;
  }
  done = draw();
  if (!done.ok()) return done.error();
  std::cout << principal() << ": version " << *after_.rbegin() << " is drawn and in use.\n";
  if (!options_.purge) {
    std::cout << "Versions " << listed(before_)
              << " stay in the database, and open tickets where the servers still hold them (tkdc "
                 "reconcile);\n--purge, or purgekeys in kadmin.local, ends them.\n";
    return 0;
  }
  done = purge();
  if (!done.ok()) return done.error();
  std::cout << "Versions " << listed(before_)
            << " are removed at the servers; all their tickets are void.\nThree servers keep "
               "removed keys for some days, unused: `tkdc reconcile purge --principal "
            << principal() << "` ends them now.\n";
  return 0;
}

int run_rotate(const RotateOptions& options) {
  auto done = Rotation(options).run();
  if (done.ok()) return *done;
  std::cerr << "tkdc rotate: " << done.error().message << "\n";
  return 1;
}

}  // namespace

void add_rotate(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RotateOptions>();
  CLI::App* command = app.add_subcommand("rotate", "draw a new version of a key of the realm");
  command->require_subcommand(1);
  CLI::App* krbtgt = command->add_subcommand("krbtgt", "the key of the realm's own tickets");
  krbtgt->add_flag("--now", options->now, "do it; without, only say what would be done");
  krbtgt->add_flag("--purge", options->purge,
                   "remove all older versions: every ticket of the realm ends");
  krbtgt->add_option("--realm", options->realm, "krb5.conf's default realm unless given");
  krbtgt->add_option("--library", options->library, "libtkdc-k5.so, if it is in another place");
  krbtgt->callback([options, &exit_status] { exit_status = run_rotate(*options); });
}

}  // namespace tkdc::cli
