// SPDX-License-Identifier: Apache-2.0
// One job by one instance, between the three servers: m1, m2 and m3, each in a tick of the lane.
//
//   m1  A → E, B → E     encode.h
//   m2  E → A            evaluate.h
//       A → B, B → A     the digest of the component that only they hold
//   m3  all to all       D_pub ‖ verdict: 0 bad, 1 good, 2 "our copies differ" (A, B)
//
// Security: one malicious party, with abort. Whatever it changes is found with a probability that
// does not depend on secrets; nothing of the result may be opened, stored, chained or answered
// before all three verdicts are in, which is when run() returns. The proof:
// docs/protocols/20-three-servers.md.
//
// What each party sees: E one label of each wire, and ρ; A also c'; B nothing.
#pragma once

#include <variant>

#include "threegarble/evaluate.h"
#include "threegarble/ledger.h"
#include "threegarble/mailbox.h"

namespace tkdc::threegarble {

// What this party keeps of an instance: as a garbler, or as E.
using Instance = std::variant<GarbledInstance, CheckedTables>;
inline const InstanceId& id_of(const Instance& instance) {
  return std::visit([](const auto& one) -> const InstanceId& { return one.id; }, instance);
}

struct Runner {
  Mailbox& mail;
  Seat seat;
  Ledger& ledger;
};

enum class Ending : std::uint8_t {
  kDone,
  kCopiesDiffer,  // A and B hold different copies of their component: the job ends, alone
  kBurned,        // its number was used before: nothing was sent
};
struct Outcome {
  Ending ending = Ending::kBurned;
  SharedBytes share;  // kDone
};

// All that a runner and a shape refer to outlives the task. Deviations end the lane, and nobody is
// resumed then. `instance` is used up. The tag's course is filled in here.
Task<Outcome> run(Runner runner, const Shape& shape, Instance instance, JobTag tag,
                  SharedBytes input);

}  // namespace tkdc::threegarble
