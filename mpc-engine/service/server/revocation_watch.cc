// SPDX-License-Identifier: Apache-2.0
#include "service/server/revocation_watch.h"

#include <nlohmann/json.hpp>

#include "service/server/revoked_json.h"

namespace tkdc {
namespace {

std::string windows_text(const nlohmann::json& windows) {
  std::string text;
  for (const nlohmann::json& one : windows)
    text += (text.empty() ? "" : ", ") + one["from"].get<std::string>() + " until " +
            one["until"].get<std::string>();
  return text;
}

}  // namespace

void RevocationWatch::look(const RevocationState& state) {
  if (state == known_) return;
  const nlohmann::json now = revoked_json(state), before = revoked_json(known_);
  if (now != before)
    say_(now.empty()
             ? "no time of sealing is revoked any more (" + windows_text(before) + ")"
             : "tickets of the own realm are refused that were sealed from " + windows_text(now),
         nlohmann::json({{"event", "revoked windows"}, {"windows", now}}).dump());
  if (state.lift != known_.lift && !now.empty())
    say_(state.lift
             ? "this server agrees that all revoked windows end; they do when all three have "
               "agreed"
             : "this server no longer agrees that revoked windows end: there is a new one",
         nlohmann::json({{"event", "lift"}, {"agreed", state.lift}}).dump());
  known_ = state;
}

}  // namespace tkdc
