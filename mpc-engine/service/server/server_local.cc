// SPDX-License-Identifier: Apache-2.0
// What a server does for its own administrator, who reaches it by a socket on its host
// (service/server/local_socket.h): exports, dropped keys that come back, work on all shares, the
// repair of a lost server, its status.
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/machine.h"
#include "service/server/server.h"

namespace tkdc {

void Server::make_give_backs() {
  GiveBacksOptions options;
  options.installation = config_.installation;
  options.party = config_.party;
  options.approvers = config_.approvers;
  options.now_s = wall_s;
  options.audit = [this](const std::string& event) { return audit_->append_on_disk({event}); };
  give_backs_ = std::make_unique<GiveBacks>(std::move(options), *store_);
}

void Server::make_exports(SecretBuffer secret) {
  ExportsOptions options;
  options.installation = config_.installation;
  options.party = config_.party;
  options.parties = config_.parties;
  options.approvers = config_.approvers;
  options.used_file = used_requests_file(config_.store_path);
  options.secret = std::move(secret);
  options.now_s = wall_s;
  options.audit = [this](const std::string& event) { return audit_->append(event); };
  options.audit_on_disk = [this](const std::vector<std::string>& events) {
    return audit_->append_on_disk(events);
  };
  exports_ = std::make_unique<Exports>(std::move(options), *store_);
  shares_ = std::make_unique<ShareWatch>(
      config_.store_path, *jobs_, [](const std::string& line) { log_line(LogLevel::kError, line); },
      [this](const std::string& event) { audit(event); });
}

Result<void> Server::make_repair(std::optional<Fingerprint> certificate) {
  repair_ = std::make_unique<RepairWatch>(
      config_, certificate, *store_, *jobs_,
      [](const std::string& line) { log_line(LogLevel::kWarning, line); },
      [this](const std::string& event) { return audit_->append_on_disk({event}); });
  return repair_->load();
}

// The status and nothing else. Those who ask within a second share one.
void Server::answer_monitoring() {
  constexpr long long kFreshMs = 1'000;
  Bytes status;
  long long said_ms = 0;
  status_socket_->run([&](const LocalAsk& ask) -> Result<Bytes> {
    if (ask.op != LocalOp::kStatus)
      return fail("control.status_socket answers the status alone; use admin.sock in the store");
    const long long now_ms = monotonic_ms();
    if (status.empty() || now_ms - said_ms >= kFreshMs) {
      const std::string text = status_json();
      status.assign(text.begin(), text.end());
      said_ms = now_ms;
    }
    return status;
  });
}

// What needs a third server.
const char* Server::refusal_of_two(LocalOp op) {
  switch (op) {
    case LocalOp::kRepair:
      return "repair: of two servers none can be rebuilt from the other: docs/operations.md, A "
             "realm on two servers";
    case LocalOp::kGiveBackApproval:
    case LocalOp::kGiveBack: return "give-back: a realm on two servers keeps no dropped keys";
    default: return nullptr;
  }
}

Result<Bytes> Server::answer_administrator(const LocalAsk& ask) {
  if (const char* why = of_two() ? refusal_of_two(ask.op) : nullptr; why != nullptr)
    return fail(why);
  if (ask.op == LocalOp::kStatus) {
    const std::string status = status_json();
    return Bytes(status.begin(), status.end());
  }
  if (ask.op == LocalOp::kShares) {
    auto state = shares_->ask(ask.request);
    if (!state.ok()) return state.error();
    return Bytes(state->begin(), state->end());
  }
  if (ask.op == LocalOp::kRepair) {
    auto state = repair_->ask(ask.request);
    if (!state.ok()) return state.error();
    return Bytes(state->begin(), state->end());
  }
  if (ask.op == LocalOp::kGiveBack || ask.op == LocalOp::kGiveBackApproval) {
    auto said = ask.op == LocalOp::kGiveBack
                    ? give_backs_->allow(ask.request, ask.approvals)
                    : give_backs_->approval(ask.request,
                                            ask.approvals.empty() ? "" : ask.approvals.front());
    if (!said.ok()) return said.error();
    return Bytes(said->begin(), said->end());
  }
  if (ask.op == LocalOp::kHandOver) return exports_->hand_over(ask.request, ask.approvals);
  auto noted = exports_->approval(ask.request, ask.approvals.empty() ? "" : ask.approvals.front());
  if (!noted.ok()) return noted.error();
  return Bytes(noted->begin(), noted->end());
}

}  // namespace tkdc
