// SPDX-License-Identifier: Apache-2.0
#include "service/server/revoked_json.h"

#include "base/utc_time.h"
#include "service/sealing/nonce.h"

namespace tkdc {
namespace {

nlohmann::json window_json(const SealWindow& window) {
  auto start_of = [](std::uint32_t unit) {
    return format_utc(static_cast<std::int64_t>(kSealedAtOriginS + kSealedAtUnitS * unit));
  };
  return {{"from", start_of(window.from)}, {"until", start_of(window.to + 1)}};
}

}  // namespace

nlohmann::json revoked_json(const RevocationState& state) {
  nlohmann::json out = nlohmann::json::array();
  for (const SealWindow& window : state.windows.list()) out.push_back(window_json(window));
  return out;
}

std::optional<nlohmann::json> lift_waits_for(const JobServiceStatus& status, int party) {
  if (!status.revoked.lift) return std::nullopt;
  nlohmann::json out = nlohmann::json::array();
  const int peers[2] = {(party + 2) % 3, (party + 1) % 3};
  for (std::size_t k = 0; k < 2; ++k)
    if (status.peers_lift[k] != true) out.push_back(peers[k]);
  return out;
}

std::string revoke_event(const RevokeRequest& request) {
  nlohmann::json event = {{"event", request.lift ? "lift agreed" : "revoked"}};
  if (!request.lift) event["window"] = window_json(with_skew(request.window));
  return event.dump();
}

}  // namespace tkdc
