/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys derived from a long-term key, named by how they are made. Nobody ever
 * holds one: each operation with it tells the servers the recipe, they make the
 * key on shares, use it, and forget it (docs/protocols/14-fast.md).
 *
 *   TKDC_DERIVE_CF2      known half xor PRF+(key, pepper): RFC 6113's KRB-FX-CF2 with
 *                        another key, whose PRF+ is the known half
 *   TKDC_DERIVE_PRFPLUS  PRF+(key, pepper)
 *
 * A derived handle stands in the keyblock where the derived key would be:
 *
 *   magic[8] | key[72] | kind u8 | enctype u32 | length of the known half u8 | known half[32]
 *   | zero padding | stamp[32] | pepper
 *
 * with the pepper from TKDC_HANDLE_BYTES on, and a stamp as a handle has. Like
 * a handle it is longer than any key that libk5crypto takes. The known half is as
 * secret as the known key that it comes from; the rest is no secret.
 */
#ifndef TKDC_WIRE_DERIVED_H
#define TKDC_WIRE_DERIVED_H

#include "handle.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TKDC_DERIVED_HALF_MAX_BYTES = 32,
    TKDC_DERIVED_PEPPER_MAX_BYTES = 512,
    TKDC_DERIVED_HANDLE_MAX_BYTES = TKDC_HANDLE_BYTES + TKDC_DERIVED_PEPPER_MAX_BYTES,
};

enum tkdc_derive_kind { TKDC_DERIVE_NONE = 0, TKDC_DERIVE_CF2 = 1, TKDC_DERIVE_PRFPLUS = 2 };

struct tkdc_derivation {
    uint8_t kind;             /* enum tkdc_derive_kind */
    uint32_t enctype;         /* of the derived key */
    uint8_t known_half_bytes; /* its key's length, or 0 for PRFPLUS */
    size_t pepper_bytes;      /* at least 1 */
    uint8_t known_half[TKDC_DERIVED_HALF_MAX_BYTES];
    uint8_t pepper[TKDC_DERIVED_PEPPER_MAX_BYTES];
};

/* Kind, enctype and lengths fit each other. */
bool tkdc_derivation_is_sound(const struct tkdc_derivation *by);

/* The handle's length, or 0 when the recipe is not sound. */
size_t tkdc_derived_encode(uint8_t out[TKDC_DERIVED_HANDLE_MAX_BYTES],
                           const struct tkdc_wire_key *key, const struct tkdc_derivation *by);

/* False when these octets are not a derived handle. */
bool tkdc_derived_decode(const uint8_t *in, size_t len, struct tkdc_wire_key *key,
                         struct tkdc_derivation *by);

#ifdef __cplusplus
}
#endif
#endif
