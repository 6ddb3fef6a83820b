/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lockout and its database writes, with requests that were suspended.
 *
 * audit_as_req of db2 writes back the entry that it is given. Ours was read
 * before a suspension and would revert a password change made meanwhile, so
 * the wrapped module gets the entry as it is now. A request that lost an
 * operation records nothing: its outcome says nothing about the client.
 *
 * check_policy_as lets one login of a principal at a time pass when its
 * policy has a lockout (see serial.h), and then judges the entry as it is
 * after the wait.
 */
#include <krb5.h>
#include <string.h>

#include "be32.h"
#include "history.h"
#include "module.h"

/* The name of a principal's policy, from kadmind's record in XDR: u32
 * version, u32 length with the NUL (0: none), name. */
static bool policy_name(krb5_context context, krb5_db_entry *entry, char *name, size_t size)
{
    krb5_tl_data tl = {.tl_data_type = KRB5_TL_KADM_DATA};
    if (krb5_dbe_lookup_tl_data(context, entry, &tl) != 0 || tl.tl_data_length < 8)
        return false;
    const uint32_t len = tkdc_get_u32(tl.tl_data_contents + 4);
    if (len < 2 || len > size || len > (uint32_t)tl.tl_data_length - 8)
        return false;
    memcpy(name, tl.tl_data_contents + 8, len);
    return name[len - 1] == '\0';
}

static bool has_lockout(krb5_context context, krb5_db_entry *entry)
{
    char name[256];
    osa_policy_ent_t policy = NULL;
    if (!wrapped->get_policy || !policy_name(context, entry, name, sizeof name))
        return false;
    if (IN_DATABASE(wrapped->get_policy(context, name, &policy)) != 0)
        return false;
    const bool lockout = policy->pw_max_fail != 0;
    krb5_db_free_policy(context, policy);
    return lockout;
}

krb5_error_code module_check_policy_as(krb5_context context, krb5_kdc_req *request,
                                       krb5_db_entry *client, krb5_db_entry *server,
                                       krb5_timestamp kdc_time, const char **status,
                                       krb5_pa_data ***e_data)
{
    REQUIRE_OPEN();
    uint8_t digest[TKDC_WIRE_PRINCIPAL_BYTES];
    krb5_db_entry *now = NULL;
    bool waited = false;
    krb5_error_code code = policy_check_server(context, request, server, status);

    if (code)
        return code;
    if (!wrapped->check_policy_as)
        return KRB5_PLUGIN_OP_NOTSUPP;
    if (has_lockout(context, client)) {
        code = entry_principal_digest(context, client->princ, digest, NULL);
        if (!code)
            code = preload->serialise(context, digest, &waited);
    }
    if (!code && waited)
        code = IN_DATABASE(wrapped->get_principal(context, client->princ, 0, &now));
    if (!code)
        code = IN_DATABASE(wrapped->check_policy_as(context, request, now ? now : client, server,
                                                    kdc_time, status, e_data));
    krb5_db_free_principal(context, now);
    return code;
}

void module_audit_as_req(krb5_context context, krb5_kdc_req *request,
                         const krb5_address *local_address, const krb5_address *remote_address,
                         krb5_db_entry *client, krb5_db_entry *server, krb5_timestamp authtime,
                         krb5_error_code error)
{
    krb5_db_entry *now = NULL;
    if (!wrapped || !wrapped->audit_as_req || preload->no_record())
        return;
    preload->enter_database();
    if (!client || wrapped->get_principal(context, client->princ, 0, &now) == 0)
        wrapped->audit_as_req(context, request, local_address, remote_address, now, server,
                              authtime, error);
    preload->leave_database();
    krb5_db_free_principal(context, now);
}

static krb5_error_code check_history(krb5_context context, osa_policy_ent_t policy)
{
    if (policy->pw_history_num <= HISTORY_PASSWORDS_MAX)
        return 0;
    krb5_set_error_message(context, KRB5_PLUGIN_OP_NOTSUPP,
                           "ktkdc: a principal's entry has room for a password history of %d: "
                           "leave -history at or below that",
                           HISTORY_PASSWORDS_MAX);
    return KRB5_PLUGIN_OP_NOTSUPP;
}

krb5_error_code module_create_policy(krb5_context context, osa_policy_ent_t policy)
{
    REQUIRE_OPEN();
    const krb5_error_code code = check_history(context, policy);
    if (code || (module_compares_only() && !module_is_temporary()))
        return code;
    return wrapped->create_policy ? wrapped->create_policy(context, policy)
                                  : KRB5_PLUGIN_OP_NOTSUPP;
}

krb5_error_code module_put_policy(krb5_context context, osa_policy_ent_t policy)
{
    REQUIRE_OPEN();
    const krb5_error_code code = check_history(context, policy);
    if (code || (module_compares_only() && !module_is_temporary()))
        return code;
    return wrapped->put_policy ? wrapped->put_policy(context, policy) : KRB5_PLUGIN_OP_NOTSUPP;
}
