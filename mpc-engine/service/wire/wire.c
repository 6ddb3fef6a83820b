/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of the agent's socket protocol: see wire.h. Pure functions. */
#include "wire.h"
#include "be32.h"

#include <string.h>

/* Where a header's members stand in its octets. */
enum {
    HEADER_VERSION_AT = 4,
    HEADER_OP_AT = HEADER_VERSION_AT + 1,
    HEADER_STATUS_AT = HEADER_OP_AT + 1,
    HEADER_ID_AT = HEADER_STATUS_AT + 2,
    HEADER_BODY_BYTES_AT = HEADER_ID_AT + 8,
    HEADER_DEADLINE_AT = HEADER_BODY_BYTES_AT + 4,
};
_Static_assert((int)HEADER_DEADLINE_AT + 4 == (int)TKDC_WIRE_HEADER_BYTES,
               "a header's last member");

void tkdc_wire_put_header(uint8_t out[TKDC_WIRE_HEADER_BYTES], const struct tkdc_wire_header *h)
{
    tkdc_put_u32(out, TKDC_WIRE_MAGIC);
    out[HEADER_VERSION_AT] = TKDC_WIRE_VERSION;
    out[HEADER_OP_AT] = h->op;
    out[HEADER_STATUS_AT] = (uint8_t)(h->status >> 8);
    out[HEADER_STATUS_AT + 1] = (uint8_t)h->status;
    tkdc_put_u32(out + HEADER_ID_AT, (uint32_t)(h->id >> 32));
    tkdc_put_u32(out + HEADER_ID_AT + 4, (uint32_t)h->id);
    tkdc_put_u32(out + HEADER_BODY_BYTES_AT, h->body_bytes);
    tkdc_put_u32(out + HEADER_DEADLINE_AT, h->deadline_ms);
}

bool tkdc_wire_get_header(const uint8_t in[TKDC_WIRE_HEADER_BYTES], struct tkdc_wire_header *h)
{
    if (tkdc_get_u32(in) != TKDC_WIRE_MAGIC || in[HEADER_VERSION_AT] != TKDC_WIRE_VERSION)
        return false;
    h->op = in[HEADER_OP_AT];
    h->status = (uint16_t)(in[HEADER_STATUS_AT] << 8 | in[HEADER_STATUS_AT + 1]);
    h->id = (uint64_t)tkdc_get_u32(in + HEADER_ID_AT) << 32 | tkdc_get_u32(in + HEADER_ID_AT + 4);
    h->body_bytes = tkdc_get_u32(in + HEADER_BODY_BYTES_AT);
    h->deadline_ms = tkdc_get_u32(in + HEADER_DEADLINE_AT);
    return h->body_bytes <= TKDC_WIRE_BODY_MAX_BYTES;
}

/* Where a key's members stand in its octets. */
enum {
    KEY_INSTALLATION_AT = TKDC_WIRE_KEY_ID_BYTES,
    KEY_PRINCIPAL_AT = KEY_INSTALLATION_AT + TKDC_WIRE_INSTALLATION_BYTES,
    KEY_KVNO_AT = KEY_PRINCIPAL_AT + TKDC_WIRE_PRINCIPAL_BYTES,
    KEY_ENCTYPE_AT = KEY_KVNO_AT + 4,
};
_Static_assert((int)KEY_ENCTYPE_AT + 4 == (int)TKDC_WIRE_KEY_BYTES, "a key's last member");

void tkdc_wire_put_key(uint8_t out[TKDC_WIRE_KEY_BYTES], const struct tkdc_wire_key *key)
{
    memcpy(out, key->key_id, sizeof key->key_id);
    memcpy(out + KEY_INSTALLATION_AT, key->installation, sizeof key->installation);
    memcpy(out + KEY_PRINCIPAL_AT, key->principal, sizeof key->principal);
    tkdc_put_u32(out + KEY_KVNO_AT, key->kvno);
    tkdc_put_u32(out + KEY_ENCTYPE_AT, key->enctype);
}

void tkdc_wire_get_key(const uint8_t in[TKDC_WIRE_KEY_BYTES], struct tkdc_wire_key *key)
{
    memcpy(key->key_id, in, sizeof key->key_id);
    memcpy(key->installation, in + KEY_INSTALLATION_AT, sizeof key->installation);
    memcpy(key->principal, in + KEY_PRINCIPAL_AT, sizeof key->principal);
    key->kvno = tkdc_get_u32(in + KEY_KVNO_AT);
    key->enctype = tkdc_get_u32(in + KEY_ENCTYPE_AT);
}

const char *tkdc_wire_op_name(uint8_t op)
{
    switch (op) {
    case TKDC_OP_HELLO:
        return "hello";
    case TKDC_OP_SEAL:
        return "seal";
    case TKDC_OP_OPEN:
        return "open";
    case TKDC_OP_MAC:
        return "mac";
    case TKDC_OP_VERIFY:
        return "verify";
    case TKDC_OP_SEAL_DERIVED:
        return "seal-derived";
    case TKDC_OP_OPEN_DERIVED:
        return "open-derived";
    case TKDC_OP_MAC_DERIVED:
        return "mac-derived";
    case TKDC_OP_STAGE:
        return "stage";
    case TKDC_OP_EXPORT:
        return "export";
    case TKDC_OP_BIND:
        return "bind";
    case TKDC_OP_DESTROY:
        return "destroy";
    case TKDC_OP_EQUAL:
        return "equal";
    case TKDC_OP_PURGE:
        return "purge";
    case TKDC_OP_GIVE_BACK:
        return "give-back";
    case TKDC_OP_STATUS:
        return "status";
    case TKDC_OP_LIST:
        return "list";
    case TKDC_OP_LIST_DROPPED:
        return "list-dropped";
    default:
        return "unknown";
    }
}

const char *tkdc_status_text(uint16_t status)
{
    switch (status) {
    case TKDC_STATUS_OK:
        return "ok";
    case TKDC_STATUS_INTEGRITY:
        return "integrity check failed";
    case TKDC_STATUS_UNAVAILABLE:
        return "no answer of all three servers";
    case TKDC_STATUS_DENIED:
        return "this role may not do that with this key";
    case TKDC_STATUS_UNKNOWN_KEY:
        return "the servers hold no such key for this principal";
    case TKDC_STATUS_BAD_REQUEST:
        return "malformed request";
    case TKDC_STATUS_INCONSISTENT:
        return "the servers did not receive the same job";
    case TKDC_STATUS_LIMIT:
        return "a limit was reached";
    case TKDC_STATUS_INTERNAL:
        return "a server failed";
    case TKDC_STATUS_DEAL_AGAIN:
        return "the servers have begun a new session; ask again";
    default:
        return "unknown status";
    }
}

bool tkdc_status_is_refusal(uint16_t status)
{
    return status == TKDC_STATUS_INTEGRITY || status == TKDC_STATUS_DENIED ||
           status == TKDC_STATUS_UNKNOWN_KEY || status == TKDC_STATUS_BAD_REQUEST;
}
