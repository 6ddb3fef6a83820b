// SPDX-License-Identifier: Apache-2.0
// `tkdc doctor`: looks at the members of this host and at its krb5, and says of each check that it
// is well, or what is wrong and which command mends it (tools/cli/doctor_checks.h).
//
// Exit status: 0 when all is well, else 1.
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
  std::vector<std::string> configs;
  std::string root;
  bool json = false, failures_only = false;
};

const char* word_of(State state) {
  switch (state) {
    case State::kGood: return "ok";
    case State::kWrong: return "WRONG";
    case State::kUnknown: break;
  }
  return "unknown";
}

struct Report {
  const DoctorOptions& options;
  json findings = json::array();
  std::size_t bad = 0;

  void add(const std::string& of, const char* check, const Finding& finding) {
    if (finding.state == State::kWrong) ++bad;
    if (options.failures_only && finding.state != State::kWrong) return;
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
      std::cout << json{{"well", bad == 0}, {"findings", findings}}.dump(
                       2, ' ', true, json::error_handler_t::replace)
                << "\n";
    else
      std::cout << (bad == 0 ? "All is well.\n" : std::to_string(bad) + " wrong.\n");
    std::cout.flush();
  }
};

int run_doctor(const DoctorOptions& options) {
  Report report{options};
  bool late = false;
  const auto patients = patients_of(options.configs, options.root);
  if (patients.empty())
    report.add("host", "members",
               wrong("no tkdc.toml or agent.toml in a folder of " + options.root +
                         "/etc/tkdc that can be read",
                     "run this as root, or name it: tkdc doctor --config FILE"));
  for (const Patient& patient : patients)
    for (const Check& check : all_checks())
      if ((check.kinds & unsigned(patient.kind)) != 0)
        report.add(patient.name, check.name, look_within(check, patient, kCheckTime, late));
  report.end();
  const int status = report.bad == 0 ? 0 : 1;
  if (late) ::_exit(status);  // under a thread that still waits nothing is taken apart
  return status;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand(
      "doctor", "look for what is wrong on this host, and say which command mends it");
  command
      ->add_option("--config", options->configs,
                   "a tkdc.toml or agent.toml, instead of all below /etc/tkdc and krb5; may be "
                   "given again")
      ->allow_extra_args(false);
  command->add_option("--root", options->root, "a folder that stands for /, for a host's image");
  command->add_flag("--failures-only", options->failures_only, "leave out what is well");
  command->add_flag("--json", options->json, "the findings for a program");
  command->callback([options, &exit_status] {
    forbid_dumps();
    exit_status = run_doctor(*options);
  });
}

}  // namespace tkdc::cli
