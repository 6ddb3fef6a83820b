/* SPDX-License-Identifier: Apache-2.0 */
/* The four operations with a handle: see operation.h. */
#include "operation.h"
#include "agent_call.h"
#include "fiber.h"
#include "process.h"

#include <errno.h>
#include <string.h>

/* 0: there is none. */
static uint8_t derived_op(uint8_t op)
{
    switch (op) {
    case TKDC_OP_SEAL:
        return TKDC_OP_SEAL_DERIVED;
    case TKDC_OP_OPEN:
        return TKDC_OP_OPEN_DERIVED;
    case TKDC_OP_MAC:
        return TKDC_OP_MAC_DERIVED;
    default:
        return 0;
    }
}

static krb5_error_code ask(krb5_context context, uint8_t op, const struct handle_key *id,
                           krb5_keyusage usage, struct tkdc_span data, struct tkdc_span checksum,
                           struct tkdc_reply *reply)
{
    const struct tkdc_request request = {
        .op = id->by.kind == TKDC_DERIVE_NONE ? op : derived_op(op),
        .key = id->key,
        .usage = (uint32_t)usage,
        .data = data,
        .checksum = checksum,
        .by = &id->by,
    };
    if (request.op == 0)
        return handle_key_unsupported(context, "verification with a derived key");
    if (!tkdc_key_is_bound(&id->key)) {
        krb5_set_error_message(context, KRB5_KDB_NO_MATCHING_KEY,
                               "tkdc: this key is not stored with a principal yet");
        return KRB5_KDB_NO_MATCHING_KEY;
    }
    return agent_call(context, &request, reply);
}

static krb5_error_code malformed(krb5_context context)
{
    static const char why[] = "are tkdc-agent and libtkdc-k5.so of one version?";
    krb5_set_error_message(context, KRB5KDC_ERR_SVC_UNAVAILABLE,
                           "tkdc: malformed answer from tkdc-agent: %s", why);
    agent_lost("an operation", "malformed answer from tkdc-agent", why);
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
}

/* The `bytes` of a reply, of exactly `expected` octets: callers have made room for no other number,
 * and 0 is one, of a ciphertext that is nothing but its overhead. */
static krb5_error_code take_bytes(krb5_context context, struct tkdc_reply *reply, size_t expected,
                                  struct tkdc_buffer *out)
{
    struct tkdc_span bytes;
    krb5_error_code code = 0;
    memset(out, 0, sizeof *out);
    if (!tkdc_reply_bytes(reply, &bytes) || bytes.len != expected) {
        code = malformed(context);
    } else {
        tkdc_buffer_put(out, bytes.data, bytes.len);
        if (out->failed)
            code = ENOMEM;
    }
    if (code)
        tkdc_buffer_free(out);
    tkdc_reply_free(reply);
    return code;
}

/* How many octets are the answer to `data_bytes`. */
static size_t answer_bytes(uint8_t op, const struct tkdc_enctype *enctype, size_t data_bytes)
{
    switch (op) {
    case TKDC_OP_SEAL:
        return data_bytes + enctype->overhead_bytes;
    case TKDC_OP_OPEN:
        return data_bytes - enctype->overhead_bytes;
    default:
        return enctype->checksum_bytes;
    }
}

static krb5_error_code ask_bytes(krb5_context context, uint8_t op, const struct handle_key *id,
                                 krb5_keyusage usage, struct tkdc_span data,
                                 struct tkdc_buffer *out)
{
    struct tkdc_reply reply;
    const struct tkdc_enctype *enctype = tkdc_enctype_of(id->enctype);
    if (!enctype)
        return handle_key_bad_enctype(context, id->enctype);
    if (op == TKDC_OP_OPEN && data.len < enctype->overhead_bytes)
        return KRB5_BAD_MSIZE;
    const krb5_error_code code = ask(context, op, id, usage, data, (struct tkdc_span){0}, &reply);
    return code ? code : take_bytes(context, &reply, answer_bytes(op, enctype, data.len), out);
}

krb5_error_code operation_seal(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, struct tkdc_span plaintext,
                               struct tkdc_buffer *out)
{
    return ask_bytes(context, TKDC_OP_SEAL, id, usage, plaintext, out);
}

krb5_error_code operation_open(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, struct tkdc_span ciphertext,
                               struct tkdc_buffer *out)
{
    return ask_bytes(context, TKDC_OP_OPEN, id, usage, ciphertext, out);
}

krb5_error_code operation_mac(krb5_context context, const struct handle_key *id,
                              krb5_keyusage usage, struct tkdc_span data, uint8_t *out)
{
    struct tkdc_buffer bytes;
    const krb5_error_code code = ask_bytes(context, TKDC_OP_MAC, id, usage, data, &bytes);
    if (code)
        return code;
    memcpy(out, bytes.data, bytes.len);
    tkdc_buffer_free(&bytes);
    return 0;
}

krb5_error_code operation_verify(krb5_context context, const struct handle_key *id,
                                 krb5_keyusage usage, struct tkdc_span data,
                                 struct tkdc_span checksum, krb5_boolean *valid)
{
    struct tkdc_reply reply;
    *valid = FALSE;
    /* kadmind's acceptor looks whether the ticket's PAC is signed and then uses nothing of it. Its
     * role may not ask that, and servers' logs are no place for a denial with every session. */
    if (!process_config.is_kdc && usage == KRB5_KEYUSAGE_APP_DATA_CKSUM)
        return 0;
    krb5_error_code code = ask(context, TKDC_OP_VERIFY, id, usage, data, checksum, &reply);
    if (code == KRB5KRB_AP_ERR_BAD_INTEGRITY)
        return 0;
    if (code)
        return code;
    if (!tkdc_reply_is_empty(&reply))
        code = malformed(context);
    tkdc_reply_free(&reply);
    *valid = code == 0;
    return code;
}
