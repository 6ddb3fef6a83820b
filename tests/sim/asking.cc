// SPDX-License-Identifier: Apache-2.0
#include "sim/asking.h"

#include "base/hex.h"
#include "sim/lying_agent.h"

namespace tkdc::sim {

Agent& kdc() {
  const auto& all = realm().kdcs;
  return *(all.size() == 1 ? all[0] : all[world().random.below(all.size())]);
}

Agent& honest_kdc() {
  for (;;)
    if (Agent& one = kdc(); !has_lied(one.host().number)) return one;
}

const KnownKey& known_of(const Key& key) {
  return known_keys(world().plan.keys)[static_cast<std::size_t>(key.known)];
}

PrincipalDigest digest_of(const std::string& name) {
  PrincipalDigest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const std::uint8_t*>(name.data()),
                     name.size());
  return digest;
}

SecretVector some_plaintext(std::size_t least, std::size_t most) {
  const std::size_t more =
      world().plan.has_few_circuits() ? 0 : world().random.below(most - least + 1);
  SecretVector out(least + more);
  world().secrets.fill(out.data(), out.size());
  return out;
}

Bytes use_body(const Key& key, std::uint32_t usage, ByteSpan data) {
  Bytes body;
  Writer w(body);
  put_key(w, key.ref);
  w.u32(usage);
  w.bytes(data);
  return body;
}

std::string named(const Key& key) {
  return key.principal + ", key " + to_hex(key.ref.id).substr(0, 8);
}

void expect_no_refusal(const Answer& answer, const Key& key, const char* what) {
  if (!answer.there || !tkdc_status_is_refusal(answer.outcome.status)) return;
  // It was removed meanwhile, or removed and given back.
  if (key.state != Key::State::kBound || key.back_since >= answer.asked_at) return;
  world().broken("answers", std::string(what) + " for " + named(key) +
                                " was refused: " + answer.outcome.message);
}

void expect_refusal(const Answer& answer, const Key& key, const char* what) {
  if (ok(answer))
    world().broken("answers", std::string(what) + " for " + named(key) + " was carried out");
}

}  // namespace tkdc::sim
