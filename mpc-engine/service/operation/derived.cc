// SPDX-License-Identifier: Apache-2.0
#include "service/operation/derived.h"

#include "cipher/prf_plus.h"
#include "enctype.h"
#include "service/operation/cost.h"
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
  return {context.protocol, context.installation, record, context.seal_at, context.epoch,
          context.usage,    context.public_data};
}

// What PRF depends on besides its input: from the record, or made now for a key
// that was bound before records had it.
Task<SharedBytes> prf_states_of(Protocol& protocol, const KeyRecord& record) {
  auto kept = record.fields.find(kPrfField);
  if (kept != record.fields.end()) co_return kept->second;
  co_return co_await prf_states(protocol, sha2_enctype(record.ref.enctype),
                                record.fields.at("key"));
}

// PRF+ of the long-term key, to the length of a derived key.
void add_prf(CostSum& sum, std::uint32_t enctype, const Derivation& by) {
  const Rfc8009* sha2 = sha2_enctype(enctype);
  if (sha2 == nullptr) return sum.aes(key_bytes_of(enctype), key_bytes_of(by.enctype) / 16);
  // 00000001 "prf" 00 | number | pepper | length: one PRF output is enough.
  sum.hmac(sha2->hash, 4 + 3 + 1 + 1 + by.pepper.size() + 4);
}

// What derive_standard() does for one usage: 2 keys for encryption, 1 for checksums.
void add_derivation(CostSum& sum, std::uint32_t enctype, std::size_t keys) {
  const std::size_t key_bytes = key_bytes_of(enctype);
  const bool encryption = keys == 2;
  if (encryption) sum.expansion(key_bytes);  // Ke's
  const Rfc8009* sha2 = sha2_enctype(enctype);
  const HashFunction& hash = sha2 == nullptr ? kSha1 : sha2->hash;
  for (int pad = 0; pad < 2; ++pad) sum.chain(hash, 1);  // Ki's or Kc's
  if (sha2 == nullptr) {
    sum.expansion(key_bytes);  // the derived key's own
    return sum.aes(key_bytes, keys * key_bytes / 16);
  }
  for (int pad = 0; pad < 2; ++pad) sum.chain(hash, 1);  // the derived key's own
  for (std::size_t k = 0; k < keys; ++k) sum.hmac(hash, 4 + 5 + 1 + 4);
}

JobCost added(const JobCost& a, const JobCost& b) {
  JobCost sum = a;
  sum.message_bytes += b.message_bytes;
  sum.aes_blocks += b.aes_blocks;
  sum.sha1_blocks += b.sha1_blocks;
  sum.sha2_blocks += b.sha2_blocks;
  return sum;
}

// 1 for a checksum's usage, 2 for an encryption's.
std::size_t keys_of(tkdc_wire_op op) { return is_checksum(op) ? 1 : 2; }

}  // namespace

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
  const std::size_t bytes = request.input_bytes(), known_half = known_half_bytes(*by);
  if (bytes < known_half) return TKDC_STATUS_BAD_REQUEST;
  return check_input(operation_of(request.op), request.usage, bytes - known_half,
                     derived_record(record, by->enctype));
}

JobCost cost_of_derived(const Protocol& protocol, const KeyRecord& record, tkdc_wire_op op,
                        std::uint32_t key_usage, const Derivation& by, std::size_t input_bytes) {
  CostSum before(protocol);
  add_prf(before, record.ref.enctype, by);
  add_derivation(before, by.enctype, keys_of(op));
  return added(before.cost(),
               cost_of(protocol, derived_record(record, by.enctype), operation_of(op), key_usage,
                       input_bytes - known_half_bytes(by)));
}

JobCost cost_of_late(const Protocol& protocol, const KeyRecord& record, tkdc_wire_op op,
                     std::uint32_t key_usage, std::size_t input_bytes) {
  CostSum before(protocol);
  add_derivation(before, record.ref.enctype, keys_of(op));
  return added(before.cost(), cost_of(protocol, record, op, key_usage, input_bytes));
}

Task<JobOutcome> run_late(JobContext context, tkdc_wire_op op, SharedBytes input) {
  KeyRecord late = derived_record(context.record, context.record.ref.enctype);
  SharedBytes key = context.record.fields.at("key");
  co_await derive_standard(context.protocol, late, std::move(key), usages_for(op, context.usage));
  JobContext inner = with_record(context, late);
  co_return co_await run_plain(inner, op, std::move(input));
}

Task<JobOutcome> run_derived(JobContext context, tkdc_wire_op op, SharedBytes input) {
  const Derivation by = *decode_derivation(context.public_data);
  const std::size_t known_half = known_half_bytes(by);
  const SharedBytes states = co_await prf_states_of(context.protocol, context.record);
  SharedBytes key = co_await prf_plus(context.protocol, sha2_enctype(context.record.ref.enctype),
                                      states, octets_of(by.pepper), key_bytes_of(by.enctype));
  xor_into(key, input.slice(0, known_half));
  KeyRecord derived = derived_record(context.record, by.enctype);
  co_await derive_standard(context.protocol, derived, std::move(key),
                           usages_for(op, context.usage));
  JobContext inner = with_record(context, derived);
  co_return co_await run_plain(inner, operation_of(op),
                               input.slice(known_half, input.size() - known_half));
}

}  // namespace tkdc
