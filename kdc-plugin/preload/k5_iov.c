/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scattered forms krb5_[ck]_{encrypt,decrypt}_iov. With a handle:
 * HEADER (16 octets) | DATA... | PADDING (none) | TRAILER (12 to 24), which
 * end to end is the ciphertext that the agent deals in. SIGN_ONLY and STREAM
 * do not occur with long-term keys and are refused.
 */
#include <errno.h>
#include <string.h>

#include "operation.h"
#include "process.h"

enum { HEADER_BYTES = TKDC_SEAL_HEADER_BYTES };

struct layout {
    krb5_data *header;
    krb5_data *trailer;
    unsigned int trailer_bytes;
};

static bool find_layout(const struct handle_key *id, krb5_crypto_iov *iov, size_t count,
                        struct layout *l)
{
    const struct tkdc_enctype *enctype = tkdc_enctype_of(id->enctype);
    *l = (struct layout){0};
    for (size_t i = 0; i < count; i++) {
        switch (iov[i].flags) {
        case KRB5_CRYPTO_TYPE_EMPTY:
        case KRB5_CRYPTO_TYPE_DATA:
            break;
        case KRB5_CRYPTO_TYPE_PADDING:
            iov[i].data.length = 0;
            break;
        case KRB5_CRYPTO_TYPE_HEADER:
            l->header = &iov[i].data;
            break;
        case KRB5_CRYPTO_TYPE_TRAILER:
            l->trailer = &iov[i].data;
            break;
        default:
            return false;
        }
    }
    if (!enctype || !l->header || !l->trailer)
        return false;
    l->trailer_bytes = (unsigned int)(enctype->overhead_bytes - HEADER_BYTES);
    return l->header->length >= HEADER_BYTES && l->trailer->length >= l->trailer_bytes;
}

static void gather(struct tkdc_buffer *out, const krb5_crypto_iov *iov, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (iov[i].flags == KRB5_CRYPTO_TYPE_DATA)
            tkdc_buffer_put(out, iov[i].data.data, iov[i].data.length);
}

static void scatter(const uint8_t *from, krb5_crypto_iov *iov, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (iov[i].flags != KRB5_CRYPTO_TYPE_DATA || iov[i].data.length == 0)
            continue;
        memcpy(iov[i].data.data, from, iov[i].data.length);
        from += iov[i].data.length;
    }
}

static krb5_error_code encrypt(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, const krb5_data *cipher_state,
                               krb5_crypto_iov *iov, size_t count)
{
    struct layout l;
    struct tkdc_buffer plain = {0}, sealed = {0};
    if (cipher_state || !find_layout(id, iov, count, &l))
        return handle_key_unsupported(context, "this form of krb5_k_encrypt_iov()");
    gather(&plain, iov, count);
    const krb5_error_code code =
        plain.failed ? ENOMEM
                     : operation_seal(context, id, usage, (struct tkdc_span){plain.data, plain.len},
                                      &sealed);
    if (!code) {
        memcpy(l.header->data, sealed.data, HEADER_BYTES);
        l.header->length = HEADER_BYTES;
        scatter(sealed.data + HEADER_BYTES, iov, count);
        memcpy(l.trailer->data, sealed.data + sealed.len - l.trailer_bytes, l.trailer_bytes);
        l.trailer->length = l.trailer_bytes;
    }
    tkdc_buffer_free(&plain);
    tkdc_buffer_free(&sealed);
    return code;
}

static krb5_error_code decrypt(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, const krb5_data *cipher_state,
                               krb5_crypto_iov *iov, size_t count)
{
    struct layout l;
    struct tkdc_buffer sealed = {0}, plain = {0};
    if (cipher_state || !find_layout(id, iov, count, &l))
        return handle_key_unsupported(context, "this form of krb5_k_decrypt_iov()");
    tkdc_buffer_put(&sealed, l.header->data, HEADER_BYTES);
    gather(&sealed, iov, count);
    tkdc_buffer_put(&sealed, l.trailer->data, l.trailer_bytes);
    const krb5_error_code code =
        sealed.failed ? ENOMEM
                      : operation_open(context, id, usage,
                                       (struct tkdc_span){sealed.data, sealed.len}, &plain);
    if (!code)
        scatter(plain.data, iov, count);
    tkdc_buffer_free(&sealed);
    tkdc_buffer_free(&plain);
    return code;
}

krb5_error_code krb5_c_encrypt_iov(krb5_context context, const krb5_keyblock *key,
                                   krb5_keyusage usage, const krb5_data *cipher_state,
                                   krb5_crypto_iov *data, size_t num_data)
{
    HANDLE_KEY(id);
    if (handle_key_of(key, &id))
        return encrypt(context, &id, usage, cipher_state, data, num_data);
    return REAL(krb5_c_encrypt_iov)(context, key, usage, cipher_state, data, num_data);
}

krb5_error_code krb5_k_encrypt_iov(krb5_context context, krb5_key key, krb5_keyusage usage,
                                   const krb5_data *cipher_state, krb5_crypto_iov *data,
                                   size_t num_data)
{
    HANDLE_KEY(id);
    if (handle_key_of_k(context, key, &id))
        return encrypt(context, &id, usage, cipher_state, data, num_data);
    return REAL(krb5_k_encrypt_iov)(context, key, usage, cipher_state, data, num_data);
}

krb5_error_code krb5_c_decrypt_iov(krb5_context context, const krb5_keyblock *key,
                                   krb5_keyusage usage, const krb5_data *cipher_state,
                                   krb5_crypto_iov *data, size_t num_data)
{
    HANDLE_KEY(id);
    if (handle_key_of(key, &id))
        return decrypt(context, &id, usage, cipher_state, data, num_data);
    return REAL(krb5_c_decrypt_iov)(context, key, usage, cipher_state, data, num_data);
}

krb5_error_code krb5_k_decrypt_iov(krb5_context context, krb5_key key, krb5_keyusage usage,
                                   const krb5_data *cipher_state, krb5_crypto_iov *data,
                                   size_t num_data)
{
    HANDLE_KEY(id);
    if (handle_key_of_k(context, key, &id))
        return decrypt(context, &id, usage, cipher_state, data, num_data);
    return REAL(krb5_k_decrypt_iov)(context, key, usage, cipher_state, data, num_data);
}
