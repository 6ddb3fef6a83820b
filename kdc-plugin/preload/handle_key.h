/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside libtkdc-k5.so: recognises a handle among keys, reads the key that it names, and refuses
 * what cannot be done with it.
 */
#ifndef TKDC_PRELOAD_HANDLE_KEY_H
#define TKDC_PRELOAD_HANDLE_KEY_H

#include <krb5.h>

#include "derivation.h"
#include "handle.h"

/* What a handle or a derived handle says. */
struct handle_key {
    struct tkdc_wire_key key;  /* the long-term key */
    uint32_t enctype;          /* of the messages made with it */
    struct tkdc_derivation by; /* kind TKDC_DERIVE_NONE: with the key itself */
};

/* A variable that is wiped on every way out: a derivation's known half is as secret as
 * the key that it comes from. */
#define HANDLE_KEY(name) struct handle_key name __attribute__((cleanup(handle_key_wipe)))
void handle_key_wipe(struct handle_key *id);

/* True when `key` is a handle or a derived handle that was given out in this process; then *id
 * names it. What others have formed like one is none, and is logged. */
bool handle_key_of(const krb5_keyblock *key, struct handle_key *id);
/* Same for an opaque key. */
bool handle_key_of_k(krb5_context context, krb5_key key, struct handle_key *id);

/* Whoever formed it: for what must not be written or sent, nothing else. */
bool handle_key_is_formed_like_one(const krb5_keyblock *key);

/* For what cannot be done with shares yet. Sets a message, returns an error,
 * and keeps krb5kdc from counting a failed login. */
krb5_error_code handle_key_unsupported(krb5_context context, const char *what);
/* Same for an enctype that is not served. */
krb5_error_code handle_key_bad_enctype(krb5_context context, uint32_t enctype);

#endif
