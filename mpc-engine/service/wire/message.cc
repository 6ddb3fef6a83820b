// SPDX-License-Identifier: Apache-2.0
#include "service/wire/message.h"

#include "enctype.h"
#include "service/wire/recipe.h"

namespace tkdc
{
namespace
{

constexpr std::uint8_t kRequestTag = 'J';
constexpr std::uint8_t kReplyTag = 'R';
constexpr std::uint8_t kVersion = 3;
constexpr std::size_t kMaxPublicBytes = 4096;
constexpr std::size_t kMaxMessageBytes = 1024;

bool is_operation(std::uint8_t op)
{
    return (op >= TKDC_OP_HELLO && op <= TKDC_OP_MAC_DERIVED) ||
           is_management(static_cast<tkdc_wire_op>(op)) ||
           (op >= TKDC_OP_STATUS && op <= TKDC_OP_LIST_DROPPED);
}

void assign(SecretVector &out, ByteSpan in)
{
    out.assign(in.begin(), in.end());
}

} // namespace

Bytes encode(const Part &part)
{
    Bytes out;
    if (part.kind == Part::Kind::kWhole)
        return out;
    Writer w(out);
    w.u8(static_cast<std::uint8_t>(part.kind));
    if (part.kind == Part::Kind::kTail)
        w.u64(part.head);
    return out;
}

std::optional<Part> decode_part(ByteSpan public_data)
{
    Part part;
    if (public_data.empty())
        return part;
    Reader r(public_data);
    part.kind = static_cast<Part::Kind>(r.u8());
    if (part.kind == Part::Kind::kTail)
        part.head = r.u64();
    else if (part.kind != Part::Kind::kHead)
        return std::nullopt;
    if (!r.complete())
        return std::nullopt;
    return part;
}

std::optional<Part> part_of(const JobRequest &request)
{
    if (request.op != TKDC_OP_SEAL && request.op != TKDC_OP_MAC)
        return Part();
    return decode_part(request.public_data);
}

std::optional<std::size_t> pad_bytes(tkdc_wire_op op, std::uint32_t enctype,
                                     std::size_t input_bytes)
{
    const bool seals = op == TKDC_OP_SEAL || op == TKDC_OP_SEAL_DERIVED;
    const bool opens = op == TKDC_OP_OPEN || op == TKDC_OP_OPEN_DERIVED;
    const bool macs = op == TKDC_OP_MAC || op == TKDC_OP_MAC_DERIVED;
    if (!seals && !opens && !macs && op != TKDC_OP_EXPORT)
        return 0;
    const tkdc_enctype *served = tkdc_enctype_of(enctype);
    if (!served || (opens && input_bytes < served->overhead_bytes))
        return std::nullopt;
    if (seals)
        return input_bytes + served->overhead_bytes;
    if (opens)
        return input_bytes - served->overhead_bytes;
    return macs ? served->checksum_bytes : served->key_bytes;
}

std::optional<std::size_t> pad_bytes(const JobRequest &request, std::size_t input_bytes)
{
    if (!is_derived(request.op))
        return pad_bytes(request.op, request.key.enctype, input_bytes);
    const auto by = decode_derivation(request.public_data);
    if (!by || input_bytes < known_half_bytes(*by))
        return std::nullopt;
    return pad_bytes(request.op, by->enctype, input_bytes - known_half_bytes(*by));
}

std::optional<std::size_t> pad_bytes(const JobRequest &request)
{
    return pad_bytes(request, request.input_bytes());
}

JobCost &JobCost::operator+=(const JobCost &more)
{
    rounds += more.rounds;
    message_bytes += more.message_bytes;
    aes_blocks += more.aes_blocks;
    sha1_blocks += more.sha1_blocks;
    sha2_blocks += more.sha2_blocks;
    return *this;
}

SecretVector encode(const JobRequest &request)
{
    SecretVector out;
    out.reserve(184 + request.public_data.size() + 2 * request.component[0].size() +
                request.dealt.size());
    SecretWriter w(out);
    w.u8(kRequestTag);
    w.u8(kVersion);
    w.u64(request.name.run);
    w.u64(request.name.number);
    w.u8(static_cast<std::uint8_t>(request.op));
    put_key(w, request.key);
    w.u32(request.usage);
    w.u32(request.deadline_ms);
    w.text(request.protocol);
    w.bytes(request.public_data);
    w.bytes(request.component[0]);
    w.bytes(request.component[1]);
    if (!request.dealt.empty() || request.request_id != 0) {
        w.u32(request.dealt.empty() ? 0 : request.dealt_input_bytes);
        w.bytes(request.dealt);
    }
    if (request.request_id != 0)
        w.u64(request.request_id);
    return out;
}

Result<JobRequest> decode_request(ByteSpan frame)
{
    Reader r(frame);
    if (r.u8() != kRequestTag || r.u8() != kVersion)
        return fail(
            "job: not a request of this release; install one release on agents and servers");
    JobRequest request;
    request.name.run = r.u64();
    request.name.number = r.u64();
    std::uint8_t op = r.u8();
    if (!r.failed() && !is_operation(op))
        return fail("job: unknown operation");
    request.op = static_cast<tkdc_wire_op>(op);
    get_key(r, request.key);
    request.usage = r.u32();
    request.deadline_ms = r.u32();
    request.protocol = r.text(kMaxProtocolBytes);
    ByteSpan public_data = r.bytes(kMaxPublicBytes);
    request.public_data.assign(public_data.begin(), public_data.end());
    assign(request.component[0], r.bytes(kMaxInputBytes));
    assign(request.component[1], r.bytes(kMaxInputBytes));
    const bool dealt = r.remaining() > 0;
    if (dealt) {
        request.dealt_input_bytes = r.u32();
        assign(request.dealt, r.bytes(kMaxDealtBytes));
    }
    const bool named = r.remaining() > 0;
    if (named)
        request.request_id = r.u64();
    if (!r.complete())
        return fail("job: truncated, oversized or with trailing octets");
    if (named && request.request_id == 0)
        return fail("job: 0 is no request's id");
    if (request.component[0].size() != request.component[1].size())
        return fail("job: the two share components differ in length");
    const bool nothing_dealt = request.dealt.empty() && request.dealt_input_bytes == 0;
    if (dealt && !(named && nothing_dealt) &&
        (request.dealt.empty() || !request.component[0].empty() ||
         request.dealt_input_bytes > kMaxInputBytes))
        return fail("job: what is dealt is empty, stands beside components, or is for too long an "
                    "input");
    if (request.deadline_ms > kMaxDeadlineMs)
        return fail("job: deadline above 120 s");
    return request;
}

SecretVector encode(const JobReply &reply)
{
    SecretVector out;
    SecretWriter w(out);
    w.u8(kReplyTag);
    w.u8(kVersion);
    w.u64(reply.run);
    w.u64(reply.number);
    w.u16(static_cast<std::uint16_t>(reply.status));
    w.text(reply.message.substr(0, kMaxMessageBytes));
    w.bytes(reply.output);
    w.raw(reply.next_output);
    w.u32(reply.cost.rounds);
    w.u32(reply.cost.message_bytes);
    w.u32(reply.cost.aes_blocks);
    w.u32(reply.cost.sha1_blocks);
    w.u32(reply.cost.sha2_blocks);
    return out;
}

Result<JobReply> decode_reply(ByteSpan frame)
{
    Reader r(frame);
    if (r.u8() != kReplyTag || r.u8() != kVersion)
        return fail("job: not a reply of this release; install one release on agents and servers");
    JobReply reply;
    reply.run = r.u64();
    reply.number = r.u64();
    std::uint16_t status = r.u16();
    if (status > TKDC_STATUS_DEAL_AGAIN)
        return fail("job: unknown status in a reply");
    reply.status = static_cast<tkdc_status>(status);
    reply.message = r.text(kMaxMessageBytes);
    assign(reply.output, r.bytes(kMaxInputBytes));
    r.array(reply.next_output);
    reply.cost.rounds = r.u32();
    reply.cost.message_bytes = r.u32();
    reply.cost.aes_blocks = r.u32();
    reply.cost.sha1_blocks = r.u32();
    reply.cost.sha2_blocks = r.u32();
    if (!r.complete())
        return fail("job: truncated, oversized or with trailing octets");
    return reply;
}

Digest output_digest(ByteSpan component)
{
    Digest digest{};
    crypto_generichash(digest.data(), digest.size(), component.data(), component.size(), nullptr,
                       0);
    return digest;
}

} // namespace tkdc
