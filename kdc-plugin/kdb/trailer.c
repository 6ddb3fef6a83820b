/* SPDX-License-Identifier: Apache-2.0 */
/* The mark that key data carries in memory: see trailer.h. Pure functions. */
#include "trailer.h"
#include "be32.h"
#include "equal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t magic[8] = {0x9a, 't', 'k', 'd', 'c', 0xd7, 0x31, 0x01};

bool trailer_get(const krb5_key_data *key_data, struct trailer *t)
{
    if (key_data->key_data_ver < 1 || !key_data->key_data_contents[0] ||
        key_data->key_data_length[0] < TRAILER_BYTES)
        return false;
    const uint8_t *at =
        key_data->key_data_contents[0] + key_data->key_data_length[0] - TRAILER_BYTES;
    if (!tkdc_equal(at, magic, sizeof magic) || at[8] < TRAILER_BOUND || at[8] > TRAILER_HISTORY)
        return false;
    t->state = at[8];
    t->origin = at[9];
    t->kvno = tkdc_get_u32(at + 12);
    t->enctype = tkdc_get_u32(at + 16);
    memcpy(t->id, at + 20, TRAILER_ID_BYTES);
    return true;
}

krb5_error_code trailer_set(krb5_key_data *key_data, const struct trailer *t)
{
    struct trailer old;
    if (trailer_get(key_data, &old))
        trailer_hide(key_data);
    const size_t len = key_data->key_data_length[0];
    if (len + TRAILER_BYTES > 0x7fff)
        return EINVAL;
    /* The ciphertext before it is not secret: no wiping needed. */
    uint8_t *contents = realloc(key_data->key_data_contents[0], len + TRAILER_BYTES);
    if (!contents)
        return ENOMEM;
    key_data->key_data_contents[0] = contents;
    uint8_t *at = contents + len;
    memset(at, 0, TRAILER_BYTES);
    memcpy(at, magic, sizeof magic);
    at[8] = t->state;
    at[9] = t->origin;
    tkdc_put_u32(at + 12, t->kvno);
    tkdc_put_u32(at + 16, t->enctype);
    memcpy(at + 20, t->id, TRAILER_ID_BYTES);
    key_data->key_data_length[0] = (krb5_ui_2)(len + TRAILER_BYTES);
    return 0;
}

void trailer_hide(krb5_key_data *key_data)
{
    key_data->key_data_length[0] = (krb5_ui_2)(key_data->key_data_length[0] - TRAILER_BYTES);
}
