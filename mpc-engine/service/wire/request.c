/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests and replies: see request.h. */
#include "request.h"

#include <string.h>

static void put_key(struct tkdc_buffer *out, const struct tkdc_wire_key *key)
{
    uint8_t encoded[TKDC_WIRE_KEY_BYTES];
    tkdc_wire_put_key(encoded, key);
    tkdc_buffer_put(out, encoded, sizeof encoded);
}

static void put_derivation(struct tkdc_buffer *out, const struct tkdc_derivation *by)
{
    tkdc_buffer_put_u8(out, by->kind);
    tkdc_buffer_put_u32(out, by->enctype);
    tkdc_buffer_put_bytes(out, (struct tkdc_span){by->pepper, by->pepper_bytes});
    tkdc_buffer_put_bytes(out, (struct tkdc_span){by->known_half, by->known_half_bytes});
}

static void put_request_id(struct tkdc_buffer *out, uint64_t id)
{
    if (!id)
        return;
    tkdc_buffer_put_u32(out, (uint32_t)(id >> 32));
    tkdc_buffer_put_u32(out, (uint32_t)id);
}

static bool put_body(struct tkdc_buffer *out, const struct tkdc_request *r)
{
    switch (r->op) {
    case TKDC_OP_HELLO:
        tkdc_buffer_put_u8(out, r->label);
        return true;
    case TKDC_OP_SEAL:
    case TKDC_OP_OPEN:
    case TKDC_OP_MAC:
    case TKDC_OP_VERIFY:
        put_key(out, &r->key);
        tkdc_buffer_put_u32(out, r->usage);
        tkdc_buffer_put_bytes(out, r->data);
        if (r->op == TKDC_OP_VERIFY)
            tkdc_buffer_put_bytes(out, r->checksum);
        put_request_id(out, r->request_id);
        return true;
    case TKDC_OP_SEAL_DERIVED:
    case TKDC_OP_OPEN_DERIVED:
    case TKDC_OP_MAC_DERIVED:
        put_key(out, &r->key);
        tkdc_buffer_put_u32(out, r->usage);
        put_derivation(out, r->by);
        tkdc_buffer_put_bytes(out, r->data);
        put_request_id(out, r->request_id);
        return true;
    case TKDC_OP_STAGE:
        tkdc_buffer_put_u8(out, r->label);
        tkdc_buffer_put_u32(out, r->key.kvno);
        tkdc_buffer_put_u32(out, r->key.enctype);
        tkdc_buffer_put_bytes(out, r->data);
        return true;
    case TKDC_OP_EXPORT:
    case TKDC_OP_LIST:
    case TKDC_OP_LIST_DROPPED:
        tkdc_buffer_put(out, r->key.key_id, sizeof r->key.key_id);
        return true;
    case TKDC_OP_BIND:
        put_key(out, &r->key);
        tkdc_buffer_put_bytes(out, r->data);
        return true;
    case TKDC_OP_DESTROY:
    case TKDC_OP_PURGE:
    case TKDC_OP_GIVE_BACK:
        put_key(out, &r->key);
        return true;
    case TKDC_OP_EQUAL:
        put_key(out, &r->key);
        if (r->data.len != TKDC_WIRE_KEY_ID_BYTES)
            return false;
        tkdc_buffer_put(out, r->data.data, r->data.len);
        return true;
    case TKDC_OP_STATUS:
        return true;
    default:
        return false;
    }
}

bool tkdc_request_encode(struct tkdc_buffer *out, const struct tkdc_request *request, uint64_t id,
                         uint32_t deadline_ms)
{
    const size_t start = out->len;
    const bool fits = request->data.len <= TKDC_WIRE_DATA_MAX_BYTES &&
                      request->checksum.len <= TKDC_WIRE_DATA_MAX_BYTES / 2;
    uint8_t header[TKDC_WIRE_HEADER_BYTES] = {0};

    if (!fits)
        return false;
    tkdc_buffer_put(out, header, sizeof header);
    if (!put_body(out, request) || out->failed) {
        out->len = start;
        return false;
    }
    const struct tkdc_wire_header h = {
        .op = request->op,
        .id = id,
        .body_bytes = (uint32_t)(out->len - start - sizeof header),
        .deadline_ms = deadline_ms,
    };
    tkdc_wire_put_header(out->data + start, &h);
    return true;
}

static struct tkdc_reader read_body(const struct tkdc_reply *reply)
{
    return (struct tkdc_reader){.at = reply->body.data, .left = reply->body.len};
}

bool tkdc_reply_bytes(const struct tkdc_reply *reply, struct tkdc_span *bytes)
{
    struct tkdc_reader r = read_body(reply);
    *bytes = tkdc_reader_get_bytes(&r);
    return tkdc_reader_done(&r);
}

bool tkdc_reply_is_empty(const struct tkdc_reply *reply)
{
    return reply->body.len == 0 && !reply->body.failed;
}

bool tkdc_reply_key_id(const struct tkdc_reply *reply, uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES])
{
    struct tkdc_reader r = read_body(reply);
    const uint8_t *id = tkdc_reader_get(&r, TKDC_WIRE_KEY_ID_BYTES);
    if (!id || !tkdc_reader_done(&r))
        return false;
    memcpy(key_id, id, TKDC_WIRE_KEY_ID_BYTES);
    return true;
}

bool tkdc_reply_hello(const struct tkdc_reply *reply, struct tkdc_span *security,
                      uint8_t installation[TKDC_WIRE_INSTALLATION_BYTES])
{
    struct tkdc_reader r = read_body(reply);
    *security = tkdc_reader_get_bytes(&r);
    const uint8_t *id = tkdc_reader_get(&r, TKDC_WIRE_INSTALLATION_BYTES);
    if (reply->status != TKDC_STATUS_OK || !id || !tkdc_reader_done(&r))
        return false;
    memcpy(installation, id, TKDC_WIRE_INSTALLATION_BYTES);
    return true;
}

void tkdc_reply_take(struct tkdc_reply *reply, const struct tkdc_wire_header *header,
                     struct tkdc_span body)
{
    reply->status = header->status;
    tkdc_buffer_put(&reply->body, body.data, body.len);
    if (reply->body.failed)
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE, "this program is out of memory");
}

void tkdc_reply_fail(struct tkdc_reply *reply, uint16_t status, const char *message)
{
    tkdc_buffer_free(&reply->body);
    reply->status = status;
    tkdc_buffer_put(&reply->body, message, strlen(message));
}

void tkdc_reply_free(struct tkdc_reply *reply)
{
    tkdc_buffer_free(&reply->body);
    reply->status = TKDC_STATUS_OK;
}
