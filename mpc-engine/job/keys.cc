// SPDX-License-Identifier: Apache-2.0
#include "job/keys.h"

#include "cipher/gcm.h"
#include "cipher/rfc3962.h"

namespace tkdc {
namespace {

Task<void> store(Task<SharedBytes> task, SharedBytes& out) { out = co_await task; }

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

// Ke, Ki and Kc of all usages: derived together, then expanded or padded together.
Task<void> derive_rfc3962(Ciphers& ciphers, KeyRecord& record, SharedBytes key, Usages usages) {
  const std::size_t key_bytes = key.size();
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
  SharedBytes round_keys = co_await expand_one(ciphers, std::move(key));
  std::vector<SharedBytes> derived =
      co_await derive_keys(ciphers, round_keys, key_bytes, std::move(constants));

  const std::size_t encryption = usages.encryption.size();
  std::vector<Task<void>> tasks;
  std::vector<SharedBytes> ke(derived.begin(),
                              derived.begin() + static_cast<std::ptrdiff_t>(encryption));
  std::vector<SharedBytes*> ke_out;
  for (std::size_t k = 0; k < encryption; ++k) ke_out.push_back(&record.fields[names[k]]);
  if (encryption > 0) tasks.push_back(expand_all(ciphers, std::move(ke), std::move(ke_out)));
  for (std::size_t k = encryption; k < names.size(); ++k)
    tasks.push_back(store(hmac_pad_states(ciphers, derived[k]), record.fields[names[k]]));
  co_await all(ciphers.rep3, std::move(tasks));
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
  return enctype == 17 ? 16 : enctype == 18 ? 32 : 0;
}

std::string field_name(std::uint32_t key_usage, const char* part) {
  return "u" + std::to_string(key_usage) + "." + part;
}

Task<void> derive_fields(Ciphers& ciphers, KeyRecord& record, SharedBytes base) {
  Usages usages = usages_of(record.key_class);
  const bool own_form =
      record.key_class == KeyClass::kKrbtgt && record.origin == TKDC_ORIGIN_DRAWN;
  record.form = own_form ? KeyForm::kGcm : KeyForm::kRfc3962;
  if (!own_form) {
    co_await derive_rfc3962(ciphers, record, std::move(base), std::move(usages));
    co_return;
  }
  std::erase(usages.encryption, usage::kTicket);
  std::erase(usages.checksum, usage::kPacSignature);
  SharedBytes gcm_key = ciphers.rep3.random(base.size());
  SharedBytes sign_key = ciphers.rep3.random(base.size());
  SharedBytes sign_h = ciphers.rep3.random(16);
  co_await both(
      ciphers.rep3, derive_rfc3962(ciphers, record, std::move(base), std::move(usages)),
      derive_gcm(ciphers, record, std::move(gcm_key), std::move(sign_key), std::move(sign_h)));
}

}  // namespace tkdc
