/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A blocking client of the agent, for kadmind, the tools, and krb5kdc before
 * its event loop runs. One request at a time, each with a deadline that holds
 * for connecting, sending and waiting together: it cannot hang.
 *
 * It connects when first needed, again after the agent was restarted, and
 * again after a fork (a connection shared by two processes would mix their
 * frames). A request whose connection breaks is not repeated: it may have
 * been carried out.
 *
 * Threads: one at a time per client; the caller locks. Failure: the reply's
 * status is TKDC_STATUS_UNAVAILABLE and its body a message that says what to
 * look at.
 */
#ifndef TKDC_WIRE_CLIENT_H
#define TKDC_WIRE_CLIENT_H

#include <sys/types.h>

#include "request.h"
#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tkdc_client {
    char path[108];
    uint8_t role; /* TKDC_ROLE_* */
    pid_t owner;  /* process that connected */
    uint64_t last_id;
    struct tkdc_stream stream;
    bool greeted; /* HELLO was answered on some connection */
    uint8_t installation[TKDC_WIRE_INSTALLATION_BYTES];
};

void tkdc_client_init(struct tkdc_client *c, const char *path, uint8_t role);
/* Connects and says HELLO if need be, sends, waits. `reply` is to be zero.
 * A request that is HELLO itself only sees to a greeted connection. */
void tkdc_client_call(struct tkdc_client *c, const struct tkdc_request *request,
                      unsigned timeout_ms, struct tkdc_reply *reply);
void tkdc_client_close(struct tkdc_client *c);

#ifdef __cplusplus
}
#endif
#endif
