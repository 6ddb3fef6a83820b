/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is passed on unchanged: see forward.h. libkdb5 copies our table before
 * the wrapped module is known, so an absent function answers here as libkdb5
 * would answer for a NULL.
 */
#include "forward.h"

#include <stdlib.h>

#define FORWARD(function, ...)                                                                     \
    (wrapped && wrapped->function ? IN_DATABASE(wrapped->function(__VA_ARGS__))                    \
                                  : KRB5_PLUGIN_OP_NOTSUPP)

krb5_error_code forward_lock(krb5_context context, int mode)
{
    return FORWARD(lock, context, mode);
}

krb5_error_code forward_unlock(krb5_context context)
{
    return FORWARD(unlock, context);
}

krb5_error_code forward_get_policy(krb5_context context, char *name, osa_policy_ent_t *policy)
{
    return FORWARD(get_policy, context, name, policy);
}

krb5_error_code forward_iter_policy(krb5_context context, char *match,
                                    osa_adb_iter_policy_func func, void *data)
{
    return FORWARD(iter_policy, context, match, func, data);
}

krb5_error_code forward_delete_policy(krb5_context context, char *policy)
{
    return FORWARD(delete_policy, context, policy);
}

krb5_error_code forward_check_transited_realms(krb5_context context, const krb5_data *transited,
                                               const krb5_data *client_realm,
                                               const krb5_data *server_realm)
{
    return FORWARD(check_transited_realms, context, transited, client_realm, server_realm);
}

void forward_refresh_config(krb5_context context)
{
    if (wrapped && wrapped->refresh_config)
        wrapped->refresh_config(context);
}

krb5_error_code forward_check_allowed_to_delegate(krb5_context context, krb5_const_principal client,
                                                  const krb5_db_entry *server,
                                                  krb5_const_principal proxy)
{
    return FORWARD(check_allowed_to_delegate, context, client, server, proxy);
}

void forward_free_principal_e_data(krb5_context context, krb5_octet *e_data)
{
    if (wrapped && wrapped->free_principal_e_data)
        wrapped->free_principal_e_data(context, e_data);
    else
        free(e_data);
}

krb5_error_code forward_allowed_to_delegate_from(krb5_context context, krb5_const_principal client,
                                                 krb5_const_principal server, krb5_pac server_pac,
                                                 const krb5_db_entry *proxy)
{
    return FORWARD(allowed_to_delegate_from, context, client, server, server_pac, proxy);
}

krb5_error_code forward_issue_pac(krb5_context context, unsigned int flags, krb5_db_entry *client,
                                  krb5_keyblock *replaced_reply_key, krb5_db_entry *server,
                                  krb5_db_entry *signing_krbtgt, krb5_timestamp authtime,
                                  krb5_pac old_pac, krb5_pac new_pac, krb5_data ***auth_indicators)
{
    return FORWARD(issue_pac, context, flags, client, replaced_reply_key, server, signing_krbtgt,
                   authtime, old_pac, new_pac, auth_indicators);
}
