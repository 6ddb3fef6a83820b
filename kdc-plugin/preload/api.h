/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libtkdc-k5.so offers to ktkdc.so. The module finds this table with
 * dlsym(RTLD_DEFAULT, "tkdc_preload_api") and refuses to initialise when it is
 * absent or of another version: without the preload library the stock crypto
 * functions would be handed the handles. All traffic with the agent goes
 * through this table, so a process has one connection and one idea of which
 * request has lost an operation.
 */
#ifndef TKDC_PRELOAD_API_H
#define TKDC_PRELOAD_API_H

#include <krb5.h>

#include "request.h"

#define TKDC_PRELOAD_SYMBOL "tkdc_preload_api"

enum { TKDC_PRELOAD_API = 2 };

struct tkdc_preload_config {
    const char *socket_path;
    bool is_kdc;
    unsigned timeout_ms; /* 0: 5 s in krb5kdc, 30 s elsewhere */
};

struct tkdc_preload_api {
    uint32_t api; /* TKDC_PRELOAD_API: the first member for ever */
    uint32_t bytes;
    char version[24];

    /* Says where the agent is. May be called again with the same values. */
    krb5_error_code (*configure)(krb5_context context, const struct tkdc_preload_config *config);

    /* Asks the agent. Non-zero sets the context's message; `reply` is then
     * empty. In krb5kdc the caller may be suspended here. */
    krb5_error_code (*call)(krb5_context context, const struct tkdc_request *request,
                            struct tkdc_reply *reply);

    /* The installation's id if a greeting has told it; never asks. */
    bool (*installation)(uint8_t id[TKDC_WIRE_INSTALLATION_BYTES]);

    /* The request in work has lost an operation: its outcome says nothing
     * about the client, so nothing may be recorded of it. */
    bool (*no_record)(void);

    /* Between these calls the request in work is never suspended. */
    void (*enter_database)(void);
    void (*leave_database)(void);

    /* Waits until no other request in work holds this principal; *waited
     * tells that entries read before may be stale. Released by itself. */
    krb5_error_code (*serialise)(krb5_context context,
                                 const uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES], bool *waited);

    /* krb5_c_make_random_key() of this process made this key lately. */
    bool (*was_drawn_here)(const krb5_keyblock *key);

    /* Every handle that leaves the module as a key is stamped, and a key that comes back is a
     * handle only with the stamp: stamp.h. `plain` takes `len` octets. */
    bool (*stamp)(uint8_t *octets, size_t len);
    bool (*unstamp)(const uint8_t *octets, size_t len, uint8_t *plain);
};

extern const struct tkdc_preload_api tkdc_preload_api;

#endif
