// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/doctor_checks.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <thread>

#include "base/machine.h"
#include "service/server/local_socket.h"
#include "tools/cli/ask_agent.h"
#include "tools/cli/ask_status.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;
using Kind = Patient::Kind;

constexpr long long kStatusMs = 5'000;
constexpr unsigned kServer = unsigned(Kind::kServer), kAgent = unsigned(Kind::kAgent),
                   kKrb5 = unsigned(Kind::kKrb5);

constexpr Check kChecks[] = {
    {"configuration", kServer | kAgent, check_configuration, false},
    {"files", kServer | kAgent, check_files, false},
    {"certificate", kServer, check_certificate, true},
    {"disks", kServer, check_disks, true},
    {"running", kServer | kAgent, check_running, true},
    {"ports", kServer | kAgent, check_ports, false},
    {"session", kServer | kAgent, check_session, true},
    {"clocks", kServer | kAgent, check_clocks, true},
    {"audit-log", kServer, check_audit_log, true},
    {"shares", kServer, check_shares, true},
    {"backups", kServer, check_backups, true},
    {"dropped-keys", kServer, check_dropped_keys, true},
    {"former-keys", kServer | kAgent, check_former_keys, true},
    {"keys", kServer, check_keys, true},
    {"epochs", kServer, check_epochs, true},
    {"revoked", kServer | kAgent, check_revoked, true},
    {"broken-checks", kServer, check_broken_checks, true},
    {"agents", kServer, check_agents, true},
    {"programs", kAgent, check_programs, true},
    {"services", kKrb5, check_services, false},
    {"room", kKrb5, check_room, false},
    {"preload", kKrb5, check_preload, false},
    {"module", kKrb5, check_module, false},
    {"entry-points", kKrb5, check_entry_points, false},
    {"database", kKrb5, check_database, false},
};

// What it says of itself, or why it says nothing.
void take_status(Patient& patient, const Result<std::string>& said) {
  if (said) patient.status = nlohmann::json::parse(*said, nullptr, false);
  if (!said) patient.silence = said.error().message;
  if (said && !patient.status.is_object()) patient.silence = "its answer is not JSON";
  if (!patient.silence.empty()) patient.status = nullptr;
}

std::string unit_of(Kind kind, const std::string& name) {
  return (kind == Kind::kAgent ? "tkdc-agent@" : "tkdc-server@") + name;
}

Result<std::string> ask_a_server(const std::string& socket) {
  LocalAsk ask;
  ask.op = LocalOp::kStatus;
  auto said = ask_server(socket, ask, kStatusMs);
  if (!said) return said.error();
  return std::string(said->begin(), said->end());
}

Result<std::string> ask_for_status(const Patient& patient) {
  if (patient.kind == Kind::kAgent) {
    auto socket = socket_of(patient.config);
    return socket ? ask_agent(*socket) : socket;
  }
  if (!patient.server) return fail("its configuration cannot be read");
  return ask_a_server(local_socket_path(patient.server->store_path));
}

Patient member_of(const std::string& config, const std::string& root) {
  Patient out;
  std::error_code error;
  out.config = fs::absolute(config, error).lexically_normal().string();
  out.folder = fs::path(out.config).parent_path().string();
  out.name = fs::path(out.folder).filename().string();
  out.kind = fs::path(config).filename() == "agent.toml" ? Kind::kAgent : Kind::kServer;
  out.unit = unit_of(out.kind, out.name);
  out.root = root;
  if (out.kind == Kind::kServer)
    if (auto read = load_server_config(config)) out.server = std::move(*read);
  take_status(out, ask_for_status(out));
  return out;
}

}  // namespace

std::span<const Check> all_checks() { return kChecks; }

bool concerns(const Check& check, const Patient& patient) {
  return (check.kinds & unsigned(patient.kind)) != 0 && (check.by_status || !patient.only_status);
}

Patient patient_at(const std::string& socket, Kind kind) {
  Patient out;
  out.only_status = true;
  out.kind = kind;
  out.name = fs::path(socket).stem().string();
  out.folder = "/etc/tkdc/" + out.name;
  out.config = out.folder + (kind == Kind::kAgent ? "/agent.toml" : "/tkdc.toml");
  out.unit = unit_of(kind, out.name);
  take_status(out, kind == Kind::kAgent ? ask_agent(socket) : ask_a_server(socket));
  return out;
}

std::vector<Patient> patients_of(const std::vector<std::string>& configs, const std::string& root) {
  std::vector<std::string> found = configs;
  if (configs.empty())
    for (const char* name : {"tkdc.toml", "agent.toml"})
      std::ranges::copy(configs_in(root + "/etc/tkdc", name), std::back_inserter(found));
  std::ranges::sort(found);
  std::vector<Patient> out;
  for (const std::string& config : found) out.push_back(member_of(config, root));
  if (configs.empty() &&
      std::ranges::any_of(out, [](const Patient& one) { return one.kind == Kind::kAgent; })) {
    Patient krb5;
    krb5.kind = Kind::kKrb5;
    krb5.name = "krb5";
    krb5.root = root;
    if (root.empty()) {
      krb5.check_krb5 = "/usr/lib/tkdc/check-krb5";
      krb5.reconcile = "/usr/sbin/tkdc-reconcile";
      krb5.systemctl = "/usr/bin/systemctl";
    }
    out.push_back(std::move(krb5));
  }
  return out;
}

Finding look_within(const Check& check, const Patient& patient, std::chrono::milliseconds most,
                    bool& late) {
  // What runs on after the deadline has its own copies.
  auto task = std::make_shared<std::packaged_task<Finding()>>([look = check.look, copy = patient] {
    try {
      return look(copy);
    } catch (const std::exception& error) {
      return unknown(error.what());
    }
  });
  std::future<Finding> found = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (found.wait_for(most) == std::future_status::ready) return found.get();
  late = true;
  return wrong("no result within " + std::to_string(most.count() / 1000) + " s",
               "journalctl -b -p warning: a disk or a name server that does not answer");
}

}  // namespace tkdc::cli
