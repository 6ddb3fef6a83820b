/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which handles this process gave out.
 *
 * A handle is no secret and its form can be imitated: a client's authenticator
 * or another realm's ticket may bring a "key" of any length. So ktkdc.so and
 * this library stamp what they hand out, with keyed BLAKE2b under a secret that
 * the process draws at start, and nothing is taken for a handle without the
 * stamp: formed like one, it is a key that libk5crypto refuses for its length.
 *
 * The stamp stands in the handle's last TKDC_HANDLE_STAMP_BYTES, which are zero
 * in the stored form (handle.h), and covers everything else, what stands
 * behind a derived handle too. It depends on nothing but that: equal handles
 * stay equal octets, which libkadm5srv's password history compares, and a
 * copied keyblock is as good as the first.
 *
 * Children of fork() keep the secret, as they keep the handles that their
 * parent has: workers of krb5kdc, kadmind. No stamp leaves a process; no
 * client is ever sent a handle.
 *
 * Threads: drawn under agent_call.c's lock, then only read. Secret: `secret`.
 */
#ifndef TKDC_PRELOAD_STAMP_H
#define TKDC_PRELOAD_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Draws the secret unless there is one. False: nothing could be stamped. */
bool stamp_draw(void);

/* Of a handle or a derived handle, in place. False: it is neither long nor short enough, or no
 * secret was drawn. */
bool stamp_put(uint8_t *octets, size_t len);

/* Copies `len` octets without their stamp to `plain`, for the decoders. False, and nothing is
 * copied, when it is not this process's. */
bool stamp_take_off(const uint8_t *octets, size_t len, uint8_t *plain);

#endif
