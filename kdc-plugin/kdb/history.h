/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Password history with keys that exist only as shares.
 *
 * libkadm5srv remembers a principal's old keys, encrypted under kadmin/history's key, in the
 * record that it keeps in the entry (KRB5_TL_KADM_DATA). For a new password it decrypts the new
 * key, then each remembered one (the present one among them), and compares their octets. Here a
 * remembered key is its handle, and the comparison is the servers' (EQUAL):
 *
 *   remembering  encrypt_key_data under kadmin/history's key, a handle or, until it is imported,
 *                a key that is no master key. Stored: the handle's fields in the clear and a
 *                trailer (trailer.h). Handles are no secrets.
 *   comparing    decrypt_key_data of such key data. The new key is the fresh one that was
 *                decrypted last. If the servers say that both are equal, the new key's handle is
 *                what comes out, so that libkadm5srv finds equal octets; else the old key's.
 *   gone         a remembered key that the servers do not hold (an old dump was loaded) is equal to
 *                none: nobody can log in with it, and it leaves the history like any other. Where
 *                it is the new key that they do not hold, it cannot be bound either.
 *   failing      libkadm5srv passes over what it cannot decrypt. A new key that could not be
 *                compared is therefore refused when its entry is put, before any key of the entry
 *                is bound. After the first failure the servers are not asked about that key again.
 *   giving up    the new keys of a change that ends so would stand at the servers for minutes, in
 *                a place that is limited: they are destroyed.
 *   keeping      a handle that an entry remembers is not destroyed before the entry forgets it
 *                (binding.c reads the record).
 *
 *   moving       while a realm is imported or exported keys in the clear stand beside handles. Such
 * a key is remembered as a stock kadmind does, under kadmin/history's plain key, for `tkdc import`
 * to take along; but only one that decrypt_key_data just gave out, so that no new key can get
 * there. A new key is compared with it here, by digests.
 *
 * Used from one thread, like all of the module; what is remembered here between calls are ids: of
 * the keys staged since the last entry was put, of the new key that was decrypted last with the
 * last answer about it (libkadm5srv asks once for each key of kadmin/history), and of those that
 * could not be compared.
 */
#ifndef TKDC_KDB_HISTORY_H
#define TKDC_KDB_HISTORY_H

#include "history_record.h"
#include "module.h"
#include "trailer.h"

/* Of keys of four enctypes this many fit into an entry's record of 64 KiB. Where an entry has more
 * keys of a version, history_fits() refuses what does not fit. */
enum { HISTORY_PASSWORDS_MAX = 100 };

/* Of key data without their trailer. */
krb5_error_code history_read(krb5_context context, const krb5_key_data *plain, krb5_keyblock *key,
                             krb5_keysalt *salt);

/* encrypt_key_data has staged a key that somebody knows. */
void history_staged(const struct tkdc_wire_key *id, const krb5_keyblock *key);

/* decrypt_key_data gives out a key that stands in the clear in an entry. */
void history_given(const krb5_keyblock *key);

/* Whether that was this key, the last time. */
bool history_was_given(const krb5_keyblock *key);

/* A key that is remembered in stock form: if the new key is the same, that one's handle takes its
 * place. */
krb5_error_code history_read_plain(krb5_context context, krb5_keyblock *key);

/* The entry was given to the database: its keys are bound and stay. */
void history_put(void);

/* A staged key was bound: it is no longer destroyed under the name of a staged one. */
void history_bound(const struct tkdc_wire_key *id);

/* Destroys what is staged for an entry that is not put. The context's message stays. */
void history_give_up(krb5_context context, krb5_error_code code);

/* decrypt_key_data gives out a fresh key: what comes next may be compared with it. */
void history_new_key(const struct tkdc_wire_key *id);

/* Whether libkadm5's record of an entry with fresh keys is whole: it keeps the length in 16 bits
 * and cuts off what is longer. */
krb5_error_code history_fits(krb5_context context, const krb5_db_entry *entry,
                             const char *principal);

/* Before any fresh key of an entry is bound. */
krb5_error_code history_permit(krb5_context context, const uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES],
                               const char *principal);

#endif
