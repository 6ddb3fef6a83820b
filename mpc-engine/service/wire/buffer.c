/* SPDX-License-Identifier: Apache-2.0 */
/* Growing buffers that are wiped, readers that stay inside: see buffer.h. */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

bool tkdc_buffer_reserve(struct tkdc_buffer *b, size_t len)
{
    if (b->failed)
        return false;
    if (b->cap - b->len >= len)
        return true;
    size_t cap = b->cap ? b->cap : 512;
    while (cap - b->len < len) {
        if (cap > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        cap *= 2;
    }
    /* Not realloc: it could leave a copy of the old contents behind. */
    uint8_t *data = malloc(cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    if (b->len)
        memcpy(data, b->data, b->len);
    if (b->data)
        explicit_bzero(b->data, b->cap);
    free(b->data);
    b->data = data;
    b->cap = cap;
    return true;
}

void tkdc_buffer_put(struct tkdc_buffer *b, const void *data, size_t len)
{
    if (len == 0 || !tkdc_buffer_reserve(b, len))
        return;
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

void tkdc_buffer_put_u8(struct tkdc_buffer *b, uint8_t v)
{
    tkdc_buffer_put(b, &v, 1);
}

void tkdc_buffer_put_u32(struct tkdc_buffer *b, uint32_t v)
{
    const uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
                              (uint8_t)v};
    tkdc_buffer_put(b, bytes, sizeof bytes);
}

void tkdc_buffer_put_bytes(struct tkdc_buffer *b, struct tkdc_span bytes)
{
    tkdc_buffer_put_u32(b, (uint32_t)bytes.len);
    tkdc_buffer_put(b, bytes.data, bytes.len);
}

void tkdc_buffer_consume(struct tkdc_buffer *b, size_t len)
{
    if (len > b->len)
        len = b->len;
    if (len == 0)
        return;
    memmove(b->data, b->data + len, b->len - len);
    explicit_bzero(b->data + b->len - len, len);
    b->len -= len;
}

void tkdc_buffer_free(struct tkdc_buffer *b)
{
    if (b->data)
        explicit_bzero(b->data, b->cap);
    free(b->data);
    memset(b, 0, sizeof *b);
}

const uint8_t *tkdc_reader_get(struct tkdc_reader *r, size_t len)
{
    if (r->bad || r->left < len) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *at = r->at;
    r->at += len;
    r->left -= len;
    return at;
}

uint8_t tkdc_reader_get_u8(struct tkdc_reader *r)
{
    const uint8_t *p = tkdc_reader_get(r, 1);
    return p ? *p : 0;
}

uint32_t tkdc_reader_get_u32(struct tkdc_reader *r)
{
    const uint8_t *p = tkdc_reader_get(r, 4);
    return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

struct tkdc_span tkdc_reader_get_bytes(struct tkdc_reader *r)
{
    struct tkdc_span span = {0};
    span.len = tkdc_reader_get_u32(r);
    span.data = tkdc_reader_get(r, span.len);
    if (!span.data)
        span.len = 0;
    return span;
}

bool tkdc_reader_done(const struct tkdc_reader *r)
{
    return !r->bad && r->left == 0;
}
