// SPDX-License-Identifier: Apache-2.0
#include "job/operations.h"

#include "admit/policy.h"
#include "cipher/ghash/gf128.h"
#include "cipher/rfc3962.h"
#include "job/keys.h"

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

GcmKey ticket_key(const JobContext& context) {
  return {field(context, "gcm.rk"), field(context, "gcm.h")};
}

// Both pad states of an HMAC key, as the cipher layer wants them.
struct PadStates {
  SharedBytes inner, outer;
  PadStates(const JobContext& context, const char* part) {
    const SharedBytes& states = field(context, field_name(context.usage, part));
    inner = states.slice(0, kSha1StateBytes);
    outer = states.slice(kSha1StateBytes, kSha1StateBytes);
  }
  HmacKey key() const { return {inner, outer}; }
};

JobOutcome refuse(tkdc_status status, std::string message) {
  return JobOutcome(status, std::move(message));
}

Task<JobOutcome> seal_ticket(JobContext context, SharedBytes plaintext) {
  GcmNonce nonce = encode_nonce(context.seal_at);
  SharedBytes ticket = share_public(context.ciphers.rep3.party(), nonce);
  SharedBytes sealed = co_await gcm_seal(context.ciphers, ticket_key(context), nonce,
                                         associated_data(context), std::move(plaintext));
  ticket.append(sealed);
  co_return JobOutcome(std::move(ticket));
}

// Why a ticket with this nonce cannot be one of ours, or null.
const char* nonce_fault(const NonceCoordinates& nonce, const JobContext& context) {
  if (nonce.mode != 0) return "its nonce is of another mode";
  if (nonce.epoch > context.epoch) return "its nonce's epoch has not been reached";
  if (nonce.sealed_at > context.seal_at.sealed_at + kClockSkewUnits)
    return "it was sealed in the future";
  if (nonce.sealed_at + kMaxTicketAgeUnits < context.seal_at.sealed_at) return "it is too old";
  return nullptr;
}

Task<JobOutcome> open_ticket(JobContext context, SharedBytes input) {
  Bytes ticket = co_await context.ciphers.rep3.open(input);
  GcmNonce nonce;
  std::copy_n(ticket.begin(), nonce.size(), nonce.begin());
  if (const char* fault = nonce_fault(decode_nonce(nonce), context))
    co_return refuse(TKDC_STATUS_INTEGRITY, std::string("the ticket is refused: ") + fault);
  Bytes sealed(ticket.begin() + kGcmNonceBytes, ticket.end());
  auto plain = co_await gcm_open(context.ciphers, ticket_key(context), nonce,
                                 associated_data(context), std::move(sealed));
  if (!plain) co_return refuse(TKDC_STATUS_INTEGRITY, "the ticket's tag does not hold");
  co_return JobOutcome(std::move(*plain));
}

Task<JobOutcome> seal_rfc3962(JobContext context, SharedBytes plaintext) {
  PadStates ki(context, "ki");
  SharedBytes sealed =
      co_await rfc3962_seal(context.ciphers, field(context, field_name(context.usage, "ke")),
                            ki.key(), std::move(plaintext));
  co_return JobOutcome(std::move(sealed));
}

Task<JobOutcome> open_rfc3962(JobContext context, SharedBytes sealed) {
  PadStates ki(context, "ki");
  auto plain =
      co_await rfc3962_open(context.ciphers, field(context, field_name(context.usage, "ke")),
                            ki.key(), std::move(sealed));
  if (!plain) co_return refuse(TKDC_STATUS_INTEGRITY, "the message's checksum does not hold");
  co_return JobOutcome(std::move(*plain));
}

Task<SharedBytes> checksum(JobContext context, SharedBytes data) {
  if (in_gcm_form(context.record, context.usage)) {
    GcmKey key = {field(context, "sign.rk"), field(context, "sign.h")};
    co_return co_await gcm_sign(context.ciphers, key, std::move(data));
  }
  PadStates kc(context, "kc");
  co_return co_await hmac_sha1_96(context.ciphers, kc.key(), std::move(data));
}

Task<JobOutcome> mac(JobContext context, SharedBytes data) {
  SharedBytes sum = co_await checksum(context, std::move(data));
  co_return JobOutcome(std::move(sum));
}

Task<JobOutcome> verify(JobContext context, SharedBytes input) {
  const std::size_t bytes = input.size() - kChecksumBytes;
  SharedBytes difference = co_await checksum(context, input.slice(0, bytes));
  xor_into(difference, input.slice(bytes, kChecksumBytes));
  bool holds = co_await is_zero(context.ciphers.rep3, std::move(difference));
  if (!holds) co_return refuse(TKDC_STATUS_INTEGRITY, "the checksum does not hold");
  co_return JobOutcome();
}

// PA-ENC-TS-ENC takes some 60 octets and comes from whoever can send a packet.
constexpr std::size_t kMaxTimestampBytes = 512;
// Tickets, replies and PACs of principals in many groups: some kilobytes.
constexpr std::size_t kMaxSequentialBytes = 8192;

std::uint32_t blocks_of(std::size_t bytes) { return static_cast<std::uint32_t>((bytes + 15) / 16); }
std::uint32_t hmac_blocks(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + 9 + 63) / 64) + 1;
}

}  // namespace

bool in_gcm_form(const KeyRecord& record, std::uint32_t key_usage) {
  return record.form == KeyForm::kGcm &&
         (key_usage == usage::kTicket || key_usage == usage::kPacSignature);
}

tkdc_status check_lengths(const JobRequest& request, const KeyRecord& record) {
  const std::size_t bytes = request.component[0].size();
  const std::size_t least = request.op == TKDC_OP_OPEN     ? kCtsOverheadBytes
                            : request.op == TKDC_OP_VERIFY ? kChecksumBytes
                                                           : 0;
  if (bytes < least) return TKDC_STATUS_BAD_REQUEST;
  const std::size_t most = in_gcm_form(record, request.usage) ? kGcmMaxBytes
                           : request.usage == usage::kAsReqTimestamp ? kMaxTimestampBytes
                                                                     : kMaxSequentialBytes;
  if (bytes <= most) return TKDC_STATUS_OK;
  return request.op == TKDC_OP_OPEN ? TKDC_STATUS_INTEGRITY : TKDC_STATUS_BAD_REQUEST;
}

Task<JobOutcome> run_operation(JobContext context, tkdc_wire_op op, SharedBytes input) {
  const bool gcm = in_gcm_form(context.record, context.usage);
  switch (op) {
    case TKDC_OP_SEAL:
      return gcm ? seal_ticket(context, std::move(input)) : seal_rfc3962(context, std::move(input));
    case TKDC_OP_OPEN:
      return gcm ? open_ticket(context, std::move(input)) : open_rfc3962(context, std::move(input));
    case TKDC_OP_MAC: return mac(context, std::move(input));
    default: return verify(context, std::move(input));
  }
}

JobCost cost_of(const KeyRecord& record, tkdc_wire_op op, std::uint32_t key_usage,
                std::size_t input_bytes) {
  const int aes = aes_rounds(key_bytes_of(record.ref.enctype));
  const bool gcm = in_gcm_form(record, key_usage);
  const std::size_t message =
      op == TKDC_OP_OPEN     ? input_bytes - (gcm ? kCtsOverheadBytes : kChecksumBytes)
      : op == TKDC_OP_VERIFY ? input_bytes - kChecksumBytes
      : op == TKDC_OP_SEAL   ? input_bytes + (gcm ? 0 : kConfounderBytes)
                             : input_bytes;
  JobCost cost;
  const bool checksum = op == TKDC_OP_MAC || op == TKDC_OP_VERIFY;
  std::size_t field_products = 0;  // 16-octet messages
  if (gcm && checksum) {
    const std::size_t hashed = blocks_of(message) + 1;
    cost.aes_blocks = 1;
    field_products = (hashed + kPowers - 1) / kPowers + (hashed > kPowers ? 1 : 0);
  } else if (gcm) {
    cost.aes_blocks = 1 + blocks_of(message);
    const std::size_t hashed = blocks_of(message) + 5;  // associated data 57 octets, lengths
    field_products = hashed > kPowers ? 1 : 0;
  } else {
    cost.aes_blocks = checksum ? 0 : blocks_of(message);
    cost.sha1_blocks = hmac_blocks(message);
  }
  if (op == TKDC_OP_OPEN || op == TKDC_OP_VERIFY) ++field_products;
  cost.message_bytes = cost.aes_blocks * static_cast<std::uint32_t>(36 * aes) +
                       cost.sha1_blocks * static_cast<std::uint32_t>(Sha1::kMessageBytes) +
                       static_cast<std::uint32_t>(16 * field_products);
  return cost;
}

}  // namespace tkdc
