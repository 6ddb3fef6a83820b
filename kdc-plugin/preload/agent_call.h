/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside libtkdc-k5.so: one operation with a key that exists as shares.
 *
 * agent_call() decides how to wait: in a fiber of krb5kdc it suspends the
 * fiber, everywhere else it blocks; both with a deadline. Whatever fails
 * except a wrong key or a forged message marks the request in work as tainted
 * (krb5kdc only): later operations fail at once, nothing is recorded of it,
 * and its reply is dropped. Otherwise an outage would show as "Password
 * incorrect" and lock accounts.
 */
#ifndef TKDC_PRELOAD_AGENT_CALL_H
#define TKDC_PRELOAD_AGENT_CALL_H

#include <krb5.h>

#include "api.h"
#include "derivation.h"
#include "handle.h"
#include "process.h"

krb5_error_code agent_configure(krb5_context context, const struct tkdc_preload_config *config);
krb5_error_code agent_call(krb5_context context, const struct tkdc_request *request,
                           struct tkdc_reply *reply);
/* What a handle or a derived handle says. */
struct handle_key {
    struct tkdc_wire_key key;  /* the long-term key */
    uint32_t enctype;          /* of the messages made with it */
    struct tkdc_derivation by; /* kind TKDC_DERIVE_NONE: with the key itself */
};

/* A variable that is wiped on every way out: a derivation's mask is as secret as
 * the key that it comes from. */
#define HANDLE_KEY(name) struct handle_key name __attribute__((cleanup(handle_key_wipe)))
void handle_key_wipe(struct handle_key *id);

/* True when `key` is a handle or a derived handle that was given out in this process; then *id
 * names it. What others have formed like one is none, and is logged. handle_key.c. */
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
