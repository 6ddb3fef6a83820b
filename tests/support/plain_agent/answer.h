/* SPDX-License-Identifier: Apache-2.0 */
/* One request of the agent's protocol, answered with keys in the clear. */
#ifndef TKDC_PLAIN_AGENT_ANSWER_H
#define TKDC_PLAIN_AGENT_ANSWER_H

#include <krb5.h>

#include "buffer.h"
#include "wire.h"

/* What is remembered of a connection. */
struct plain_peer {
    uint8_t role; /* 0: has not said HELLO */
};

/* Returns the status; appends the reply's body, or a message. */
uint16_t answer(krb5_context context, struct plain_peer *peer, uint8_t op, struct tkdc_span body,
                struct tkdc_buffer *out);

#endif
