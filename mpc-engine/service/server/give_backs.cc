// SPDX-License-Identifier: Apache-2.0
#include "service/server/give_backs.h"

#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "service/store/dropped_table.h"

namespace tkdc {
namespace {

constexpr std::size_t kMostWrong = 50;  // of keys that are not as the request says

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<bool> GiveBacks::check_key(const GiveBackRequest& request, const WantedKey& wanted) const {
  auto record = store_.dropped()->dropped_record(wanted.key.id);
  if (!record) return record.error();
  const bool dropped = *record != nullptr;
  if (!dropped) record = store_.get(wanted.key.id);
  if (!record) return record.error();
  const std::string name = wanted.key.principal + ", version " + std::to_string(wanted.key.kvno);
  if (*record == nullptr)
    return fail("the request lists a key that is not dropped here: " + name +
                "; what was purged never comes back");
  if ((*record)->ref != key_ref(request.installation, wanted.key) ||
      (*record)->principal_name != wanted.key.principal ||
      (dropped && (*record)->dropped_at_s != wanted.dropped_at_s))
    return fail("the request lists as " + name +
                " a key that is another here, or was dropped at another time");
  return dropped;
}

Result<GiveBacks::Checked> GiveBacks::check(std::string_view text) const {
  auto request = decode_give_back_request(text);
  if (!request) return request.error();
  if (request->installation != options_.installation)
    return fail("the request is of another installation, " + to_hex(request->installation));
  if (auto good = check_life(request->expires_at_s, options_.now_s()); !good) return good.error();
  if (store_.dropped() == nullptr) return fail("this server keeps no dropped keys");
  std::size_t wrong = 0;
  std::string which;
  std::vector<WantedKey> dropped;
  for (const WantedKey& wanted : request->keys) {
    auto is_dropped = check_key(*request, wanted);
    if (!is_dropped.ok() && ++wrong <= kMostWrong)
      which += (which.empty() ? "" : "; ") + is_dropped.error().message;
    if (is_dropped.ok() && *is_dropped) dropped.push_back(wanted);
  }
  if (wrong > kMostWrong) which += "; and " + std::to_string(wrong - kMostWrong) + " more";
  if (wrong > 0) return fail(which);
  return Checked{std::move(*request), std::move(dropped)};
}

Result<std::string> GiveBacks::audited(const char* what, std::string_view request,
                                       Result<std::string> outcome) {
  if (outcome.ok()) return outcome;
  const nlohmann::json event = {{"event", std::string(what) + " refused"},
                                {"request", to_hex(give_back_digest(request))},
                                {"reason", outcome.error().message}};
  if (auto written = options_.audit(dumped(event)); !written.ok())
    return fail(outcome.error().message + "; " + written.error().message);
  return outcome;
}

Result<std::string> GiveBacks::approval(std::string_view request, std::string_view approval) {
  return audited("give-back approval", request, note_approval(request, approval));
}

Result<std::string> GiveBacks::note_approval(std::string_view text, std::string_view approval) {
  auto checked = check(text);
  if (!checked) return checked.error();
  const GiveBackRequest& request = checked->request;
  if (checked->dropped.size() < request.keys.size())
    return fail("the request lists keys that are in use: make another one for the rest");
  auto approver =
      check_own_approval(give_back_digest(text), approval, options_.approvers, options_.party);
  if (!approver) return approver.error();
  const nlohmann::json event = {{"event", "give-back approved"},
                                {"request", to_hex(give_back_digest(text))},
                                {"approver", (*approver)->name},
                                {"realm", request.realm},
                                {"keys", request.keys.size()}};
  if (auto written = options_.audit(dumped(event)); !written.ok()) return written.error();
  return std::to_string(request.keys.size()) + " keys, all of them dropped here as it says";
}

Result<std::string> GiveBacks::allow(std::string_view request,
                                     const std::vector<std::string>& approvals) {
  return audited("give-back", request, allow_now(request, approvals));
}

Result<std::string> GiveBacks::allow_now(std::string_view text,
                                         const std::vector<std::string>& approvals) {
  auto checked = check(text);
  if (!checked) return checked.error();
  const auto& [request, dropped] = *checked;
  auto approvers = check_approvals(give_back_digest(text), approvals, options_.approvers);
  if (!approvers) return approvers.error();
  nlohmann::json event = {{"event", "give-back allowed"},
                          {"request", to_hex(give_back_digest(text))},
                          {"realm", request.realm},
                          {"keys", dropped.size()},
                          {"in_use", request.keys.size() - dropped.size()},
                          {"expires", request.expires_at_s}};
  for (const Approver* approver : *approvers) event["approvers"].push_back(approver->name);
  if (auto written = options_.audit(dumped(event)); !written.ok()) return written.error();
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = options_.now_s();
  std::erase_if(allowed_, [&](const auto& one) { return one.second.until_s <= now; });
  for (const WantedKey& wanted : dropped)
    allowed_[wanted.key.id] = {wanted.dropped_at_s, request.expires_at_s};
  const std::size_t in_use = request.keys.size() - dropped.size();
  return std::to_string(dropped.size()) + " keys may be given back here" +
         (in_use > 0 ? ", " + std::to_string(in_use) + " are in use already" : "") +
         ". When all three servers have this, `tkdc reconcile "
         "give-back` on the KDC's host does it";
}

bool GiveBacks::may(const KeyRecord& dropped) const {
  const std::lock_guard lock(mutex_);
  const auto it = allowed_.find(dropped.ref.id);
  return it != allowed_.end() && it->second.dropped_at_s == dropped.dropped_at_s &&
         options_.now_s() < it->second.until_s;
}

void GiveBacks::done(const KeyId& id) {
  const std::lock_guard lock(mutex_);
  allowed_.erase(id);
}

}  // namespace tkdc
