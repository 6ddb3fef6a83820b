/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encrypt_key_data and decrypt_key_data: where keys turn into handles.
 *
 * The stored form is the default one of libkdb5 (u16 length, then the
 * ciphertext under K/M) of a handle's 160 octets, so K/M's change works as
 * ever, and the length alone tells that it is a handle.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enctype.h"
#include "equal.h"
#include "history.h"
#include "module.h"
#include "trailer.h"

bool keydata_is_handle(const krb5_key_data *kd)
{
    return kd->key_data_ver >= 1 && kd->key_data_contents[0] && kd->key_data_length[0] >= 2 &&
           (kd->key_data_contents[0][0] | kd->key_data_contents[0][1] << 8) == TKDC_HANDLE_BYTES;
}

static krb5_error_code refuse(krb5_context context, krb5_error_code code, const char *message)
{
    krb5_set_error_message(context, code, "ktkdc: %s", message);
    return code;
}

static krb5_error_code store_handle(krb5_context context, const krb5_keyblock *mkey,
                                    const struct tkdc_wire_key *id, const krb5_keysalt *salt,
                                    const struct trailer *t, krb5_key_data *kd)
{
    uint8_t octets[TKDC_HANDLE_BYTES];
    struct tkdc_wire_key stored = *id;
    memset(stored.principal, 0, sizeof stored.principal);
    tkdc_handle_encode(octets, &stored);
    const krb5_keyblock block = {
        .magic = KV5M_KEYBLOCK,
        .enctype = (krb5_enctype)id->enctype,
        .length = sizeof octets,
        .contents = octets,
    };
    const krb5_error_code code =
        krb5_dbe_def_encrypt_key_data(context, mkey, &block, salt, (int)id->kvno, kd);
    return code ? code : trailer_set(kd, t);
}

/* A key that is a handle already: rollover of K/M. */
static krb5_error_code store_again(krb5_context context, const krb5_keyblock *mkey,
                                   const struct tkdc_wire_key *id, const krb5_keysalt *salt,
                                   int kvno, krb5_key_data *kd)
{
    struct trailer t = {.kvno = id->kvno, .enctype = id->enctype};
    if ((uint32_t)kvno != id->kvno)
        return refuse(context, KRB5_KDB_CONSTRAINT_VIOLATION,
                      "the version number of a key on shares cannot be changed; make a new key");
    if (tkdc_key_is_bound(id)) {
        t.state = TRAILER_BOUND;
        memcpy(t.id, id->principal, sizeof id->principal);
    } else {
        t.state = TRAILER_FRESH;
        t.origin = TKDC_ORIGIN_IMPORTED;
        memcpy(t.id, id->key_id, sizeof id->key_id);
    }
    return store_handle(context, mkey, id, salt, &t, kd);
}

static krb5_error_code stage(krb5_context context, const krb5_keyblock *key, uint8_t origin,
                             struct tkdc_wire_key *id)
{
    struct tkdc_reply reply;
    const bool drawn = origin == TKDC_ORIGIN_DRAWN;
    const struct tkdc_request request = {
        .op = TKDC_OP_STAGE,
        .label = origin,
        .key = *id,
        .data = {drawn ? NULL : key->contents, drawn ? 0 : key->length},
    };
    krb5_error_code code = preload->call(context, &request, &reply);
    if (code)
        return code;
    if (!tkdc_reply_key_id(&reply, id->key_id) || !preload->installation(id->installation))
        code = refuse(context, KRB5KDC_ERR_SVC_UNAVAILABLE, "malformed answer from tkdc-agent");
    tkdc_reply_free(&reply);
    return code;
}

/* Also DES, triple DES (16), RC4 (23) and Camellia (25, 26). */
static krb5_error_code refuse_enctype(krb5_context context, krb5_enctype enctype)
{
    char name[80];
    if (krb5_enctype_to_name(enctype, FALSE, name, sizeof name) != 0)
        snprintf(name, sizeof name, "number %d", (int)enctype);
    krb5_set_error_message(
        context, KRB5_PROG_ETYPE_NOSUPP,
        "ktkdc: enctype %s does not exist as shares, only aes256-cts (18), aes128-cts (17), "
        "aes256-sha2 (20) and aes128-sha2 (19) do. To migrate, set supported_enctypes = "
        "aes256-cts:normal aes128-cts:normal in kdc.conf or pass -e aes256-cts:normal, then give "
        "the principal a new password (cpw) or new keys (ktadd); its old keys end with that",
        name);
    return KRB5_PROG_ETYPE_NOSUPP;
}

krb5_error_code keydata_give_out(krb5_context context, const struct tkdc_wire_key *id,
                                 uint8_t octets[TKDC_HANDLE_BYTES])
{
    tkdc_handle_encode(octets, id);
    return preload->stamp(octets, TKDC_HANDLE_BYTES)
               ? 0
               : refuse(context, ENOMEM, "a handle could not be stamped");
}

/* Given out by this process: an administrator elsewhere may send a key of any form (setkey). */
static bool is_own_handle(const krb5_keyblock *key, struct tkdc_wire_key *id)
{
    uint8_t plain[TKDC_HANDLE_BYTES];
    return key->length == sizeof plain && preload->unstamp(key->contents, sizeof plain, plain) &&
           tkdc_handle_decode(plain, sizeof plain, id);
}

/* Master keys never are handles; kadmin/history's, which libkadm5srv uses like one, is. */
static bool mkey_is_handle(const krb5_keyblock *mkey)
{
    struct tkdc_wire_key id;
    return mkey && is_own_handle(mkey, &id);
}

/* kadmin/history's key, which has not been imported yet: libkadm5srv takes master keys from the
 * list. A dump for another master key (kdb5_util dump -mkey_convert) does not. */
static bool is_plain_history_key(krb5_context context, const krb5_keyblock *mkey)
{
    return strcmp(program_invocation_short_name, "kdb5_util") != 0 &&
           !master_is_listed(context, mkey);
}

krb5_error_code module_encrypt_key_data(krb5_context context, const krb5_keyblock *mkey,
                                        const krb5_keyblock *key, const krb5_keysalt *salt,
                                        int kvno, krb5_key_data *kd)
{
    REQUIRE_OPEN();
    struct tkdc_wire_key id;
    const bool on_shares = is_own_handle(key, &id);
    const bool is_master = !on_shares && master_is_master_key(context, mkey, key);
    const bool handle_history = mkey_is_handle(mkey);
    const bool plain_history = !is_master && !handle_history && is_plain_history_key(context, mkey);
    if (plain_history && !on_shares && history_was_given(key))
        return krb5_dbe_def_encrypt_key_data(context, mkey, key, salt, kvno, kd);
    if (handle_history || plain_history)
        return history_store(on_shares && tkdc_key_is_bound(&id) ? &id : NULL, kvno, key->enctype,
                             kd);
    if (on_shares)
        return store_again(context, mkey, &id, salt, kvno, kd);
    if (is_master)
        return krb5_dbe_def_encrypt_key_data(context, mkey, key, salt, kvno, kd);
    if (module_is_kdc())
        return refuse(context, KRB5_KDB_UNAUTH, "the KDC makes no long-term keys");
    const struct tkdc_enctype *enctype = tkdc_enctype_of((uint32_t)key->enctype);
    if (!enctype)
        return refuse_enctype(context, key->enctype);
    if (key->length != enctype->key_bytes)
        return refuse(context, KRB5_BAD_KEYSIZE, "a key whose length is not its enctype's");
    /* Without a salt and made here: nobody has seen it, the servers draw
     * another. Anything else somebody may hold, so it is imported as it is. */
    const bool drawn = !salt && preload->was_drawn_here(key);
    const uint8_t origin = drawn ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED;
    memset(&id, 0, sizeof id);
    id.kvno = (uint32_t)kvno;
    id.enctype = (uint32_t)key->enctype;
    const krb5_error_code code = stage(context, key, origin, &id);
    if (code)
        return code;
    if (!drawn)
        history_staged(&id, key);
    struct trailer t = {
        .state = TRAILER_FRESH, .origin = origin, .kvno = id.kvno, .enctype = id.enctype};
    memcpy(t.id, id.key_id, sizeof id.key_id);
    return store_handle(context, mkey, &id, salt, &t, kd);
}

/* The key of a keytab: given out once, before it is bound. */
static krb5_error_code export_key(krb5_context context, const struct tkdc_wire_key *id,
                                  krb5_keyblock *key)
{
    const struct tkdc_request request = {.op = TKDC_OP_EXPORT, .key = *id};
    struct tkdc_reply reply;
    struct tkdc_span bytes;
    size_t key_bytes = 0, seed_bytes = 0;
    krb5_error_code code = preload->call(context, &request, &reply);
    if (code)
        return code;
    code = krb5_c_keylengths(context, key->enctype, &seed_bytes, &key_bytes);
    if (!code && (!tkdc_reply_bytes(&reply, &bytes) || bytes.len != key_bytes))
        code = refuse(context, KRB5KDC_ERR_SVC_UNAVAILABLE, "malformed answer from tkdc-agent");
    if (!code) {
        /* A handle is longer than any key: its memory takes the key. */
        memset(key->contents, 0, key->length);
        memcpy(key->contents, bytes.data, bytes.len);
        key->length = (unsigned int)bytes.len;
    }
    tkdc_reply_free(&reply);
    return code;
}

/* What a handle becomes for the caller; *key holds the stored form. */
static krb5_error_code present(krb5_context context, const krb5_key_data *kd,
                               const struct trailer *t, struct tkdc_wire_key *id,
                               krb5_keyblock *key)
{
    uint8_t here[TKDC_WIRE_INSTALLATION_BYTES];
    if (!module_is_kdc()) /* krb5kdc must not wait here; the agent compares too */
        module_greet(context);
    if (preload->installation(here) && !tkdc_equal(here, id->installation, sizeof here))
        return refuse(context, KRB5_KDB_NO_MATCHING_KEY,
                      "this database holds keys of another installation: this agent's servers do "
                      "not have them (see `tkdc status`)");
    if (id->kvno != kd->key_data_kvno || id->enctype != (uint32_t)kd->key_data_type[0])
        return refuse(context, KRB5_KDB_CONSTRAINT_VIOLATION,
                      "the entry's version number or enctype is not that of its key");
    if (t->state == TRAILER_BOUND) {
        memcpy(id->principal, t->id, sizeof id->principal);
        return keydata_give_out(context, id, key->contents);
    }
    if (module_is_kdc())
        return refuse(context, KRB5_KDB_NO_MATCHING_KEY, "a key that is not stored yet");
    if (!tkdc_equal(t->id, id->key_id, sizeof id->key_id))
        return refuse(context, KRB5_KDB_CONSTRAINT_VIOLATION, "key data does not match its mark");
    if (t->origin == TKDC_ORIGIN_DRAWN)
        return export_key(context, id, key);
    history_new_key(id);
    return keydata_give_out(context, id, key->contents);
}

/* What libkadm5srv remembers and compares keys with. */
static bool is_history_key(krb5_context context, const krb5_keyblock *mkey)
{
    return mkey && !module_is_kdc() &&
           (mkey_is_handle(mkey) || is_plain_history_key(context, mkey));
}

/* Leaves key data without its trailer in *plain (shallow). */
static bool without_trailer(const krb5_key_data *kd, krb5_key_data *plain, struct trailer *t)
{
    *plain = *kd;
    if (!trailer_get(kd, t))
        return false;
    trailer_hide(plain);
    return true;
}

/* K/M, or what is in the clear while a realm moves: krb5kdc makes no keys, so it compares none. */
static krb5_error_code give_plain(krb5_context context, const krb5_keyblock *mkey,
                                  krb5_keyblock *key)
{
    if (module_is_kdc())
        return 0;
    if (is_plain_history_key(context, mkey))
        return history_read_plain(context, key);
    history_given(key);
    return 0;
}

krb5_error_code module_decrypt_key_data(krb5_context context, const krb5_keyblock *mkey,
                                        const krb5_key_data *kd, krb5_keyblock *key,
                                        krb5_keysalt *salt)
{
    REQUIRE_OPEN();
    krb5_key_data plain;
    struct trailer t;
    struct tkdc_wire_key id;
    const bool marked = without_trailer(kd, &plain, &t);

    /* Remembered handles stand in the clear and name their principal: in an entry's keys, where
     * only somebody who writes to the database could put them, they would be anybody's. */
    if (marked && t.state == TRAILER_HISTORY)
        return is_history_key(context, mkey)
                   ? history_read(context, &plain, key, salt)
                   : refuse(context, KRB5_KDB_CONSTRAINT_VIOLATION,
                            "a remembered key in the place of an entry's own");
    if (mkey_is_handle(mkey))
        return KRB5_KDB_NO_MATCHING_KEY; /* remembered by a stock kadmind and never imported */
    /* Never suspended here: another fiber may reload the list of master keys. */
    krb5_error_code code =
        IN_DATABASE(krb5_dbe_def_decrypt_key_data(context, mkey, &plain, key, salt));
    if (code || !plain.key_data_contents[0])
        return code;
    const bool is_handle = tkdc_handle_decode(key->contents, key->length, &id);
    /* The length stands before the ciphertext and is not authenticated: cut to a key's length, the
     * octets of a handle, which are no secret, would be a key that anybody knows. */
    const bool is_cut = !is_handle && tkdc_has_handle_magic(key->contents, key->length);
    if (!is_handle && !marked && !is_cut)
        return give_plain(context, mkey, key);
    if (is_cut)
        code = refuse(context, KRB5_KDB_CONSTRAINT_VIOLATION,
                      "key data of another length than the handle in it");
    else if (!is_handle || !marked)
        code = refuse(context, KRB5_KDB_CONSTRAINT_VIOLATION,
                      "key data without the mark of its principal");
    else
        code = present(context, kd, &t, &id, key);
    if (code) {
        krb5_free_keyblock_contents(context, key);
        key->contents = NULL;
        if (salt)
            krb5_free_data_contents(context, &salt->data);
    }
    return code;
}

krb5_error_code keydata_read_handle(krb5_context context, const krb5_key_data *kd,
                                    struct tkdc_wire_key *id)
{
    krb5_error_code code = KRB5_KDB_NOMASTERKEY;
    for (krb5_keylist_node *n = krb5_db_mkey_list_alias(context); n; n = n->next) {
        krb5_keyblock key = {0};
        code = krb5_dbe_def_decrypt_key_data(context, &n->keyblock, kd, &key, NULL);
        if (code)
            continue;
        if (!tkdc_handle_decode(key.contents, key.length, id))
            code = KRB5_KDB_CONSTRAINT_VIOLATION;
        krb5_free_keyblock_contents(context, &key);
        return code;
    }
    return code;
}
