// SPDX-License-Identifier: Apache-2.0
#include "sim/floods.h"

#include "sim/answers.h"
#include "sim/asking.h"
#include "sim/lying_agent.h"

namespace tkdc::sim {
namespace {

constexpr std::uint32_t kDeadlineMs = 3'000;

}  // namespace

// Tags by a user's key: each agent may ask for them, and nobody needs what comes of it.
void flood(Agent& by, std::int64_t jobs) {
  const Key* key = realm().model.some(Key::State::kBound, true);
  if (key == nullptr || !by.running()) return;
  Bytes data(16);
  world().secrets.fill(data.data(), data.size());
  const Bytes body = use_body(*key, usage::kAsReqChecksum, data);
  world().injected("flood");
  for (std::int64_t k = 0; k < jobs; ++k) by.ask_only(TKDC_OP_MAC, body, kDeadlineMs);
}

void look_at_waiting() {
  for (auto& server : realm().servers)
    for (const Agent* agent : realm().agents()) {
      const int party = server->host().number, of = agent->host().number;
      const std::size_t waiting = unanswered(party, of);
      if (server->up() && !has_lied(of) && waiting > kMostWaiting)
        world().broken("limits", server->host().name + " holds " + std::to_string(waiting) +
                                     " jobs of " + agent->host().name);
    }
}

}  // namespace tkdc::sim
