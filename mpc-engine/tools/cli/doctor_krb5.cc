// SPDX-License-Identifier: Apache-2.0
// Whether a KDC host's krb5 works with tkdc: as the package tkdc-kdc wires it.
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "service/wire/module_keys.h"
#include "tools/cli/child.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/krbtgt.h"
#include "tools/cli/spare.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kAskTime = std::chrono::seconds(5);
constexpr auto kCompareTime = std::chrono::seconds(15);
constexpr const char* kOtherRoot = "a program of another root is not run: look on that host";
constexpr int kMostDeep = 3;
constexpr const char* kKrb5Units[] = {"krb5-kdc.service", "krb5-admin-server.service"};
constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr std::uint64_t kLittleBytes = 1024 * kMiB;  // as of a server's disks
constexpr const char* kWireAgain =
    "apt install --reinstall tkdc-kdc; systemctl daemon-reload; systemctl restart ";

std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// With what it includes, so deep at most: a file may include itself.
std::string profile_text(const std::string& root, const std::string& path, int depth) {
  if (depth == 0) return {};
  static const std::regex kInclude(R"(^(include|includedir)\s+(/\S+)\s*$)");
  std::string out;
  std::error_code error;
  std::istringstream lines(slurp(root + path));
  std::smatch found;
  for (std::string line; std::getline(lines, line); out += line + "\n") {
    if (!std::regex_match(line, found, kInclude)) continue;
    const std::string named = found[2];
    if (found[1] == "include") out += profile_text(root, named, depth - 1);
    for (const auto& entry : fs::directory_iterator(root + named, error))
      if (entry.path().filename().string().front() != '.')
        out += profile_text(root, named + "/" + entry.path().filename().string(), depth - 1);
  }
  return out;
}

// Where systemd looks.
std::vector<fs::path> unit_folders(const std::string& root) {
  std::vector<fs::path> out;
  for (const char* folder : {"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"})
    out.push_back(root + folder + "/systemd/system");
  return out;
}

bool is_installed(const std::string& root, const std::string& unit) {
  std::error_code error;
  for (const fs::path& folder : unit_folders(root))
    if (fs::exists(folder / unit, error)) return true;
  return false;
}

// The library that a drop-in of the unit preloads; empty: none does.
std::string preloaded(const std::string& root, const std::string& unit) {
  static const std::regex kLine(R"re(^\s*Environment=.*LD_PRELOAD=([^\s"':]*libtkdc-k5\.so))re");
  std::error_code error;
  for (const fs::path& folder : unit_folders(root))
    for (const auto& entry : fs::directory_iterator(folder / (unit + ".d"), error)) {
      std::istringstream lines(slurp(entry.path()));
      std::smatch found;
      for (std::string line; std::getline(lines, line);)
        if (entry.path().extension() == ".conf" && std::regex_search(line, found, kLine))
          return found[1];
    }
  return {};
}

std::string module_of(const std::string& root) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/usr/lib", error))
    if (const fs::path module = entry.path() / "krb5/plugins/kdb/ktkdc.so";
        fs::exists(module, error))
      return module.string();
  return {};
}

// The realm's own, if it is among the principals that have no key; else empty.
std::string own_krbtgt(const nlohmann::json& told) {
  const auto realm = told.is_object() ? told.find("realm") : told.end();
  if (!told.is_object() || realm == told.end() || !realm->is_string()) return {};
  const std::string name = "krbtgt/" + realm->get<std::string>() + "@" + realm->get<std::string>();
  const auto lost = told.find("without_keys");
  const bool is_lost = lost != told.end() && lost->is_array() &&
                       std::ranges::find(*lost, nlohmann::json(name)) != lost->end();
  return is_lost ? name : "";
}

}  // namespace

// What is to start with the host runs. Of a spare that is not kadmind.
Finding check_services(const Patient& patient) {
  if (patient.systemctl.empty()) return unknown(kOtherRoot);
  std::string running;
  for (const std::string unit :
       {"krb5-kdc.service", "krb5-admin-server.service", "krb5-kpropd.service"}) {
    if (!is_enabled(unit, patient.root + "/etc/systemd/system")) continue;
    auto asked = run_child({patient.systemctl, "is-active", unit}, {}, kAskTime);
    if (!asked) return unknown(asked.error().message);
    const std::string word = asked->output.substr(0, asked->output.find('\n'));
    if (asked->status != 0 && word != "inactive" && word != "failed" && word != "activating" &&
        word != "deactivating")
      return unknown("systemctl says of " + unit + ": " + word);
    if (asked->status != 0)
      return wrong(unit + " is " + word,
                   "journalctl -b -u " + unit + "; then systemctl start " + unit);
    running += (running.empty() ? "" : ", ") + unit;
  }
  if (running.empty())
    return warning("none is to start with the host", "systemctl enable --now krb5-kdc");
  return good(running + ": active");
}

// The database, and krb5kdc's log where it is a file.
Finding check_room(const Patient& patient) {
  for (const char* folder : {"/var/lib/krb5kdc", "/var/log"}) {
    struct statvfs disk {};
    if (statvfs((patient.root + folder).c_str(), &disk) != 0) continue;
    const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    const std::uint64_t all = std::uint64_t{disk.f_blocks} * disk.f_frsize;
    if (left < std::min(all / 10, kLittleBytes))
      return warning("the disk of " + std::string(folder) + " has " + std::to_string(left / kMiB) +
                         " of " + std::to_string(all / kMiB) + " MiB left",
                     std::string("df -h ") + folder + "; then make room there");
  }
  return good("room for database and logs");
}

Finding check_preload(const Patient& patient) {
  std::string units;
  for (const std::string unit : kKrb5Units) {
    if (!is_installed(patient.root, unit)) continue;
    const std::string library = preloaded(patient.root, unit);
    if (library.empty())
      return wrong(unit + " has no drop-in that preloads libtkdc-k5.so: it has no key",
                   kWireAgain + unit);
    if (!fs::exists(patient.root + library))
      return wrong(unit + " preloads " + library + ", which is not there", kWireAgain + unit);
    units += (units.empty() ? "" : ", ") + unit;
  }
  if (units.empty())
    return wrong("neither krb5-kdc.service nor krb5-admin-server.service is installed",
                 "apt install krb5-kdc krb5-admin-server");
  return good(units + ": libtkdc-k5.so is preloaded");
}

Finding check_module(const Patient& patient) {
  if (module_of(patient.root).empty())
    return wrong("ktkdc.so is in no folder of krb5's database modules",
                 "apt install --reinstall tkdc-kdc");
  const char* named = std::getenv("KRB5_KDC_PROFILE");
  const std::string profile = named != nullptr ? named : "/etc/krb5kdc/kdc.conf";
  static const std::regex kModule(R"((^|\n)\s*db_library\s*=\s*ktkdc\s*(\n|$))");
  static const std::regex kKey(R"((^|\n)\s*(tkdc_\w+)\s*=(?!\s*\{))");
  std::string known;
  for (const char* name : tkdc_module_keys)
    known += (known.empty() ? "" : ", ") + std::string(name);
  const std::string text = profile_text(patient.root, profile, kMostDeep);
  for (std::sregex_iterator key(text.begin(), text.end(), kKey), end; key != end; ++key)
    if (const std::string name = (*key)[2];
        std::ranges::find(tkdc_module_keys, name) == std::end(tkdc_module_keys))
      return wrong(profile + ": there is no key " + name,
                   "correct it: " + known + "; systemctl restart krb5-kdc krb5-admin-server");
  if (!std::regex_search(text, kModule))
    return wrong(profile + " names no module ktkdc",
                 "write db_library = ktkdc into [dbmodules] there (docs/operations.md); systemctl "
                 "restart krb5-kdc krb5-admin-server");
  return good(profile + " names ktkdc");
}

Finding check_entry_points(const Patient& patient) {
  const std::string& program = patient.check_krb5;
  if (program.empty()) return unknown(kOtherRoot);
  auto done = run_child({program}, {}, kCompareTime);
  if (!done) return wrong(done.error().message, "apt install --reinstall tkdc-kdc");
  if (done->status == 0) return good("all are as tkdc knows them");
  return wrong("tkdc does not fit the krb5 that is installed: " +
                   done->output.substr(0, done->output.find('\n')),
               "apt list -a libkrb5-3; apt install libkrb5-3=THE-VERSION-BEFORE; " + program);
}

// Whose keys are gone cannot log in, and with krbtgt's nobody can; a key too many harms nobody. On
// a spare, and while a server is away, it cannot be known.
Finding check_database(const Patient& patient) {
  if (patient.reconcile.empty()) return unknown(kOtherRoot);
  auto done = run_child({patient.reconcile, "--json"}, {}, kCompareTime);
  if (!done) return unknown(done.error().message);
  constexpr int kDiffers = 2;
  const std::string& said = done->output;
  if (done->status == 0) return good("names what the servers hold");
  if (done->status != kDiffers) return unknown(said.substr(0, said.find('\n')));
  const auto begin = said.find('{');
  const auto told =
      nlohmann::json::parse(begin == std::string::npos ? said : said.substr(begin), nullptr, false);
  const auto count = [&](const char* which) {
    const auto list = told.is_object() ? told.find(which) : told.end();
    return told.is_object() && list != told.end() && list->is_array() ? list->size() : 0;
  };
  const std::string text = std::to_string(count("dead")) + " keys exist at no server, " +
                           std::to_string(count("orphans")) + " at the servers alone";
  if (const std::string krbtgt = own_krbtgt(told); !krbtgt.empty())
    return wrong(krbtgt_is_dead(krbtgt) + "; in all " + text, kKrbtgtRemedy);
  return count("dead") > 0 ? wrong(text, "tkdc reconcile names them")
                           : warning(text, "tkdc reconcile");
}

}  // namespace tkdc::cli
