// SPDX-License-Identifier: Apache-2.0
// What `tkdc doctor` looks at: one table of small functions (docs/adr/0052). Each looks at one
// thing of a member on this host, or of its krb5, and says what mends it. What a daemon or another
// program finds out is asked of that: --check-config, the status, check-krb5.
//
// Each check runs on a thread of its own and is given up after kCheckTime. They read no secret,
// only the names, owners and modes of the files that hold some.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "service/server/config.h"

namespace tkdc::cli {

inline constexpr auto kCheckTime = std::chrono::seconds(20);

struct Finding {
  // kWarning: service goes on, and nothing is lost yet. kUnknown: another finding says why it could
  // not be looked at.
  enum class State : std::uint8_t { kGood, kWarning, kWrong, kUnknown };
  State state = State::kGood;
  std::string text;         // what was found
  std::string remedy = "";  // of what is wrong: the command that mends it
};

// Whose health it is: a member of this host, or the host's krb5.
struct Patient {
  enum class Kind : std::uint8_t { kServer = 1, kAgent = 2, kKrb5 = 4 };
  Kind kind = Kind::kServer;
  std::string name;                    // "server0"; "krb5"
  std::string config, folder, unit;    // of a member
  std::optional<ServerConfig> server;  // its configuration, if it can be read
  nlohmann::json status;               // what it says of itself; null: nothing
  std::string silence;                 // why not
  std::string root;                    // before krb5's paths
  // Programs; empty: they are another root's.
  std::string check_krb5, reconcile, systemctl;
  // Asked over its status socket: its files are not looked at, and where they usually are stands
  // in `config` and `folder`.
  bool only_status = false;
};

struct Check {
  const char* name;
  unsigned kinds;  // Patient::Kind, added up
  Finding (*look)(const Patient& patient);
  bool by_status = false;  // it needs no file of the member's
};
std::span<const Check> all_checks();

// What is to be looked at on this host: those configurations, or, where none is named, all members
// below ROOT/etc/tkdc, and krb5 where one of them is an agent. Statuses are asked for here.
std::vector<Patient> patients_of(const std::vector<std::string>& configs, const std::string& root);
// One that answers at a status socket, an agent's or a server's, for who may read no file of it.
// Its name is the socket's.
Patient patient_at(const std::string& socket, Patient::Kind kind);
// Whether a check is for this patient.
bool concerns(const Check& check, const Patient& patient);

// Of one check, by its deadline. `late`: it was given up, and its thread runs on. An exception is
// unknown.
Finding look_within(const Check& check, const Patient& patient, std::chrono::milliseconds most,
                    bool& late);

// For the table, by the files that they are in.
Finding check_configuration(const Patient& patient);  // doctor_files.cc
Finding check_files(const Patient& patient);
Finding check_certificate(const Patient& patient);
Finding check_disks(const Patient& patient);
Finding check_backups(const Patient& patient);  // doctor_backups.cc
Finding check_running(const Patient& patient);  // doctor_status.cc
Finding check_session(const Patient& patient);
Finding check_clocks(const Patient& patient);
Finding check_audit_log(const Patient& patient);
Finding check_shares(const Patient& patient);
Finding check_dropped_keys(const Patient& patient);
Finding check_former_keys(const Patient& patient);
Finding check_keys(const Patient& patient);
Finding check_epochs(const Patient& patient);
Finding check_revoked(const Patient& patient);
Finding check_broken_checks(const Patient& patient);
Finding check_programs(const Patient& patient);
Finding check_agents(const Patient& patient);
// What a server warns of itself in this field of its status, or `well`.
Finding told(const Patient& patient, const char* field, std::string remedy, std::string well);
Finding check_ports(const Patient& patient);     // doctor_ports.cc
Finding check_services(const Patient& patient);  // doctor_krb5.cc
Finding check_room(const Patient& patient);
Finding check_preload(const Patient& patient);
Finding check_module(const Patient& patient);
Finding check_entry_points(const Patient& patient);
Finding check_database(const Patient& patient);

inline Finding good(std::string text) { return {Finding::State::kGood, std::move(text)}; }
inline Finding wrong(std::string text, std::string remedy) {
  return {Finding::State::kWrong, std::move(text), std::move(remedy)};
}
inline Finding warning(std::string text, std::string remedy) {
  return {Finding::State::kWarning, std::move(text), std::move(remedy)};
}
inline Finding unknown(std::string text) { return {Finding::State::kUnknown, std::move(text)}; }

}  // namespace tkdc::cli
