// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/doctor_checks.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "base/machine.h"
#include "service/server/local_socket.h"
#include "tools/cli/ask_agent.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;
using Kind = Patient::Kind;

constexpr long long kStatusMs = 5'000;
constexpr unsigned kServer = unsigned(Kind::kServer), kAgent = unsigned(Kind::kAgent),
                   kKrb5 = unsigned(Kind::kKrb5);

constexpr Check kChecks[] = {
    {"configuration", kServer | kAgent, check_configuration},
    {"files", kServer | kAgent, check_files},
    {"certificate", kServer, check_certificate},
    {"disks", kServer, check_disks},
    {"running", kServer | kAgent, check_running},
    {"ports", kServer | kAgent, check_ports},
    {"session", kServer | kAgent, check_session},
    {"clocks", kServer | kAgent, check_clocks},
    {"audit-log", kServer, check_audit_log},
    {"shares", kServer, check_shares},
    {"backups", kServer, check_backups},
    {"former-keys", kServer | kAgent, check_former_keys},
    {"preload", kKrb5, check_preload},
    {"module", kKrb5, check_module},
    {"entry-points", kKrb5, check_entry_points},
};

Result<std::string> ask_for_status(const Patient& patient) {
  if (patient.kind == Kind::kAgent) {
    auto socket = socket_of(patient.config);
    return socket ? ask_agent(*socket) : socket;
  }
  if (!patient.server) return fail("its configuration cannot be read");
  LocalAsk ask;
  ask.op = LocalOp::kStatus;
  auto said = ask_server(local_socket_path(patient.server->store_path), ask, kStatusMs);
  if (!said) return said.error();
  return std::string(said->begin(), said->end());
}

Patient member_of(const std::string& config, const std::string& root) {
  Patient out;
  std::error_code error;
  out.config = fs::absolute(config, error).lexically_normal().string();
  out.folder = fs::path(out.config).parent_path().string();
  out.name = fs::path(out.folder).filename().string();
  out.kind = fs::path(config).filename() == "agent.toml" ? Kind::kAgent : Kind::kServer;
  out.unit = (out.kind == Kind::kAgent ? "tkdc-agent@" : "tkdc-server@") + out.name;
  out.root = root;
  if (out.kind == Kind::kServer)
    if (auto read = load_server_config(config)) out.server = std::move(*read);
  auto said = ask_for_status(out);
  if (said) out.status = nlohmann::json::parse(*said, nullptr, false);
  if (!said) out.silence = said.error().message;
  if (said && !out.status.is_object()) out.silence = "its answer is not JSON";
  if (!out.silence.empty()) out.status = nullptr;
  return out;
}

}  // namespace

std::span<const Check> all_checks() { return kChecks; }

std::vector<Patient> patients_of(const std::vector<std::string>& configs, const std::string& root) {
  std::vector<std::string> found = configs;
  std::error_code error;
  if (configs.empty())
    for (const auto& entry : fs::directory_iterator(root + "/etc/tkdc", error))
      for (const char* name : {"tkdc.toml", "agent.toml"})
        if (fs::exists(entry.path() / name, error)) found.push_back((entry.path() / name).string());
  std::ranges::sort(found);
  std::vector<Patient> out;
  for (const std::string& config : found) out.push_back(member_of(config, root));
  if (configs.empty() &&
      std::ranges::any_of(out, [](const Patient& one) { return one.kind == Kind::kAgent; })) {
    Patient krb5;
    krb5.kind = Kind::kKrb5;
    krb5.name = "krb5";
    krb5.root = root;
    if (root.empty()) krb5.check_krb5 = "/usr/lib/tkdc/check-krb5";
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
