/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be the server of a ticket. The three servers seal no tickets with a
 * user's key: such a ticket, which a stock KDC gives to anybody, lets its holder
 * guess the user's password offline. Asked for one, the KDC answers what it
 * answers for a principal with -allow_svr, so that clients take user to user,
 * and no operation is sent only to be denied. In krb5kdc only.
 */
#include "module.h"

/* As the servers classify: one component is a user (mpc-engine/service/admit/policy.cc).
 * For S4U2Self krb5kdc asks about the user with an empty entry as the server. */
static bool is_user(const krb5_db_entry *entry)
{
    return entry->princ && entry->princ->length == 1 && entry->n_key_data > 0 &&
           keydata_is_handle(&entry->key_data[0]);
}

krb5_error_code policy_check_server(krb5_context context, const krb5_kdc_req *request,
                                    const krb5_db_entry *server, const char **status)
{
    if (!is_user(server) || (request->kdc_options & KDC_OPT_ENC_TKT_IN_SKEY) != 0)
        return 0;
    *status = "SERVER_IS_A_USER";
    krb5_set_error_message(context, KRB5KDC_ERR_MUST_USE_USER2USER,
                           "ktkdc: a principal with one component is a user, whose key seals no "
                           "tickets: use user to user, or give the service a name like host/x");
    return KRB5KDC_ERR_MUST_USE_USER2USER;
}

krb5_error_code module_check_policy_tgs(krb5_context context, krb5_kdc_req *request,
                                        krb5_db_entry *server, krb5_ticket *ticket,
                                        const char **status, krb5_pa_data ***e_data)
{
    REQUIRE_OPEN();
    const krb5_error_code code = policy_check_server(context, request, server, status);
    if (code)
        return code;
    return wrapped->check_policy_tgs ? IN_DATABASE(wrapped->check_policy_tgs(
                                           context, request, server, ticket, status, e_data))
                                     : KRB5_PLUGIN_OP_NOTSUPP;
}
