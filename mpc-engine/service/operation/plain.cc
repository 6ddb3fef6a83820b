// SPDX-License-Identifier: Apache-2.0
#include "service/operation/plain.h"

#include <algorithm>

#include "cipher/gcm.h"
#include "cipher/ghash/gf128.h"
#include "enctype.h"
#include "service/admit/policy.h"
#include "service/operation/cost.h"
#include "service/operation/keys.h"

namespace tkdc {
namespace {

// Associated data of a ticket: label || installation || key id || kvno || enctype || usage.
Bytes associated_data(const JobContext& context) {
  static constexpr std::string_view kLabel = "tkdc ticket 1";
  Bytes out(kLabel.begin(), kLabel.end());
  Writer w(out);
  w.raw(context.installation);
  w.raw(context.record.ref.id);
  w.u32(context.record.ref.kvno);
  w.u32(context.record.ref.enctype);
  w.u32(context.usage);
  return out;
}

const SharedBytes& field(const JobContext& context, const std::string& name) {
  return context.record.fields.at(name);
}

// A key's record exists only for an enctype that is served.
const tkdc_enctype& enctype_of(const KeyRecord& record) {
  return *tkdc_enctype_of(record.ref.enctype);
}

// Zeros behind a ticket of the GCM form, up to its enctype's length.
std::size_t filling(const KeyRecord& record) {
  return enctype_of(record).overhead_bytes - kGcmNonceBytes - kGcmTagBytes;
}

GcmKey ticket_key(const JobContext& context) {
  return {field(context, "gcm.rk"), field(context, "gcm.h"), context.gcm};
}

GcmKey signing_key(const JobContext& context) {
  return {field(context, "sign.rk"), field(context, "sign.h"), context.gcm};
}

const SharedBytes& of_usage(const JobContext& context, const char* part) {
  return field(context, field_name(context.usage, part));
}

Task<JobOutcome> seal_ticket(JobContext context, SharedBytes plaintext) {
  GcmNonce nonce = encode_nonce(context.seal_at);
  SharedBytes ticket = context.protocol.share_public(nonce);
  SharedBytes sealed = co_await gcm_seal(context.protocol, ticket_key(context), nonce,
                                         associated_data(context), std::move(plaintext));
  ticket.append(sealed);
  ticket.resize(ticket.size() + filling(context.record));
  co_return JobOutcome(std::move(ticket));
}

// Why a ticket with this nonce cannot be one of ours, or null.
const char* nonce_fault(const NonceCoordinates& nonce, const JobContext& context) {
  if (nonce.mode != 0) return "its nonce is of another mode";
  // Of an era before this one there is no epoch to compare with; the tag decides.
  if (!context.record.open_only && nonce.epoch > context.epoch)
    return "its nonce's epoch has not been reached";
  if (nonce.sealed_at > context.seal_at.sealed_at + kClockSkewUnits)
    return "it was sealed in the future";
  if (nonce.sealed_at + kMaxTicketAgeUnits < context.seal_at.sealed_at) return "it is too old";
  return nullptr;
}

Task<JobOutcome> open_ticket(JobContext context, SharedBytes input) {
  Bytes ticket = co_await context.protocol.open_input(input);
  GcmNonce nonce;
  std::copy_n(ticket.begin(), nonce.size(), nonce.begin());
  const NonceCoordinates sealed_where = decode_nonce(nonce);
  if (const char* fault = nonce_fault(sealed_where, context))
    co_return refuse(TKDC_STATUS_INTEGRITY, std::string("the ticket is refused: ") + fault);
  if (context.revoked != nullptr && context.revoked->contains(sealed_where.sealed_at))
    co_return refuse_revoked();
  // Opened and equal at all servers: nothing secret.
  if (!std::all_of(ticket.end() - static_cast<std::ptrdiff_t>(filling(context.record)),
                   ticket.end(), [](std::uint8_t octet) { return octet == 0; }))
    co_return refuse(TKDC_STATUS_INTEGRITY, "the ticket is refused: it does not end in zeros");
  Bytes sealed(ticket.begin() + kGcmNonceBytes,
               ticket.end() - static_cast<std::ptrdiff_t>(filling(context.record)));
  auto plain = co_await gcm_open(context.protocol, ticket_key(context), nonce,
                                 associated_data(context), std::move(sealed));
  if (!plain) co_return refuse(TKDC_STATUS_INTEGRITY, "the ticket's tag does not hold");
  co_return JobOutcome(std::move(*plain));
}

Task<JobOutcome> seal_standard(JobContext context, SharedBytes plaintext) {
  const Rfc8009* sha2 = sha2_enctype(context.record.ref.enctype);
  const SharedBytes &ke = of_usage(context, "ke"), &ki = of_usage(context, "ki");
  Task<SharedBytes> task =
      sha2 == nullptr ? rfc3962_seal(context.protocol, ke, ki, std::move(plaintext))
                      : rfc8009_seal(context.protocol, *sha2, ke, ki, std::move(plaintext));
  SharedBytes sealed = co_await std::move(task);
  co_return JobOutcome(std::move(sealed));
}

Task<JobOutcome> open_standard(JobContext context, SharedBytes sealed) {
  const Rfc8009* sha2 = sha2_enctype(context.record.ref.enctype);
  const SharedBytes &ke = of_usage(context, "ke"), &ki = of_usage(context, "ki");
  Task<std::optional<SharedBytes>> task =
      sha2 == nullptr ? rfc3962_open(context.protocol, ke, ki, std::move(sealed))
                      : rfc8009_open(context.protocol, *sha2, ke, ki, std::move(sealed));
  auto plain = co_await std::move(task);
  if (!plain) co_return refuse(TKDC_STATUS_INTEGRITY, "the message's checksum does not hold");
  co_return JobOutcome(std::move(*plain));
}

// HMAC-SHA1, with the usage's keys in the record. Not of krbtgt: whoever opens and verifies with it
// is the KDC itself, and what the realm stands on is asked for whole.
bool has_parts(const KeyRecord& record, tkdc_wire_op op, std::uint32_t key_usage) {
  return (op == TKDC_OP_SEAL || op == TKDC_OP_MAC) && record.key_class != KeyClass::kKrbtgt &&
         sha2_enctype(record.ref.enctype) == nullptr && !lacks_keys(record, op, key_usage);
}

// What an operation's MAC covers.
std::size_t message_bytes_of(tkdc_wire_op op, std::size_t input_bytes) {
  return input_bytes + (op == TKDC_OP_SEAL ? kConfounderBytes : 0);
}

// What the operation's HMAC starts from.
const SharedBytes& pads_of(const JobContext& context, tkdc_wire_op op) {
  return of_usage(context, op == TKDC_OP_SEAL ? "ki" : "kc");
}

Task<JobOutcome> head_of(JobContext context, tkdc_wire_op op, SharedBytes input) {
  const SharedBytes& pads = pads_of(context, op);
  Task<SharedBytes> task =
      op == TKDC_OP_SEAL
          ? rfc3962_seal_head(context.protocol, of_usage(context, "ke"), pads, std::move(input))
          : hmac_sha1_head(context.protocol, pads, input);
  SharedBytes head = co_await std::move(task);
  co_return JobOutcome(std::move(head));
}

Task<JobOutcome> tail_of(JobContext context, tkdc_wire_op op, SharedBytes digest) {
  SharedBytes mac =
      co_await hmac_sha1_96_tail(context.protocol, pads_of(context, op), std::move(digest));
  co_return JobOutcome(std::move(mac));
}

// Of 12, 16 or 24 octets; a signature has at most 16 that are not filling.
Task<SharedBytes> sign(JobContext context, SharedBytes data) {
  constexpr std::size_t kBlockBytes = 16;
  const std::size_t bytes = enctype_of(context.record).checksum_bytes;
  SharedBytes signature = co_await gcm_sign(context.protocol, signing_key(context), std::move(data),
                                            std::min(bytes, kBlockBytes));
  signature.resize(bytes);
  co_return signature;
}

Task<SharedBytes> checksum(JobContext context, SharedBytes data) {
  if (in_gcm_form(context.record, context.usage)) co_return co_await sign(context, std::move(data));
  const Rfc8009* sha2 = sha2_enctype(context.record.ref.enctype);
  const SharedBytes& kc = of_usage(context, "kc");
  Task<SharedBytes> task = sha2 == nullptr
                               ? hmac_sha1_96(context.protocol, kc, std::move(data))
                               : rfc8009_mac(context.protocol, *sha2, kc, std::move(data));
  co_return co_await std::move(task);
}

Task<JobOutcome> mac(JobContext context, SharedBytes data) {
  SharedBytes sum = co_await checksum(context, std::move(data));
  co_return JobOutcome(std::move(sum));
}

Task<JobOutcome> verify(JobContext context, SharedBytes input) {
  const std::size_t sum_bytes = enctype_of(context.record).checksum_bytes;
  const std::size_t bytes = input.size() - sum_bytes;
  bool holds = false;
  if (in_gcm_form(context.record, context.usage)) {
    holds = co_await gcm_verify(context.protocol, signing_key(context), input.slice(0, bytes),
                                input.slice(bytes, sum_bytes));
  } else {
    SharedBytes difference = co_await checksum(context, input.slice(0, bytes));
    xor_into(difference, input.slice(bytes, sum_bytes));
    holds = co_await is_zero(context.protocol, std::move(difference));
  }
  if (!holds) co_return refuse(TKDC_STATUS_INTEGRITY, "the checksum does not hold");
  co_return JobOutcome();
}

// PA-ENC-TS-ENC takes some 60 octets and comes from whoever can send a packet.
constexpr std::size_t kMaxTimestampBytes = 512;
// Tickets, replies and PACs of principals in many groups: some kilobytes.
constexpr std::size_t kMaxSequentialBytes = 8192;

bool from_anybody(std::uint32_t key_usage) {
  return key_usage == usage::kAsReqTimestamp || key_usage == usage::kChallengeFromClient;
}

std::size_t aes_blocks_of(std::size_t bytes) { return (bytes + 15) / 16; }

}  // namespace

JobOutcome refuse(tkdc_status status, std::string message) {
  return JobOutcome(status, std::move(message));
}

JobOutcome refuse_revoked() {
  JobOutcome outcome(TKDC_STATUS_INTEGRITY,
                     "the ticket is refused: it was sealed in a time that was revoked");
  outcome.revoked = true;
  return outcome;
}

bool in_gcm_form(const KeyRecord& record, std::uint32_t key_usage) {
  return record.form == KeyForm::kGcm &&
         (key_usage == usage::kTicket || key_usage == usage::kPacSignature);
}

bool leaves_tail(const KeyRecord& record, tkdc_wire_op op, std::uint32_t key_usage,
                 const Part& part, std::size_t input_bytes) {
  return part.kind == Part::Kind::kHead && has_parts(record, op, key_usage) &&
         worth_two_parts(message_bytes_of(op, input_bytes));
}

bool lacks_keys(const KeyRecord& record, tkdc_wire_op op, std::uint32_t key_usage) {
  return !in_gcm_form(record, key_usage) &&
         !record.fields.contains(field_name(key_usage, is_checksum(op) ? "kc" : "ke"));
}

tkdc_status check_tail(tkdc_wire_op op, std::uint32_t key_usage, std::size_t bytes,
                       const KeyRecord& record) {
  return has_parts(record, op, key_usage) && bytes == kSha1StateBytes ? TKDC_STATUS_OK
                                                                      : TKDC_STATUS_BAD_REQUEST;
}

tkdc_status check_input(tkdc_wire_op op, std::uint32_t key_usage, std::size_t bytes,
                        const KeyRecord& record) {
  const tkdc_enctype& enctype = enctype_of(record);
  const std::size_t least = op == TKDC_OP_OPEN     ? enctype.overhead_bytes
                            : op == TKDC_OP_VERIFY ? enctype.checksum_bytes
                                                   : 0;
  if (bytes < least) return TKDC_STATUS_BAD_REQUEST;
  const std::size_t most = in_gcm_form(record, key_usage) ? kGcmMaxBytes
                           : from_anybody(key_usage)      ? kMaxTimestampBytes
                                                          : kMaxSequentialBytes;
  if (bytes <= most) return TKDC_STATUS_OK;
  return op == TKDC_OP_OPEN ? TKDC_STATUS_INTEGRITY : TKDC_STATUS_BAD_REQUEST;
}

Task<JobOutcome> run_plain(JobContext context, tkdc_wire_op op, SharedBytes input) {
  if (context.part.kind == Part::Kind::kTail) return tail_of(context, op, std::move(input));
  if (leaves_tail(context.record, op, context.usage, context.part, input.size()))
    return head_of(context, op, std::move(input));
  const bool gcm = in_gcm_form(context.record, context.usage);
  switch (op) {
    case TKDC_OP_SEAL:
      return gcm ? seal_ticket(context, std::move(input))
                 : seal_standard(context, std::move(input));
    case TKDC_OP_OPEN:
      return gcm ? open_ticket(context, std::move(input))
                 : open_standard(context, std::move(input));
    case TKDC_OP_MAC: return mac(context, std::move(input));
    default: return verify(context, std::move(input));
  }
}

JobCost cost_of(const Protocol& protocol, const KeyRecord& record, tkdc_wire_op op,
                std::uint32_t key_usage, std::size_t input_bytes, const Part& part) {
  CostSum sum(protocol);
  if (part.kind == Part::Kind::kTail) {
    sum.chain(kSha1, 1);
    return sum.cost();
  }
  const std::size_t key_bytes = key_bytes_of(record.ref.enctype);
  const bool gcm = in_gcm_form(record, key_usage), checksum = is_checksum(op);
  const tkdc_enctype& enctype = enctype_of(record);
  const std::size_t tail = gcm ? enctype.overhead_bytes : enctype.checksum_bytes;
  const std::size_t message = op == TKDC_OP_OPEN     ? input_bytes - tail
                              : op == TKDC_OP_VERIFY ? input_bytes - enctype.checksum_bytes
                              : op == TKDC_OP_SEAL   ? input_bytes + (gcm ? 0 : kConfounderBytes)
                                                     : input_bytes;
  if (gcm) {
    sum.aes(key_bytes, 1 + (checksum ? 0 : aes_blocks_of(message)));
    // A ticket's GHASH covers associated data of 57 octets and the lengths; of its public octets
    // only what joins the chunks has a message.
    const std::size_t hashed = aes_blocks_of(message) + (checksum ? 1 : 5);
    sum.products((checksum ? (hashed + kPowers - 1) / kPowers : 0) + (hashed > kPowers ? 1 : 0));
  } else {
    if (!checksum) sum.aes(key_bytes, aes_blocks_of(message));
    const Rfc8009* sha2 = sha2_enctype(record.ref.enctype);
    if (leaves_tail(record, op, key_usage, part, input_bytes))
      sum.chain(kSha1, 1);
    else if (sha2 == nullptr)
      sum.hmac(kSha1, message);
    else  // an encryption's MAC covers the cipher state too
      sum.hmac(sha2->hash, message + (checksum ? 0 : kConfounderBytes));
  }
  if (op == TKDC_OP_OPEN || op == TKDC_OP_VERIFY) sum.products(1);
  return sum.cost();
}

}  // namespace tkdc
