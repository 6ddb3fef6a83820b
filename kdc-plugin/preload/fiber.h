/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers of krb5kdc: each I/O callback runs on a stack of its own, so that an
 * operation inside it can wait for the agent while the event loop goes on.
 *
 *   main stack:  event loop -> fiber_start() .......... fiber_resume() ...
 *                                 |            ^           |
 *   fiber stack:                  callback -> fiber_suspend() -> callback ends
 *
 * Rules: start and resume only from the main stack; suspend only from a
 * fiber. A fiber is never cancelled: it ends when its callback returns.
 * Stacks are pooled, and their number is bounded. Below each lies a guard that
 * no function's frame spans: libkrb5 and db2 have frames of four pages, the C
 * library one of eight, and distributions build them without probes of the
 * stack, so behind a guard of one page they would write into a neighbour.
 *
 * Threads: one, the event loop's. Secret: stacks of krb5kdc hold session
 * keys, as its only stack did before.
 */
#ifndef TKDC_PRELOAD_FIBER_H
#define TKDC_PRELOAD_FIBER_H

#include "request.h"

/* What is remembered of the request in work. */
struct request_state {
    bool tainted;      /* an operation was lost */
    bool no_record;    /* an operation is not available: no lockout count */
    unsigned database; /* depth inside the wrapped database module */
    uint64_t id;       /* in logs; 0: it has asked nothing of the servers yet */
};

enum {
    FIBER_MAX = 8192,
    FIBER_STACK_BYTES = 128 * 1024,
    FIBER_GUARD_BYTES = 64 * 1024, /* a multiple of every page's size; takes no memory */
    FIBER_POOL_MAX = 512,          /* idle stacks kept */
};

struct fiber {
    struct request_state state;
    /* Used by whoever the fiber waits for. */
    uint64_t waiting_id; /* of the operation, 0: none */
    int64_t deadline_ms; /* CLOCK_MONOTONIC */
    struct tkdc_reply *reply;
    uint8_t op;
    bool granted;             /* serial.c: the principal is ours */
    struct fiber *next;       /* list of whoever holds it */
    struct serial_lock *lock; /* serial.c */
    unsigned slot;            /* below FIBER_MAX */
};

typedef void fiber_body(void *a, void *b, void *c);

/* Runs body on a new fiber until it ends or suspends. False: none is free,
 * body has not run. */
bool fiber_start(fiber_body *body, void *a, void *b, void *c);
void fiber_suspend(void);
void fiber_resume(struct fiber *f);
/* NULL on the main stack. */
struct fiber *fiber_current(void);
/* The fiber's in a fiber, else the process's own. */
struct request_state *fiber_request(void);
/* Main stack: called with each fiber that has ended, before it is used again. One is kept. */
void fiber_on_end(void (*ended)(struct fiber *f));
/* The live fiber in a slot, or NULL. */
struct fiber *fiber_at(unsigned slot);
unsigned fiber_count(void);

#endif
