/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose result is derived from a key. From a handle such a value would
 * be a raw derivative of a long-term key in krb5kdc's memory. So where the result
 * is a key it is a derived handle: nothing is asked of the servers here, they make
 * the key anew on shares for each operation with it (service/wire/derivation.h). FAST needs
 * two of them:
 *
 *   krb5_c_fx_cf2_simple   of a key that the KDC knows (armor, strengthening key)
 *                          and a handle: encrypted challenge, the reply key. The
 *                          known key's PRF+ is computed here;
 *   krb5_c_derive_prfplus  of a handle: the key of a FAST cookie.
 *
 * PRF and PRF+ as octets are refused (SPAKE wants them), and so is what is derived
 * from a derived key. Which peppers are good for what, the servers know.
 */
#include <errno.h>
#include <string.h>

#include "enctype.h"
#include "handle_key.h"
#include "process.h"
#include "stamp.h"

/* The keyblock of a derived handle; *by is wiped. */
static krb5_error_code make_derived(krb5_context context, const struct handle_key *id,
                                    struct tkdc_derivation *by, krb5_keyblock **out)
{
    uint8_t octets[TKDC_DERIVED_HANDLE_MAX_BYTES];
    const size_t len = tkdc_derived_encode(octets, &id->key, by);
    krb5_error_code code;
    if (len == 0)
        code = handle_key_bad_enctype(context, by->enctype);
    else if (!stamp_put(octets, len))
        code = ENOMEM;
    else
        code = krb5_init_keyblock(context, (krb5_enctype)by->enctype, len, out);
    if (len > 0 && !code)
        memcpy((*out)->contents, octets, len);
    explicit_bzero(octets, sizeof octets);
    explicit_bzero(by, sizeof *by);
    return code;
}

static krb5_error_code put_pepper(krb5_context context, struct tkdc_derivation *by,
                                  const char *pepper, size_t len)
{
    if (len < 1 || len > sizeof by->pepper)
        return handle_key_unsupported(context, "a derivation with such a long name");
    memcpy(by->pepper, pepper, len);
    by->pepper_bytes = len;
    return 0;
}

/* The known key's half of KRB-FX-CF2. */
static krb5_error_code put_known_half(krb5_context context, struct tkdc_derivation *by,
                                      const krb5_keyblock *known, const char *pepper)
{
    const struct tkdc_enctype *enctype = tkdc_enctype_of((uint32_t)known->enctype);
    const krb5_data input = {.data = (char *)pepper, .length = (unsigned int)strlen(pepper)};
    krb5_data known_half = {.data = (char *)by->known_half};
    if (!enctype)
        return 0; /* make_derived() says why not */
    known_half.length = (unsigned int)enctype->key_bytes;
    by->known_half_bytes = (uint8_t)enctype->key_bytes;
    return REAL(krb5_c_prfplus)(context, known, &input, &known_half);
}

krb5_error_code krb5_c_prf(krb5_context context, const krb5_keyblock *key, krb5_data *input,
                           krb5_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of(key, &id))
        return handle_key_unsupported(context, "PRF");
    return REAL(krb5_c_prf)(context, key, input, output);
}

krb5_error_code krb5_k_prf(krb5_context context, krb5_key key, krb5_data *input, krb5_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of_k(context, key, &id))
        return handle_key_unsupported(context, "PRF");
    return REAL(krb5_k_prf)(context, key, input, output);
}

krb5_error_code krb5_c_prfplus(krb5_context context, const krb5_keyblock *key,
                               const krb5_data *input, krb5_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of(key, &id))
        return handle_key_unsupported(context, "PRF+");
    return REAL(krb5_c_prfplus)(context, key, input, output);
}

krb5_error_code krb5_c_derive_prfplus(krb5_context context, const krb5_keyblock *key,
                                      const krb5_data *input, krb5_enctype enctype,
                                      krb5_keyblock **out)
{
    HANDLE_KEY(id);
    if (!handle_key_of(key, &id))
        return REAL(krb5_c_derive_prfplus)(context, key, input, enctype, out);
    *out = NULL;
    if (id.by.kind != TKDC_DERIVE_NONE)
        return handle_key_unsupported(context, "derivation from a derived key");
    struct tkdc_derivation by = {.kind = TKDC_DERIVE_PRFPLUS, .enctype = (uint32_t)enctype};
    if (enctype == ENCTYPE_NULL)
        by.enctype = id.enctype;
    const krb5_error_code code = put_pepper(context, &by, input->data, input->length);
    return code ? code : make_derived(context, &id, &by, out);
}

krb5_error_code krb5_c_fx_cf2_simple(krb5_context context, const krb5_keyblock *k1,
                                     const char *pepper1, const krb5_keyblock *k2,
                                     const char *pepper2, krb5_keyblock **out)
{
    HANDLE_KEY(id);
    HANDLE_KEY(first);
    const bool shared = handle_key_of(k2, &id);
    if (handle_key_of(k1, &first))
        return handle_key_unsupported(context, "fx_cf2 with a long-term key as the first");
    if (!shared)
        return REAL(krb5_c_fx_cf2_simple)(context, k1, pepper1, k2, pepper2, out);
    *out = NULL;
    if (id.by.kind != TKDC_DERIVE_NONE)
        return handle_key_unsupported(context, "derivation from a derived key");
    /* The result has the first key's enctype: RFC 6113, section 5.1. */
    struct tkdc_derivation by = {.kind = TKDC_DERIVE_CF2, .enctype = (uint32_t)k1->enctype};
    krb5_error_code code = put_pepper(context, &by, pepper2, strlen(pepper2));
    if (!code)
        code = put_known_half(context, &by, k1, pepper1);
    if (!code)
        return make_derived(context, &id, &by, out);
    explicit_bzero(&by, sizeof by);
    return code;
}
