// SPDX-License-Identifier: Apache-2.0
#include "sim/model.h"

#include <krb5.h>

#include <cstdlib>
#include <map>

#include "enctype.h"

namespace tkdc::sim {
namespace {

constexpr std::size_t kKnownKeys = 8;
constexpr std::size_t kTimestampBytes = 20;

krb5_context context() {
  static krb5_context one = [] {
    krb5_context made = nullptr;
    if (krb5_init_context(&made) != 0) std::abort();
    return made;
  }();
  return one;
}

// What libkrb5 draws is the seed's, too.
Random* confounders = nullptr;

krb5_keyblock keyblock(const KnownKey& key) {
  krb5_keyblock block{};
  block.enctype = static_cast<krb5_enctype>(key.enctype);
  block.length = static_cast<unsigned>(key.value.size());
  block.contents = const_cast<krb5_octet*>(key.value.data());
  return block;
}

KnownKey make_known(Random& random, std::uint32_t enctype) {
  KnownKey key;
  key.enctype = enctype;
  key.value.resize(tkdc_enctype_of(enctype)->key_bytes);
  random.fill(key.value.data(), key.value.size());
  key.timestamp.resize(kTimestampBytes);
  random.fill(key.timestamp.data(), key.timestamp.size());
  const krb5_keyblock block = keyblock(key);
  std::size_t bytes = 0;
  krb5_c_encrypt_length(context(), block.enctype, key.timestamp.size(), &bytes);
  key.sealed_timestamp.resize(bytes);
  krb5_data plain{0, static_cast<unsigned>(key.timestamp.size()),
                  reinterpret_cast<char*>(key.timestamp.data())};
  krb5_enc_data sealed{};
  sealed.ciphertext = {0, static_cast<unsigned>(bytes),
                       reinterpret_cast<char*>(key.sealed_timestamp.data())};
  confounders = &random;
  if (krb5_c_encrypt(context(), &block, 1, nullptr, &plain, &sealed) != 0) std::abort();
  confounders = nullptr;
  return key;
}

}  // namespace

Key* Model::some(Key::State state, bool user) {
  std::vector<Key*> found;
  for (const auto& key : keys)
    if (key->state == state && key->is_user == user && key.get() != krbtgt && !key->at_work)
      found.push_back(key.get());
  return found.empty() ? nullptr : found[world().random.below(found.size())];
}

const std::vector<KnownKey>& known_keys(std::uint64_t which) {
  static std::map<std::uint64_t, std::vector<KnownKey>> made;
  std::vector<KnownKey>& keys = made[which];
  if (!keys.empty()) return keys;
  Random random(which + 1);
  for (std::size_t k = 0; k < kKnownKeys; ++k)
    keys.push_back(make_known(random, 17 + static_cast<std::uint32_t>(k % 4)));
  return keys;
}

std::optional<Bytes> open_with_krb5(const KnownKey& key, std::uint32_t usage, ByteSpan sealed) {
  const krb5_keyblock block = keyblock(key);
  krb5_enc_data in{};
  in.enctype = block.enctype;
  in.ciphertext = {0, static_cast<unsigned>(sealed.size()),
                   const_cast<char*>(reinterpret_cast<const char*>(sealed.data()))};
  Bytes out(sealed.size());
  krb5_data plain{0, static_cast<unsigned>(out.size()), reinterpret_cast<char*>(out.data())};
  if (krb5_c_decrypt(context(), &block, static_cast<krb5_keyusage>(usage), nullptr, &in, &plain))
    return std::nullopt;
  out.resize(plain.length);
  return out;
}

}  // namespace tkdc::sim

// In front of libk5crypto's, which asks the kernel.
extern "C" krb5_error_code krb5_c_random_make_octets(krb5_context, krb5_data* out) {
  if (tkdc::sim::confounders == nullptr) return KRB5_CRYPTO_INTERNAL;
  tkdc::sim::confounders->fill(reinterpret_cast<std::uint8_t*>(out->data), out->length);
  return 0;
}
