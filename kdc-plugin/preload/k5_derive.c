/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose result is derived from a key: PRF, PRF+ and the combination
 * of two keys. From a handle such a value would be a raw derivative of a
 * long-term key in krb5kdc's memory, so they are refused: encrypted
 * challenge, SPAKE and encrypted FAST cookies do not work with handles.
 */
#include "operation.h"

krb5_error_code krb5_c_prf(krb5_context context, const krb5_keyblock *key, krb5_data *input,
                           krb5_data *output)
{
    struct tkdc_wire_key id;
    if (engine_is_handle(key, &id))
        return engine_unsupported(context, "PRF");
    return REAL(krb5_c_prf)(context, key, input, output);
}

krb5_error_code krb5_k_prf(krb5_context context, krb5_key key, krb5_data *input, krb5_data *output)
{
    struct tkdc_wire_key id;
    if (engine_is_handle_k(context, key, &id))
        return engine_unsupported(context, "PRF");
    return REAL(krb5_k_prf)(context, key, input, output);
}

krb5_error_code krb5_c_prfplus(krb5_context context, const krb5_keyblock *key,
                               const krb5_data *input, krb5_data *output)
{
    struct tkdc_wire_key id;
    if (engine_is_handle(key, &id))
        return engine_unsupported(context, "PRF+");
    return REAL(krb5_c_prfplus)(context, key, input, output);
}

krb5_error_code krb5_c_derive_prfplus(krb5_context context, const krb5_keyblock *key,
                                      const krb5_data *input, krb5_enctype enctype,
                                      krb5_keyblock **out)
{
    struct tkdc_wire_key id;
    if (engine_is_handle(key, &id))
        return engine_unsupported(context, "PRF+");
    return REAL(krb5_c_derive_prfplus)(context, key, input, enctype, out);
}

krb5_error_code krb5_c_fx_cf2_simple(krb5_context context, const krb5_keyblock *k1,
                                     const char *pepper1, const krb5_keyblock *k2,
                                     const char *pepper2, krb5_keyblock **out)
{
    struct tkdc_wire_key id;
    if (engine_is_handle(k1, &id) || engine_is_handle(k2, &id))
        return engine_unsupported(context, "FAST with a long-term key (fx_cf2)");
    return REAL(krb5_c_fx_cf2_simple)(context, k1, pepper1, k2, pepper2, out);
}
