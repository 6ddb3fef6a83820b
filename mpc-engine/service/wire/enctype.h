/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enctypes that exist as shares, and how long their messages are: RFC 3962
 * (17, 18) and RFC 8009 (19, 20). Whoever decides by an enctype asks here: the
 * plugin, the agent and the servers. Nothing in it is secret.
 */
#ifndef TKDC_WIRE_ENCTYPE_H
#define TKDC_WIRE_ENCTYPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TKDC_SEAL_HEADER_BYTES = 16, /* the confounder, of every enctype served */
};

struct tkdc_enctype {
    uint32_t enctype;
    size_t key_bytes;
    size_t checksum_bytes; /* also what a ciphertext ends with */
    size_t overhead_bytes; /* of a ciphertext over its plaintext */
    int32_t checksum_type; /* the mandatory one */
};

/* NULL for an enctype that is not served. */
const struct tkdc_enctype *tkdc_enctype_of(uint32_t enctype);

#ifdef __cplusplus
}
#endif
#endif
