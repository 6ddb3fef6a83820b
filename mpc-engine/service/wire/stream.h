/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A non-blocking connection to the agent: frames out, frames in. It knows no
 * event loop; its owner calls tkdc_stream_read() when the socket is readable
 * and tkdc_stream_flush() when it is writable and something is queued.
 *
 * Any return of false means that the connection is of no use any more (peer
 * gone, framing lost, limits passed): close it. Nothing is retried here.
 *
 * Threads: one. Secret: both queues hold plaintexts; they are wiped as they
 * drain and when the stream is closed.
 */
#ifndef TKDC_WIRE_STREAM_H
#define TKDC_WIRE_STREAM_H

#include "buffer.h"
#include "wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TKDC_STREAM_QUEUE_MAX_BYTES = 32 * 1024 * 1024 };

struct tkdc_stream {
    int fd; /* -1: closed */
    struct tkdc_buffer in;
    struct tkdc_buffer out;
};

typedef void tkdc_stream_frame(void *arg, const struct tkdc_wire_header *header,
                               struct tkdc_span body);

/* 0, or errno: connects without waiting; `s` is to be zero or closed. */
int tkdc_stream_open(struct tkdc_stream *s, const char *path);
/* In words, with what to do, why tkdc_stream_open() gave `error`. */
void tkdc_stream_explain(const char *path, int error, char *out, size_t size);
/* Queues the octets of whole frames in `out`, sends what the socket takes. */
bool tkdc_stream_flush(struct tkdc_stream *s);
/* Reads what is there, calls `frame` for each whole frame. */
bool tkdc_stream_read(struct tkdc_stream *s, tkdc_stream_frame *frame, void *arg);
void tkdc_stream_close(struct tkdc_stream *s);

#ifdef __cplusplus
}
#endif
#endif
