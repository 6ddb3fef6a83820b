/* SPDX-License-Identifier: Apache-2.0 */
/* Remembered handles in libkadm5's record: see history_record.h. */
#include "history_record.h"

#include "equal.h"
#include "trailer.h"

enum { RECORD_VERSION = 0x12345C01, XDR_UNIT = 4, KEY_NUMBERS = 6 };

static struct tkdc_span get_octets(struct tkdc_reader *r)
{
    const struct tkdc_span octets = tkdc_reader_get_bytes(r);
    (void)tkdc_reader_get(r, (XDR_UNIT - octets.len % XDR_UNIT) % XDR_UNIT);
    return octets;
}

bool history_record_open(struct history_record *record, const uint8_t *octets, size_t len)
{
    *record = (struct history_record){.at = {.at = octets, .left = len}};
    if (len == 0)
        return true;
    struct tkdc_reader *r = &record->at;
    if (tkdc_reader_get_u32(r) != RECORD_VERSION)
        r->bad = true;
    (void)get_octets(r); /* the policy's name */
    for (int i = 0; i < 3; i++)
        (void)tkdc_reader_get_u32(r);
    record->passwords = tkdc_reader_get_u32(r);
    if (r->bad)
        record->passwords = 0;
    return !r->bad;
}

static bool is_none(const struct tkdc_wire_key *id)
{
    static const uint8_t none[TKDC_WIRE_KEY_ID_BYTES];
    return tkdc_equal(id->key_id, none, sizeof none);
}

static bool is_marked(struct tkdc_span octets, struct tkdc_wire_key *id)
{
    struct trailer t;
    krb5_key_data kd = {.key_data_ver = 1};
    if (octets.len != TKDC_WIRE_KEY_BYTES + TRAILER_BYTES)
        return false;
    kd.key_data_length[0] = (krb5_ui_2)octets.len;
    kd.key_data_contents[0] = (krb5_octet *)octets.data;
    if (!trailer_get(&kd, &t) || t.state != TRAILER_HISTORY)
        return false;
    tkdc_wire_get_key(octets.data, id);
    return true;
}

bool history_record_next(struct history_record *record, struct tkdc_wire_key *id)
{
    struct tkdc_reader *r = &record->at;
    while (!r->bad && (record->keys > 0 || record->passwords > 0)) {
        if (record->keys == 0) {
            record->keys = tkdc_reader_get_u32(r);
            record->passwords--;
            continue;
        }
        record->keys--;
        for (int i = 0; i < KEY_NUMBERS; i++)
            (void)tkdc_reader_get_u32(r);
        const struct tkdc_span octets = get_octets(r);
        (void)get_octets(r); /* a salt */
        if (r->bad)
            return false;
        if (!is_marked(octets, id))
            record->others++;
        else if (!is_none(id))
            return true;
    }
    return false;
}

static const krb5_tl_data *record_in(const krb5_db_entry *entry)
{
    const krb5_tl_data *tl = entry->tl_data;
    while (tl && tl->tl_data_type != KRB5_TL_KADM_DATA)
        tl = tl->tl_data_next;
    return tl;
}

bool history_record_of(const krb5_db_entry *entry, struct history_record *record)
{
    const krb5_tl_data *tl = record_in(entry);
    return history_record_open(record, tl ? tl->tl_data_contents : NULL,
                               tl ? tl->tl_data_length : 0);
}

bool history_record_whole(const krb5_db_entry *entry)
{
    const krb5_tl_data *tl = record_in(entry);
    struct history_record record;
    struct tkdc_wire_key id;
    if (!tl)
        return true;
    if (tl->tl_data_length == 0 || !history_record_of(entry, &record))
        return false; /* of 64 KiB exactly nothing is left */
    while (history_record_next(&record, &id))
        continue;
    return !record.at.bad;
}
