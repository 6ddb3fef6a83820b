/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys that a principal's history remembers, in libkadm5's record, KRB5_TL_KADM_DATA:
 *
 *   version u32 | policy's name (u32 length with the NUL, octets) | attributes u32
 *   | next u32 | history key's kvno u32 | passwords u32, of each
 *       keys u32, of each: version, kvno, type, type, length, length u32 | octets | octets
 *
 * in XDR (RFC 4506): octets are a u32 length, that many, and zeros up to a multiple of four. Pure
 * functions; the record comes from the database and every length is checked.
 */
#ifndef TKDC_KDB_HISTORY_RECORD_H
#define TKDC_KDB_HISTORY_RECORD_H

#include <kdb.h>
#include <stdbool.h>

#include "buffer.h"
#include "wire.h"

#ifdef __cplusplus
extern "C" {
#endif

struct history_record {
    struct tkdc_reader at;
    uint32_t next;      /* among the passwords: the oldest one's place */
    uint32_t kvno;      /* of kadmin/history's key, when the record was written */
    uint32_t passwords; /* not read yet */
    uint32_t begun;     /* those of which something was read */
    uint32_t keys;      /* of the one that is being read */
    uint32_t others;    /* read so far that are remembered in another form */
};

enum history_form { HISTORY_STOCK, HISTORY_HANDLE, HISTORY_NONE };

/* A remembered key. HISTORY_STOCK: encrypted under kadmin/history's key; HISTORY_NONE: equal to
 * none. The spans point into the record. */
struct history_key {
    uint32_t password; /* its place in the record */
    uint32_t version, kvno, enctype, salt_type;
    struct tkdc_span octets, salt;
    enum history_form form;
    struct tkdc_wire_key id; /* of a handle */
};

/* Makes key data the remembered key `id`, without a salt. NULL: one that is equal to none. ENOMEM:
 * nothing else is wrong, and what was in it is freed. */
krb5_error_code history_store(const struct tkdc_wire_key *id, int kvno, krb5_enctype enctype,
                              krb5_key_data *key_data);

/* False when the record is malformed. An empty one remembers nothing. */
bool history_record_open(struct history_record *record, const uint8_t *octets, size_t len);

/* The next key, in whatever form; false at the end, or where the record stops making sense
 * (record->at.bad). */
bool history_record_key(struct history_record *record, struct history_key *key);

/* The next handle that is remembered; false at the end, or where the record stops making sense
 * (record->at.bad). Keys in another form are counted and passed over. */
bool history_record_next(struct history_record *record, struct tkdc_wire_key *id);

/* The record of an entry, if it has one. */
bool history_record_of(const krb5_db_entry *entry, struct history_record *record);

/* Whether an entry's record, if it has one, can be read to its end. */
bool history_record_whole(const krb5_db_entry *entry);

#ifdef __cplusplus
}
#endif
#endif
