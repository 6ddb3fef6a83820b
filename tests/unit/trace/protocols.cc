// SPDX-License-Identifier: Apache-2.0
#include "protocols.h"

#include "cipher/ghash/gf128.h"
#include "cipher/prf_plus.h"
#include "service/admit/policy.h"
#include "service/lifecycle/management.h"
#include "service/operation/keys.h"
#include "session/memory_store.h"

namespace tkdc::test {
namespace {

constexpr std::size_t kRoundKeys128 = 176, kRoundKeys256 = 240, kStates = 2 * kSha1StateBytes;

Task<SharedBytes> counter_mode(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret;
  Bytes counters(16 * 5);
  for (std::size_t k = 0; k < 5; ++k) counters[16 * k + 15] = static_cast<std::uint8_t>(k + 1);
  SharedBytes blocks = share_public(c.rep3.party(), counters);
  co_return co_await c.aes.encrypt(round_keys, std::move(blocks));
}

Task<SharedBytes> expand_and_encrypt(Rep3Protocol& c, SharedBytes secret) {
  std::vector<SharedBytes> keys(1, std::move(secret));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(c, std::move(keys));
  co_return co_await counter_mode(c, std::move(expanded.front()));
}

Task<SharedBytes> decrypt(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, kRoundKeys256);
  co_return co_await c.aes.decrypt(round_keys, secret.slice(kRoundKeys256, 48));
}

Task<SharedBytes> gcm_seal_and_open(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, kRoundKeys256);
  SharedBytes powers = co_await gcm_powers(c, round_keys);
  GcmKey key = {round_keys, powers};
  GcmNonce nonce = {7};
  SharedBytes sealed =
      co_await gcm_seal(c, key, nonce, Bytes(5, 1), secret.slice(kRoundKeys256, 40));
  Bytes ciphertext = co_await c.rep3.open(sealed);
  std::optional<SharedBytes> plain = co_await gcm_open(c, key, nonce, Bytes(5, 1), ciphertext);
  std::optional<SharedBytes> forged = co_await gcm_open(c, key, nonce, Bytes(5, 2), ciphertext);
  assert(plain.has_value() && !forged.has_value());
  co_return plain ? std::move(*plain) : SharedBytes();
}

Task<SharedBytes> gcm_signature(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, kRoundKeys128);
  SharedBytes powers = co_await ghash_powers(c, secret.slice(kRoundKeys128, 16));
  GcmKey key = {round_keys, powers};
  co_return co_await gcm_sign(c, key, secret.slice(0, 100));
}

Task<SharedBytes> cts_there_and_back(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, kRoundKeys128);
  SharedBytes sealed = co_await cts_encrypt(c, round_keys, secret.slice(kRoundKeys128, 53));
  SharedBytes plain = co_await cts_decrypt(c, round_keys, sealed);
  sealed.append(plain);
  co_return sealed;
}

Task<SharedBytes> compress(Rep3Protocol& c, SharedBytes secret) {
  co_return co_await c.sha1.compress(secret.slice(0, kSha1StateBytes),
                                     secret.slice(kSha1StateBytes, kSha1BlockBytes));
}

// In the shape of the fewest bits.
Task<SharedBytes> compress_bits(Rep3Protocol& c, SharedBytes secret) {
  c.sha1.set_ripple_from(1);
  co_return co_await c.sha1.compress(secret.slice(0, kSha1StateBytes),
                                     secret.slice(kSha1StateBytes, kSha1BlockBytes), Work::kBulk);
}

Task<SharedBytes> hmac(Rep3Protocol& c, SharedBytes secret) {
  const SharedBytes pads = co_await hmac_pad_states(c, kSha1, secret.slice(0, 32));
  co_return co_await hmac_sha1_96(c, pads, secret.slice(32, 70));
}

// HMACs in the shape of the fewest bits, columns that neither fill a word nor an octet.
Task<SharedBytes> hmac_bits(Rep3Protocol& c, SharedBytes secret) {
  constexpr std::size_t kMany = 5;
  c.sha1.set_ripple_from(kMany);
  const SharedBytes pads = secret.slice(0, kStates);
  std::vector<SharedBytes> macs(kMany);
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < kMany; ++k)
    tasks.push_back(
        store(tkdc::hmac(c, kSha1, pads, secret.slice(kStates, 54 + k), Work::kBulk), macs[k]));
  co_await all(c.rep3.lane, std::move(tasks));
  for (std::size_t k = 1; k < kMany; ++k) macs[0].append(macs[k]);
  co_return macs[0];
}

Task<SharedBytes> rfc3962_both_ways(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes ke = secret.slice(0, kRoundKeys256);
  const SharedBytes ki = secret.slice(kRoundKeys256, kStates);
  SharedBytes sealed = co_await rfc3962_seal(c, ke, ki, secret.slice(kRoundKeys256 + kStates, 30));
  std::optional<SharedBytes> plain = co_await rfc3962_open(c, ke, ki, sealed);
  sealed.component[0][3] ^= c.rep3.party() == 0 ? 1 : 0;  // component 0: also party 2's second
  sealed.component[1][3] ^= c.rep3.party() == 2 ? 1 : 0;
  std::optional<SharedBytes> forged = co_await rfc3962_open(c, ke, ki, sealed);
  assert(plain.has_value() && !forged.has_value());
  co_return plain ? std::move(*plain) : SharedBytes();
}

// The tail's inner digest is not that of the head's message: what the servers cannot know.
Task<SharedBytes> rfc3962_in_two_parts(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes ke = secret.slice(0, kRoundKeys256);
  const SharedBytes ki = secret.slice(kRoundKeys256, kStates);
  SharedBytes plaintext = secret.slice(kRoundKeys256 + kStates, 50);
  SharedBytes digest = secret.slice(kRoundKeys256 + kStates + 50, kSha1StateBytes);
  SharedBytes sealed = co_await rfc3962_seal_head(c, ke, ki, plaintext);
  SharedBytes mac = co_await hmac_sha1_96_tail(c, ki, digest);
  sealed.append(mac);
  co_return sealed;
}

std::vector<Bytes> two_constants() {
  std::vector<Bytes> constants;
  constants.push_back(derivation_constant(3, DerivedKey::kEncryption));
  constants.push_back(derivation_constant(3, DerivedKey::kIntegrity));
  return constants;
}

Task<SharedBytes> dk(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret;
  std::vector<SharedBytes> keys = co_await derive_keys(c, round_keys, 32, two_constants());
  keys[0].append(keys[1]);
  co_return std::move(keys[0]);
}

KeyRecord record_of(const char* principal, std::uint8_t origin) {
  KeyRecord record;
  record.ref.enctype = 18;
  record.ref.kvno = 1;
  record.principal_name = principal;
  record.key_class = *classify_principal(principal);
  record.origin = origin;
  return record;
}

Task<SharedBytes> bind(Rep3Protocol& c, SharedBytes secret, const char* principal,
                       std::uint8_t origin) {
  KeyRecord record = record_of(principal, origin);
  co_await derive_fields(c, record, std::move(secret));
  SharedBytes all_fields;
  for (const auto& [name, field] : record.fields) all_fields.append(field);
  co_return all_fields;
}

Task<SharedBytes> bind_service(Rep3Protocol& c, SharedBytes secret) {
  return bind(c, std::move(secret), "host/a.test@A.TEST", TKDC_ORIGIN_IMPORTED);
}
Task<SharedBytes> bind_krbtgt(Rep3Protocol& c, SharedBytes secret) {
  return bind(c, std::move(secret), "krbtgt/A.TEST@A.TEST", TKDC_ORIGIN_DRAWN);
}

std::vector<Bytes> two_labels() {
  std::vector<Bytes> labels;
  labels.push_back(Bytes({0, 0, 0, 3, 0xaa}));
  labels.push_back(Bytes({0, 0, 0, 3, 0x55}));
  return labels;
}

std::vector<std::size_t> two_lengths(const Rfc8009& enctype) {
  return std::vector<std::size_t>({enctype.key_bytes, enctype.mac_key_bytes});
}

// From the base key on: pad states, KDF, both derived keys, seal, open, and a forgery.
Task<SharedBytes> rfc8009_both_ways(Rep3Protocol& c, SharedBytes secret, std::size_t key_bytes) {
  const Rfc8009& enctype = rfc8009_of(key_bytes);
  const SharedBytes base = co_await hmac_pad_states(c, enctype.hash, secret.slice(0, key_bytes));
  std::vector<SharedBytes> keys =
      co_await rfc8009_derive(c, enctype, base, two_labels(), two_lengths(enctype));
  const SharedBytes integrity = co_await hmac_pad_states(c, enctype.hash, keys[1]);
  keys.pop_back();
  std::vector<SharedBytes> ke = co_await aes_expand_keys(c, std::move(keys));
  SharedBytes sealed =
      co_await rfc8009_seal(c, enctype, ke[0], integrity, secret.slice(key_bytes, 30));
  std::optional<SharedBytes> plain = co_await rfc8009_open(c, enctype, ke[0], integrity, sealed);
  sealed.component[0][3] ^= c.rep3.party() == 0 ? 1 : 0;  // component 0: also party 2's second
  sealed.component[1][3] ^= c.rep3.party() == 2 ? 1 : 0;
  std::optional<SharedBytes> forged = co_await rfc8009_open(c, enctype, ke[0], integrity, sealed);
  assert(plain.has_value() && !forged.has_value());
  co_return plain ? std::move(*plain) : SharedBytes();
}

Task<SharedBytes> enctype_19(Rep3Protocol& c, SharedBytes secret) {
  return rfc8009_both_ways(c, std::move(secret), 16);
}
Task<SharedBytes> enctype_20(Rep3Protocol& c, SharedBytes secret) {
  return rfc8009_both_ways(c, std::move(secret), 32);
}

// What fx_cf2 adds up, under a key of enctype 18 and under one of 19.
Task<SharedBytes> strengthened(Rep3Protocol& c, SharedBytes secret) {
  const Rfc8009& sha2 = rfc8009_of(16);
  Bytes pepper(12, 'p');
  SharedBytes aes_states = co_await prf_states(c, nullptr, secret.slice(0, 32));
  SharedBytes one = co_await prf_plus(c, nullptr, aes_states, pepper, 32);
  SharedBytes sha_states = co_await prf_states(c, &sha2, secret.slice(32, 16));
  SharedBytes other = co_await prf_plus(c, &sha2, sha_states, std::move(pepper), 32);
  xor_into(one, other);
  co_return one;
}

Task<SharedBytes> zero_test(Rep3Protocol& c, SharedBytes secret) {
  bool zero = co_await is_zero(c, SharedBytes(12));
  bool other = co_await is_zero(c, secret.slice(0, 12));
  assert(zero && !other);
  co_return zero && !other ? std::move(secret) : SharedBytes();
}

StagedKey imported(SharedBytes key) {
  StagedKey staged;
  staged.origin = TKDC_ORIGIN_IMPORTED;
  staged.enctype = 18;
  staged.key = std::move(key);
  return staged;
}

JobRequest equal_request(const KeyRecord& bound, const KeyId& staged) {
  JobRequest request;
  request.op = TKDC_OP_EQUAL;
  request.key = bound.ref;
  request.public_data.assign(staged.begin(), staged.end());
  return request;
}

// A bound key compared with the same and with another.
Task<SharedBytes> equal(Rep3Protocol& c, SharedBytes secret) {
  constexpr std::size_t kKeyBytes = 32;
  MemoryStore none;  // EQUAL asks none
  KeyRecord record = record_of("alice@A.TEST", TKDC_ORIGIN_IMPORTED);
  record.fields["key"] = secret.slice(0, kKeyBytes);
  StagedKeys staged;
  const KeyId same = {1}, other = {2};
  staged.put(same, imported(secret.slice(0, kKeyBytes)));
  staged.put(other, imported(secret.slice(kKeyBytes, kKeyBytes)));
  ShareAlarm silent(nullptr);
  const std::function<void(const KeyId&)> nobody;
  const ManagementContext context{c,      c.rep3.lane, staged,  none,           nullptr,
                                  silent, 0,           &record, {false, nobody}};
  const JobRequest first = equal_request(record, same), second = equal_request(record, other);
  SharedBytes no_input, neither;
  JobOutcome yes = co_await run_management(context, first, std::move(no_input));
  JobOutcome no = co_await run_management(context, second, std::move(neither));
  if (std::string(yes.note) != "equal" || std::string(no.note) != "not equal")
    co_return SharedBytes();
  secret.append(yes.output);
  secret.append(no.output);
  co_return secret;
}

// Masks made ahead, then two blocks there and back with them.
Task<SharedBytes> masked_aes(Rep3Protocol& c, SharedBytes secret, int rounds) {
  auto pool = std::make_unique<MaskPool>(c.rep3, MaskPool::needed(4, rounds));
  co_await pool->fill(pool->capacity());
  c.aes.use_masks(*pool, 2);
  const std::size_t key_bytes = 16 * (static_cast<std::size_t>(rounds) + 1);
  SharedBytes keys = secret.slice(0, key_bytes);
  SharedBytes sealed = co_await c.aes.encrypt(keys, secret.slice(key_bytes, 32));
  SharedBytes out = co_await c.aes.decrypt(keys, sealed);
  out.append(sealed);
  assert(c.aes.masked_blocks() == 4);
  c.aes.use_masks(*pool, 0);
  co_return out;
}

Task<SharedBytes> masked_aes128(Rep3Protocol& c, SharedBytes secret) {
  return masked_aes(c, std::move(secret), 10);
}
Task<SharedBytes> masked_aes256(Rep3Protocol& c, SharedBytes secret) {
  return masked_aes(c, std::move(secret), 14);
}

}  // namespace

const std::vector<TracedProtocol>& protocols() {
  static const std::vector<TracedProtocol> all = {
      {"aes128-ctr", kRoundKeys128, counter_mode},
      {"aes256-ctr", kRoundKeys256, counter_mode},
      {"aes128-schedule", 16, expand_and_encrypt},
      {"aes256-schedule", 32, expand_and_encrypt},
      {"aes256-decrypt", kRoundKeys256 + 48, decrypt},
      {"aes128-masked", kRoundKeys128 + 32, masked_aes128},
      {"aes256-masked", kRoundKeys256 + 32, masked_aes256},
      {"gcm-seal-open", kRoundKeys256 + 40, gcm_seal_and_open},
      {"gcm-sign", kRoundKeys128 + 16, gcm_signature},
      {"cts-both-ways", kRoundKeys128 + 53, cts_there_and_back},
      {"sha1", kSha1StateBytes + kSha1BlockBytes, compress},
      {"sha1-bits", kSha1StateBytes + kSha1BlockBytes, compress_bits},
      {"hmac-sha1", 102, hmac},
      {"hmac-sha1-bits", kStates + 60, hmac_bits},
      {"rfc3962-seal-open", kRoundKeys256 + kStates + 30, rfc3962_both_ways},
      {"rfc3962-two-parts", kRoundKeys256 + kStates + 50 + kSha1StateBytes, rfc3962_in_two_parts},
      {"dk", kRoundKeys256, dk},
      {"bind-service", 32, bind_service},
      {"bind-krbtgt", 32, bind_krbtgt},
      {"rfc8009-sha256", 16 + 30, enctype_19},
      {"rfc8009-sha384", 32 + 30, enctype_20},
      {"prf-plus", 32 + 16, strengthened},
      {"zero-test", 12, zero_test},
      {"equal", 2 * 32, equal},
  };
  return all;
}

}  // namespace tkdc::test
