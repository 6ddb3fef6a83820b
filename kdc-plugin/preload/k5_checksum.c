/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krb5_[ck]_{make,verify}_checksum and their scattered forms. A handle can
 * make only its enctype's mandatory checksum (service/wire/enctype.h; type 0 asks for
 * it). Checksums without a key do not use the handle and stay libk5crypto's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "operation.h"
#include "process.h"

/* True when this checksum is the agent's business. */
static bool is_ours(krb5_cksumtype type)
{
    return type == 0 || krb5_c_is_keyed_cksum(type);
}

/* The type that the enctype makes; *bytes is its length. */
static krb5_error_code check_type(krb5_context context, const struct handle_key *id,
                                  krb5_cksumtype *type, unsigned int *bytes)
{
    const struct tkdc_enctype *enctype = tkdc_enctype_of(id->enctype);
    *bytes = enctype ? (unsigned int)enctype->checksum_bytes : 0;
    if (enctype && *type == 0)
        *type = enctype->checksum_type;
    if (enctype && *type == enctype->checksum_type)
        return 0;
    krb5_set_error_message(context, KRB5KRB_AP_ERR_INAPP_CKSUM,
                           "tkdc: checksum type %d is not the one of enctype %u", (int)*type,
                           (unsigned)id->enctype);
    return KRB5KRB_AP_ERR_INAPP_CKSUM;
}

static struct tkdc_span span_of(const krb5_data *d)
{
    return (struct tkdc_span){(const uint8_t *)d->data, d->length};
}

static krb5_error_code make(krb5_context context, krb5_cksumtype type, const struct handle_key *id,
                            krb5_keyusage usage, const krb5_data *input, krb5_checksum *out)
{
    unsigned int bytes;
    krb5_error_code code = check_type(context, id, &type, &bytes);
    if (code)
        return code;
    krb5_octet *contents = malloc(bytes);
    if (!contents)
        return ENOMEM;
    code = operation_mac(context, id, usage, span_of(input), contents);
    if (code) {
        free(contents);
        return code;
    }
    out->magic = KV5M_CHECKSUM;
    out->checksum_type = type;
    out->length = bytes;
    out->contents = contents;
    return 0;
}

static krb5_error_code verify(krb5_context context, const struct handle_key *id,
                              krb5_keyusage usage, const krb5_data *data,
                              const krb5_checksum *cksum, krb5_boolean *valid)
{
    krb5_cksumtype type = cksum->checksum_type;
    unsigned int bytes;
    *valid = FALSE;
    const krb5_error_code code = check_type(context, id, &type, &bytes);
    if (code)
        return code;
    if (cksum->length != bytes)
        return KRB5_BAD_MSIZE;
    return operation_verify(context, id, usage, span_of(data),
                            (struct tkdc_span){cksum->contents, cksum->length}, valid);
}

/* What a scattered checksum covers, and the element that holds it. */
static krb5_data *gather(struct tkdc_buffer *out, const krb5_crypto_iov *iov, size_t count)
{
    krb5_data *checksum = NULL;
    for (size_t i = 0; i < count; i++) {
        switch (iov[i].flags) {
        case KRB5_CRYPTO_TYPE_HEADER:
        case KRB5_CRYPTO_TYPE_DATA:
        case KRB5_CRYPTO_TYPE_PADDING:
        case KRB5_CRYPTO_TYPE_SIGN_ONLY:
            tkdc_buffer_put(out, iov[i].data.data, iov[i].data.length);
            break;
        case KRB5_CRYPTO_TYPE_CHECKSUM:
            checksum = (krb5_data *)&iov[i].data;
            break;
        default:
            break;
        }
    }
    return checksum;
}

static krb5_error_code make_iov(krb5_context context, krb5_cksumtype type,
                                const struct handle_key *id, krb5_keyusage usage,
                                krb5_crypto_iov *iov, size_t count)
{
    struct tkdc_buffer data = {0};
    unsigned int bytes;
    krb5_data *checksum = gather(&data, iov, count);
    krb5_error_code code = check_type(context, id, &type, &bytes);
    if (!code && (!checksum || checksum->length < bytes))
        code = KRB5_BAD_MSIZE;
    if (!code && data.failed)
        code = ENOMEM;
    if (!code)
        code = operation_mac(context, id, usage, (struct tkdc_span){data.data, data.len},
                             (uint8_t *)checksum->data);
    if (!code)
        checksum->length = bytes;
    tkdc_buffer_free(&data);
    return code;
}

static krb5_error_code verify_iov(krb5_context context, krb5_cksumtype type,
                                  const struct handle_key *id, krb5_keyusage usage,
                                  const krb5_crypto_iov *iov, size_t count, krb5_boolean *valid)
{
    struct tkdc_buffer data = {0};
    unsigned int bytes;
    const krb5_data *checksum = gather(&data, iov, count);
    krb5_error_code code = check_type(context, id, &type, &bytes);
    *valid = FALSE;
    if (!code && (!checksum || checksum->length != bytes))
        code = KRB5_BAD_MSIZE;
    if (!code && data.failed)
        code = ENOMEM;
    if (!code)
        code = operation_verify(context, id, usage, (struct tkdc_span){data.data, data.len},
                                span_of(checksum), valid);
    tkdc_buffer_free(&data);
    return code;
}

krb5_error_code krb5_c_make_checksum(krb5_context context, krb5_cksumtype type,
                                     const krb5_keyblock *key, krb5_keyusage usage,
                                     const krb5_data *input, krb5_checksum *cksum)
{
    HANDLE_KEY(id);
    if (is_ours(type) && handle_key_of(key, &id))
        return make(context, type, &id, usage, input, cksum);
    return REAL(krb5_c_make_checksum)(context, type, key, usage, input, cksum);
}

krb5_error_code krb5_k_make_checksum(krb5_context context, krb5_cksumtype type, krb5_key key,
                                     krb5_keyusage usage, const krb5_data *input,
                                     krb5_checksum *cksum)
{
    HANDLE_KEY(id);
    if (is_ours(type) && handle_key_of_k(context, key, &id))
        return make(context, type, &id, usage, input, cksum);
    return REAL(krb5_k_make_checksum)(context, type, key, usage, input, cksum);
}

krb5_error_code krb5_c_verify_checksum(krb5_context context, const krb5_keyblock *key,
                                       krb5_keyusage usage, const krb5_data *data,
                                       const krb5_checksum *cksum, krb5_boolean *valid)
{
    HANDLE_KEY(id);
    if (is_ours(cksum->checksum_type) && handle_key_of(key, &id))
        return verify(context, &id, usage, data, cksum, valid);
    return REAL(krb5_c_verify_checksum)(context, key, usage, data, cksum, valid);
}

krb5_error_code krb5_k_verify_checksum(krb5_context context, krb5_key key, krb5_keyusage usage,
                                       const krb5_data *data, const krb5_checksum *cksum,
                                       krb5_boolean *valid)
{
    HANDLE_KEY(id);
    if (is_ours(cksum->checksum_type) && handle_key_of_k(context, key, &id))
        return verify(context, &id, usage, data, cksum, valid);
    return REAL(krb5_k_verify_checksum)(context, key, usage, data, cksum, valid);
}

krb5_error_code krb5_c_make_checksum_iov(krb5_context context, krb5_cksumtype type,
                                         const krb5_keyblock *key, krb5_keyusage usage,
                                         krb5_crypto_iov *data, size_t num_data)
{
    HANDLE_KEY(id);
    if (is_ours(type) && handle_key_of(key, &id))
        return make_iov(context, type, &id, usage, data, num_data);
    return REAL(krb5_c_make_checksum_iov)(context, type, key, usage, data, num_data);
}

krb5_error_code krb5_k_make_checksum_iov(krb5_context context, krb5_cksumtype type, krb5_key key,
                                         krb5_keyusage usage, krb5_crypto_iov *data,
                                         size_t num_data)
{
    HANDLE_KEY(id);
    if (is_ours(type) && handle_key_of_k(context, key, &id))
        return make_iov(context, type, &id, usage, data, num_data);
    return REAL(krb5_k_make_checksum_iov)(context, type, key, usage, data, num_data);
}

krb5_error_code krb5_c_verify_checksum_iov(krb5_context context, krb5_cksumtype type,
                                           const krb5_keyblock *key, krb5_keyusage usage,
                                           const krb5_crypto_iov *data, size_t num_data,
                                           krb5_boolean *valid)
{
    HANDLE_KEY(id);
    if (is_ours(type) && handle_key_of(key, &id))
        return verify_iov(context, type, &id, usage, data, num_data, valid);
    return REAL(krb5_c_verify_checksum_iov)(context, type, key, usage, data, num_data, valid);
}

krb5_error_code krb5_k_verify_checksum_iov(krb5_context context, krb5_cksumtype type, krb5_key key,
                                           krb5_keyusage usage, const krb5_crypto_iov *data,
                                           size_t num_data, krb5_boolean *valid)
{
    HANDLE_KEY(id);
    if (is_ours(type) && handle_key_of_k(context, key, &id))
        return verify_iov(context, type, &id, usage, data, num_data, valid);
    return REAL(krb5_k_verify_checksum_iov)(context, type, key, usage, data, num_data, valid);
}
