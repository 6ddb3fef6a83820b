/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of derived handles: see derivation.h. Pure functions. */
#include "derivation.h"
#include "be32.h"
#include "enctype.h"
#include "equal.h"

#include <string.h>

enum {
    KIND_AT = TKDC_HANDLE_MAGIC_BYTES + TKDC_WIRE_KEY_BYTES,
    ENCTYPE_AT = KIND_AT + 1,
    HALF_BYTES_AT = ENCTYPE_AT + 4,
    HALF_AT = HALF_BYTES_AT + 1,
    PADDING_AT = HALF_AT + TKDC_DERIVED_HALF_MAX_BYTES,
};
_Static_assert((int)PADDING_AT <= (int)TKDC_HANDLE_STAMP_AT, "stamp and pepper stand behind");

static const uint8_t recipe_magic[TKDC_HANDLE_MAGIC_BYTES] = {0xf1, 't', 'k',  'd',
                                                              'c',  'd', 0x00, 0x01};

bool tkdc_derivation_is_sound(const struct tkdc_derivation *by)
{
    const struct tkdc_enctype *enctype = tkdc_enctype_of(by->enctype);
    if (!enctype || by->pepper_bytes < 1 || by->pepper_bytes > TKDC_DERIVED_PEPPER_MAX_BYTES)
        return false;
    if (by->kind == TKDC_DERIVE_CF2)
        return by->known_half_bytes == enctype->key_bytes;
    return by->kind == TKDC_DERIVE_PRFPLUS && by->known_half_bytes == 0;
}

size_t tkdc_derived_encode(uint8_t out[TKDC_DERIVED_HANDLE_MAX_BYTES],
                           const struct tkdc_wire_key *key, const struct tkdc_derivation *by)
{
    if (!tkdc_derivation_is_sound(by))
        return 0;
    memset(out, 0, TKDC_DERIVED_HANDLE_MAX_BYTES);
    memcpy(out, recipe_magic, sizeof recipe_magic);
    tkdc_wire_put_key(out + sizeof recipe_magic, key);
    out[KIND_AT] = by->kind;
    tkdc_put_u32(out + ENCTYPE_AT, by->enctype);
    out[HALF_BYTES_AT] = by->known_half_bytes;
    memcpy(out + HALF_AT, by->known_half, by->known_half_bytes);
    memcpy(out + TKDC_HANDLE_BYTES, by->pepper, by->pepper_bytes);
    return TKDC_HANDLE_BYTES + by->pepper_bytes;
}

bool tkdc_derived_decode(const uint8_t *in, size_t len, struct tkdc_wire_key *key,
                         struct tkdc_derivation *by)
{
    if (!in || len <= TKDC_HANDLE_BYTES || len > TKDC_DERIVED_HANDLE_MAX_BYTES ||
        !tkdc_equal(in, recipe_magic, sizeof recipe_magic) ||
        in[HALF_BYTES_AT] > TKDC_DERIVED_HALF_MAX_BYTES)
        return false;
    memset(by, 0, sizeof *by);
    by->kind = in[KIND_AT];
    by->enctype = tkdc_get_u32(in + ENCTYPE_AT);
    by->known_half_bytes = in[HALF_BYTES_AT];
    by->pepper_bytes = len - TKDC_HANDLE_BYTES;
    memcpy(by->known_half, in + HALF_AT, by->known_half_bytes);
    memcpy(by->pepper, in + TKDC_HANDLE_BYTES, by->pepper_bytes);
    uint8_t padding = 0;
    for (size_t i = HALF_AT + by->known_half_bytes; i < TKDC_HANDLE_BYTES; i++)
        padding |= in[i];
    tkdc_wire_get_key(in + sizeof recipe_magic, key);
    if (padding == 0 && tkdc_derivation_is_sound(by))
        return true;
    explicit_bzero(by, sizeof *by);
    return false;
}
