/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of an entry at the servers: bind them to the entry's principal
 * before it is written, destroy those that no entry names any more.
 */
#ifndef TKDC_KDB_BINDING_H
#define TKDC_KDB_BINDING_H

#include "module.h"

enum { BINDING_HANDLES_MAX = 1024 };

struct binding_set {
    size_t count;
    bool complete; /* false: some handle could not be read */
    struct tkdc_wire_key ids[BINDING_HANDLES_MAX];
};

/* The handles of an entry whose trailers are hidden or absent, and, if all of them could be read,
 * of its password history, bound to `principal`. */
void binding_collect(krb5_context context, const krb5_db_entry *entry,
                     const uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES], struct binding_set *set);

krb5_error_code binding_bind(krb5_context context, const struct tkdc_wire_key *id,
                             const char *principal_name);

/* Destroys keys that were bound for an entry which is not written because of `why`, whose message
 * stays the context's. */
void binding_undo(krb5_context context, const struct binding_set *set, krb5_error_code why,
                  const char *principal_name);

/* Destroys those of `old` that are not in `kept` (NULL: none kept). A failure
 * is logged: a handle left over costs space, one destroyed too many a key. */
void binding_destroy(krb5_context context, const struct binding_set *old,
                     const struct binding_set *kept, const char *principal_name);

#endif
