/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two functions of libkadm5srv as kadmind calls them for clients elsewhere,
 * which have no preload library and know nothing of handles:
 *
 *   kadm5_get_principal_keys    (ktadd -norandkey) returns keys as they are;
 *                               a handle would end up in a keytab;
 *   kadm5_randkey_principal_3   (cpw -randkey, ktadd) always returns the new
 *                               keys, which means exporting them from the
 *                               servers. Keys of krbtgt and kadmin never
 *                               leave the servers, so they are not asked for.
 *
 * In kadmin.local nothing of this applies: it asks for keys only to write
 * them, and is refused with a message (krb5_kt_add_entry, the servers).
 */
#include <errno.h>
#include <kadm5/admin.h>
#include <string.h>
#include <syslog.h>

#include "equal.h"
#include "handle_key.h"
#include "process.h"

static bool is_kadmind(void)
{
    return process_config.configured && strcmp(program_invocation_short_name, "kadmind") == 0;
}

kadm5_ret_t kadm5_get_principal_keys(void *server_handle, krb5_principal principal, krb5_kvno kvno,
                                     kadm5_key_data **key_data, int *n_key_data)
{
    const kadm5_ret_t code =
        REAL(kadm5_get_principal_keys)(server_handle, principal, kvno, key_data, n_key_data);
    for (int i = 0; code == 0 && is_kadmind() && i < *n_key_data; i++) {
        if (!handle_key_is_formed_like_one(&(*key_data)[i].key))
            continue;
        /* Handles are no secrets and this is rare: the list is not freed,
         * which would take one more function of libkadm5srv. */
        syslog(LOG_NOTICE, "tkdc: extraction of keys refused: they exist only as shares; run "
                           "ktadd without -norandkey");
        *key_data = NULL;
        *n_key_data = 0;
        return KADM5_AUTH_EXTRACT;
    }
    return code;
}

static bool never_leaves(const krb5_principal_data *principal)
{
    static const char *const classes[] = {"krbtgt", "kadmin"};
    if (principal->length < 1)
        return false;
    const krb5_data *first = &principal->data[0];
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (first->length == strlen(classes[i]) &&
            tkdc_equal(first->data, classes[i], first->length))
            return true;
    return false;
}

kadm5_ret_t kadm5_randkey_principal_3(void *server_handle, krb5_principal principal,
                                      krb5_boolean keepold, int n_ks_tuple,
                                      krb5_key_salt_tuple *ks_tuple, krb5_keyblock **keyblocks,
                                      int *n_keys)
{
    if (is_kadmind() && keyblocks && n_keys && never_leaves(principal)) {
        *keyblocks = NULL;
        *n_keys = 0;
        keyblocks = NULL;
        n_keys = NULL;
    }
    return REAL(kadm5_randkey_principal_3)(server_handle, principal, keepold, n_ks_tuple, ks_tuple,
                                           keyblocks, n_keys);
}
