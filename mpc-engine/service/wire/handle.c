/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of handles: see handle.h. Pure functions. */
#include "handle.h"
#include "equal.h"

#include <string.h>

static const uint8_t magic[TKDC_HANDLE_MAGIC_BYTES] = {0xf1, 't', 'k', 'd', 'c', 'h', 0x00, 0x01};

void tkdc_handle_encode(uint8_t out[TKDC_HANDLE_BYTES], const struct tkdc_wire_key *key)
{
    memset(out, 0, TKDC_HANDLE_BYTES);
    memcpy(out, magic, sizeof magic);
    tkdc_wire_put_key(out + sizeof magic, key);
}

bool tkdc_handle_decode(const uint8_t *in, size_t len, struct tkdc_wire_key *key)
{
    if (len != TKDC_HANDLE_BYTES || !in || !tkdc_equal(in, magic, sizeof magic))
        return false;
    for (size_t i = sizeof magic + TKDC_WIRE_KEY_BYTES; i < TKDC_HANDLE_BYTES; i++)
        if (in[i] != 0)
            return false;
    tkdc_wire_get_key(in + sizeof magic, key);
    return true;
}

bool tkdc_has_handle_magic(const uint8_t *in, size_t len)
{
    /* All but the octet that tells a handle from a derived one. */
    enum { KIND_AT = 5 };
    return in && len >= sizeof magic && tkdc_equal(in, magic, KIND_AT) &&
           (in[KIND_AT] == 'h' || in[KIND_AT] == 'd') &&
           tkdc_equal(in + KIND_AT + 1, magic + KIND_AT + 1, sizeof magic - KIND_AT - 1);
}

bool tkdc_key_is_bound(const struct tkdc_wire_key *key)
{
    uint8_t any = 0;
    for (size_t i = 0; i < sizeof key->principal; i++)
        any |= key->principal[i];
    return any != 0;
}
