/* SPDX-License-Identifier: Apache-2.0 */
/* What is passed on to the wrapped module unchanged. */
#ifndef TKDC_KDB_FORWARD_H
#define TKDC_KDB_FORWARD_H

#include "module.h"

krb5_error_code forward_lock(krb5_context context, int mode);
krb5_error_code forward_unlock(krb5_context context);
krb5_error_code forward_get_policy(krb5_context context, char *name, osa_policy_ent_t *policy);
krb5_error_code forward_iter_policy(krb5_context context, char *match,
                                    osa_adb_iter_policy_func func, void *data);
krb5_error_code forward_delete_policy(krb5_context context, char *policy);
krb5_error_code forward_check_transited_realms(krb5_context context, const krb5_data *transited,
                                               const krb5_data *client_realm,
                                               const krb5_data *server_realm);
void forward_refresh_config(krb5_context context);
krb5_error_code forward_check_allowed_to_delegate(krb5_context context, krb5_const_principal client,
                                                  const krb5_db_entry *server,
                                                  krb5_const_principal proxy);
void forward_free_principal_e_data(krb5_context context, krb5_octet *e_data);
krb5_error_code forward_allowed_to_delegate_from(krb5_context context, krb5_const_principal client,
                                                 krb5_const_principal server, krb5_pac server_pac,
                                                 const krb5_db_entry *proxy);
krb5_error_code forward_issue_pac(krb5_context context, unsigned int flags, krb5_db_entry *client,
                                  krb5_keyblock *replaced_reply_key, krb5_db_entry *server,
                                  krb5_db_entry *signing_krbtgt, krb5_timestamp authtime,
                                  krb5_pac old_pac, krb5_pac new_pac, krb5_data ***auth_indicators);

#endif
