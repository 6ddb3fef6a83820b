// SPDX-License-Identifier: Apache-2.0
#include "service/operation/keys.h"

#include "cipher/aes_keys.h"
#include "cipher/gcm.h"
#include "cipher/prf_plus.h"
#include "enctype.h"

namespace tkdc {
namespace {

Task<void> expand_all(Protocol& protocol, std::vector<SharedBytes> keys,
                      std::vector<SharedBytes*> out) {
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(protocol, std::move(keys));
  for (std::size_t k = 0; k < out.size(); ++k) *out[k] = std::move(expanded[k]);
}

// The derived keys of RFC 3961 or RFC 8009 for these constants, the first
// `encryption` of which are Ke's.
Task<std::vector<SharedBytes>> derive_all(Protocol& protocol, const Rfc8009* sha2, SharedBytes key,
                                          std::vector<Bytes> constants, std::size_t encryption) {
  if (sha2 == nullptr) {
    const std::size_t key_bytes = key.size();
    SharedBytes round_keys = co_await aes_expand_key(protocol, std::move(key));
    co_return co_await derive_keys(protocol, round_keys, key_bytes, std::move(constants));
  }
  std::vector<std::size_t> bytes(constants.size(), sha2->mac_key_bytes);
  std::fill_n(bytes.begin(), encryption, sha2->key_bytes);
  const SharedBytes base = co_await hmac_pad_states(protocol, sha2->hash, std::move(key));
  co_return co_await rfc8009_derive(protocol, *sha2, base, std::move(constants), std::move(bytes));
}

Task<void> derive_gcm(Protocol& protocol, KeyRecord& record, SharedBytes gcm_key,
                      SharedBytes sign_key, SharedBytes sign_h) {
  std::vector<SharedBytes> keys;
  keys.push_back(std::move(gcm_key));
  keys.push_back(std::move(sign_key));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(protocol, std::move(keys));
  record.fields["gcm.rk"] = std::move(expanded[0]);
  record.fields["sign.rk"] = std::move(expanded[1]);
  co_await both(protocol.scheduler(),
                store(gcm_powers(protocol, record.fields["gcm.rk"]), record.fields["gcm.h"]),
                store(ghash_powers(protocol, std::move(sign_h)), record.fields["sign.h"]));
}

}  // namespace

std::size_t key_bytes_of(std::uint32_t enctype) {
  const tkdc_enctype* served = tkdc_enctype_of(enctype);
  return served == nullptr ? 0 : served->key_bytes;
}

const Rfc8009* sha2_enctype(std::uint32_t enctype) {
  constexpr std::uint32_t kAes128Sha2 = 19, kAes256Sha2 = 20;
  if (enctype != kAes128Sha2 && enctype != kAes256Sha2) return nullptr;
  return &rfc8009_of(key_bytes_of(enctype));
}

std::string field_name(std::uint32_t key_usage, const char* part) {
  return "u" + std::to_string(key_usage) + "." + part;
}

// Derived together, then expanded or padded together.
Task<void> derive_standard(Protocol& protocol, KeyRecord& record, SharedBytes key, Usages usages,
                           Work work) {
  const Rfc8009* sha2 = sha2_enctype(record.ref.enctype);
  const HashFunction& hash = sha2 == nullptr ? kSha1 : sha2->hash;
  std::vector<Bytes> constants;
  std::vector<std::string> names;
  auto want = [&](std::uint32_t u, DerivedKey kind, const char* part) {
    constants.push_back(derivation_constant(u, kind));
    names.push_back(field_name(u, part));
  };
  for (std::uint32_t u : usages.encryption) want(u, DerivedKey::kEncryption, "ke");
  for (std::uint32_t u : usages.encryption) want(u, DerivedKey::kIntegrity, "ki");
  for (std::uint32_t u : usages.checksum) want(u, DerivedKey::kChecksum, "kc");

  record.fields["key"] = key;
  const std::size_t encryption = usages.encryption.size();
  std::vector<SharedBytes> derived =
      co_await derive_all(protocol, sha2, std::move(key), std::move(constants), encryption);
  std::vector<Task<void>> tasks;
  std::vector<SharedBytes> ke(derived.begin(),
                              derived.begin() + static_cast<std::ptrdiff_t>(encryption));
  std::vector<SharedBytes*> ke_out;
  for (std::size_t k = 0; k < encryption; ++k) ke_out.push_back(&record.fields[names[k]]);
  if (encryption > 0) tasks.push_back(expand_all(protocol, std::move(ke), std::move(ke_out)));
  for (std::size_t k = encryption; k < names.size(); ++k)
    tasks.push_back(
        store(hmac_pad_states(protocol, hash, derived[k], work), record.fields[names[k]]));
  co_await all(protocol.scheduler(), std::move(tasks));
}

Task<void> derive_fields(Protocol& protocol, KeyRecord& record, SharedBytes base) {
  Usages usages = usages_of(record.key_class);
  const bool own_form = record.key_class == KeyClass::kKrbtgt && record.origin == TKDC_ORIGIN_DRAWN;
  record.form = own_form ? KeyForm::kGcm : KeyForm::kStandard;
  std::vector<Task<void>> tasks;
  if (may_derive(record.key_class))
    tasks.push_back(store(prf_states(protocol, sha2_enctype(record.ref.enctype), base),
                          record.fields[kPrfField]));
  if (!own_form) {
    tasks.push_back(
        derive_standard(protocol, record, std::move(base), std::move(usages), Work::kBulk));
    co_await all(protocol.scheduler(), std::move(tasks));
    co_return;
  }
  std::erase(usages.encryption, usage::kTicket);
  std::erase(usages.checksum, usage::kPacSignature);
  SharedBytes gcm_key = protocol.random(base.size());
  SharedBytes sign_key = protocol.random(base.size());
  SharedBytes sign_h = protocol.random(16);
  tasks.push_back(
      derive_standard(protocol, record, std::move(base), std::move(usages), Work::kBulk));
  tasks.push_back(
      derive_gcm(protocol, record, std::move(gcm_key), std::move(sign_key), std::move(sign_h)));
  co_await all(protocol.scheduler(), std::move(tasks));
}

}  // namespace tkdc
