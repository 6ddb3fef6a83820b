/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krb5kdc's event loop and the agent's socket in it.
 *
 * verto_add_io() is interposed: callbacks that lie in krb5kdc's own program
 * run in fibers. Those of libraries (libkrad walks a list in its shutdown)
 * stay on the main stack. An operation in a fiber is queued on one
 * non-blocking socket and the fiber suspends; the socket's reader, a timer
 * for deadlines and a 0 ms timer after the connection died put fibers on the
 * ready list, and that list is worked off on the main stack when the reader's
 * state is consistent again. What the fibers of one callback have asked leaves
 * in one send() at its end.
 */
#ifndef TKDC_PRELOAD_LOOP_H
#define TKDC_PRELOAD_LOOP_H

#include "fiber.h"

/* In a fiber: asks and suspends until the answer or the deadline. */
void loop_ask(const struct tkdc_request *request, struct tkdc_reply *reply);
/* Resumed before the loop's next turn. */
void loop_make_ready(struct fiber *f);
void loop_arm_tick(void);
/* Main stack: called at each tick; true: something waits for another one. One is kept. */
void loop_on_tick(bool (*tick)(int64_t now_ms));
int64_t loop_now_ms(void);
/* Main stack, at the end of each callback: works off the ready list, then sends what was asked in
 * it. */
void loop_drain(void);
/* No fiber was free for the callback in work: operations fail at once. */
bool loop_is_shedding(void);
void loop_shed(bool on);

#endif
