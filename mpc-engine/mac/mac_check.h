// SPDX-License-Identifier: Apache-2.0
// The MAC check: each party proves both components that it holds to the party that lacks them.
// docs/protocols/23-share-macs.md, "MAC check". All subjects of one call in one proof for each
// role; 5 ticks (6 in malicious mode), some 400 octets a party however many subjects there are.
//
//   1  dealer -> prover    id of the MAC key, R, tag of R           (R random, for this check
//   alone) 2  all                 digest of names, dealings and lengths; after it all hold their R
//   3  verifier -> prover  seed of the coins c
//   4  prover -> verifier  V = sum c_b X_b + R,  W = sum c_b tag_b + tag_R
//   5  all                 what each found: whether W = sum c_b q_b + q_R + V Delta
//
// What a party may see: V is uniform to the verifier, which lacks R; W follows from V, and from
// q and Delta, which the verifier has, if nobody deviates. A prover that holds another X, or
// another tag, passes by guessing Delta (2^-128); so does a dealer that dealt a wrong tag, since
// it does not know the coins when it deals R.
//
// A finding says which two statements differ, not which of them is wrong: the prover's (what it
// holds) or the dealer's (what it dealt).
#pragma once

#include <span>

#include "lane/lane.h"
#include "mac/subject.h"

namespace tkdc {

// The roles whose proofs failed, by verifier: what each said to both others.
struct MacFindings {
  std::vector<MacRole> failed;
  // The three do not check the same values: nothing was proved.
  bool lists_differ = false;
  bool good() const { return failed.empty() && !lists_differ; }
};

// `attempt` is no other check's, and no dealing's. All tags are of `keys`.
Task<MacFindings> check_macs(Lane& lane, MacKeys& keys, Dealing attempt,
                             std::span<const MacSubject> subjects);

}  // namespace tkdc
