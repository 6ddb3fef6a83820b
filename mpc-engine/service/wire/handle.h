/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: what stands in a keyblock where the key would be.
 *
 *   magic[8] | key id[16] | installation[16] | principal digest[32]
 *   | kvno u32 | enctype u32 | zero padding | stamp[32]
 *
 * in all TKDC_HANDLE_BYTES. Nothing in a handle is secret, and anybody can form
 * one: in a keyblock it counts only with the stamp of the process that gave it
 * out (preload/stamp.h); the stored form has zeros there, and so have these
 * functions, which see a handle before it is stamped or without its stamp.
 *
 * Its length is the safety catch: libk5crypto
 * refuses a key of more than 128 octets for every enctype and at every entry
 * point, so a process without the preload library can never take a handle's
 * octets for a key (tests/unit/kdc-plugin keeps that property tested).
 *
 * The stored form, encrypted under K/M, has a zero principal digest: the
 * digest is put in from the entry that the handle was read with, and the
 * servers compare it with their record. A handle with a zero digest is
 * "unbound" and good for no operation.
 */
#ifndef TKDC_WIRE_HANDLE_H
#define TKDC_WIRE_HANDLE_H

#include "wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TKDC_HANDLE_BYTES = 160,
    TKDC_HANDLE_MAGIC_BYTES = 8,
    TKDC_HANDLE_STAMP_BYTES = 32,
    TKDC_HANDLE_STAMP_AT = TKDC_HANDLE_BYTES - TKDC_HANDLE_STAMP_BYTES,
};

void tkdc_handle_encode(uint8_t out[TKDC_HANDLE_BYTES], const struct tkdc_wire_key *key);

/* False when these octets are not a handle. */
bool tkdc_handle_decode(const uint8_t *in, size_t len, struct tkdc_wire_key *key);

/* Whether octets begin as a handle or a derived handle (derivation.h) does: no key that somebody
 * drew does. */
bool tkdc_has_handle_magic(const uint8_t *in, size_t len);

bool tkdc_key_is_bound(const struct tkdc_wire_key *key);

#ifdef __cplusplus
}
#endif
#endif
