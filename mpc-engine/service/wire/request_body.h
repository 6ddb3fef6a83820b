// SPDX-License-Identifier: Apache-2.0
// Bodies of requests and of good replies at the agent's end of its socket. The asking end is
// request.h; the layout stands in wire.h. What a request asks for is the agent's to judge; here
// only its form is. Secret: data, checksum and known half, which stay where the frame is.
#pragma once

#include <optional>
#include <string_view>

#include "base/codec.h"
#include "service/wire/key_ref.h"

namespace tkdc
{

// The recipe of a derived key. All is public but the known half.
struct RecipeBody {
    std::uint8_t kind = 0;
    std::uint32_t enctype = 0;
    ByteSpan pepper, known_half;
};

// Fields that an operation does not use are empty, as in struct tkdc_request.
struct RequestBody {
    std::uint8_t label = 0; // HELLO: role. STAGE: origin
    KeyRef key;             // STAGE: kvno, enctype. EXPORT, LIST: id
    std::uint32_t usage = 0;
    ByteSpan data;                // plaintext, ciphertext, data, key, name or key id
    ByteSpan checksum;            // VERIFY
    RecipeBody by;                // the DERIVED ones
    std::uint64_t request_id = 0; // SEAL to MAC_DERIVED: the client's request; 0: not said
};

inline constexpr std::size_t kMaxStagedBytes = 32; // of a key

// HELLO, SEAL to EQUAL, LIST. Nothing: another operation, a field above its limit, octets that lack
// or are too many.
std::optional<RequestBody> decode_body(std::uint8_t op, ByteSpan body);

// `output`: the operation's; of STAGE, which has none, `key_id` stands for it.
SecretVector encode_result(tkdc_wire_op op, const KeyId &key_id, ByteSpan output);
SecretVector encode_hello_result(std::string_view security, const InstallationId &installation);

} // namespace tkdc
