/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three functions that are interposed for what they tell or for what they
 * would give away:
 *
 *   krb5_c_make_random_key  remembers digests of keys made by this process,
 *                           so that the module tells a key that nobody has
 *                           seen (the servers draw another) from one that the
 *                           administrator brought (it is imported);
 *   krb5_kt_add_entry       never writes a handle into a keytab;
 *   krb5_mk_error           fails in krb5kdc for a request that has lost an
 *                           operation: no reply is sent, nothing enters the
 *                           lookaside cache, the client's retry is new work.
 */
#include <openssl/sha.h>
#include <string.h>

#include "equal.h"
#include "fiber.h"
#include "handle_key.h"
#include "k5_other.h"
#include "process.h"

enum { REMEMBERED = 64 };

static uint8_t drawn[REMEMBERED][SHA256_DIGEST_LENGTH];
static unsigned drawn_count;

static void digest_of(const krb5_keyblock *key, uint8_t out[SHA256_DIGEST_LENGTH])
{
    SHA256(key->contents, key->length, out);
}

bool k5_was_drawn_here(const krb5_keyblock *key)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    const unsigned filled = drawn_count < REMEMBERED ? drawn_count : REMEMBERED;
    digest_of(key, digest);
    for (unsigned i = 0; i < filled; i++)
        if (tkdc_equal(drawn[i], digest, sizeof digest))
            return true;
    return false;
}

krb5_error_code krb5_c_make_random_key(krb5_context context, krb5_enctype enctype,
                                       krb5_keyblock *key)
{
    const krb5_error_code code = REAL(krb5_c_make_random_key)(context, enctype, key);
    if (code == 0 && process_config.configured && !process_config.is_kdc)
        digest_of(key, drawn[drawn_count++ % REMEMBERED]);
    return code;
}

krb5_error_code krb5_kt_add_entry(krb5_context context, krb5_keytab id, krb5_keytab_entry *entry)
{
    if (handle_key_is_formed_like_one(&entry->key)) {
        krb5_set_error_message(context, KRB5_KT_NOWRITE,
                               "this key exists only as shares: run ktadd without -norandkey, "
                               "which draws a new key for the keytab");
        return KRB5_KT_NOWRITE;
    }
    return REAL(krb5_kt_add_entry)(context, id, entry);
}

krb5_error_code krb5_mk_error(krb5_context context, const krb5_error *error, krb5_data *out)
{
    if (process_config.is_kdc && fiber_request()->tainted)
        return KRB5KDC_ERR_SVC_UNAVAILABLE;
    return REAL(krb5_mk_error)(context, error, out);
}
