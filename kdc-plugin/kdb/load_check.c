/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a database that is about to take the live one's place (kdb5_util load), or an entry that is
 * about to be written into it (load -update), names and the servers do not hold: an older dump
 * brings handles back whose keys are gone. Said on stderr, by name, before anything is changed, and
 * which of them are dropped and can be given back. The load ends there, unless a database argument
 * says otherwise (load_check.h): a database may have to be put back all the same. Where servers or
 * master key cannot be had, it says that nothing was compared, and goes on.
 */
#include <errno.h>
#include <profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load_check.h"
#include "module.h"

enum {
    NAMED_MAX = 50,
    LISTED_KEY_BYTES = TKDC_WIRE_KEY_ID_BYTES + 12, /* id, kvno, enctype, length of the name */
    LISTED_DROPPED_BYTES = 8,                       /* since when */
    PAGES_MAX = 1 << 20,
};

/* Ids that the servers hold, ascending, as they list them. */
struct held {
    uint8_t (*ids)[TKDC_WIRE_KEY_ID_BYTES];
    size_t count, room;
};

/* Ids are no secret. */
static int compare_ids(const void *a, const void *b)
{
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < TKDC_WIRE_KEY_ID_BYTES; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static bool add_id(struct held *held, const uint8_t *id)
{
    if (held->count == held->room) {
        const size_t room = held->room ? 2 * held->room : 1024;
        void *more = realloc(held->ids, room * sizeof *held->ids);
        if (!more)
            return false;
        held->ids = more;
        held->room = room;
    }
    memcpy(held->ids[held->count++], id, sizeof *held->ids);
    return true;
}

/* A page as service/wire/key_list.h has it, `behind` octets after each key. False: malformed, or no
 * memory. */
static bool read_page(struct held *held, struct tkdc_span page, size_t behind, bool *more)
{
    if (page.len < 1 || page.data[0] > 1)
        return false;
    *more = page.data[0] == 1;
    const size_t before = held->count;
    for (size_t at = 1; at < page.len;) {
        if (page.len - at < LISTED_KEY_BYTES)
            return false;
        const uint8_t *id = page.data + at, *n = id + LISTED_KEY_BYTES - 4;
        const size_t name = (size_t)n[0] << 24 | (size_t)n[1] << 16 | (size_t)n[2] << 8 | n[3];
        at += LISTED_KEY_BYTES;
        if (name > page.len - at || behind > page.len - at - name)
            return false;
        at += name + behind;
        if (held->count > 0 && compare_ids(held->ids[held->count - 1], id) >= 0)
            return false;
        if (!add_id(held, id))
            return false;
    }
    return !*more || held->count > before;
}

static krb5_error_code list_keys(krb5_context context, uint8_t op, struct held *held)
{
    const size_t behind = op == TKDC_OP_LIST_DROPPED ? LISTED_DROPPED_BYTES : 0;
    bool more = true;
    for (unsigned page = 0; more && page < PAGES_MAX; page++) {
        struct tkdc_request request = {.op = op};
        struct tkdc_reply reply;
        struct tkdc_span body;
        if (held->count > 0)
            memcpy(request.key.key_id, held->ids[held->count - 1], sizeof *held->ids);
        krb5_error_code code = preload->call(context, &request, &reply);
        if (code)
            return code;
        if (!tkdc_reply_bytes(&reply, &body) || !read_page(held, body, behind, &more)) {
            code = KRB5_KDB_CONSTRAINT_VIOLATION;
            krb5_set_error_message(context, code, "the list of the servers' keys is malformed");
        }
        tkdc_reply_free(&reply);
        if (code)
            return code;
    }
    return 0;
}

/* The list of master keys, by the stash: without it no handle can be read. */
static krb5_error_code open_master_keys(krb5_context context, krb5_keyblock *master_key)
{
    profile_t profile = NULL;
    krb5_principal master = NULL;
    char *realm = NULL, *stash = NULL;
    krb5_error_code code = krb5_get_default_realm(context, &realm);
    if (!code)
        code = krb5_get_profile(context, &profile);
    if (!code)
        code = profile_get_string(profile, "realms", realm, "key_stash_file", NULL, &stash);
    if (!code)
        code = krb5_db_setup_mkey_name(context, NULL, realm, NULL, &master);
    if (!code)
        code = krb5_db_fetch_mkey(context, master, ENCTYPE_UNKNOWN, FALSE, FALSE, stash, NULL, NULL,
                                  master_key);
    if (!code)
        code = krb5_db_fetch_mkey_list(context, master, master_key);
    krb5_free_principal(context, master);
    profile_release_string(stash);
    if (profile)
        profile_release(profile);
    krb5_free_default_realm(context, realm);
    return code;
}

struct check {
    krb5_context context;
    enum load_choice choice;
    struct held held, dropped;
    struct held missing; /* of the database, what the servers' first list lacked */
    bool again;          /* with their second one */
    bool listed_again;   /* it is there: once for a whole load, also of entry after entry */
    size_t dead, recoverable, unread;
};

static bool has(const struct held *keys, const struct tkdc_wire_key *id)
{
    return keys->count > 0 &&
           bsearch(id->key_id, keys->ids, keys->count, sizeof *keys->ids, compare_ids);
}

static void name_dead(struct check *c, krb5_const_principal principal, const krb5_key_data *kd,
                      bool dropped)
{
    char *name = NULL;
    c->recoverable += dropped;
    if (c->dead++ < NAMED_MAX && krb5_unparse_name(c->context, principal, &name) == 0)
        fprintf(stderr, "ktkdc: no server holds version %d, enctype %d, of %s%s\n",
                kd->key_data_kvno, kd->key_data_type[0], name,
                dropped ? ": it is dropped, and can be given back" : "");
    krb5_free_unparsed_name(c->context, name);
}

static int check_entry(krb5_pointer arg, krb5_db_entry *entry)
{
    struct check *c = arg;
    for (krb5_int16 i = 0; i < entry->n_key_data; i++) {
        const krb5_key_data *kd = &entry->key_data[i];
        struct tkdc_wire_key id;
        if (!keydata_is_handle(kd))
            continue;
        if (keydata_read_handle(c->context, kd, &id) != 0) {
            c->unread += !c->again;
            continue;
        }
        if (has(&c->held, &id))
            continue;
        if (!c->again && !add_id(&c->missing, id.key_id))
            return ENOMEM;
        if (c->again && has(&c->missing, &id))
            name_dead(c, entry->princ, kd, has(&c->dropped, &id));
    }
    return 0;
}

static krb5_error_code look(struct check *c, krb5_db_entry *entry)
{
    if (entry)
        return check_entry(c, entry);
    return wrapped->iterate(c->context, NULL, check_entry, c, 0);
}

static krb5_error_code list_held(struct check *c)
{
    c->held.count = 0;
    return list_keys(c->context, TKDC_OP_LIST, &c->held);
}

/* Of an entry, or of the whole database. A live database is not locked meanwhile: an entry may name
 * a key that was made after the servers had listed theirs. So what is missing is looked for in a
 * newer list, and named if it is in neither. */
static krb5_error_code compare(struct check *c, krb5_db_entry *entry)
{
    c->again = false;
    c->missing.count = 0;
    krb5_error_code code = look(c, entry);
    if (code || c->missing.count == 0)
        return code;
    qsort(c->missing.ids, c->missing.count, sizeof *c->missing.ids, compare_ids);
    c->again = true;
    if (!c->listed_again) {
        code = list_held(c);
        if (code)
            return code;
        c->dropped.count = 0;
        /* Agents and servers of the release before know of none. */
        if (list_keys(c->context, TKDC_OP_LIST_DROPPED, &c->dropped) != 0)
            c->dropped.count = 0;
        c->listed_again = true;
    }
    return look(c, entry);
}

static krb5_error_code begin(struct check *c)
{
    krb5_keyblock master_key = {0};
    krb5_error_code code =
        wrapped->iterate ? open_master_keys(c->context, &master_key) : KRB5_PLUGIN_OP_NOTSUPP;
    krb5_free_keyblock_contents(c->context, &master_key);
    return code ? code : list_held(c);
}

static void end(struct check *c)
{
    free(c->held.ids);
    free(c->dropped.ids);
    free(c->missing.ids);
    memset(c, 0, sizeof *c);
}

static void say_sums(const struct check *c)
{
    if (c->dead > 0)
        fprintf(stderr,
                "ktkdc: %zu of the keys that are to be loaded exist at no server: they are of "
                "before. Who has no other key needs a new one (tkdc reconcile)\n",
                c->dead);
    if (c->recoverable > 0)
        fprintf(stderr,
                "ktkdc: %zu of them are dropped: two administrators can give them back (tkdc "
                "reconcile request)\n",
                c->recoverable);
    if (c->unread > 0)
        fprintf(stderr, "ktkdc: %zu keys could not be read with the stashed master key\n",
                c->unread);
}

static krb5_error_code refuse(krb5_context context, const char *why)
{
    krb5_set_error_message(context, KRB5_KDB_CONSTRAINT_VIOLATION, "ktkdc: %s", why);
    return KRB5_KDB_CONSTRAINT_VIOLATION;
}

#define TO_LOAD_ANYWAY "to load it all the same: kdb5_util -x " LOAD_ANYWAY_ARGUMENT " load"

/* The load goes on: kpropd's comes also while servers are away, and a plain database to a host on
 * which nothing serves yet. A replica's agent lists no keys: the primary has compared what it
 * sends. */
static krb5_error_code not_compared(struct check *c, krb5_error_code code)
{
    const bool only = c->choice == LOAD_COMPARES_ONLY;
    if (code != KRB5_KDB_UNAUTH || only) {
        const char *why = krb5_get_error_message(c->context, code);
        fprintf(stderr,
                "ktkdc: what is to be loaded was not compared with the servers (%s): do it with "
                "`tkdc reconcile` now\n",
                why);
        krb5_free_error_message(c->context, why);
    }
    krb5_clear_error_message(c->context);
    return only ? refuse(c->context, "nothing was compared, and nothing was changed") : 0;
}

krb5_error_code load_check(krb5_context context, enum load_choice choice)
{
    struct check c = {.context = context, .choice = choice};
    krb5_error_code code = begin(&c);
    if (!code)
        code = compare(&c, NULL);
    say_sums(&c);
    if (code)
        code = not_compared(&c, code);
    else if (c.dead + c.unread > 0 && choice == LOAD_CHECKED)
        code = refuse(context, "nothing was changed; take a newer dump, or, " TO_LOAD_ANYWAY
                               " (with iprop the update log has begun anew, so replicas take the "
                               "whole database once)");
    if (!code && choice == LOAD_COMPARES_ONLY)
        code = refuse(context, "nothing was changed, as " LOAD_COMPARE_ONLY_ARGUMENT " asks");
    end(&c);
    return code;
}

/* Of `kdb5_util load -update`, which lets nobody else change entries: the list is asked for once,
 * and once more where it lacks a key. */
static struct check updating;
static enum { NOT_BEGUN, COMPARES, CANNOT_COMPARE } update_state;

krb5_error_code load_check_entry(krb5_context context, krb5_db_entry *entry,
                                 enum load_choice choice)
{
    krb5_error_code code = 0;
    updating.context = context;
    updating.choice = choice;
    if (update_state == NOT_BEGUN) {
        code = begin(&updating);
        update_state = code ? CANNOT_COMPARE : COMPARES;
        if (code)
            return not_compared(&updating, code);
    }
    if (update_state == CANNOT_COMPARE)
        return 0; /* it was said, and the load goes on all the same */
    const size_t bad = updating.dead + updating.unread;
    code = compare(&updating, entry);
    if (code)
        return not_compared(&updating, code);
    if (updating.dead + updating.unread == bad || choice != LOAD_CHECKED)
        return 0;
    return refuse(context, "it was not changed, and nothing behind it in the dump was; "
                           "`kdb5_util -x " LOAD_COMPARE_ONLY_ARGUMENT
                           " load -update` names all such keys and changes nothing; " TO_LOAD_ANYWAY
                           " -update");
}

void load_check_end(void)
{
    say_sums(&updating);
    end(&updating);
    update_state = NOT_BEGUN;
}
