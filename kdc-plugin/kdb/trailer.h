/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trailer: what this module adds to key_data_contents[0] of a handle, behind
 * the ciphertext, in memory only but for histories.
 *
 *   magic[8] | state u8 | origin u8 | zero[2] | kvno u32 | enctype u32 | id[32]
 *
 * libkdb5 copies key data around without telling whose it is, and hands
 * decrypt_key_data no principal. The trailer carries along what is missing:
 *
 *   bound  read from the database with this principal; id is its digest. The
 *          servers compare it with their record, so key data that was copied
 *          to another principal is noticed when it is put, or is refused by
 *          the servers.
 *   fresh  made by encrypt_key_data and not yet put; id starts with the key
 *          id. It is bound to a principal when the entry is put.
 *   history remembered by the principal's password history: what the trailer
 *          stands behind is the handle's fields (history.h). Part of what is
 *          stored, in libkadm5's record.
 *
 * kvno and enctype are those of the handle, so that a change of kvno in an
 * entry (kadmin modprinc -kvno), which the servers would refuse, is refused
 * by name. The others are taken off before the wrapped module sees the entry.
 */
#ifndef TKDC_KDB_TRAILER_H
#define TKDC_KDB_TRAILER_H

#include <kdb.h>
#include <stdbool.h>
#include <stdint.h>

enum { TRAILER_BYTES = 52, TRAILER_ID_BYTES = 32 };

enum trailer_state { TRAILER_BOUND = 1, TRAILER_FRESH = 2, TRAILER_HISTORY = 3 };

struct trailer {
    uint8_t state;
    uint8_t origin; /* enum tkdc_wire_origin; fresh only */
    uint32_t kvno;
    uint32_t enctype;
    uint8_t id[TRAILER_ID_BYTES];
};

bool trailer_get(const krb5_key_data *key_data, struct trailer *t);
/* Replaces the trailer that is there, if any. */
krb5_error_code trailer_set(krb5_key_data *key_data, const struct trailer *t);
/* Shortens key_data_length[0] past the trailer; the octets stay in place. */
void trailer_hide(krb5_key_data *key_data);

#endif
