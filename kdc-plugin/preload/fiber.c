/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and switches: see fiber.h. */
#include "fiber.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define LEAVING(save, bottom, bytes) __sanitizer_start_switch_fiber(save, bottom, bytes)
#define ARRIVED(save, bottom, bytes) __sanitizer_finish_switch_fiber(save, bottom, bytes)
#else
#define LEAVING(save, bottom, bytes) ((void)(save), (void)(bottom), (void)(bytes))
#define ARRIVED(save, bottom, bytes) ((void)(save))
#endif

struct stack {
    struct fiber fiber; /* first: a struct fiber is converted back by a cast */
    ucontext_t context;
    uint8_t *memory; /* FIBER_GUARD_BYTES, then FIBER_STACK_BYTES */
    void *sanitizer;
    bool ended;
    fiber_body *body;
    void *a, *b, *c;
    struct stack *next_free;
};

static struct {
    ucontext_t context;
    void *sanitizer;
    const void *bottom;
    size_t bytes;
} main_stack;

static struct stack *current;
static struct stack *slots[FIBER_MAX];
static unsigned free_slots[FIBER_MAX];
static unsigned free_slot_count;
static bool slots_ready;
static struct stack *pool;
static unsigned pooled;
static unsigned live;
static struct request_state process_state; /* of what runs in no fiber */
static void (*on_end)(struct fiber *f);

static const size_t mapped_bytes = FIBER_GUARD_BYTES + FIBER_STACK_BYTES;

static struct stack *new_stack(void)
{
    struct stack *s = pool;
    if (s) {
        pool = s->next_free;
        pooled--;
        return s;
    }
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->memory = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (s->memory == MAP_FAILED || mprotect(s->memory, FIBER_GUARD_BYTES, PROT_NONE) != 0) {
        if (s->memory != MAP_FAILED)
            munmap(s->memory, mapped_bytes);
        free(s);
        return NULL;
    }
    return s;
}

static void give_back(struct stack *s)
{
    if (pooled < FIBER_POOL_MAX) {
        s->next_free = pool;
        pool = s;
        pooled++;
        return;
    }
    munmap(s->memory, mapped_bytes);
    free(s);
}

/* First code on a fiber's stack. It never returns: the last switch leaves a
 * stack that only give_back() touches again. */
static void entry(void)
{
    struct stack *self = current;
    ARRIVED(NULL, &main_stack.bottom, &main_stack.bytes);
    self->body(self->a, self->b, self->c);
    self->ended = true;
    LEAVING(NULL, main_stack.bottom, main_stack.bytes);
    setcontext(&main_stack.context);
}

/* Main stack only: runs `s` until it suspends or ends. */
static void switch_to(struct stack *s)
{
    current = s;
    LEAVING(&main_stack.sanitizer, s->memory + FIBER_GUARD_BYTES, FIBER_STACK_BYTES);
    swapcontext(&main_stack.context, &s->context);
    ARRIVED(main_stack.sanitizer, NULL, NULL);
    current = NULL;
    if (s->ended) {
        slots[s->fiber.slot] = NULL;
        free_slots[free_slot_count++] = s->fiber.slot;
        live--;
        if (on_end)
            on_end(&s->fiber);
        give_back(s);
    }
}

static bool prepare(struct stack *s)
{
    if (getcontext(&s->context) != 0)
        return false;
    s->context.uc_stack.ss_sp = s->memory + FIBER_GUARD_BYTES;
    s->context.uc_stack.ss_size = FIBER_STACK_BYTES;
    s->context.uc_link = NULL;
    makecontext(&s->context, entry, 0);
    return true;
}

bool fiber_start(fiber_body *body, void *a, void *b, void *c)
{
    if (!slots_ready) {
        for (unsigned i = 0; i < FIBER_MAX; i++)
            free_slots[i] = FIBER_MAX - 1 - i;
        free_slot_count = FIBER_MAX;
        slots_ready = true;
    }
    if (current || free_slot_count == 0)
        return false;
    struct stack *s = new_stack();
    if (!s || !prepare(s)) {
        if (s)
            give_back(s);
        return false;
    }
    memset(&s->fiber, 0, sizeof s->fiber);
    s->ended = false;
    s->body = body;
    s->a = a;
    s->b = b;
    s->c = c;
    s->fiber.slot = free_slots[--free_slot_count];
    slots[s->fiber.slot] = s;
    live++;
    switch_to(s);
    return true;
}

void fiber_suspend(void)
{
    struct stack *self = current;
    LEAVING(&self->sanitizer, main_stack.bottom, main_stack.bytes);
    swapcontext(&self->context, &main_stack.context);
    ARRIVED(self->sanitizer, &main_stack.bottom, &main_stack.bytes);
}

void fiber_resume(struct fiber *f)
{
    switch_to((struct stack *)f);
}

struct fiber *fiber_current(void)
{
    return current ? &current->fiber : NULL;
}

struct request_state *fiber_request(void)
{
    return current ? &current->fiber.state : &process_state;
}

void fiber_on_end(void (*ended)(struct fiber *f))
{
    on_end = ended;
}

struct fiber *fiber_at(unsigned slot)
{
    return slot < FIBER_MAX && slots[slot] ? &slots[slot]->fiber : NULL;
}

unsigned fiber_count(void)
{
    return live;
}
