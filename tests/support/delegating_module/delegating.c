/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delegating.so: Debian's db2 with answers about S4U2Proxy, which db2 leaves out
 * and the ldap module takes from a directory. String attributes of an entry
 * (kadmin setstr) say who may delegate:
 *
 *   delegate_to    of a service: the target that it may reach for users
 *   delegate_from  of a target: the service that may reach it (resource-based)
 *
 * Each names one principal. And names are routed as a directory's: an enterprise
 * name "x@REALM" is x here, or belongs to a realm that this one shares a key with,
 * which S4U2Self across realms needs. Everything else is db2's. For tests only:
 * loaded by krb5kdc and the tools, alone or wrapped by ktkdc.so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <kdb.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool names(krb5_context context, const krb5_db_entry* entry, const char* attribute,
                  krb5_const_principal principal) {
  char *value = NULL, *name = NULL;
  bool same = false;
  if (krb5_dbe_get_string(context, (krb5_db_entry*)entry, attribute, &value) == 0 && value &&
      krb5_unparse_name(context, principal, &name) == 0)
    same = strcmp(value, name) == 0;
  krb5_free_unparsed_name(context, name);
  krb5_dbe_free_string(context, value);
  return same;
}

static bool has(krb5_context context, const krb5_db_entry* entry, const char* attribute) {
  char* value = NULL;
  const bool found =
      krb5_dbe_get_string(context, (krb5_db_entry*)entry, attribute, &value) == 0 && value;
  krb5_dbe_free_string(context, value);
  return found;
}

static krb5_error_code check_allowed_to_delegate(krb5_context context, krb5_const_principal client,
                                                 const krb5_db_entry* server,
                                                 krb5_const_principal proxy) {
  (void)client;
  const bool allowed =
      proxy ? names(context, server, "delegate_to", proxy) : has(context, server, "delegate_to");
  return allowed ? 0 : KRB5KDC_ERR_BADOPTION;
}

static krb5_error_code allowed_to_delegate_from(krb5_context context, krb5_const_principal client,
                                                krb5_const_principal server, krb5_pac server_pac,
                                                const krb5_db_entry* proxy) {
  (void)client;
  (void)server_pac;
  return names(context, proxy, "delegate_from", server) ? 0 : KRB5KDC_ERR_BADOPTION;
}

static const kdb_vftabl* db2;

/* The name of another realm's principal: a referral for a client, that realm's TGT for a server. */
static krb5_error_code route(krb5_context context, krb5_principal name, const krb5_data* here,
                             unsigned int flags, krb5_db_entry** entry) {
  krb5_principal tgt = NULL;
  if ((flags & KRB5_KDB_FLAG_REFERRAL_OK) == 0) return KRB5_KDB_NOENTRY;
  krb5_error_code code =
      krb5_build_principal_ext(context, &tgt, here->length, here->data, 6, "krbtgt",
                               name->realm.length, name->realm.data, 0);
  if (!code) code = db2->get_principal(context, tgt, 0, entry);
  krb5_free_principal(context, tgt);
  if (code || (flags & KRB5_KDB_FLAG_CLIENT) == 0) return code;
  krb5_db_free_principal(context, *entry);
  *entry = calloc(1, sizeof **entry);
  return *entry ? krb5_copy_principal(context, name, &(*entry)->princ) : ENOMEM;
}

static krb5_error_code get_principal(krb5_context context, krb5_const_principal sought,
                                     unsigned int flags, krb5_db_entry** entry) {
  krb5_principal name = NULL;
  char text[1024];
  krb5_error_code code = db2->get_principal(context, sought, flags, entry);
  if (code != KRB5_KDB_NOENTRY || sought->type != KRB5_NT_ENTERPRISE_PRINCIPAL ||
      sought->length != 1 || sought->data[0].length >= sizeof text ||
      !memchr(sought->data[0].data, '@', sought->data[0].length))
    return code;
  snprintf(text, sizeof text, "%.*s", (int)sought->data[0].length, sought->data[0].data);
  if (krb5_parse_name(context, text, &name) != 0) return code;
  if (krb5_realm_compare(context, name, sought))
    code = db2->get_principal(context, name, flags, entry);
  else
    code = route(context, name, &sought->realm, flags, entry);
  krb5_free_principal(context, name);
  return code;
}

static krb5_error_code absent(void) { return KRB5_KDB_DBTYPE_INIT; }

__attribute__((visibility("default"))) kdb_vftabl kdb_function_table = {
    .maj_ver = KRB5_KDB_DAL_MAJOR_VERSION,
    .init_library = absent,
};

/* libkdb5 looks the table up after it has loaded this file. */
__attribute__((constructor)) static void become_db2(void) {
  Dl_info info;
  char path[4096], directory[4000];
  if (dladdr((void*)krb5_db_open, &info) == 0) return;
  snprintf(directory, sizeof directory, "%s", info.dli_fname);
  snprintf(path, sizeof path, "%s/krb5/plugins/kdb/db2.so", dirname(directory));
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  db2 = library ? dlsym(library, "kdb_function_table") : NULL;
  if (!db2) return;
  memcpy(&kdb_function_table, db2, sizeof kdb_function_table);
  kdb_function_table.get_principal = get_principal;
  kdb_function_table.check_allowed_to_delegate = check_allowed_to_delegate;
  kdb_function_table.allowed_to_delegate_from = allowed_to_delegate_from;
}
