// SPDX-License-Identifier: Apache-2.0
// MACs are dealt: each party gives both others the tags of what they hold together with it.
// docs/protocols/23-share-macs.md, "Dealing". One tick; a party sends 16 octets to each neighbour
// for each block of a subject.
//
// What a party may see: a prover gets q + X Delta, where q is pseudo-random to it and used for
// this block in this dealing alone, so the tag says nothing about Delta. Dealer and prover both
// know X; the verifier gets nothing.
//
// A tag that was dealt wrongly is found by a check (mac/mac_check.h), not here.
#pragma once

#include <span>

#include "lane/lane.h"
#include "mac/subject.h"

namespace tkdc {

// Fills in dealing and tags of all subjects. The three parties pass the same ones, in one order:
// they compare that before, or in the check. False: a neighbour deals under another MAC key; no tag
// may be used.
Task<bool> deal_macs(Lane& lane, MacKeys& keys, Dealing dealing, std::span<MacSubject> subjects);

// Whether these are the tags that this party, or who was it before, dealt to the role's prover for
// this component under that name (mac_name()). Whole blocks. Its Delta decides: who knows it can
// make tags for any component.
[[nodiscard]] bool are_tags_of(MacKeys& keys, const MacRole& role, ByteSpan name,
                               ByteSpan component, ByteSpan tags);

}  // namespace tkdc
