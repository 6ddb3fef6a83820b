/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding and destroying handles: see binding.h.
 *
 * The key ids come from the stored handles, decrypted with the list of master
 * keys that libkdb5 keeps in its context, and from the password history, where
 * handles stand in the clear. Programs without that list (kpropd, kdb5_util
 * load) destroy nothing: an entry's history is left alone where they could not
 * read its keys.
 */
#include "binding.h"
#include "equal.h"
#include "history_record.h"

#include <com_err.h>
#include <string.h>

static void collect_history(const krb5_db_entry *entry, struct binding_set *set,
                            const uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES])
{
    struct history_record record;
    struct tkdc_wire_key id;
    (void)history_record_of(entry, &record);
    while (history_record_next(&record, &id)) {
        if (set->count == BINDING_HANDLES_MAX) {
            set->complete = false;
            return;
        }
        memcpy(id.principal, principal, TKDC_WIRE_PRINCIPAL_BYTES);
        set->ids[set->count++] = id;
    }
    if (record.at.bad)
        set->complete = false;
}

void binding_collect(krb5_context context, const krb5_db_entry *entry,
                     const uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES], struct binding_set *set)
{
    set->count = 0;
    set->complete = true;
    for (krb5_int16 i = 0; entry && i < entry->n_key_data; i++) {
        if (!keydata_is_handle(&entry->key_data[i]))
            continue;
        if (set->count == BINDING_HANDLES_MAX ||
            keydata_read_handle(context, &entry->key_data[i], &set->ids[set->count]) != 0) {
            set->complete = false;
            continue;
        }
        memcpy(set->ids[set->count].principal, principal, TKDC_WIRE_PRINCIPAL_BYTES);
        set->count++;
    }
    if (entry && (module_takes_handles() || !krb5_db_mkey_list_alias(context)))
        set->complete = false;
    if (entry && set->complete)
        collect_history(entry, set, principal);
}

krb5_error_code binding_bind(krb5_context context, const struct tkdc_wire_key *id,
                             const char *principal_name)
{
    const struct tkdc_request request = {
        .op = TKDC_OP_BIND,
        .key = *id,
        .data = {(const uint8_t *)principal_name, strlen(principal_name)},
    };
    struct tkdc_reply reply;
    krb5_error_code code = preload->call(context, &request, &reply);
    if (code)
        return code;
    if (!tkdc_reply_is_empty(&reply)) {
        krb5_set_error_message(context, KRB5KDC_ERR_SVC_UNAVAILABLE,
                               "ktkdc: malformed answer from tkdc-agent");
        code = KRB5KDC_ERR_SVC_UNAVAILABLE;
    }
    tkdc_reply_free(&reply);
    return code;
}

static krb5_error_code destroy(krb5_context context, const struct tkdc_wire_key *id)
{
    const struct tkdc_request request = {.op = TKDC_OP_DESTROY, .key = *id};
    struct tkdc_reply reply;
    const krb5_error_code code = preload->call(context, &request, &reply);
    if (!code)
        tkdc_reply_free(&reply);
    return code;
}

static void log_left(krb5_context context, const struct tkdc_wire_key *id, krb5_error_code code,
                     const char *principal_name)
{
    const char *message = krb5_get_error_message(context, code);
    com_err("ktkdc", 0, "%s: version %u of its key was not destroyed at the servers: %s",
            principal_name, (unsigned)id->kvno, message);
    krb5_free_error_message(context, message);
    krb5_clear_error_message(context);
}

void binding_undo(krb5_context context, const struct binding_set *set, krb5_error_code why,
                  const char *principal_name)
{
    const char *message = krb5_get_error_message(context, why);
    krb5_error_code code = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (code != KRB5KDC_ERR_SVC_UNAVAILABLE) /* else each would wait as long */
            code = destroy(context, &set->ids[i]);
        if (code)
            log_left(context, &set->ids[i], code, principal_name);
    }
    krb5_set_error_message(context, why, "%s", message);
    krb5_free_error_message(context, message);
}

static bool contains(const struct binding_set *set, const struct tkdc_wire_key *id)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (tkdc_equal(set->ids[i].key_id, id->key_id, sizeof id->key_id))
            return true;
    return false;
}

void binding_destroy(krb5_context context, const struct binding_set *old,
                     const struct binding_set *kept, const char *principal_name)
{
    if (!old->complete)
        com_err("ktkdc", 0,
                "%s: not all old keys could be read; what is left of them at the servers is named "
                "by `tkdc reconcile`, which can destroy it",
                principal_name);
    if (kept && !kept->complete)
        return; /* one of the old might be among the unread */
    for (size_t i = 0; i < old->count; i++) {
        if (contains(kept, &old->ids[i]))
            continue;
        const krb5_error_code code = destroy(context, &old->ids[i]);
        if (code)
            log_left(context, &old->ids[i], code, principal_name);
    }
}
