// SPDX-License-Identifier: Apache-2.0
// What kadmin, krb5kdc and their like ask an agent, and what may be answered.
#pragma once

#include <string>

#include "service/admit/policy.h"
#include "sim/realm.h"

namespace tkdc::sim {

inline constexpr std::uint32_t kAes256 = 18;

using Answer = Agent::Answer;

Agent& kdc();         // one of them
Agent& honest_kdc();  // that has not lied
inline Agent& admin() { return *realm().admin; }
inline bool ok(const Answer& answer) {
  return answer.there && answer.outcome.status == TKDC_STATUS_OK;
}
inline bool refused(const Answer& answer) {
  return answer.there && tkdc_status_is_refusal(answer.outcome.status);
}

const KnownKey& known_of(const Key& key);
PrincipalDigest digest_of(const std::string& name);
SecretVector some_plaintext(std::size_t least, std::size_t most);
Bytes use_body(const Key& key, std::uint32_t usage, ByteSpan data);
std::string named(const Key& key);

// What no plaintext Kerberos would say of a sound question about a key that there is: "no".
// Out of service is always an answer.
void expect_no_refusal(const Answer& answer, const Key& key, const char* what);
void expect_refusal(const Answer& answer, const Key& key, const char* what);

}  // namespace tkdc::sim
