// SPDX-License-Identifier: Apache-2.0
#include "service/operation/keys.h"

#include "cipher/gcm.h"
#include "cipher/prf_plus.h"
#include "enctype.h"

namespace tkdc {
namespace {

Task<SharedBytes> expand_one(Ciphers& ciphers, SharedBytes key) {
  std::vector<SharedBytes> keys;
  keys.push_back(std::move(key));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(ciphers.rep3, std::move(keys));
  co_return std::move(expanded.front());
}

Task<void> expand_all(Ciphers& ciphers, std::vector<SharedBytes> keys,
                      std::vector<SharedBytes*> out) {
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(ciphers.rep3, std::move(keys));
  for (std::size_t k = 0; k < out.size(); ++k) *out[k] = std::move(expanded[k]);
}

// The derived keys of RFC 3961 or RFC 8009 for these constants, the first
// `encryption` of which are Ke's.
Task<std::vector<SharedBytes>> derive_all(Ciphers& ciphers, const Rfc8009* sha2, SharedBytes key,
                                          std::vector<Bytes> constants, std::size_t encryption) {
  if (sha2 == nullptr) {
    const std::size_t key_bytes = key.size();
    SharedBytes round_keys = co_await expand_one(ciphers, std::move(key));
    co_return co_await derive_keys(ciphers, round_keys, key_bytes, std::move(constants));
  }
  std::vector<std::size_t> bytes(constants.size(), sha2->mac_key_bytes);
  std::fill_n(bytes.begin(), encryption, sha2->key_bytes);
  SharedBytes states = co_await sha2_pad_states(ciphers, *sha2, std::move(key));
  const SharedBytes inner = states.slice(0, states.size() / 2);
  const SharedBytes outer = states.slice(states.size() / 2, states.size() / 2);
  HmacKey base = {inner, outer};
  co_return co_await rfc8009_derive(ciphers, *sha2, base, std::move(constants), std::move(bytes));
}

// The HMAC states of an integrity or checksum key, as the enctype's HMAC takes them.
Task<SharedBytes> pad_states(Ciphers& ciphers, const Rfc8009* sha2, SharedBytes key,
                             Sha1Work work) {
  return sha2 == nullptr ? hmac_pad_states(ciphers, std::move(key), work)
                         : sha2_pad_states(ciphers, *sha2, std::move(key));
}

Task<void> derive_gcm(Ciphers& ciphers, KeyRecord& record, SharedBytes gcm_key,
                      SharedBytes sign_key, SharedBytes sign_h) {
  std::vector<SharedBytes> keys;
  keys.push_back(std::move(gcm_key));
  keys.push_back(std::move(sign_key));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(ciphers.rep3, std::move(keys));
  record.fields["gcm.rk"] = std::move(expanded[0]);
  record.fields["sign.rk"] = std::move(expanded[1]);
  co_await both(ciphers.rep3,
                store(gcm_powers(ciphers, record.fields["gcm.rk"]), record.fields["gcm.h"]),
                store(ghash_powers(ciphers.rep3, std::move(sign_h)), record.fields["sign.h"]));
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
Task<void> derive_standard(Ciphers& ciphers, KeyRecord& record, SharedBytes key, Usages usages,
                           Sha1Work work) {
  const Rfc8009* sha2 = sha2_enctype(record.ref.enctype);
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
      co_await derive_all(ciphers, sha2, std::move(key), std::move(constants), encryption);
  std::vector<Task<void>> tasks;
  std::vector<SharedBytes> ke(derived.begin(),
                              derived.begin() + static_cast<std::ptrdiff_t>(encryption));
  std::vector<SharedBytes*> ke_out;
  for (std::size_t k = 0; k < encryption; ++k) ke_out.push_back(&record.fields[names[k]]);
  if (encryption > 0) tasks.push_back(expand_all(ciphers, std::move(ke), std::move(ke_out)));
  for (std::size_t k = encryption; k < names.size(); ++k)
    tasks.push_back(store(pad_states(ciphers, sha2, derived[k], work), record.fields[names[k]]));
  co_await all(ciphers.rep3, std::move(tasks));
}

Task<void> derive_fields(Ciphers& ciphers, KeyRecord& record, SharedBytes base) {
  Usages usages = usages_of(record.key_class);
  const bool own_form = record.key_class == KeyClass::kKrbtgt && record.origin == TKDC_ORIGIN_DRAWN;
  record.form = own_form ? KeyForm::kGcm : KeyForm::kStandard;
  std::vector<Task<void>> tasks;
  if (may_derive(record.key_class))
    tasks.push_back(store(prf_states(ciphers, sha2_enctype(record.ref.enctype), base),
                          record.fields[kPrfField]));
  if (!own_form) {
    tasks.push_back(
        derive_standard(ciphers, record, std::move(base), std::move(usages), Sha1Work::kBulk));
    co_await all(ciphers.rep3, std::move(tasks));
    co_return;
  }
  std::erase(usages.encryption, usage::kTicket);
  std::erase(usages.checksum, usage::kPacSignature);
  SharedBytes gcm_key = ciphers.rep3.random(base.size());
  SharedBytes sign_key = ciphers.rep3.random(base.size());
  SharedBytes sign_h = ciphers.rep3.random(16);
  tasks.push_back(
      derive_standard(ciphers, record, std::move(base), std::move(usages), Sha1Work::kBulk));
  tasks.push_back(
      derive_gcm(ciphers, record, std::move(gcm_key), std::move(sign_key), std::move(sign_h)));
  co_await all(ciphers.rep3, std::move(tasks));
}

}  // namespace tkdc
