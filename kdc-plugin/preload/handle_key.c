/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys exist as shares: see handle_key.h and stamp.h. */
#include "handle_key.h"

#include <string.h>
#include <syslog.h>

#include "fiber.h"
#include "log_limit.h"
#include "stamp.h"

static bool decode(const uint8_t *octets, size_t len, struct handle_key *id)
{
    if (tkdc_handle_decode(octets, len, &id->key)) {
        id->by.kind = TKDC_DERIVE_NONE;
        id->enctype = id->key.enctype;
        return true;
    }
    if (!tkdc_derived_decode(octets, len, &id->key, &id->by))
        return false;
    id->enctype = id->by.enctype;
    return true;
}

static void log_imitation(void)
{
    static struct log_limit limit;
    unsigned long suppressed;
    if (!log_limit_passes(&limit, &suppressed))
        return;
    syslog(LOG_WARNING,
           "tkdc: a key is formed like a handle, but ktkdc has not given it out in this process: "
           "a client or another realm sent it, and it is not used (%lu more not logged)",
           suppressed);
}

bool handle_key_of(const krb5_keyblock *key, struct handle_key *id)
{
    uint8_t plain[TKDC_DERIVED_HANDLE_MAX_BYTES];
    if (!key || key->length < TKDC_HANDLE_BYTES)
        return false; /* every key that libk5crypto takes */
    if (!stamp_take_off(key->contents, key->length, plain)) {
        if (handle_key_is_formed_like_one(key))
            log_imitation();
        return false;
    }
    const bool is_handle = decode(plain, key->length, id);
    explicit_bzero(plain, sizeof plain);
    return is_handle;
}

bool handle_key_is_formed_like_one(const krb5_keyblock *key)
{
    return key && tkdc_has_handle_magic(key->contents, key->length);
}

void handle_key_wipe(struct handle_key *id)
{
    explicit_bzero(id, sizeof *id);
}

bool handle_key_of_k(krb5_context context, krb5_key key, struct handle_key *id)
{
    krb5_keyblock *copy = NULL;
    if (!key || krb5_k_key_keyblock(context, key, &copy) != 0)
        return false; /* the real function then fails for want of memory too */
    const bool is_handle = handle_key_of(copy, id);
    krb5_free_keyblock(context, copy);
    return is_handle;
}

krb5_error_code handle_key_unsupported(krb5_context context, const char *what)
{
    fiber_request()->no_record = true;
    krb5_set_error_message(context, KRB5_PROG_KEYTYPE_NOSUPP,
                           "tkdc: %s is not available with keys that exist only as shares; "
                           "if SPAKE is on, disable the kdcpreauth module spake",
                           what);
    return KRB5_PROG_KEYTYPE_NOSUPP;
}

krb5_error_code handle_key_bad_enctype(krb5_context context, uint32_t enctype)
{
    fiber_request()->no_record = true;
    krb5_set_error_message(context, KRB5_BAD_ENCTYPE,
                           "tkdc: a key of enctype %u cannot be used with one that exists as "
                           "shares: the client must use aes256-cts, aes128-cts, aes256-sha2 or "
                           "aes128-sha2",
                           (unsigned)enctype);
    return KRB5_BAD_ENCTYPE;
}
