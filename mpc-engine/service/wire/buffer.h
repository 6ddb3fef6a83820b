/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte buffers of the KDC side of the agent's socket: one that grows and is
 * wiped before its memory is given back, and a reader that refuses to read
 * past the end. Both remember a failure, so that a sequence of puts or gets
 * is written without a test after each and tested once.
 *
 * Threads: a buffer belongs to its holder. Secret: contents may be plaintexts
 * of tickets and, in STAGE and EXPORT, a long-term key.
 */
#ifndef TKDC_WIRE_BUFFER_H
#define TKDC_WIRE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tkdc_span {
    const uint8_t *data;
    size_t len;
};

struct tkdc_buffer {
    uint8_t *data;
    size_t len;
    size_t cap;
    bool failed; /* out of memory: contents are not complete */
};

void tkdc_buffer_put(struct tkdc_buffer *b, const void *data, size_t len);
void tkdc_buffer_put_u8(struct tkdc_buffer *b, uint8_t v);
void tkdc_buffer_put_u32(struct tkdc_buffer *b, uint32_t v);
/* u32 length, then the octets. */
void tkdc_buffer_put_bytes(struct tkdc_buffer *b, struct tkdc_span bytes);
/* Room for `len` more octets at data + b->len; the caller raises b->len. */
bool tkdc_buffer_reserve(struct tkdc_buffer *b, size_t len);
/* Drops the first `len` octets and wipes the space they leave. */
void tkdc_buffer_consume(struct tkdc_buffer *b, size_t len);
/* Wipes and frees; the buffer is empty and usable afterwards. */
void tkdc_buffer_free(struct tkdc_buffer *b);

struct tkdc_reader {
    const uint8_t *at;
    size_t left;
    bool bad; /* asked for more than there was */
};

/* NULL, and reader->bad, when fewer than `len` octets are left. */
const uint8_t *tkdc_reader_get(struct tkdc_reader *r, size_t len);
uint8_t tkdc_reader_get_u8(struct tkdc_reader *r);
uint32_t tkdc_reader_get_u32(struct tkdc_reader *r);
struct tkdc_span tkdc_reader_get_bytes(struct tkdc_reader *r);
/* True when nothing failed and nothing is left over. */
bool tkdc_reader_done(const struct tkdc_reader *r);

#ifdef __cplusplus
}
#endif
#endif
