/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the agent as one struct, and the bodies of its replies. The
 * layout of each body stands in wire.h; this is the only file on the KDC's
 * side that writes or reads them. The agent's side is request_body.h.
 */
#ifndef TKDC_WIRE_REQUEST_H
#define TKDC_WIRE_REQUEST_H

#include "buffer.h"
#include "derivation.h"
#include "wire.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields that an operation does not use are ignored. */
struct tkdc_request {
    uint8_t op;
    uint8_t label;            /* HELLO: role. STAGE: origin */
    struct tkdc_wire_key key; /* STAGE: kvno, enctype. EXPORT, LIST: key_id */
    uint32_t usage;
    struct tkdc_span data;            /* plaintext, ciphertext, data, key, name or key id */
    struct tkdc_span checksum;        /* VERIFY */
    const struct tkdc_derivation *by; /* the DERIVED ones */
    uint64_t request_id;              /* SEAL to MAC_DERIVED: the client's request; 0: none */
};

struct tkdc_reply {
    uint16_t status;
    struct tkdc_buffer body; /* OK: as in wire.h. Otherwise the message */
};

/* Appends one frame. False when a field is over its limit or memory is out;
 * `out` is then as before. */
bool tkdc_request_encode(struct tkdc_buffer *out, const struct tkdc_request *request, uint64_t id,
                         uint32_t deadline_ms);

/* The `bytes` body of SEAL, OPEN, MAC, EXPORT, EQUAL, STATUS, LIST. */
bool tkdc_reply_bytes(const struct tkdc_reply *reply, struct tkdc_span *bytes);
/* The body of VERIFY and BIND: there is none. */
bool tkdc_reply_is_empty(const struct tkdc_reply *reply);
bool tkdc_reply_key_id(const struct tkdc_reply *reply, uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES]);
/* False where the greeting was refused, too. */
bool tkdc_reply_hello(const struct tkdc_reply *reply, struct tkdc_span *security,
                      uint8_t installation[TKDC_WIRE_INSTALLATION_BYTES]);
/* What a frame brought, into an empty reply. Where memory lacks it is a failure of this side. */
void tkdc_reply_take(struct tkdc_reply *reply, const struct tkdc_wire_header *header,
                     struct tkdc_span body);
/* Sets status and message, for failures that this side finds. */
void tkdc_reply_fail(struct tkdc_reply *reply, uint16_t status, const char *message);
void tkdc_reply_free(struct tkdc_reply *reply);

#ifdef __cplusplus
}
#endif
#endif
