/* SPDX-License-Identifier: Apache-2.0 */
/* One request at a time per principal: see serial.h. */
#include "serial.h"
#include "equal.h"

#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "process.h"

enum { BUCKETS = 1024 };

struct serial_lock {
    uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES];
    unsigned waiting;
    struct fiber *first, *last; /* waiters */
    struct serial_lock *next;
};

static struct serial_lock *buckets[BUCKETS];
static unsigned waiting;

static struct serial_lock **find(const uint8_t *principal)
{
    /* A SHA-256 digest is its own hash. */
    struct serial_lock **at = &buckets[(principal[0] | principal[1] << 8) % BUCKETS];
    while (*at && !tkdc_equal((*at)->principal, principal, sizeof(*at)->principal))
        at = &(*at)->next;
    return at;
}

static krb5_error_code refuse(krb5_context context, struct fiber *self, const char *why)
{
    self->state.tainted = true;
    krb5_set_error_message(context, KRB5KDC_ERR_SVC_UNAVAILABLE, "tkdc: %s", why);
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
}

static void remove_waiter(struct serial_lock *l, struct fiber *f)
{
    struct fiber *before = NULL;
    for (struct fiber *w = l->first; w && w != f; w = w->next)
        before = w;
    if (before)
        before->next = f->next;
    else
        l->first = f->next;
    if (l->last == f)
        l->last = before;
    f->next = NULL;
    l->waiting--;
    waiting--;
}

/* Main stack: the fiber has ended; hands the principal to the next waiter. */
static void release(struct fiber *f)
{
    struct serial_lock *l = f->lock;
    f->lock = NULL;
    if (!l)
        return;
    struct fiber *heir = l->first;
    if (heir) {
        remove_waiter(l, heir);
        heir->granted = true;
        loop_make_ready(heir);
        return;
    }
    struct serial_lock **at = find(l->principal);
    *at = l->next;
    free(l);
}

/* Main stack: waiters past their deadline give up. True: others wait. */
static bool expire(int64_t now_ms)
{
    for (unsigned i = 0; waiting && i < BUCKETS; i++)
        for (struct serial_lock *l = buckets[i]; l; l = l->next)
            for (struct fiber *f = l->first, *next; f; f = next) {
                next = f->next;
                if (f->deadline_ms > now_ms)
                    continue;
                remove_waiter(l, f);
                loop_make_ready(f);
            }
    return waiting != 0;
}

krb5_error_code serial_take(krb5_context context,
                            const uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES], bool *waited)
{
    struct fiber *self = fiber_current();
    *waited = false;
    if (!self || self->lock || self->state.database)
        return 0;
    fiber_on_end(release);
    loop_on_tick(expire);
    struct serial_lock **at = find(principal);
    if (!*at) {
        struct serial_lock *l = calloc(1, sizeof *l);
        if (!l)
            return refuse(context, self, "out of memory");
        memcpy(l->principal, principal, sizeof l->principal);
        *at = l;
        self->lock = l;
        return 0;
    }
    struct serial_lock *l = *at;
    if (l->waiting >= SERIAL_QUEUE_MAX)
        return refuse(context, self, "too many logins of one principal at once");
    self->next = NULL;
    if (l->last)
        l->last->next = self;
    else
        l->first = self;
    l->last = self;
    l->waiting++;
    waiting++;
    self->granted = false;
    self->lock = l;
    self->deadline_ms = loop_now_ms() + process_config.timeout_ms;
    loop_arm_tick();
    *waited = true;
    fiber_suspend();
    if (!self->granted) {
        self->lock = NULL;
        return refuse(context, self, "waited too long for another login of this principal");
    }
    return 0;
}
