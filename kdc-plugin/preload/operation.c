/* SPDX-License-Identifier: Apache-2.0 */
/* The four operations with a handle: see operation.h. */
#include "operation.h"

#include <errno.h>
#include <string.h>

static krb5_error_code ask(krb5_context context, uint8_t op, const struct tkdc_wire_key *id,
                           krb5_keyusage usage, struct tkdc_span data, struct tkdc_span checksum,
                           struct tkdc_reply *reply)
{
    const struct tkdc_request request = {
        .op = op,
        .key = *id,
        .usage = (uint32_t)usage,
        .data = data,
        .checksum = checksum,
    };
    if (!tkdc_key_is_bound(id)) {
        krb5_set_error_message(context, KRB5_KDB_NO_MATCHING_KEY,
                               "tkdc: this key is not stored with a principal yet");
        return KRB5_KDB_NO_MATCHING_KEY;
    }
    return engine_call(context, &request, reply);
}

static krb5_error_code malformed(krb5_context context)
{
    krb5_set_error_message(context, KRB5KDC_ERR_SVC_UNAVAILABLE,
                           "tkdc: malformed answer from tkdc-agent: are both of one version?");
    engine_request()->tainted = engine_config.is_kdc;
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
}

/* The `bytes` of a reply, of exactly `expected` octets unless it is 0. */
static krb5_error_code take_bytes(krb5_context context, struct tkdc_reply *reply, size_t expected,
                                  struct tkdc_buffer *out)
{
    struct tkdc_span bytes;
    krb5_error_code code = 0;
    memset(out, 0, sizeof *out);
    if (!tkdc_reply_bytes(reply, &bytes) || (expected && bytes.len != expected)) {
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

krb5_error_code operation_seal(krb5_context context, const struct tkdc_wire_key *id,
                               krb5_keyusage usage, struct tkdc_span plaintext,
                               struct tkdc_buffer *out)
{
    struct tkdc_reply reply;
    const krb5_error_code code =
        ask(context, TKDC_OP_SEAL, id, usage, plaintext, (struct tkdc_span){0}, &reply);
    if (code)
        return code;
    return take_bytes(context, &reply, plaintext.len + TKDC_WIRE_SEAL_OVERHEAD_BYTES, out);
}

krb5_error_code operation_open(krb5_context context, const struct tkdc_wire_key *id,
                               krb5_keyusage usage, struct tkdc_span ciphertext,
                               struct tkdc_buffer *out)
{
    struct tkdc_reply reply;
    if (ciphertext.len < TKDC_WIRE_SEAL_OVERHEAD_BYTES)
        return KRB5_BAD_MSIZE;
    const krb5_error_code code =
        ask(context, TKDC_OP_OPEN, id, usage, ciphertext, (struct tkdc_span){0}, &reply);
    if (code)
        return code;
    const size_t expected = ciphertext.len - TKDC_WIRE_SEAL_OVERHEAD_BYTES;
    return take_bytes(context, &reply, expected, out);
}

krb5_error_code operation_mac(krb5_context context, const struct tkdc_wire_key *id,
                              krb5_keyusage usage, struct tkdc_span data,
                              uint8_t out[TKDC_WIRE_CHECKSUM_BYTES])
{
    struct tkdc_reply reply;
    struct tkdc_buffer bytes;
    krb5_error_code code =
        ask(context, TKDC_OP_MAC, id, usage, data, (struct tkdc_span){0}, &reply);
    if (!code)
        code = take_bytes(context, &reply, TKDC_WIRE_CHECKSUM_BYTES, &bytes);
    if (code)
        return code;
    memcpy(out, bytes.data, TKDC_WIRE_CHECKSUM_BYTES);
    tkdc_buffer_free(&bytes);
    return 0;
}

krb5_error_code operation_verify(krb5_context context, const struct tkdc_wire_key *id,
                                 krb5_keyusage usage, struct tkdc_span data,
                                 struct tkdc_span checksum, krb5_boolean *valid)
{
    struct tkdc_reply reply;
    const krb5_error_code code = ask(context, TKDC_OP_VERIFY, id, usage, data, checksum, &reply);
    *valid = code == 0;
    if (code == 0)
        tkdc_reply_free(&reply);
    return code == KRB5KRB_AP_ERR_BAD_INTEGRITY ? 0 : code;
}
