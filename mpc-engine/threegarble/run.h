// SPDX-License-Identifier: Apache-2.0
// One job by one instance, between the three servers: m1, m2 and m3, each in a tick of the lane.
//
//   m1  A → E, B → E     encode.h
//   m2  E → A            evaluate.h
//       A → B, B → A     the digest of the component that only they hold
//   m3  all to all       D_pub ‖ verdict: 0 bad, 1 good
//
// Security: one malicious party, with abort. Whatever it changes is found with a probability that
// does not depend on secrets; nothing of the result may be opened, stored, chained or answered
// before all three verdicts are in, which is when run() returns. The proof:
// docs/protocols/20-three-servers.md.
//
// How it fails: what m3 has to say is known beforehand, D_pub and "good", so anything else that
// arrives is a deviation, also in a tick that fails because somebody keeps its packet back. A
// server that knows by itself that something is wrong deviates whatever it hears.
//
// What each party sees: E one label of each wire, and ρ; A also c'; B nothing.
#pragma once

#include "threegarble/admitted.h"
#include "threegarble/evaluate.h"
#include "threegarble/side.h"

namespace tkdc::threegarble {

enum class Ending : std::uint8_t {
  kDone,
  kBurned,  // its number was used before: nothing was sent
};
struct Outcome {
  Ending ending = Ending::kBurned;
  SharedBytes share;  // kDone
};

// `mine` and `shape` outlive the task. Deviations end the lane, and nobody is resumed then.
// `instance` and `job` are used up. The course of the job's tag is filled in here.
Task<Outcome> run(LaneSide& mine, const Shape& shape, Instance instance, Admitted job);

}  // namespace tkdc::threegarble
