/* SPDX-License-Identifier: Apache-2.0 */
/* Remembered keys in libkadm5's record: see history_record.h. */
#include "history_record.h"

#include <errno.h>
#include <stdlib.h>

#include "equal.h"
#include "trailer.h"

enum { RECORD_VERSION = 0x12345C01, XDR_UNIT = 4 };

static struct tkdc_span get_octets(struct tkdc_reader *r)
{
    const struct tkdc_span octets = tkdc_reader_get_bytes(r);
    (void)tkdc_reader_get(r, (XDR_UNIT - octets.len % XDR_UNIT) % XDR_UNIT);
    return octets;
}

krb5_error_code history_store(const struct tkdc_wire_key *id, int kvno, krb5_enctype enctype,
                              krb5_key_data *kd)
{
    const struct tkdc_wire_key stored = id ? *id : (struct tkdc_wire_key){0};
    uint8_t *contents = malloc(TKDC_WIRE_KEY_BYTES);
    if (!contents)
        return ENOMEM;
    tkdc_wire_put_key(contents, &stored);
    for (int i = 0; i < kd->key_data_ver; i++) {
        free(kd->key_data_contents[i]);
        kd->key_data_contents[i] = NULL;
    }
    kd->key_data_ver = 1;
    kd->key_data_kvno = (krb5_ui_2)kvno;
    kd->key_data_type[0] = (krb5_int16)enctype;
    kd->key_data_length[0] = TKDC_WIRE_KEY_BYTES;
    kd->key_data_contents[0] = contents;
    const struct trailer t = {
        .state = TRAILER_HISTORY, .kvno = (uint32_t)kvno, .enctype = (uint32_t)enctype};
    return trailer_set(kd, &t);
}

bool history_record_open(struct history_record *record, const uint8_t *octets, size_t len)
{
    *record = (struct history_record){.at = {.at = octets, .left = len}};
    if (len == 0)
        return true;
    struct tkdc_reader *r = &record->at;
    if (tkdc_reader_get_u32(r) != RECORD_VERSION)
        r->bad = true;
    (void)get_octets(r);          /* the policy's name */
    (void)tkdc_reader_get_u32(r); /* attributes */
    record->next = tkdc_reader_get_u32(r);
    record->kvno = tkdc_reader_get_u32(r);
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

bool history_record_key(struct history_record *record, struct history_key *key)
{
    struct tkdc_reader *r = &record->at;
    while (!r->bad && record->keys == 0 && record->passwords > 0) {
        record->keys = tkdc_reader_get_u32(r);
        record->passwords--;
        record->begun++;
    }
    if (r->bad || record->keys == 0)
        return false;
    record->keys--;
    *key = (struct history_key){.password = record->begun - 1};
    key->version = tkdc_reader_get_u32(r);
    key->kvno = tkdc_reader_get_u32(r);
    key->enctype = tkdc_reader_get_u32(r);
    key->salt_type = tkdc_reader_get_u32(r);
    (void)tkdc_reader_get_u32(r); /* the lengths, which come once more */
    (void)tkdc_reader_get_u32(r);
    key->octets = get_octets(r);
    key->salt = get_octets(r);
    if (r->bad)
        return false;
    if (!is_marked(key->octets, &key->id))
        key->form = HISTORY_STOCK;
    else
        key->form = is_none(&key->id) ? HISTORY_NONE : HISTORY_HANDLE;
    return true;
}

bool history_record_next(struct history_record *record, struct tkdc_wire_key *id)
{
    struct history_key key;
    while (history_record_key(record, &key)) {
        if (key.form == HISTORY_HANDLE) {
            *id = key.id;
            return true;
        }
        record->others += key.form == HISTORY_STOCK;
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
