/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module's one exported symbol. NULL members are libkdb5's defaults: the
 * master key, its list and its stash stay what they are in any realm.
 */
#include "forward.h"

static krb5_error_code init_library(void)
{
    return 0; /* the wrapped module is known only with the first stanza */
}

__attribute__((visibility("default"))) kdb_vftabl kdb_function_table = {
    .maj_ver = KRB5_KDB_DAL_MAJOR_VERSION,
    .min_ver = 0,
    .init_library = init_library,
    .fini_library = module_unload,
    .init_module = module_init,
    .fini_module = module_fini,
    .create = module_create,
    .destroy = module_destroy,
    .lock = forward_lock,
    .unlock = forward_unlock,
    .get_principal = module_get_principal,
    .put_principal = module_put_principal,
    .delete_principal = module_delete_principal,
    .rename_principal = module_rename_principal,
    .iterate = module_iterate,
    .create_policy = module_create_policy,
    .get_policy = forward_get_policy,
    .put_policy = module_put_policy,
    .iter_policy = forward_iter_policy,
    .delete_policy = forward_delete_policy,
    .promote_db = module_promote,
    .decrypt_key_data = module_decrypt_key_data,
    .encrypt_key_data = module_encrypt_key_data,
    .check_transited_realms = forward_check_transited_realms,
    .check_policy_as = module_check_policy_as,
    .check_policy_tgs = module_check_policy_tgs,
    .audit_as_req = module_audit_as_req,
    .refresh_config = forward_refresh_config,
    .check_allowed_to_delegate = forward_check_allowed_to_delegate,
    .free_principal_e_data = forward_free_principal_e_data,
    .get_s4u_x509_principal = module_get_s4u_x509_principal,
    .allowed_to_delegate_from = forward_allowed_to_delegate_from,
    .issue_pac = forward_issue_pac,
};
