/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries on their way in and out. Out: each handle gets a trailer that names
 * the principal it was read with. In: fresh handles are bound at the servers
 * before the entry is written, bound ones must belong to this principal, and
 * what the entry no longer names is destroyed after it is written. In this
 * order a crash leaves a handle too many at the servers, never one too few.
 * kpropd, which replays the primary's log, does none of it but the comparison
 * of names (update_log.h).
 */
#include <errno.h>
#include <kadm5/kadm_err.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "equal.h"
#include "history.h"
#include "load_check.h"
#include "trailer.h"
#include "update_log.h"

krb5_error_code entry_principal_digest(krb5_context context, krb5_const_principal principal,
                                       uint8_t digest[TKDC_WIRE_PRINCIPAL_BYTES], char **name)
{
    char *text = NULL;
    const krb5_error_code code = krb5_unparse_name(context, principal, &text);
    if (code)
        return code;
    SHA256((const unsigned char *)text, strlen(text), digest);
    if (name)
        *name = text;
    else
        krb5_free_unparsed_name(context, text);
    return 0;
}

/* Marks every handle of an entry that comes from the database. */
static krb5_error_code mark_bound(krb5_context context, krb5_db_entry *entry)
{
    struct trailer t = {.state = TRAILER_BOUND};
    bool named = false;
    for (krb5_int16 i = 0; i < entry->n_key_data; i++) {
        krb5_key_data *kd = &entry->key_data[i];
        krb5_error_code code = 0;
        if (!keydata_is_handle(kd))
            continue;
        if (!named)
            code = entry_principal_digest(context, entry->princ, t.id, NULL);
        named = true;
        t.kvno = kd->key_data_kvno;
        t.enctype = (uint32_t)kd->key_data_type[0];
        if (!code)
            code = trailer_set(kd, &t);
        if (code)
            return code;
    }
    return 0;
}

static krb5_error_code mark_or_free(krb5_context context, krb5_error_code code,
                                    krb5_db_entry **entry)
{
    if (code || !*entry)
        return code;
    code = mark_bound(context, *entry);
    if (code) {
        krb5_db_free_principal(context, *entry);
        *entry = NULL;
    }
    return code;
}

/* A database that does not answer is no client's fault. Told that the service is not available, a
 * client asks the realm's next KDC; told of a generic error, it gives up. */
static krb5_error_code say_unavailable(krb5_context context, krb5_error_code code)
{
    if (code != KRB5_KDB_ACCESS_ERROR || !module_is_kdc())
        return code;
    const char *why = krb5_get_error_message(context, code);
    krb5_set_error_message(context, KRB5KDC_ERR_SVC_UNAVAILABLE, "%s", why);
    krb5_free_error_message(context, why);
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
}

krb5_error_code module_get_principal(krb5_context context, krb5_const_principal name,
                                     unsigned int flags, krb5_db_entry **entry)
{
    REQUIRE_OPEN();
    const krb5_error_code code = IN_DATABASE(wrapped->get_principal(context, name, flags, entry));
    return mark_or_free(context, say_unavailable(context, code), entry);
}

krb5_error_code module_get_s4u_x509_principal(krb5_context context, const krb5_data *certificate,
                                              krb5_const_principal name, unsigned int flags,
                                              krb5_db_entry **entry)
{
    REQUIRE_OPEN();
    if (!wrapped->get_s4u_x509_principal)
        return KRB5_PLUGIN_OP_NOTSUPP;
    const krb5_error_code code =
        IN_DATABASE(wrapped->get_s4u_x509_principal(context, certificate, name, flags, entry));
    return mark_or_free(context, say_unavailable(context, code), entry);
}

struct iteration {
    krb5_context context;
    int (*func)(krb5_pointer, krb5_db_entry *);
    krb5_pointer arg;
};

static int iterate_one(krb5_pointer arg, krb5_db_entry *entry)
{
    const struct iteration *it = arg;
    const krb5_error_code code = mark_bound(it->context, entry);
    return code ? code : it->func(it->arg, entry);
}

krb5_error_code module_iterate(krb5_context context, char *match,
                               int (*func)(krb5_pointer, krb5_db_entry *), krb5_pointer arg,
                               krb5_flags flags)
{
    REQUIRE_OPEN();
    struct iteration it = {context, func, arg};
    if (!wrapped->iterate)
        return KRB5_PLUGIN_OP_NOTSUPP;
    return wrapped->iterate(context, match, iterate_one, &it, flags);
}

static krb5_error_code refuse(krb5_context context, const char *name, const char *why)
{
    krb5_set_error_message(context, KRB5_KDB_CONSTRAINT_VIOLATION, "ktkdc: %s: %s", name, why);
    return KRB5_KDB_CONSTRAINT_VIOLATION;
}

/* One key of an entry that is about to be written; its trailer stays. */
static krb5_error_code check_key(krb5_context context, krb5_key_data *kd, const uint8_t *digest,
                                 const char *name)
{
    struct trailer t;

    if (!trailer_get(kd, &t))
        return 0; /* K/M, or a dump being loaded: the servers know whose it is */
    if (t.state == TRAILER_HISTORY || !keydata_is_handle(kd))
        return refuse(context, name, "key data of a form that is not stored");
    if (t.kvno != kd->key_data_kvno || t.enctype != (uint32_t)kd->key_data_type[0])
        return refuse(context, name,
                      "version number and enctype of a key on shares cannot be "
                      "changed: make a new key instead (cpw, or ktadd)");
    if (t.state == TRAILER_BOUND)
        return tkdc_equal(t.id, digest, TKDC_WIRE_PRINCIPAL_BYTES)
                   ? 0
                   : refuse(context, name,
                            "its key data belongs to another principal: a key on "
                            "shares is bound to its name; create the principal and set its "
                            "password or run ktadd");
    return update_log_is_replayed() ? 0 : history_permit(context, t.id, name);
}

static bool is_fresh(const krb5_key_data *kd, struct trailer *t)
{
    return trailer_get(kd, t) && t->state == TRAILER_FRESH;
}

static void mark_as_bound(krb5_error_code *code, krb5_key_data *kd, const uint8_t *digest)
{
    struct trailer t;
    if (*code || !is_fresh(kd, &t))
        return;
    t.state = TRAILER_BOUND;
    t.origin = 0;
    memcpy(t.id, digest, sizeof t.id);
    *code = trailer_set(kd, &t);
}

/* Takes trailers out of sight for the wrapped module, or back. */
static void set_trailers_hidden(krb5_db_entry *entry, const bool *marked, bool hidden)
{
    for (krb5_int16 i = 0; i < entry->n_key_data; i++) {
        if (!marked[i])
            continue;
        if (hidden)
            trailer_hide(&entry->key_data[i]);
        else
            entry->key_data[i].key_data_length[0] =
                (krb5_ui_2)(entry->key_data[i].key_data_length[0] + TRAILER_BYTES);
    }
}

struct putting {
    uint8_t digest[TKDC_WIRE_PRINCIPAL_BYTES];
    char *name;
    bool *marked;
    krb5_db_entry *before; /* raw, NULL when the principal is new */
    struct binding_set old, kept;
    struct binding_set bound; /* by this put */
};

static bool has_fresh_keys(const krb5_db_entry *entry)
{
    struct trailer t;
    for (krb5_int16 i = 0; i < entry->n_key_data; i++)
        if (is_fresh(&entry->key_data[i], &t))
            return true;
    return false;
}

/* Binds all fresh keys, or none: those of an entry that is not written would stay for good. A key
 * whose BIND failed is not destroyed as a bound one: it may have been refused because an entry has
 * it already. */
static krb5_error_code bind_fresh(krb5_context context, krb5_db_entry *entry, struct putting *p)
{
    struct tkdc_wire_key id = {0};
    struct trailer t;
    krb5_error_code code = 0;
    if (!preload->installation(id.installation))
        return refuse(context, p->name, "it is not known which installation this is");
    memcpy(id.principal, p->digest, sizeof id.principal);
    for (krb5_int16 i = 0; !code && i < entry->n_key_data; i++) {
        if (!is_fresh(&entry->key_data[i], &t))
            continue;
        if (p->bound.count == BINDING_HANDLES_MAX) {
            code = refuse(context, p->name, "too many keys");
            break;
        }
        memcpy(id.key_id, t.id, sizeof id.key_id);
        id.kvno = t.kvno;
        id.enctype = t.enctype;
        code = binding_bind(context, &id, p->name);
        if (code)
            break;
        p->bound.ids[p->bound.count++] = id;
        history_bound(&id);
    }
    for (krb5_int16 i = 0; i < entry->n_key_data; i++)
        mark_as_bound(&code, &entry->key_data[i], p->digest);
    if (code)
        binding_undo(context, &p->bound, code, p->name);
    return code;
}

/* Checks, reads what stood there before, binds: what kpropd does not. */
static krb5_error_code prepare_servers(krb5_context context, krb5_db_entry *entry,
                                       struct putting *p)
{
    const bool fresh = has_fresh_keys(entry);
    krb5_error_code code = fresh ? history_fits(context, entry, p->name) : 0;
    if (!code && fresh)
        code = update_log_has_room(context, entry, p->name);
    if (!code && !module_is_temporary()) {
        code = wrapped->get_principal(context, entry->princ, 0, &p->before);
        if (code == KRB5_KDB_NOENTRY)
            code = 0;
    }
    if (!code && fresh)
        code = bind_fresh(context, entry, p);
    return code;
}

static krb5_error_code prepare(krb5_context context, krb5_db_entry *entry, struct putting *p)
{
    const bool replayed = update_log_is_replayed(), fresh = !replayed && has_fresh_keys(entry);
    struct trailer t;
    krb5_error_code code = entry_principal_digest(context, entry->princ, p->digest, &p->name);
    p->marked = calloc((size_t)entry->n_key_data + 1, sizeof *p->marked);
    if (!code && !p->marked)
        code = ENOMEM;
    for (krb5_int16 i = 0; !code && i < entry->n_key_data; i++)
        code = check_key(context, &entry->key_data[i], p->digest, p->name);
    if (!code && !replayed)
        code = prepare_servers(context, entry, p);
    for (krb5_int16 i = 0; !code && i < entry->n_key_data; i++)
        p->marked[i] = trailer_get(&entry->key_data[i], &t);
    if (code && fresh)
        history_give_up(context, code);
    return code;
}

static bool same_octets(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || tkdc_equal(a, b, a_bytes));
}

/* As the database keeps them: nothing has to be decrypted, which kdb5_util load, for one, cannot.
 */
static bool same_keys(krb5_context context, krb5_db_entry *a, krb5_db_entry *b)
{
    krb5_tl_data kept_a = {.tl_data_type = KRB5_TL_KADM_DATA}, kept_b = kept_a;
    if (a->n_key_data != b->n_key_data || krb5_dbe_lookup_tl_data(context, a, &kept_a) != 0 ||
        krb5_dbe_lookup_tl_data(context, b, &kept_b) != 0)
        return false;
    for (krb5_int16 i = 0; i < a->n_key_data; i++) {
        const krb5_key_data *x = &a->key_data[i], *y = &b->key_data[i];
        if (x->key_data_kvno != y->key_data_kvno || x->key_data_type[0] != y->key_data_type[0] ||
            !same_octets(x->key_data_contents[0], x->key_data_length[0], y->key_data_contents[0],
                         y->key_data_length[0]))
            return false;
    }
    return same_octets(kept_a.tl_data_contents, kept_a.tl_data_length, kept_b.tl_data_contents,
                       kept_b.tl_data_length);
}

/* kdb5_util load has no list of master keys, unlike programs that change entries, until it is read
 * here to compare. Two others have none: kpropd, which takes what the primary's programs have put,
 * and kdb5_util create, which has just had the keys made. */
static bool brings_handles(krb5_context context, const krb5_db_entry *entry)
{
    if (module_is_temporary() || module_is_created() || update_log_is_replayed() ||
        (!module_takes_handles() && krb5_db_mkey_list_alias(context)))
        return false;
    for (krb5_int16 i = 0; i < entry->n_key_data; i++)
        if (keydata_is_handle(&entry->key_data[i]))
            return true;
    return false;
}

/* Of other words than kdb5_util load's it would be said that they were carried out. */
static krb5_error_code check_only_load_compares(krb5_context context)
{
    if (module_takes_handles() || !krb5_db_mkey_list_alias(context))
        return 0;
    krb5_set_error_message(context, KRB5_PLUGIN_OP_NOTSUPP,
                           "ktkdc: -x " LOAD_COMPARE_ONLY_ARGUMENT
                           " goes with `kdb5_util load` alone; nothing was changed");
    return KRB5_PLUGIN_OP_NOTSUPP;
}

krb5_error_code module_put_principal(krb5_context context, krb5_db_entry *entry, char **db_args)
{
    REQUIRE_OPEN();
    struct putting *p = calloc(1, sizeof *p);
    if (!p)
        return ENOMEM;
    krb5_error_code code = prepare(context, entry, p);
    const bool reads_only = module_compares_only() && !module_is_temporary();
    if (!code && reads_only)
        code = check_only_load_compares(context);
    bool unchanged = false;
    if (!code) {
        set_trailers_hidden(entry, p->marked, true);
        unchanged = p->before && same_keys(context, p->before, entry);
        if (!unchanged) {
            binding_collect(context, p->before, p->digest, &p->old);
            binding_collect(context, entry, p->digest, &p->kept);
        }
        if (!unchanged && brings_handles(context, entry))
            code = module_take_handles(context, entry);
        if (!code && !reads_only)
            code = wrapped->put_principal(context, entry, db_args);
        set_trailers_hidden(entry, p->marked, false);
        history_put(); /* of what failed here nobody knows whether it was written */
    }
    if (!code && p->before && !unchanged && !module_keeps_displaced() && !reads_only)
        binding_destroy(context, &p->old, &p->kept, p->name);
    krb5_db_free_principal(context, p->before);
    krb5_free_unparsed_name(context, p->name);
    free(p->marked);
    free(p);
    return code;
}

krb5_error_code module_delete_principal(krb5_context context, krb5_const_principal name)
{
    REQUIRE_OPEN();
    if (!wrapped->delete_principal)
        return KRB5_PLUGIN_OP_NOTSUPP;
    if (update_log_is_replayed())
        return wrapped->delete_principal(context, name);
    struct putting *p = calloc(1, sizeof *p);
    if (!p)
        return ENOMEM;
    krb5_error_code code = wrapped->get_principal(context, name, 0, &p->before);
    if (!code)
        code = entry_principal_digest(context, p->before->princ, p->digest, &p->name);
    if (!code) {
        binding_collect(context, p->before, p->digest, &p->old);
        code = wrapped->delete_principal(context, name);
    }
    if (!code && !module_is_temporary())
        binding_destroy(context, &p->old, NULL, p->name);
    krb5_db_free_principal(context, p->before);
    krb5_free_unparsed_name(context, p->name);
    free(p);
    return code;
}

krb5_error_code module_rename_principal(krb5_context context, krb5_const_principal source,
                                        krb5_const_principal target)
{
    (void)source;
    (void)target;
    /* kadmin elsewhere gets the number alone: its text there is "Principal keys are locked down".
     */
    krb5_set_error_message(context, KADM5_PROTECT_KEYS,
                           "ktkdc: a key on shares is bound to its principal's name, so it cannot "
                           "be renamed: create the new principal, give it a key, delete the old");
    return KADM5_PROTECT_KEYS;
}
