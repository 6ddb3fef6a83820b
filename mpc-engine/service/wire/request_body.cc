// SPDX-License-Identifier: Apache-2.0
#include "service/wire/request_body.h"

#include "derivation.h"
#include "service/wire/message.h"

namespace tkdc
{
namespace
{

constexpr std::size_t kMaxPrincipalNameBytes = 4096;

void get_recipe(Reader &r, RecipeBody &by)
{
    by.kind = r.u8();
    by.enctype = r.u32();
    by.pepper = r.bytes(TKDC_DERIVED_PEPPER_MAX_BYTES);
    by.known_half = r.bytes(TKDC_DERIVED_HALF_MAX_BYTES);
}

// Said or not, but never 0.
bool get_request_id(Reader &r, RequestBody &body)
{
    if (r.failed() || r.remaining() == 0)
        return true;
    body.request_id = r.u64();
    return body.request_id != 0;
}

// SEAL to VERIFY and SEAL_DERIVED to MAC_DERIVED.
void get_use(Reader &r, tkdc_wire_op op, RequestBody &body)
{
    get_key(r, body.key);
    body.usage = r.u32();
    if (is_derived(op))
        get_recipe(r, body.by);
    body.data = r.bytes(TKDC_WIRE_DATA_MAX_BYTES);
    if (op == TKDC_OP_VERIFY)
        body.checksum = r.bytes(TKDC_WIRE_DATA_MAX_BYTES);
}

} // namespace

std::optional<RequestBody> decode_body(std::uint8_t op, ByteSpan octets)
{
    Reader r(octets);
    RequestBody body;
    switch (op) {
    case TKDC_OP_HELLO:
        body.label = r.u8();
        break;
    case TKDC_OP_SEAL:
    case TKDC_OP_OPEN:
    case TKDC_OP_MAC:
    case TKDC_OP_VERIFY:
    case TKDC_OP_SEAL_DERIVED:
    case TKDC_OP_OPEN_DERIVED:
    case TKDC_OP_MAC_DERIVED:
        get_use(r, static_cast<tkdc_wire_op>(op), body);
        if (!get_request_id(r, body))
            return std::nullopt;
        break;
    case TKDC_OP_STAGE:
        body.label = r.u8();
        body.key.kvno = r.u32();
        body.key.enctype = r.u32();
        body.data = r.bytes(kMaxStagedBytes);
        break;
    case TKDC_OP_EXPORT:
    case TKDC_OP_LIST:
    case TKDC_OP_LIST_DROPPED:
        r.array(body.key.id);
        break;
    case TKDC_OP_BIND:
        get_key(r, body.key);
        body.data = r.bytes(kMaxPrincipalNameBytes);
        break;
    case TKDC_OP_DESTROY:
    case TKDC_OP_PURGE:
    case TKDC_OP_GIVE_BACK:
        get_key(r, body.key);
        break;
    case TKDC_OP_EQUAL:
        get_key(r, body.key);
        body.data = r.raw(TKDC_WIRE_KEY_ID_BYTES);
        break;
    default:
        return std::nullopt;
    }
    if (!r.complete())
        return std::nullopt;
    return body;
}

SecretVector encode_result(tkdc_wire_op op, const KeyId &key_id, ByteSpan output)
{
    SecretVector body;
    body.reserve(output.size() + 32);
    SecretWriter w(body);
    switch (op) {
    case TKDC_OP_SEAL:
    case TKDC_OP_OPEN:
    case TKDC_OP_MAC:
    case TKDC_OP_SEAL_DERIVED:
    case TKDC_OP_OPEN_DERIVED:
    case TKDC_OP_MAC_DERIVED:
    case TKDC_OP_EXPORT:
    case TKDC_OP_EQUAL:
    case TKDC_OP_STATUS:
    case TKDC_OP_LIST:
    case TKDC_OP_LIST_DROPPED:
        w.bytes(output);
        break;
    case TKDC_OP_STAGE:
        w.raw(key_id);
        break;
    default:
        break;
    }
    return body;
}

SecretVector encode_hello_result(std::string_view security, const InstallationId &installation)
{
    SecretVector body;
    SecretWriter w(body);
    w.text(security);
    w.raw(installation);
    return body;
}

} // namespace tkdc
