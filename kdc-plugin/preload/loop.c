/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's socket in krb5kdc's event loop: see loop.h. */
#include "loop.h"
#include "equal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "stream.h"
#include "verto_calls.h"

/* Above SEND_EARLY_BYTES, some ten operations, what was queued leaves before the callback's end:
 * the agent works while this thread makes more, and the queue stays within the stream's limit. */
enum {
    TICK_MS = 100,
    SLOT_BITS = 13,
    SEND_EARLY_BYTES = 4 * 1024,
    /* So much before this process gives up the agent answers: it knows which server is silent. */
    AGENT_FIRST_MS = 300
};
static_assert(1 << SLOT_BITS == FIBER_MAX, "a request id carries the fiber's slot");

static struct {
    struct tkdc_stream stream;
    verto_ev *event;
    pid_t owner;
    bool dying; /* to be closed by the 0 ms timer */
    bool tick_armed;
    bool queued; /* in this callback, by this process, on a connection that is good */
    uint64_t sequence;
    uint64_t greeting; /* id of the HELLO that waits for its answer; 0: none */
    struct fiber *ready_first, *ready_last;
    bool (*on_tick)(int64_t now_ms);
    bool shedding;
} loop = {.stream = {.fd = -1}};

int64_t loop_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void loop_make_ready(struct fiber *f)
{
    f->next = NULL;
    if (loop.ready_last)
        loop.ready_last->next = f;
    else
        loop.ready_first = f;
    loop.ready_last = f;
}

static void lost(void);
static void watch(void);

/* From any stack. What the socket does not take now leaves when it is writable again; never what
 * a parent of this process has queued. */
static void send_queued(void)
{
    const bool ours = loop.queued || (loop.stream.out.len && loop.owner == getpid());
    loop.queued = false;
    if (loop.dying || !ours)
        return;
    if (!tkdc_stream_flush(&loop.stream))
        lost();
    else
        watch();
}

/* Main stack, at the end of a callback. A resumed fiber may end and make
 * others ready; it never makes itself ready. What all of them asked leaves at
 * once: each send() costs more than a frame, and wakes the agent. */
void loop_drain(void)
{
    while (loop.ready_first) {
        struct fiber *f = loop.ready_first;
        loop.ready_first = f->next;
        if (!loop.ready_first)
            loop.ready_last = NULL;
        f->next = NULL;
        fiber_resume(f);
    }
    send_queued();
}

static void finish(struct fiber *f)
{
    f->waiting_id = 0;
    f->reply = NULL;
    loop_make_ready(f);
}

static void fail(struct fiber *f, const char *message)
{
    tkdc_reply_fail(f->reply, TKDC_STATUS_UNAVAILABLE, message);
    finish(f);
}

/* Fails what waits: everything, or what is past its deadline. */
static unsigned fail_waiting(int64_t now_ms, const char *message)
{
    unsigned waiting = 0, left = fiber_count();
    for (unsigned i = 0; left && i < FIBER_MAX; i++) {
        struct fiber *f = fiber_at(i);
        if (!f)
            continue;
        left--;
        if (!f->waiting_id)
            continue;
        if (now_ms < 0 || f->deadline_ms <= now_ms)
            fail(f, message);
        else
            waiting++;
    }
    return waiting;
}

static void close_connection(void)
{
    if (loop.event)
        verto_calls.del(loop.event);
    loop.event = NULL;
    tkdc_stream_close(&loop.stream);
    loop.dying = false;
    loop.queued = false;
}

static void on_dead(verto_ctx *ctx, verto_ev *ev)
{
    (void)ctx;
    (void)ev;
    if (!loop.dying)
        return;
    close_connection();
    fail_waiting(-1, "the connection to tkdc-agent broke: see its journal and `tkdc status`");
    loop_drain();
}

/* From any stack: the rest happens on the main stack, in a later turn. */
static void lost(void)
{
    if (loop.dying)
        return;
    loop.dying = true;
    verto_calls.add_timeout(verto_calls.ctx, VERTO_EV_FLAG_NONE, on_dead, 0);
}

static void on_tick(verto_ctx *ctx, verto_ev *ev)
{
    const int64_t now = loop_now_ms();
    loop.tick_armed = false;
    if (loop.dying) /* its timer could not be set */
        on_dead(ctx, ev);
    const bool others = loop.on_tick && loop.on_tick(now);
    const unsigned waiting = fail_waiting(now, "no answer in time: see `tkdc status`");
    if (waiting || others)
        loop_arm_tick();
    loop_drain();
}

void loop_arm_tick(void)
{
    if (loop.tick_armed)
        return;
    loop.tick_armed =
        verto_calls.add_timeout(verto_calls.ctx, VERTO_EV_FLAG_NONE, on_tick, TICK_MS) != NULL;
}

void loop_on_tick(bool (*tick)(int64_t now_ms))
{
    loop.on_tick = tick;
}

bool loop_is_shedding(void)
{
    return loop.shedding;
}

void loop_shed(bool on)
{
    loop.shedding = on;
}

static void on_greeting(const struct tkdc_wire_header *header, struct tkdc_span body)
{
    loop.greeting = 0;
    struct tkdc_reply reply = {0};
    struct tkdc_span security;
    uint8_t id[TKDC_WIRE_INSTALLATION_BYTES], known[TKDC_WIRE_INSTALLATION_BYTES];
    tkdc_reply_take(&reply, header, body);
    const bool good = tkdc_reply_hello(&reply, &security, id);
    tkdc_reply_free(&reply);
    const bool other = good && process_installation(known) && !tkdc_equal(known, id, sizeof id);
    if (other)
        syslog(LOG_ERR, "tkdc: the agent now belongs to another installation: see `tkdc status`, "
                        "then restart krb5kdc");
    if (!good || other)
        lost();
    else
        process_learn_installation(id);
}

static void on_frame(void *arg, const struct tkdc_wire_header *header, struct tkdc_span body)
{
    (void)arg;
    if (header->op == TKDC_OP_HELLO) {
        if (loop.greeting && header->id == loop.greeting)
            on_greeting(header, body);
        return;
    }
    struct fiber *f = fiber_at((unsigned)(header->id & (FIBER_MAX - 1)));
    /* Late, or never asked: so is id 0, which a fiber that waits for something else has. */
    if (!f || !f->waiting_id || f->waiting_id != header->id || f->op != header->op)
        return;
    tkdc_reply_take(f->reply, header, body);
    finish(f);
}

static void watch(void)
{
    verto_ev_flag flags = VERTO_EV_FLAG_PERSIST | VERTO_EV_FLAG_IO_READ;
    if (loop.stream.out.len)
        flags |= VERTO_EV_FLAG_IO_WRITE;
    if (loop.event && (verto_calls.get_flags(loop.event) & VERTO_EV_FLAG_IO_WRITE) !=
                          (flags & VERTO_EV_FLAG_IO_WRITE))
        verto_calls.set_flags(loop.event, flags);
}

static void on_socket(verto_ctx *ctx, verto_ev *ev)
{
    (void)ctx;
    (void)ev;
    if (!loop.dying && !tkdc_stream_read(&loop.stream, on_frame, NULL))
        lost();
    loop_drain(); /* sends, too, what the socket did not take before */
}

/* After a fork the parent's event is gone from this loop already. */
static void forget_parents_connection(void)
{
    if (loop.stream.fd >= 0 && loop.owner != getpid()) {
        loop.event = NULL;
        tkdc_stream_close(&loop.stream);
    }
}

static int connect_agent(void)
{
    if (loop.queued)
        return 0;
    forget_parents_connection();
    if (loop.stream.fd >= 0)
        return 0;
    const int error = tkdc_stream_open(&loop.stream, process_config.socket_path);
    if (error)
        return error;
    loop.owner = getpid();
    loop.event = verto_calls.add_io(verto_calls.ctx, VERTO_EV_FLAG_PERSIST | VERTO_EV_FLAG_IO_READ,
                                    on_socket, loop.stream.fd);
    const struct tkdc_request hello = {.op = TKDC_OP_HELLO, .label = TKDC_ROLE_KDC};
    loop.greeting = ++loop.sequence << SLOT_BITS;
    if (!loop.event ||
        !tkdc_request_encode(&loop.stream.out, &hello, loop.greeting, process_config.timeout_ms)) {
        close_connection();
        return ENOMEM;
    }
    return 0;
}

void loop_ask(const struct tkdc_request *request, struct tkdc_reply *reply)
{
    struct fiber *self = fiber_current();
    if (loop.dying) {
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE, "the connection to tkdc-agent broke");
        return;
    }
    const int error = connect_agent();
    if (error) {
        char message[320];
        tkdc_stream_explain(process_config.socket_path, error, message, sizeof message);
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE, message);
        return;
    }
    const uint64_t id = ++loop.sequence << SLOT_BITS | self->slot;
    const unsigned left_ms = process_config.timeout_ms > 2 * AGENT_FIRST_MS
                                 ? process_config.timeout_ms - AGENT_FIRST_MS
                                 : process_config.timeout_ms;
    if (!tkdc_request_encode(&loop.stream.out, request, id, left_ms)) {
        tkdc_reply_fail(reply, TKDC_STATUS_BAD_REQUEST, "larger than the agent takes");
        return;
    }
    self->waiting_id = id;
    self->op = request->op;
    self->reply = reply;
    self->deadline_ms = loop_now_ms() + process_config.timeout_ms;
    loop.queued = true;
    if (loop.stream.out.len >= SEND_EARLY_BYTES)
        send_queued();
    loop_arm_tick();
    fiber_suspend();
}
