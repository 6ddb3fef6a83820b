/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the keys that a principal's history remembers out of libkadm5's record,
 * KRB5_TL_KADM_DATA:
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
    uint32_t passwords; /* not read yet */
    uint32_t keys;      /* of the one that is being read */
    uint32_t others;    /* read so far that are remembered in another form */
};

/* False when the record is malformed. An empty one remembers nothing. */
bool history_record_open(struct history_record *record, const uint8_t *octets, size_t len);

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
