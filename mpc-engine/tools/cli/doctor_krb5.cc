// SPDX-License-Identifier: Apache-2.0
// Whether a KDC host's krb5 works with tkdc: as the package tkdc-kdc wires it.
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

#include "base/nearest.h"
#include "service/wire/module_keys.h"
#include "tools/cli/child.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/kdc_profile.h"
#include "tools/cli/krbtgt.h"
#include "tools/cli/spare.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kAskTime = std::chrono::seconds(5);
constexpr auto kCompareTime = std::chrono::seconds(15);
constexpr const char* kOtherRoot = "a program of another root is not run: look on that host";
constexpr const char* kKrb5Units[] = {"krb5-kdc.service", "krb5-admin-server.service"};
constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr std::uint64_t kLittleBytes = 1024 * kMiB;                       // as of a server's disks
constexpr const char* kOtherModule = "is served by the database module";  // tkdc-reconcile
constexpr const char* kWireAgain =
    "apt install --reinstall tkdc-kdc; systemctl daemon-reload; systemctl restart ";

std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
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

// Paths with colons between, as krb5 takes them of an environment.
std::vector<std::string> paths_of(const char* variable, const char* usual) {
  const char* named = std::getenv(variable);
  std::istringstream text(named != nullptr ? named : usual);
  std::vector<std::string> out;
  for (std::string path; std::getline(text, path, ':');) out.push_back(path);
  return out;
}

struct KdcFiles {
  std::string kdc_conf;             // its path
  KdcProfile all;                   // with krb5.conf, as krb5kdc reads them
  std::vector<std::string> realms;  // that kdc.conf has
  std::string serves;               // the one that krb5kdc serves; empty: not known
};

KdcFiles kdc_files(const std::string& root) {
  KdcFiles out;
  for (const std::string& path : paths_of("KRB5_KDC_PROFILE", "/etc/krb5kdc/kdc.conf")) {
    if (out.kdc_conf.empty()) out.kdc_conf = path;
    out.all.add_file(root, path);
  }
  out.realms = out.all.sections("realms");
  for (const std::string& path : paths_of("KRB5_CONFIG", "/etc/krb5.conf"))
    out.all.add_file(root, path);
  // With -r it serves others.
  static const std::regex kRealm(R"((^|\n)\s*DAEMON_ARGS=.*-r)");
  if (!std::regex_search(slurp(root + "/etc/default/krb5-kdc"), kRealm))
    out.serves = out.all.value({"libdefaults", "default_realm"});
  return out;
}

// A realm whose database ktkdc is to open, and another module does: the one that krb5kdc serves,
// one whose module is misspelt, and the first where ktkdc opens none.
std::optional<RealmModule> served_otherwise(const KdcFiles& files) {
  std::vector<std::string> realms = files.realms;
  if (!files.serves.empty()) realms.insert(realms.begin(), files.serves);
  bool is_any_served = false;
  std::optional<RealmModule> first;
  for (const std::string& realm : realms) {
    const RealmModule module = module_of_realm(files.all, realm);
    is_any_served = is_any_served || module.library == "ktkdc";
    if (module.library == "ktkdc") continue;
    if (realm == files.serves || (module.is_named && !module.is_there)) return module;
    if (!first) first = module;
  }
  return is_any_served ? std::nullopt : first;
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

std::string meant_by(const std::string& name) {
  const std::string meant =
      nearest(name, {std::begin(tkdc_module_keys), std::end(tkdc_module_keys)});
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace

// What is to start with the host runs. Of a spare that is not kadmind.
Finding check_services(const Patient& patient) {
  if (patient.systemctl.empty()) return unknown(kOtherRoot);
  std::string running;
  const std::string folder = patient.root + "/etc/systemd/system";
  const std::string kadmind = "krb5-admin-server.service", kpropd = "krb5-kpropd.service";
  // Debian's units conflict: systemd starts one of both, and `start` of the other would stop it.
  if (is_enabled(kadmind, folder) && is_enabled(kpropd, folder))
    return warning(kadmind + " and " + kpropd +
                       " are both to start with the host, and each stops "
                       "the other",
                   "on a replica: systemctl disable krb5-admin-server; on the primary KDC: "
                   "systemctl disable krb5-kpropd");
  for (const std::string unit :
       {"krb5-kdc.service", "krb5-admin-server.service", "krb5-kpropd.service"}) {
    if (!is_enabled(unit, folder)) continue;
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
  const KdcFiles files = kdc_files(patient.root);
  std::string known;
  for (const char* name : tkdc_module_keys)
    known += (known.empty() ? "" : ", ") + std::string(name);
  for (const std::string& name : files.all.names())
    if (name.starts_with("tkdc_") &&
        std::ranges::find(tkdc_module_keys, name) == std::end(tkdc_module_keys))
      return wrong(files.kdc_conf + ": there is no key " + name + meant_by(name),
                   "correct it: " + known + "; systemctl restart krb5-kdc krb5-admin-server");
  if (const std::string misspelt = misspelt_module_key(files.all); !misspelt.empty())
    return wrong(files.kdc_conf + ", " + misspelt,
                 "correct it; systemctl restart krb5-kdc krb5-admin-server");
  const std::string stanza = ktkdc_stanza(files.all);
  if (stanza.empty())
    return wrong(files.kdc_conf + " names no module ktkdc",
                 "write db_library = ktkdc into [dbmodules] there (docs/operations.md); systemctl "
                 "restart krb5-kdc krb5-admin-server");
  if (const auto other = served_otherwise(files))
    return wrong(
        "realm " + other->realm + " is served by the database module " + other->library +
            (other->is_named ? ": its database_module = " + other->stanza +
                                   (other->is_there ? "" : ", which is no stanza of [dbmodules]")
                             : ": it has no database_module"),
        files.kdc_conf + ", [realms], " + other->realm + ": database_module = " + stanza +
            "; systemctl restart krb5-kdc krb5-admin-server; then new keys (cpw, ktadd) for the "
            "principals that were made meanwhile");
  return good(files.kdc_conf + " names ktkdc");
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
  if (said.find(kOtherModule) != std::string::npos)
    return wrong(said.substr(0, said.find('\n')),
                 "as module above says, or as it says itself; systemctl restart krb5-kdc "
                 "krb5-admin-server");
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
