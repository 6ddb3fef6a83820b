// SPDX-License-Identifier: Apache-2.0
// One KDC's agent that deviates: what it sends to one server is not what its program meant, or does
// not come, comes twice, late, or in another server's place. Now and then it asks all of them for
// what is an administrator's. It goes on when everything else is mended: servers owe the others
// their answers all the same.
#pragma once

#include <functional>
#include <set>
#include <tuple>

#include "base/secret.h"
#include "service/wire/message.h"
#include "sim/world.h"

namespace tkdc::sim {

// In the order of plans.
enum class AgentsLie : std::uint8_t {
  kOctets,
  kLengths,
  kShares,
  kNumber,
  kRun,
  kTime,
  kKey,
  kOperation,
  kProtocol,
  kSession,
  kRole,
  kRepeats,
  kAnOldOne,
  kWithholds,
  kSwaps,
  kLate,
};
inline constexpr std::int64_t kLies = 16;

void new_lying_agent();
// Of so many jobs, one in so many. One kind of lies, or all: 1 and above, or 0.
void let_agent_lie(int host, int jobs, unsigned one_in, std::int64_t kind);
// Whether that one has. Its answers are nobody's from then on.
bool has_lied(int host);

// What an agent's program sends, and what becomes of it on its way.
using SendTo = std::function<void(int server, SecretVector frame)>;
void send_for_agent(int host, int server, SecretVector frame, const SendTo& send);

// It starts anew, and knows no job that came early.
void forget_lies_to(int server);
// Jobs of which servers did not get the same, or that are not the agent's to ask for: nobody may
// carry them out.
bool was_lied_about(int host, std::uint64_t run, std::uint64_t number);

}  // namespace tkdc::sim
