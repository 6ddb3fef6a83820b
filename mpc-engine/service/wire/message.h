// SPDX-License-Identifier: Apache-2.0
// What an agent and a server say to each other: one job, one answer.
//
// Each is one ZeroMQ frame under CURVE. The agent splits its secret input
// x = x0 ^ x1 ^ x2 and sends server i the components x_i and x_{i+1}; it gets
// the output component y_i from server i in full and its digest from the other
// holder, server i-1. What a server may see of a job: everything here but the
// third component.
//
// Of two servers each gets what the agent deals to it, and in that no components: a share of the
// input and of a pad, with MACs (pair/dealt.h). Both answer with the output and the pad added,
// z = y ^ pad (pair/output_rule.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/codec.h"
#include "base/result.h"
#include "service/wire/key_ref.h"
#include "wire.h"

namespace tkdc
{

using Digest = std::array<std::uint8_t, 32>;

// Names a job at all three servers. `agent` is set by the receiving server
// from the CURVE key; `run` is drawn by the agent when it starts; `number`
// grows by at least one with each job of a run.
struct JobName {
    std::uint64_t agent = 0;
    std::uint64_t run = 0;
    std::uint64_t number = 0;
    auto operator<=>(const JobName &) const = default;
};

// With a key that is derived from the record's for this job (service/operation/derived.h).
inline bool is_derived(tkdc_wire_op op)
{
    return op >= TKDC_OP_SEAL_DERIVED && op <= TKDC_OP_MAC_DERIVED;
}

// A MAC is made or checked, rather than a ciphertext.
inline bool is_checksum(tkdc_wire_op op)
{
    return op == TKDC_OP_MAC || op == TKDC_OP_VERIFY || op == TKDC_OP_MAC_DERIVED;
}

// Makes, removes or compares keys, rather than using one.
inline bool is_management(tkdc_wire_op op)
{
    return (op >= TKDC_OP_STAGE && op <= TKDC_OP_DESTROY) ||
           (op >= TKDC_OP_EQUAL && op <= TKDC_OP_GIVE_BACK);
}

// How much of a SEAL or MAC a job is (docs/protocols/17-two-part-hmac.md): all of it; its head,
// if the servers find that it is worth it; or the tail of the head with that number.
struct Part {
    enum class Kind : std::uint8_t { kWhole = 0, kHead = 1, kTail = 2 };
    Kind kind = Kind::kWhole;
    std::uint64_t head = 0;
    bool operator==(const Part &) const = default;
};

// As a job's public data; nothing stands for the whole.
Bytes encode(const Part &part);
std::optional<Part> decode_part(ByteSpan public_data);

// Whether an HMAC-SHA1 over so many octets takes fewer blocks on shares in two parts, by two or
// more: what a second job costs besides.
inline constexpr bool worth_two_parts(std::size_t message_bytes)
{
    constexpr std::size_t kBlockBytes = 64, kPaddingBytes = 9, kFromBlocks = 3;
    return (message_bytes + kPaddingBytes + kBlockBytes - 1) / kBlockBytes >= kFromBlocks;
}

inline constexpr std::uint32_t kMaxInputBytes = TKDC_WIRE_DATA_MAX_BYTES + 64;
// Of an input and a pad of that length: a bit of share and a bit of tag for each of their bits,
// and what comes to some two hundred octets besides.
inline constexpr std::uint32_t kMaxDealtBytes = 4 * kMaxInputBytes + 256;
inline constexpr std::size_t kMaxProtocolBytes = 32; // of its name
inline constexpr std::uint32_t kMaxDeadlineMs = 120'000;

struct JobRequest {
    JobName name;
    tkdc_wire_op op = TKDC_OP_SEAL;
    KeyRef key;
    std::uint32_t usage = 0;
    std::uint32_t deadline_ms = 0; // time left when sent
    std::string protocol;          // by which it is to be computed; empty: as the servers choose
    // Not secret. SEAL, MAC: a Part. STAGE: origin u8. BIND: the principal's unparsed name. Derived
    // operations: the recipe (service/wire/recipe.h), whose known half stands before the
    // input. EQUAL: the staged key's id.
    Bytes public_data;
    // SEAL: plaintext. OPEN: ciphertext. MAC: data. VERIFY: data and checksum
    // (lengths: service/wire/enctype.h). A tail: the inner digest. STAGE of an imported key:
    // the key. Both components have the same length.
    SecretVector component[2];
    // Of two servers: what the agent deals to this one, the input's bits and then pad_bytes(*this)
    // octets' of pad. Empty where there is neither. With it there are no components.
    SecretVector dealt;
    std::uint32_t dealt_input_bytes = 0; // of them, without the pad
    // The client's request that the job is part of, as krb5kdc has drawn it; 0: not said. A name in
    // logs, which the agent alone vouches for: servers neither compare it nor act on it.
    std::uint64_t request_id = 0;

    // How long the operation's input is, however it is shared.
    std::size_t input_bytes() const
    {
        return dealt.empty() ? component[0].size() : dealt_input_bytes;
    }
};

// Octets of pad that go with an input of so many octets: as many as the agent is answered with. Of
// derived operations: the derived key's enctype, and the input without the known half. Of EXPORT:
// the staged key's enctype. Nothing: no such enctype, or too short an input to be one.
std::optional<std::size_t> pad_bytes(tkdc_wire_op op, std::uint32_t enctype,
                                     std::size_t input_bytes);
// By what a request says of itself: operation, enctype, recipe; the second one of a whole one.
std::optional<std::size_t> pad_bytes(const JobRequest &request, std::size_t input_bytes);
std::optional<std::size_t> pad_bytes(const JobRequest &request);

// Nothing when a SEAL's or MAC's public data are no part; other operations are whole.
std::optional<Part> part_of(const JobRequest &request);

// What it cost, summed over the job.
struct JobCost {
    std::uint32_t rounds = 0;
    std::uint32_t message_bytes = 0; // multiplication messages sent by this party
    std::uint32_t aes_blocks = 0;
    std::uint32_t sha1_blocks = 0;
    std::uint32_t sha2_blocks = 0; // of 64 or 128 octets
    JobCost &operator+=(const JobCost &more);
};

struct JobReply {
    std::uint64_t run = 0;
    std::uint64_t number = 0;
    tkdc_status status = TKDC_STATUS_OK;
    std::string message; // for the administrator; empty when OK
    // Of three servers: component y_i. Of two: z. DEAL_AGAIN: the 16 octets of the session for
    // which the agent has to deal, zeros where there is none yet.
    SecretVector output;
    Digest next_output{}; // BLAKE2b-256 of component y_{i+1}; zeros of two servers
    JobCost cost;
};

SecretVector encode(const JobRequest &request);
SecretVector encode(const JobReply &reply);

// Every length is checked; the error says which field is off.
Result<JobRequest> decode_request(ByteSpan frame);
Result<JobReply> decode_reply(ByteSpan frame);

Digest output_digest(ByteSpan component);

} // namespace tkdc
