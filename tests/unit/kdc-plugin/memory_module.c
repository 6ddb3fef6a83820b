/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database in memory to wrap in unit tests: it keeps what it is given, so
 * that a test sees what ktkdc.so lets through. With OTHER_VERSION it claims
 * another version of the interface and must be refused.
 */
#include <errno.h>
#include <kdb.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 32 };
static krb5_db_entry* entries[ENTRIES_MAX];

static krb5_error_code nothing(void) { return 0; }

static krb5_error_code init_module(krb5_context context, char* section, char** args, int mode) {
  (void)section, (void)args, (void)mode;
  void* unused = NULL;
  return krb5_db_set_context(context, unused);
}

static krb5_error_code fini_module(krb5_context context) {
  (void)context;
  return 0;
}

static void* copy_octets(const void* from, size_t len) {
  void* to = malloc(len + 1);
  if (to && len) memcpy(to, from, len);
  return to;
}

static krb5_tl_data* copy_tl_data(const krb5_tl_data* from) {
  if (!from) return NULL;
  krb5_tl_data* to = copy_octets(from, sizeof *from);
  to->tl_data_contents = copy_octets(from->tl_data_contents, from->tl_data_length);
  to->tl_data_next = copy_tl_data(from->tl_data_next);
  return to;
}

static krb5_db_entry* copy_entry(krb5_context context, const krb5_db_entry* from) {
  krb5_db_entry* to = copy_octets(from, sizeof *from);
  to->tl_data = copy_tl_data(from->tl_data);
  to->e_data = NULL;
  to->princ = NULL;
  (void)krb5_copy_principal(context, from->princ, &to->princ);
  to->key_data = copy_octets(from->key_data, sizeof *from->key_data * (size_t)from->n_key_data);
  for (int i = 0; i < from->n_key_data; i++)
    for (int j = 0; j < 2; j++)
      if (from->key_data[i].key_data_contents[j])
        to->key_data[i].key_data_contents[j] =
            copy_octets(from->key_data[i].key_data_contents[j],
                        (size_t)(uint16_t)from->key_data[i].key_data_length[j]);
  return to;
}

static krb5_db_entry** find(krb5_context context, krb5_const_principal name) {
  for (int i = 0; i < ENTRIES_MAX; i++)
    if (entries[i] && krb5_principal_compare(context, entries[i]->princ, name)) return &entries[i];
  return NULL;
}

static krb5_error_code get_principal(krb5_context context, krb5_const_principal name,
                                     unsigned int flags, krb5_db_entry** out) {
  (void)flags;
  krb5_db_entry** at = find(context, name);
  if (!at) return KRB5_KDB_NOENTRY;
  *out = copy_entry(context, *at);
  return 0;
}

static krb5_error_code put_principal(krb5_context context, krb5_db_entry* entry, char** args) {
  (void)args;
  krb5_db_entry** at = find(context, entry->princ);
  for (int i = 0; !at && i < ENTRIES_MAX; i++)
    if (!entries[i]) at = &entries[i];
  if (!at) return ENOMEM;
  krb5_db_free_principal(context, *at);
  *at = copy_entry(context, entry);
  return 0;
}

static krb5_error_code delete_principal(krb5_context context, krb5_const_principal name) {
  krb5_db_entry** at = find(context, name);
  if (!at) return KRB5_KDB_NOENTRY;
  krb5_db_free_principal(context, *at);
  *at = NULL;
  return 0;
}

static krb5_error_code iterate(krb5_context context, char* match,
                               int (*func)(krb5_pointer, krb5_db_entry*), krb5_pointer arg,
                               krb5_flags flags) {
  (void)context, (void)match, (void)flags;
  for (int i = 0; i < ENTRIES_MAX; i++) {
    const int code = entries[i] ? func(arg, entries[i]) : 0;
    if (code) return code;
  }
  return 0;
}

kdb_vftabl kdb_function_table = {
#ifdef OTHER_VERSION
    .maj_ver = KRB5_KDB_DAL_MAJOR_VERSION + 1,
#else
    .maj_ver = KRB5_KDB_DAL_MAJOR_VERSION,
#endif
    .init_library = nothing,
    .fini_library = nothing,
    .init_module = init_module,
    .fini_module = fini_module,
    .get_principal = get_principal,
    .put_principal = put_principal,
    .delete_principal = delete_principal,
    .iterate = iterate,
};
