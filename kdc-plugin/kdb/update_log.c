/* SPDX-License-Identifier: Apache-2.0 */
/* The log of incremental propagation: see update_log.h. */
#include "update_log.h"

#include <errno.h>
#include <profile.h>
#include <string.h>

/* A record takes whole blocks of 2 KiB, and at most 31 of them. */
enum { RECORD_BYTES_MAX = 31 * 2048 - 1 };
/* More than XDR adds to an entry, to a key and to an item of tl_data; names stand there thrice. */
enum { ENTRY_EXTRA_BYTES = 1024, KEY_EXTRA_BYTES = 64, TL_EXTRA_BYTES = 32, NAMES = 3 };

/* kpropd itself writes entries in ulog_replay() only; a whole dump it has kdb5_util load. */
bool update_log_is_replayed(void)
{
    return strcmp(program_invocation_short_name, "kpropd") == 0;
}

krb5_error_code update_log_is_kept(krb5_context context, bool *kept)
{
    profile_t profile = NULL;
    char *realm = NULL;
    int enabled = 0;
    krb5_error_code code = krb5_get_profile(context, &profile);
    if (!code)
        code = krb5_get_default_realm(context, &realm);
    if (!code)
        code = profile_get_boolean(profile, "realms", realm, "iprop_enable", 0, &enabled);
    krb5_free_default_realm(context, realm);
    if (profile)
        profile_release(profile);
    *kept = enabled != 0;
    return code;
}

static size_t record_bytes(const krb5_db_entry *entry, const char *principal)
{
    size_t bytes = ENTRY_EXTRA_BYTES + NAMES * strlen(principal);
    for (krb5_int16 i = 0; i < entry->n_key_data; i++) {
        bytes += KEY_EXTRA_BYTES;
        for (int j = 0; j < entry->key_data[i].key_data_ver && j < KRB5_KDB_V1_KEY_DATA_ARRAY; j++)
            bytes += entry->key_data[i].key_data_length[j];
    }
    for (const krb5_tl_data *tl = entry->tl_data; tl; tl = tl->tl_data_next)
        bytes += TL_EXTRA_BYTES + tl->tl_data_length;
    return bytes;
}

krb5_error_code update_log_has_room(krb5_context context, const krb5_db_entry *entry,
                                    const char *principal)
{
    bool kept = false;
    if (record_bytes(entry, principal) <= RECORD_BYTES_MAX)
        return 0;
    const krb5_error_code code = update_log_is_kept(context, &kept);
    if (code || !kept)
        return code;
    krb5_set_error_message(
        context, KRB5_KDB_CONSTRAINT_VIOLATION,
        "ktkdc: %s: the log of incremental propagation has no room for its entry "
        "(62 KiB), so nothing was changed: shorten -history of its policy, "
        "give it fewer keys at a time, or purgekeys",
        principal);
    return KRB5_KDB_CONSTRAINT_VIOLATION;
}
