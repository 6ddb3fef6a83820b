/* SPDX-License-Identifier: Apache-2.0 */
/* The blocking client of the agent: see client.h. */
#include "client.h"
#include "equal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct waiting {
    uint64_t id;
    uint8_t op;
    struct tkdc_reply *reply;
    bool done;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void tkdc_client_init(struct tkdc_client *c, const char *path, uint8_t role)
{
    memset(c, 0, sizeof *c);
    c->stream.fd = -1;
    c->role = role;
    snprintf(c->path, sizeof c->path, "%s", path);
}

void tkdc_client_close(struct tkdc_client *c)
{
    tkdc_stream_close(&c->stream);
}

static void on_frame(void *arg, const struct tkdc_wire_header *header, struct tkdc_span body)
{
    struct waiting *w = arg;
    if (w->done || header->id != w->id || header->op != w->op)
        return; /* a late answer to a request that was given up */
    tkdc_reply_take(w->reply, header, body);
    w->done = true;
}

/* Sends what is queued and waits for the answer; false: connection is dead. */
static bool exchange(struct tkdc_client *c, struct waiting *w, int64_t deadline)
{
    while (!w->done) {
        if (!tkdc_stream_flush(&c->stream))
            return false;
        const int64_t left = deadline - now_ms();
        if (left <= 0)
            return false;
        struct pollfd p = {.fd = c->stream.fd, .events = POLLIN};
        if (c->stream.out.len)
            p.events |= POLLOUT;
        const int n = poll(&p, 1, (int)left);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && (p.revents & (POLLIN | POLLHUP | POLLERR)) &&
            !tkdc_stream_read(&c->stream, on_frame, w) && !w->done)
            return false;
    }
    return true;
}

static bool send_and_wait(struct tkdc_client *c, const struct tkdc_request *request,
                          int64_t deadline, struct tkdc_reply *reply)
{
    struct waiting w = {.id = ++c->last_id, .op = request->op, .reply = reply};
    const int64_t left = deadline - now_ms();
    if (left <= 0)
        return false;
    if (!tkdc_request_encode(&c->stream.out, request, w.id, (uint32_t)left)) {
        tkdc_reply_fail(reply, TKDC_STATUS_BAD_REQUEST,
                        "the request is larger than the agent takes");
        return true;
    }
    return exchange(c, &w, deadline);
}

/* An idle connection that is readable was closed by the agent. */
static bool usable(struct tkdc_client *c)
{
    struct pollfd p = {.fd = c->stream.fd, .events = POLLIN};
    return c->stream.fd >= 0 && c->owner == getpid() && poll(&p, 1, 0) == 0;
}

static bool greet(struct tkdc_client *c, int64_t deadline, struct tkdc_reply *reply)
{
    const struct tkdc_request hello = {.op = TKDC_OP_HELLO, .label = c->role};
    struct tkdc_reply answer = {0};
    struct tkdc_span security;
    uint8_t installation[TKDC_WIRE_INSTALLATION_BYTES];
    const bool said = send_and_wait(c, &hello, deadline, &answer);
    bool good = said && tkdc_reply_hello(&answer, &security, installation);
    if (good && c->greeted && !tkdc_equal(installation, c->installation, sizeof installation)) {
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE,
                        "the agent now belongs to another installation: restart this program");
        good = false;
    } else if (good) {
        memcpy(c->installation, installation, sizeof installation);
        c->greeted = true;
    } else {
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE,
                        "tkdc-agent did not answer a greeting: see its journal");
    }
    tkdc_reply_free(&answer);
    return good;
}

void tkdc_client_call(struct tkdc_client *c, const struct tkdc_request *request,
                      unsigned timeout_ms, struct tkdc_reply *reply)
{
    const int64_t deadline = now_ms() + timeout_ms;
    if (!usable(c)) {
        tkdc_client_close(c);
        const int error = tkdc_stream_open(&c->stream, c->path);
        if (error) {
            char message[320];
            tkdc_stream_explain(c->path, error, message, sizeof message);
            tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE, message);
            return;
        }
        c->owner = getpid();
        if (!greet(c, deadline, reply)) {
            tkdc_client_close(c);
            return;
        }
    }
    if (request->op == TKDC_OP_HELLO)
        return; /* said when the connection was made */
    if (!send_and_wait(c, request, deadline, reply)) {
        tkdc_client_close(c);
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE,
                        "no answer from tkdc-agent in time: see `tkdc status`");
    }
}
