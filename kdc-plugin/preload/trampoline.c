/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verto_add_io() as krb5kdc sees it: its own callbacks are replaced by a
 * trampoline that runs them in a fiber.
 *
 * libverto passes a callback nothing but the event, and the event's private
 * pointer is krb5kdc's. krb5kdc has four I/O callbacks in all, so each
 * distinct one gets a trampoline of its own from a fixed set; there is no
 * table of events to keep in step with verto_del(). When the set is used up a
 * callback runs unchanged and its operations block, with a deadline.
 */

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/socket.h>

#include "fiber.h"
#include "loop.h"
#include "process.h"
#include "verto_calls.h"

enum { TRAMPOLINES = 8, UDP_RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024 };

static verto_callback *callbacks[TRAMPOLINES];

static void run_callback(void *callback, void *ctx, void *ev)
{
    /* Function pointers travel as object pointers, as POSIX allows. */
    ((verto_callback *)callback)(ctx, ev);
}

static void dispatch(unsigned index, verto_ctx *ctx, verto_ev *ev)
{
    if (!fiber_start(run_callback, (void *)callbacks[index], ctx, ev)) {
        /* None free. Not reading would spin on a readable socket, so the
         * request is read and then dropped by its first operation. */
        loop_shed(true);
        *fiber_request() = (struct request_state){0};
        callbacks[index](ctx, ev);
        *fiber_request() = (struct request_state){0};
        loop_shed(false);
    }
    loop_drain();
}

#define TRAMPOLINE(n)                                                                              \
    static void trampoline_##n(verto_ctx *ctx, verto_ev *ev)                                       \
    {                                                                                              \
        dispatch(n, ctx, ev);                                                                      \
    }
TRAMPOLINE(0)
TRAMPOLINE(1)
TRAMPOLINE(2)
TRAMPOLINE(3)
TRAMPOLINE(4)
TRAMPOLINE(5)
TRAMPOLINE(6)
TRAMPOLINE(7)

static verto_callback *const trampolines[TRAMPOLINES] = {
    trampoline_0, trampoline_1, trampoline_2, trampoline_3,
    trampoline_4, trampoline_5, trampoline_6, trampoline_7,
};

/* True when the code lies in the program itself, not in a library. */
static bool is_programs_own(verto_callback *callback)
{
    Dl_info of_callback, of_program;
    return dladdr((void *)callback, &of_callback) != 0 &&
           dladdr((void *)getauxval(AT_ENTRY), &of_program) != 0 && // NOLINT
           of_callback.dli_fbase == of_program.dli_fbase;
}

static verto_callback *trampoline_of(verto_callback *callback)
{
    for (unsigned i = 0; i < TRAMPOLINES; i++) {
        if (!callbacks[i])
            callbacks[i] = callback;
        if (callbacks[i] == callback)
            return trampolines[i];
    }
    return callback;
}

static bool look_up(verto_ctx *ctx)
{
    verto_calls.ctx = ctx;
    verto_calls.add_timeout = (__typeof__(&verto_add_timeout))process_real("verto_add_timeout");
    verto_calls.set_flags = (__typeof__(&verto_set_flags))process_real("verto_set_flags");
    verto_calls.get_flags = (__typeof__(&verto_get_flags))process_real("verto_get_flags");
    verto_calls.del = (__typeof__(&verto_del))process_real("verto_del");
    return verto_calls.add_timeout && verto_calls.set_flags && verto_calls.get_flags &&
           verto_calls.del;
}

/* A burst of logins overflows the default of 208 KiB; beyond the kernel's
 * limit only with CAP_NET_ADMIN, so failure is no error. */
static void raise_receive_buffer(int fd)
{
    int type = 0;
    socklen_t len = sizeof type;
    const int bytes = UDP_RECEIVE_BUFFER_BYTES;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 || type != SOCK_DGRAM)
        return;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

verto_ev *verto_add_io(verto_ctx *ctx, verto_ev_flag flags, verto_callback *callback, int fd)
{
    if (!verto_calls.add_io)
        verto_calls.add_io = (__typeof__(&verto_add_io))process_real("verto_add_io");
    if (!verto_calls.add_io)
        return NULL;
    if (process_config.configured && process_config.is_kdc && is_programs_own(callback) &&
        look_up(ctx)) {
        raise_receive_buffer(fd);
        callback = trampoline_of(callback);
    }
    return verto_calls.add_io(ctx, flags, callback, fd);
}
