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

krb5_error_code agent_configure(krb5_context context, const struct tkdc_preload_config *config);
krb5_error_code agent_call(krb5_context context, const struct tkdc_request *request,
                           struct tkdc_reply *reply);
/* The operation of the request in work is lost: it is tainted, and the log says why, once in
 * LOG_INTERVAL_S. Outside a request (at start) there is nothing to taint. */
void agent_lost(const char *operation, const char *what, const char *why);

#endif
