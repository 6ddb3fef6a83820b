// SPDX-License-Identifier: Apache-2.0
#include "service/operation/derived.h"

#include "cipher/prf_plus.h"
#include "enctype.h"
#include "service/operation/keys.h"

namespace tkdc {
namespace {

// RFC 6113, sections 5.4.3 and 5.4.6; MIT's cookie.
constexpr std::string_view kChallengePepper = "challengelongterm";
constexpr std::string_view kReplyPepper = "replykey";
constexpr std::string_view kCookiePepper = "COOKIE";  // and the client's name

Bytes octets_of(const std::string& text) { return {text.begin(), text.end()}; }

Usages usages_for(tkdc_wire_op op, std::uint32_t key_usage) {
  Usages out;
  (is_checksum(op) ? out.checksum : out.encryption).push_back(key_usage);
  return out;
}

JobContext with_record(const JobContext& context, const KeyRecord& record) {
  return {context.ciphers, context.installation, record, context.seal_at, context.epoch,
          context.usage,   context.public_data};
}

// What PRF depends on besides its input: from the record, or made now for a key
// that was bound before records had it.
Task<SharedBytes> prf_states_of(Ciphers& ciphers, const KeyRecord& record) {
  auto kept = record.fields.find(kPrfField);
  if (kept != record.fields.end()) co_return kept->second;
  co_return co_await prf_states(ciphers, sha2_enctype(record.ref.enctype), record.fields.at("key"));
}

// AES blocks under a key of this enctype, with their message octets.
void add_aes(JobCost& cost, std::uint32_t enctype, std::size_t blocks) {
  const int rounds = aes_rounds(key_bytes_of(enctype));
  cost.aes_blocks += static_cast<std::uint32_t>(blocks);
  cost.message_bytes += static_cast<std::uint32_t>(36 * static_cast<std::size_t>(rounds) * blocks);
}
void add_sha2(JobCost& cost, const Rfc8009& sha2, std::size_t blocks) {
  cost.sha2_blocks += static_cast<std::uint32_t>(blocks);
  cost.message_bytes += static_cast<std::uint32_t>(sha2.hash.message_bytes * blocks);
}

// PRF+ of the long-term key, to the length of a derived key.
void add_prf(JobCost& cost, std::uint32_t enctype, const Derivation& by) {
  const Rfc8009* sha2 = sha2_enctype(enctype);
  if (sha2 == nullptr) return add_aes(cost, enctype, key_bytes_of(by.enctype) / 16);
  // 00000001 "prf" 00 | number | pepper | length: one PRF output is enough.
  const std::size_t hashed = 4 + 3 + 1 + 1 + by.pepper.size() + 4;
  add_sha2(cost, *sha2, sha2->hash.blocks_of(hashed) + 1);
}

// What derive_standard() does for one usage: 2 keys for encryption, 1 for checksums.
void add_derivation(JobCost& cost, std::uint32_t enctype, std::size_t keys) {
  const std::size_t key_bytes = key_bytes_of(enctype);
  // A SubWord of up to 4 keys: 16 S-boxes.
  const std::size_t expansion_bytes = 36 * (key_bytes == 16 ? 10u : 13u);
  const bool encryption = keys == 2;
  std::size_t expansions = encryption ? 1 : 0;  // Ke's
  if (const Rfc8009* sha2 = sha2_enctype(enctype)) {
    add_sha2(cost, *sha2, 2 + 2 * keys + 2);
  } else {
    ++expansions;  // the derived key's own
    add_aes(cost, enctype, keys * key_bytes / 16);
    cost.sha1_blocks += 2;
    cost.message_bytes += static_cast<std::uint32_t>(2 * (Sha1::kStartBytes + Sha1::kBlockBytes));
  }
  cost.message_bytes += static_cast<std::uint32_t>(expansions * expansion_bytes);
}

// 1 for a checksum's usage, 2 for an encryption's.
std::size_t keys_of(tkdc_wire_op op) { return is_checksum(op) ? 1 : 2; }

}  // namespace

std::optional<Derivation> decode_derivation(const Bytes& public_data) {
  Reader r(public_data);
  Derivation by;
  by.kind = r.u8();
  by.enctype = r.u32();
  if (r.failed() || key_bytes_of(by.enctype) == 0) return std::nullopt;
  constexpr std::size_t kHead = 5;
  by.pepper.assign(public_data.begin() + kHead, public_data.end());
  const bool known = by.kind == TKDC_DERIVE_CF2 || by.kind == TKDC_DERIVE_PRFPLUS;
  if (!known || by.pepper.empty() || by.pepper.size() > TKDC_DERIVED_PEPPER_MAX_BYTES)
    return std::nullopt;
  return by;
}

Bytes encode_derivation(const Derivation& by) {
  Bytes out;
  Writer w(out);
  w.u8(by.kind);
  w.u32(by.enctype);
  out.insert(out.end(), by.pepper.begin(), by.pepper.end());
  return out;
}

std::size_t mask_bytes(const Derivation& by) {
  return by.kind == TKDC_DERIVE_CF2 ? key_bytes_of(by.enctype) : 0;
}

bool derivation_fits(const KeyRecord& record, std::uint32_t key_usage, const Derivation& by) {
  switch (key_usage) {
    case usage::kChallengeFromClient:
    case usage::kChallengeFromKdc:
      return by.kind == TKDC_DERIVE_CF2 && by.pepper == kChallengePepper;
    case usage::kAsRepEncPart:
    case usage::kAsReqChecksum: return by.kind == TKDC_DERIVE_CF2 && by.pepper == kReplyPepper;
    case usage::kCookie:
      return by.kind == TKDC_DERIVE_PRFPLUS && by.enctype == record.ref.enctype &&
             by.pepper.starts_with(kCookiePepper);
    default: return false;
  }
}

tkdc_wire_op operation_of(tkdc_wire_op derived) {
  switch (derived) {
    case TKDC_OP_SEAL_DERIVED: return TKDC_OP_SEAL;
    case TKDC_OP_OPEN_DERIVED: return TKDC_OP_OPEN;
    default: return TKDC_OP_MAC;
  }
}

KeyRecord derived_record(const KeyRecord& record, std::uint32_t enctype) {
  KeyRecord out;
  out.ref = record.ref;
  out.ref.enctype = enctype;
  out.key_class = record.key_class;
  return out;
}

tkdc_status check_derived(const JobRequest& request, const KeyRecord& record) {
  const auto by = decode_derivation(request.public_data);
  if (!by) return TKDC_STATUS_BAD_REQUEST;
  if (!derivation_fits(record, request.usage, *by)) return TKDC_STATUS_DENIED;
  const std::size_t bytes = request.component[0].size(), mask = mask_bytes(*by);
  if (bytes < mask) return TKDC_STATUS_BAD_REQUEST;
  return check_input(operation_of(request.op), request.usage, bytes - mask,
                     derived_record(record, by->enctype));
}

JobCost cost_of_derived(const KeyRecord& record, tkdc_wire_op op, std::uint32_t key_usage,
                        const Derivation& by, std::size_t input_bytes) {
  JobCost cost = cost_of(derived_record(record, by.enctype), operation_of(op), key_usage,
                         input_bytes - mask_bytes(by));
  add_prf(cost, record.ref.enctype, by);
  add_derivation(cost, by.enctype, keys_of(op));
  return cost;
}

JobCost cost_of_late(const KeyRecord& record, tkdc_wire_op op, std::uint32_t key_usage,
                     std::size_t input_bytes) {
  JobCost cost = cost_of(record, op, key_usage, input_bytes);
  add_derivation(cost, record.ref.enctype, keys_of(op));
  return cost;
}

Task<JobOutcome> run_late(JobContext context, tkdc_wire_op op, SharedBytes input) {
  KeyRecord late = derived_record(context.record, context.record.ref.enctype);
  SharedBytes key = context.record.fields.at("key");
  co_await derive_standard(context.ciphers, late, std::move(key), usages_for(op, context.usage));
  JobContext inner = with_record(context, late);
  co_return co_await run_plain(inner, op, std::move(input));
}

Task<JobOutcome> run_derived(JobContext context, tkdc_wire_op op, SharedBytes input) {
  const Derivation by = *decode_derivation(context.public_data);
  const std::size_t mask = mask_bytes(by);
  const SharedBytes states = co_await prf_states_of(context.ciphers, context.record);
  SharedBytes key = co_await prf_plus(context.ciphers, sha2_enctype(context.record.ref.enctype),
                                      states, octets_of(by.pepper), key_bytes_of(by.enctype));
  xor_into(key, input.slice(0, mask));
  KeyRecord derived = derived_record(context.record, by.enctype);
  co_await derive_standard(context.ciphers, derived, std::move(key), usages_for(op, context.usage));
  JobContext inner = with_record(context, derived);
  co_return co_await run_plain(inner, operation_of(op), input.slice(mask, input.size() - mask));
}

}  // namespace tkdc
