/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libverto as krb5kdc uses it. This library is loaded into programs that do
 * not have libverto, so its functions are looked up, not linked.
 */
#ifndef TKDC_PRELOAD_VERTO_CALLS_H
#define TKDC_PRELOAD_VERTO_CALLS_H

#include <stdbool.h>
#include <verto.h>

struct verto_calls {
    verto_ctx *ctx; /* krb5kdc's loop */
    __typeof__(&verto_add_io) add_io;
    __typeof__(&verto_add_timeout) add_timeout;
    __typeof__(&verto_set_flags) set_flags;
    __typeof__(&verto_get_flags) get_flags;
    __typeof__(&verto_del) del;
};

extern struct verto_calls verto_calls;

#endif
