/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside libtkdc-k5.so: one operation with a key that exists as shares.
 *
 * engine_call() decides how to wait: in a fiber of krb5kdc it suspends the
 * fiber, everywhere else it blocks; both with a deadline. Whatever fails
 * except a wrong key or a forged message marks the request in work as tainted
 * (krb5kdc only): later operations fail at once, nothing is recorded of it,
 * and its reply is dropped. Otherwise an outage would show as "Password
 * incorrect" and lock accounts.
 */
#ifndef TKDC_PRELOAD_ENGINE_H
#define TKDC_PRELOAD_ENGINE_H

#include <krb5.h>

#include "api.h"
#include "derivation.h"
#include "handle.h"
#include "process.h"

krb5_error_code engine_configure(krb5_context context, const struct tkdc_preload_config *config);
krb5_error_code engine_call(krb5_context context, const struct tkdc_request *request,
                            struct tkdc_reply *reply);
/* What a handle or a derived handle says. */
struct engine_key {
    struct tkdc_wire_key key;  /* the long-term key */
    uint32_t enctype;          /* of the messages made with it */
    struct tkdc_derivation by; /* kind TKDC_DERIVE_NONE: with the key itself */
};

/* A variable that is wiped on every way out: a derivation's mask is as secret as
 * the key that it comes from. */
#define ENGINE_KEY(name) struct engine_key name __attribute__((cleanup(engine_wipe_key)))
void engine_wipe_key(struct engine_key *id);

/* True when `key` is a handle or a derived handle that was given out in this process; then *id
 * names it. What others have formed like one is none, and is logged. engine_key.c. */
bool engine_is_handle(const krb5_keyblock *key, struct engine_key *id);
/* Same for an opaque key. */
bool engine_is_handle_k(krb5_context context, krb5_key key, struct engine_key *id);

/* Whoever formed it: for what must not be written or sent, nothing else. */
bool engine_is_formed_like_handle(const krb5_keyblock *key);

/* For what cannot be done with shares yet. Sets a message, returns an error,
 * and keeps krb5kdc from counting a failed login. */
krb5_error_code engine_unsupported(krb5_context context, const char *what);
/* Same for an enctype that is not served. */
krb5_error_code engine_bad_enctype(krb5_context context, uint32_t enctype);

#endif
