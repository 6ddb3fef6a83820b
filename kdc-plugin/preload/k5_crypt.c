/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krb5_[ck]_encrypt and krb5_[ck]_decrypt: a handle goes to the agent, any
 * other key to libk5crypto. Buffers and results follow libk5crypto: ciphertexts
 * are as long as their enctype makes them, the output's length is set.
 *
 * Both forms are interposed: libk5crypto reaches krb5_k_* through the PLT in
 * Debian's build, others bind locally.
 */
#include <string.h>

#include "operation.h"
#include "process.h"

static struct tkdc_span span_of(const krb5_data *d)
{
    return (struct tkdc_span){(const uint8_t *)d->data, d->length};
}

static krb5_error_code encrypt(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, const krb5_data *cipher_state,
                               const krb5_data *input, krb5_enc_data *output)
{
    struct tkdc_buffer ciphertext;
    const struct tkdc_enctype *enctype = tkdc_enctype_of(id->enctype);
    if (cipher_state)
        return handle_key_unsupported(context, "a cipher state");
    if (!enctype)
        return KRB5_BAD_ENCTYPE;
    if (output->ciphertext.length < (size_t)input->length + enctype->overhead_bytes)
        return KRB5_BAD_MSIZE;
    const krb5_error_code code = operation_seal(context, id, usage, span_of(input), &ciphertext);
    if (code)
        return code;
    output->magic = KV5M_ENC_DATA;
    output->kvno = 0;
    output->enctype = (krb5_enctype)id->enctype;
    memcpy(output->ciphertext.data, ciphertext.data, ciphertext.len);
    output->ciphertext.length = (unsigned int)ciphertext.len;
    tkdc_buffer_free(&ciphertext);
    return 0;
}

static krb5_error_code decrypt(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, const krb5_data *cipher_state,
                               const krb5_enc_data *input, krb5_data *output)
{
    struct tkdc_buffer plaintext;
    const struct tkdc_enctype *enctype = tkdc_enctype_of(id->enctype);
    if (cipher_state)
        return handle_key_unsupported(context, "a cipher state");
    if (!enctype ||
        (input->enctype != ENCTYPE_UNKNOWN && input->enctype != (krb5_enctype)id->enctype))
        return KRB5_BAD_ENCTYPE;
    if (input->ciphertext.length < enctype->overhead_bytes ||
        output->length < input->ciphertext.length - enctype->overhead_bytes)
        return KRB5_BAD_MSIZE;
    const krb5_error_code code =
        operation_open(context, id, usage, span_of(&input->ciphertext), &plaintext);
    if (code)
        return code;
    if (plaintext.len)
        memcpy(output->data, plaintext.data, plaintext.len);
    output->length = (unsigned int)plaintext.len;
    tkdc_buffer_free(&plaintext);
    return 0;
}

/* Where nothing was encrypted the ciphertext has no octets. libkrb5 then frees its place and leaves
 * its length, and krb5kdc, before it looks whether a TGS reply could be encrypted, clears so many
 * octets at NULL: a client whose subkey has a wrong length would end it. */
static krb5_error_code or_empty(krb5_error_code code, krb5_enc_data *output)
{
    if (code)
        output->ciphertext.length = 0;
    return code;
}

krb5_error_code krb5_c_encrypt(krb5_context context, const krb5_keyblock *key, krb5_keyusage usage,
                               const krb5_data *cipher_state, const krb5_data *input,
                               krb5_enc_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of(key, &id))
        return or_empty(encrypt(context, &id, usage, cipher_state, input, output), output);
    return or_empty(REAL(krb5_c_encrypt)(context, key, usage, cipher_state, input, output), output);
}

krb5_error_code krb5_k_encrypt(krb5_context context, krb5_key key, krb5_keyusage usage,
                               const krb5_data *cipher_state, const krb5_data *input,
                               krb5_enc_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of_k(context, key, &id))
        return or_empty(encrypt(context, &id, usage, cipher_state, input, output), output);
    return or_empty(REAL(krb5_k_encrypt)(context, key, usage, cipher_state, input, output), output);
}

krb5_error_code krb5_c_decrypt(krb5_context context, const krb5_keyblock *key, krb5_keyusage usage,
                               const krb5_data *cipher_state, const krb5_enc_data *input,
                               krb5_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of(key, &id))
        return decrypt(context, &id, usage, cipher_state, input, output);
    return REAL(krb5_c_decrypt)(context, key, usage, cipher_state, input, output);
}

krb5_error_code krb5_k_decrypt(krb5_context context, krb5_key key, krb5_keyusage usage,
                               const krb5_data *cipher_state, const krb5_enc_data *input,
                               krb5_data *output)
{
    HANDLE_KEY(id);
    if (handle_key_of_k(context, key, &id))
        return decrypt(context, &id, usage, cipher_state, input, output);
    return REAL(krb5_k_decrypt)(context, key, usage, cipher_state, input, output);
}
