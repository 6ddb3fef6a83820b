// SPDX-License-Identifier: Apache-2.0
// `tkdc doctor`: looks at the members of this host and at its krb5, and says of each check that it
// is well, or what is wrong and which command mends it (tools/cli/doctor_checks.h).
//
// Exit status: 0 when all is well, else 1, after warnings too.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/hardening.h"
#include "tools/cli/commands.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;
using State = Finding::State;

struct DoctorOptions {
  std::vector<std::string> configs, sockets, server_sockets;
  std::string root;
  bool json = false, failures_only = false;
};

const char* word_of(State state) {
  switch (state) {
    case State::kGood: return "ok";
    case State::kWarning: return "warning";
    case State::kWrong: return "WRONG";
    case State::kUnknown: break;
  }
  return "unknown";
}

struct Report {
  const DoctorOptions& options;
  json findings = json::array();
  std::size_t bad = 0, warnings = 0;

  void add(const std::string& of, const char* check, const Finding& finding) {
    if (finding.state == State::kWrong) ++bad;
    if (finding.state == State::kWarning) ++warnings;
    if (options.failures_only && finding.remedy.empty()) return;
    if (!options.json) {
      const std::string word = word_of(finding.state), name = of + " " + check;
      std::cout << word << std::string(9 - word.size(), ' ') << name
                << std::string(name.size() < 28 ? 28 - name.size() : 1, ' ')
                << printable(finding.text) << "\n";
      if (!finding.remedy.empty())
        std::cout << std::string(9, ' ') << "-> " << printable(finding.remedy) << "\n";
      return;
    }
    json one = {{"of", of}, {"check", check}, {"text", finding.text}};
    one["state"] = finding.state == State::kWrong ? "wrong" : word_of(finding.state);
    if (!finding.remedy.empty()) one["remedy"] = finding.remedy;
    findings.push_back(std::move(one));
  }
  void end() const {
    if (options.json)
      std::cout << json{{"well", is_well()}, {"findings", findings}}.dump(
                       2, ' ', true, json::error_handler_t::replace)
                << "\n";
    else
      std::cout << (is_well()      ? "All is well.\n"
                    : warnings > 0 ? std::to_string(bad) + " wrong, to be warned of " +
                                         std::to_string(warnings) + ".\n"
                                   : std::to_string(bad) + " wrong.\n");
    std::cout.flush();
  }
  bool is_well() const { return bad + warnings == 0; }
};

int run_doctor(const DoctorOptions& options) {
  Report report{options};
  bool late = false;
  std::vector<Patient> patients;
  for (const std::string& socket : options.sockets)
    patients.push_back(patient_at(socket, Patient::Kind::kAgent));
  for (const std::string& socket : options.server_sockets)
    patients.push_back(patient_at(socket, Patient::Kind::kServer));
  if (patients.empty()) patients = patients_of(options.configs, options.root);
  if (patients.empty())
    report.add("host", "members",
               wrong("no tkdc.toml or agent.toml in a folder of " + options.root +
                         "/etc/tkdc that can be read",
                     "run this as root; who may only look: tkdc doctor --socket FILE or "
                     "--server-socket FILE; where no member was made yet: tkdc init"));
  for (const Patient& patient : patients)
    for (const Check& check : all_checks())
      if (concerns(check, patient))
        report.add(patient.name, check.name, look_within(check, patient, kCheckTime, late));
  report.end();
  const int status = report.is_well() ? 0 : 1;
  if (late) ::_exit(status);  // under a thread that still waits nothing is taken apart
  return status;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand(
      "doctor", "look for what is wrong on this host, and say which command mends it");
  CLI::Option* config = command->add_option(
      "--config", options->configs,
      "a tkdc.toml or agent.toml, instead of all below /etc/tkdc and krb5; may be given again");
  CLI::Option* root = command->add_option("--root", options->root,
                                          "a folder that stands for /, for a host's image");
  CLI::Option* agent = command->add_option(
      "--socket", options->sockets,
      "an agent's status_socket: what can be told without a file of it; may be given again");
  CLI::Option* server =
      command->add_option("--server-socket", options->server_sockets,
                          "the same of a server's control.status_socket, on its host");
  for (CLI::Option* option : {config, agent, server}) option->allow_extra_args(false);
  for (CLI::Option* option : {agent, server}) option->excludes(config)->excludes(root);
  command->add_flag("--failures-only", options->failures_only, "leave out what is well");
  command->add_flag("--json", options->json, "the findings for a program");
  command->callback([options, &exit_status] {
    forbid_dumps();
    exit_status = run_doctor(*options);
  });
}

}  // namespace tkdc::cli
