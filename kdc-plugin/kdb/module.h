/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ktkdc.so: a KDB module around a stock one. The wrapped module keeps the
 * database; this one sees to it that what stands there for a long-term key is
 * a handle, and that the key itself exists only as shares on the servers.
 *
 *   wrapped.c   finds and loads the wrapped module and the preload library
 *   setup.c     init_module, create, destroy, promote
 *   keydata.c   encrypt_key_data, decrypt_key_data
 *   master.c    which keys are master keys and never become handles
 *   trailer.c   the mark that key data carries in memory
 *   entry.c     get, iterate, put, delete, rename
 *   binding.c   bind and destroy handles at the servers
 *   history.c   password history; history_record.c reads libkadm5's record of it
 *   update_log.c incremental propagation
 *   load_check.c a database that kdb5_util load puts in the live one's place
 *   audit.c     lockout: audit_as_req, check_policy_as; policies
 *   policy.c    users are no services: check_policy_tgs
 *   forward.c   everything that is passed on unchanged
 *   ktkdc.c     the one exported symbol
 *
 * Threads: krb5kdc, kadmind and the tools use the database from one thread;
 * what is global here is set up under libkdb5's list lock or at first use.
 * Secret: encrypt_key_data is given passwords' keys, decrypt_key_data returns
 * a service key once, for its keytab. Both are wiped. Failure: every call
 * returns a krb5 error with a message that says what to do; nothing aborts;
 * without agent or preload library nothing falls back to plain keys.
 */
#ifndef TKDC_KDB_MODULE_H
#define TKDC_KDB_MODULE_H

#include <kdb.h>
#include <krb5.h>
#include <stdbool.h>

#include "api.h"
#include "handle.h"

/* wrapped.c. NULL until module_load() has succeeded. */
extern const kdb_vftabl *wrapped;
extern const struct tkdc_preload_api *preload;

/* Reads the stanza, finds the preload library, loads the wrapped module. */
krb5_error_code module_load(krb5_context context, const char *section, bool is_kdc);
krb5_error_code module_unload(void);

/* setup.c: the process works on a database that is not the live one. */
bool module_is_temporary(void);
/* The live one was made by this process. */
bool module_is_created(void);
bool module_is_kdc(void);
/* Handles come into the live database from elsewhere, as by `kdb5_util load -update`. This entry is
 * to be written if the answer is 0: see load_check_entry(). */
krb5_error_code module_take_handles(krb5_context context, krb5_db_entry *entry);
bool module_takes_handles(void);
/* Nothing is to be written: what is to be loaded is compared with the servers alone. */
bool module_compares_only(void);
/* Handles that an entry no longer names are left to whoever opened the database so. */
bool module_keeps_displaced(void);
/* Has the agent greeted once, so that the installation gets known. */
void module_greet(krb5_context context);

krb5_error_code module_init(krb5_context context, char *section, char **db_args, int mode);
krb5_error_code module_fini(krb5_context context);
krb5_error_code module_create(krb5_context context, char *section, char **db_args);
krb5_error_code module_destroy(krb5_context context, char *section, char **db_args);
krb5_error_code module_promote(krb5_context context, char *section, char **db_args);

/* keydata.c */
krb5_error_code module_encrypt_key_data(krb5_context context, const krb5_keyblock *mkey,
                                        const krb5_keyblock *key, const krb5_keysalt *salt,
                                        int kvno, krb5_key_data *key_data);
krb5_error_code module_decrypt_key_data(krb5_context context, const krb5_keyblock *mkey,
                                        const krb5_key_data *key_data, krb5_keyblock *key,
                                        krb5_keysalt *salt);
/* True when what is stored is a handle; needs no master key. */
bool keydata_is_handle(const krb5_key_data *key_data);
/* A keyblock of TKDC_HANDLE_BYTES octets becomes this handle, stamped: from here on it is taken for
 * one in this process. */
krb5_error_code keydata_give_out(krb5_context context, const struct tkdc_wire_key *id,
                                 uint8_t octets[TKDC_HANDLE_BYTES]);
/* The handle in key data without a trailer, with any master key of the list. */
krb5_error_code keydata_read_handle(krb5_context context, const krb5_key_data *key_data,
                                    struct tkdc_wire_key *id);

/* master.c */
bool master_is_master_key(krb5_context context, const krb5_keyblock *mkey,
                          const krb5_keyblock *key);
/* Whether libkdb5's list has it, or there is no list. */
bool master_is_listed(krb5_context context, const krb5_keyblock *mkey);

/* entry.c */
krb5_error_code module_get_principal(krb5_context context, krb5_const_principal name,
                                     unsigned int flags, krb5_db_entry **entry);
krb5_error_code module_put_principal(krb5_context context, krb5_db_entry *entry, char **db_args);
krb5_error_code module_delete_principal(krb5_context context, krb5_const_principal name);
krb5_error_code module_rename_principal(krb5_context context, krb5_const_principal source,
                                        krb5_const_principal target);
krb5_error_code module_iterate(krb5_context context, char *match,
                               int (*func)(krb5_pointer, krb5_db_entry *), krb5_pointer arg,
                               krb5_flags flags);
krb5_error_code module_get_s4u_x509_principal(krb5_context context, const krb5_data *certificate,
                                              krb5_const_principal name, unsigned int flags,
                                              krb5_db_entry **entry);
/* Digest of a principal's name, and the name if `name` is not NULL. */
krb5_error_code entry_principal_digest(krb5_context context, krb5_const_principal principal,
                                       uint8_t digest[TKDC_WIRE_PRINCIPAL_BYTES], char **name);

/* audit.c */
void module_audit_as_req(krb5_context context, krb5_kdc_req *request,
                         const krb5_address *local_address, const krb5_address *remote_address,
                         krb5_db_entry *client, krb5_db_entry *server, krb5_timestamp authtime,
                         krb5_error_code error);
krb5_error_code module_check_policy_as(krb5_context context, krb5_kdc_req *request,
                                       krb5_db_entry *client, krb5_db_entry *server,
                                       krb5_timestamp kdc_time, const char **status,
                                       krb5_pa_data ***e_data);
krb5_error_code module_create_policy(krb5_context context, osa_policy_ent_t policy);
krb5_error_code module_put_policy(krb5_context context, osa_policy_ent_t policy);

/* policy.c */
krb5_error_code policy_check_server(krb5_context context, const krb5_kdc_req *request,
                                    const krb5_db_entry *server, const char **status);
krb5_error_code module_check_policy_tgs(krb5_context context, krb5_kdc_req *request,
                                        krb5_db_entry *server, krb5_ticket *ticket,
                                        const char **status, krb5_pa_data ***e_data);

/* libkdb5 calls into a module that was never initialised, too. */
#define REQUIRE_OPEN()                                                                             \
    do {                                                                                           \
        if (!wrapped)                                                                              \
            return KRB5_KDB_DBNOTINITED;                                                           \
    } while (0)

/* Around every call into the wrapped module that a fiber can reach. */
#define IN_DATABASE(call)                                                                          \
    ({                                                                                             \
        preload->enter_database();                                                                 \
        __typeof__(call) in_database_result = (call);                                              \
        preload->leave_database();                                                                 \
        in_database_result;                                                                        \
    })

#endif
