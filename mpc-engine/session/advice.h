// SPDX-License-Identifier: Apache-2.0
// What a session's owner adds to the errors of making one: what a person does next. The session
// knows what is wrong; how its owner is configured, watched and repaired only the owner knows. What
// is empty adds nothing. Nothing here is secret.
#pragma once

#include <string>

namespace tkdc {

struct SessionAdvice {
  // Another party has another value (session/hello.h).
  std::string version, installation, parties, party, security, representation, zero_shares, lanes,
      cohort_limit, wire_format, protocols, masked_blocks, era;
  // The party that calls this one does not; the one that it calls does not answer; one has another
  // certificate.
  std::string no_call, no_answer, pin;
  // Too many entries are between two steps; the parties hold different ones.
  std::string unsettled, inventories;
  // Nonce epochs: one would be used twice; the day's allowance is spent; a party claims more than
  // is believed; the numbers are used up.
  std::string epoch_reused, allowance_spent, epoch_not_believed, epochs_used_up;
};

// Behind what is wrong.
inline std::string followed_by(const std::string& advice) {
  return advice.empty() ? "" : "; " + advice;
}

}  // namespace tkdc
