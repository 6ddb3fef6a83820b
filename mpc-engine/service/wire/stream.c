/* SPDX-License-Identifier: Apache-2.0 */
/* A non-blocking connection to the agent: see stream.h. */
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_CHUNK_BYTES = 64 * 1024, READS_PER_TURN = 16 };

int tkdc_stream_open(struct tkdc_stream *s, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    memset(s, 0, sizeof *s);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0)
        return errno;
    if (connect(s->fd, (struct sockaddr *)&address, sizeof address) != 0) {
        const int error = errno; /* EAGAIN: the listen queue is full */
        tkdc_stream_close(s);
        return error;
    }
    return 0;
}

/* The NAME of /run/tkdc/NAME/SOCKET, where tkdc-agent@NAME makes its socket. */
static struct tkdc_span unit_name(const char *path)
{
    static const char made[] = "/run/tkdc/";
    const char *name = path + sizeof made - 1;
    if (strncmp(path, made, sizeof made - 1) != 0)
        return (struct tkdc_span){(const uint8_t *)"NAME", 4};
    const size_t len = strcspn(name, "/");
    if (!len || !name[len])
        return (struct tkdc_span){(const uint8_t *)"NAME", 4};
    return (struct tkdc_span){(const uint8_t *)name, len};
}

void tkdc_stream_explain(const char *path, int error, char *out, size_t size)
{
    const struct tkdc_span name = unit_name(path);
    snprintf(out, size, "cannot connect to tkdc-agent at %s: %s; %s%.*s%s", path, strerror(error),
             error == EACCES ? "only root and the group tkdc-" : "is tkdc-agent@", (int)name.len,
             (const char *)name.data,
             error == EACCES ? " (socket_group in agent.toml) may" : " running?");
}

bool tkdc_stream_flush(struct tkdc_stream *s)
{
    if (s->fd < 0 || s->out.failed || s->out.len > TKDC_STREAM_QUEUE_MAX_BYTES)
        return false;
    size_t sent = 0;
    while (sent < s->out.len) {
        const ssize_t n = send(s->fd, s->out.data + sent, s->out.len - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        } else {
            return false;
        }
    }
    tkdc_buffer_consume(&s->out, sent);
    return true;
}

/* Hands on each whole frame in `in`; false when framing is lost. */
static bool split_frames(struct tkdc_stream *s, tkdc_stream_frame *frame, void *arg)
{
    size_t at = 0;
    while (s->in.len - at >= TKDC_WIRE_HEADER_BYTES) {
        struct tkdc_wire_header header;
        if (!tkdc_wire_get_header(s->in.data + at, &header))
            return false;
        const size_t whole = TKDC_WIRE_HEADER_BYTES + (size_t)header.body_bytes;
        if (s->in.len - at < whole)
            break;
        const struct tkdc_span body = {s->in.data + at + TKDC_WIRE_HEADER_BYTES, header.body_bytes};
        frame(arg, &header, body);
        at += whole;
    }
    tkdc_buffer_consume(&s->in, at);
    return true;
}

bool tkdc_stream_read(struct tkdc_stream *s, tkdc_stream_frame *frame, void *arg)
{
    for (int turn = 0; turn < READS_PER_TURN; turn++) {
        if (s->fd < 0 || !tkdc_buffer_reserve(&s->in, READ_CHUNK_BYTES))
            return false;
        const ssize_t n = recv(s->fd, s->in.data + s->in.len, READ_CHUNK_BYTES, 0);
        if (n == 0)
            return false;
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        s->in.len += (size_t)n;
        if (!split_frames(s, frame, arg))
            return false;
        if (n < READ_CHUNK_BYTES)
            return true;
    }
    return true;
}

void tkdc_stream_close(struct tkdc_stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    tkdc_buffer_free(&s->in);
    tkdc_buffer_free(&s->out);
}
