/* SPDX-License-Identifier: Apache-2.0 */
/* Password history: see history.h. */
#include "history.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equal.h"

/* Each key fails once, and an entry has fewer keys of one version: its last ones are always here.
 */
enum { FAILURES = 64, STAGED = 64 };

struct digest {
    krb5_enctype enctype;
    uint8_t octets[SHA256_DIGEST_LENGTH];
};

static struct {
    struct tkdc_wire_key id;
    struct digest digest;
} staged[STAGED];
static unsigned staged_count;

static struct tkdc_wire_key new_key;
static bool has_new_key;

static struct digest given;
static bool has_given;

/* What the servers said last about new_key. */
static struct {
    bool known;
    bool equal;
    uint8_t old[TKDC_WIRE_KEY_ID_BYTES];
} last;

static struct failure {
    uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES];
    krb5_error_code code;
    char why[256];
} failures[FAILURES];
static unsigned failure_count;

static struct digest digest_of(const krb5_keyblock *key)
{
    struct digest out = {.enctype = key->enctype};
    SHA256(key->contents, key->length, out.octets);
    return out;
}

static bool same_digest(const struct digest *a, const struct digest *b)
{
    return a->enctype == b->enctype && tkdc_equal(a->octets, b->octets, sizeof a->octets);
}

void history_staged(const struct tkdc_wire_key *id, const krb5_keyblock *key)
{
    if (staged_count == STAGED) /* the oldest: of a change that was given up long ago */
        memmove(staged, staged + 1, --staged_count * sizeof staged[0]);
    staged[staged_count].id = *id;
    staged[staged_count++].digest = digest_of(key);
}

void history_given(const krb5_keyblock *key)
{
    given = digest_of(key);
    has_given = true;
}

bool history_was_given(const krb5_keyblock *key)
{
    struct digest digest = digest_of(key);
    const bool same = has_given && same_digest(&given, &digest);
    explicit_bzero(&digest, sizeof digest);
    return same;
}

static void forget_staged(void)
{
    explicit_bzero(staged, sizeof staged);
    explicit_bzero(&given, sizeof given);
    staged_count = 0;
    has_given = false;
}

void history_put(void)
{
    forget_staged();
}

void history_bound(const struct tkdc_wire_key *id)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < staged_count; i++)
        if (!tkdc_equal(staged[i].id.key_id, id->key_id, sizeof id->key_id))
            staged[kept++] = staged[i];
    explicit_bzero(staged + kept, (staged_count - kept) * sizeof staged[0]);
    staged_count = kept;
}

/* A key that cannot be destroyed now is gone by itself in ten minutes: without servers the first
 * one waits, the others do not. */
static void give_up(krb5_context context)
{
    krb5_error_code code = 0;
    while (staged_count > 0 && code != KRB5KDC_ERR_SVC_UNAVAILABLE) {
        const struct tkdc_request request = {.op = TKDC_OP_DESTROY,
                                             .key = staged[--staged_count].id};
        struct tkdc_reply reply;
        code = preload->call(context, &request, &reply);
        if (code == 0)
            tkdc_reply_free(&reply);
    }
    forget_staged();
    krb5_clear_error_message(context);
}

void history_give_up(krb5_context context, krb5_error_code code)
{
    const char *message = krb5_get_error_message(context, code);
    give_up(context);
    krb5_set_error_message(context, code, "%s", message);
    krb5_free_error_message(context, message);
}

void history_new_key(const struct tkdc_wire_key *id)
{
    new_key = *id;
    has_new_key = true;
    last.known = false;
}

static const struct failure *failure_of(const uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES])
{
    const unsigned kept = failure_count < FAILURES ? failure_count : FAILURES;
    for (unsigned i = 0; i < kept; i++)
        if (tkdc_equal(failures[i].key_id, key_id, sizeof failures[i].key_id))
            return &failures[i];
    return NULL;
}

/* Why the new key cannot be put: the context's message. */
static krb5_error_code fail(krb5_context context, krb5_error_code code)
{
    struct failure *f = &failures[failure_count++ % FAILURES];
    const char *message = krb5_get_error_message(context, code);
    memcpy(f->key_id, new_key.key_id, sizeof f->key_id);
    f->code = code;
    snprintf(f->why, sizeof f->why, "%s", message);
    krb5_free_error_message(context, message);
    return code;
}

static krb5_error_code malformed(krb5_context context, const char *what)
{
    krb5_set_error_message(context, KRB5_KDB_CONSTRAINT_VIOLATION, "%s", what);
    return KRB5_KDB_CONSTRAINT_VIOLATION;
}

static krb5_error_code ask(krb5_context context, const struct tkdc_wire_key *old, bool *equal)
{
    const struct tkdc_request request = {
        .op = TKDC_OP_EQUAL,
        .key = *old,
        .data = {new_key.key_id, sizeof new_key.key_id},
    };
    struct tkdc_reply reply;
    struct tkdc_span octet;
    krb5_error_code code = preload->call(context, &request, &reply);
    if (code == KRB5_KDB_NO_MATCHING_KEY) { /* gone, and equal to none */
        krb5_clear_error_message(context);
        *equal = false;
        return 0;
    }
    if (code)
        return code;
    if (!tkdc_reply_bytes(&reply, &octet) || octet.len != 1 || octet.data[0] > 1)
        code = malformed(context, "malformed answer from tkdc-agent");
    else
        *equal = octet.data[0] == 1;
    tkdc_reply_free(&reply);
    return code;
}

static krb5_error_code ask_once(krb5_context context, const struct tkdc_wire_key *old, bool *equal)
{
    if (last.known && tkdc_equal(last.old, old->key_id, sizeof last.old)) {
        *equal = last.equal;
        return 0;
    }
    const krb5_error_code code = ask(context, old, equal);
    last.known = !code;
    last.equal = *equal;
    memcpy(last.old, old->key_id, sizeof last.old);
    return code;
}

static bool comparable(const struct tkdc_wire_key *old)
{
    static const uint8_t none[TKDC_WIRE_KEY_ID_BYTES];
    return has_new_key && old->enctype == new_key.enctype &&
           !tkdc_equal(old->key_id, none, sizeof none);
}

krb5_error_code history_read(krb5_context context, const krb5_key_data *plain, krb5_keyblock *key,
                             krb5_keysalt *salt)
{
    struct tkdc_wire_key old;
    bool equal = false;
    krb5_error_code code = 0;
    const struct failure *failed = has_new_key ? failure_of(new_key.key_id) : NULL;
    if (failed) {
        krb5_set_error_message(context, failed->code, "%s", failed->why);
        return failed->code;
    }
    if (plain->key_data_length[0] != TKDC_WIRE_KEY_BYTES)
        return fail(context, malformed(context, "the entry's history is damaged"));
    tkdc_wire_get_key(plain->key_data_contents[0], &old);
    if (comparable(&old))
        code = ask_once(context, &old, &equal);
    if (code)
        return fail(context, code);
    key->contents = malloc(TKDC_HANDLE_BYTES);
    if (!key->contents)
        return fail(context, ENOMEM);
    code = keydata_give_out(context, equal ? &new_key : &old, key->contents);
    if (code) {
        free(key->contents);
        key->contents = NULL;
        return fail(context, code);
    }
    if (equal)
        give_up(context);
    key->magic = KV5M_KEYBLOCK;
    key->enctype = plain->key_data_type[0];
    key->length = TKDC_HANDLE_BYTES;
    if (salt)
        memset(salt, 0, sizeof *salt);
    return 0;
}

/* The digest of the new key, while it is staged. */
static const struct digest *new_digest(void)
{
    for (unsigned i = 0; has_new_key && i < staged_count; i++)
        if (tkdc_equal(staged[i].id.key_id, new_key.key_id, sizeof new_key.key_id))
            return &staged[i].digest;
    return NULL;
}

krb5_error_code history_read_plain(krb5_context context, krb5_keyblock *key)
{
    const struct digest *now = new_digest();
    struct digest old = digest_of(key);
    const bool same = now && same_digest(&old, now);
    explicit_bzero(&old, sizeof old);
    if (!same)
        return 0;
    uint8_t *handle = malloc(TKDC_HANDLE_BYTES);
    if (!handle)
        return ENOMEM;
    const krb5_error_code code = keydata_give_out(context, &new_key, handle);
    if (code) {
        free(handle);
        return code;
    }
    explicit_bzero(key->contents, key->length);
    free(key->contents);
    key->contents = handle;
    key->length = TKDC_HANDLE_BYTES;
    give_up(context);
    return 0;
}

krb5_error_code history_fits(krb5_context context, const krb5_db_entry *entry,
                             const char *principal)
{
    if (history_record_whole(entry))
        return 0;
    krb5_set_error_message(context, KRB5_KDB_CONSTRAINT_VIOLATION,
                           "ktkdc: %s: its entry has no room for so many remembered keys (64 KiB), "
                           "so nothing was changed: shorten -history of its policy, or give it "
                           "fewer keys at a time",
                           principal);
    return KRB5_KDB_CONSTRAINT_VIOLATION;
}

krb5_error_code history_permit(krb5_context context, const uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES],
                               const char *principal)
{
    const struct failure *f = failure_of(key_id);
    if (!f)
        return 0;
    krb5_set_error_message(context, f->code,
                           "ktkdc: %s: the new password could not be compared with the ones "
                           "remembered, so nothing was changed: %s",
                           principal, f->why);
    return f->code;
}
