/* SPDX-License-Identifier: Apache-2.0 */
/* Inside libtkdc-k5.so: what this process knows, in whichever fiber. */
#ifndef TKDC_PRELOAD_PROCESS_H
#define TKDC_PRELOAD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct process_config {
    char socket_path[108];
    bool is_kdc;
    unsigned timeout_ms;
    bool configured;
};

extern struct process_config process_config;

/* The id of the installation that the agent serves, once a greeting has told it. */
bool process_installation(uint8_t id[TKDC_WIRE_INSTALLATION_BYTES]);
void process_learn_installation(const uint8_t id[TKDC_WIRE_INSTALLATION_BYTES]);

/* Next definition of a symbol after this library; NULL when there is none. */
void *process_real(const char *symbol);
#define REAL(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&name) real_##name;                                                      \
        if (!real_##name)                                                                          \
            real_##name = (__typeof__(&name))process_real(#name);                                  \
        real_##name;                                                                               \
    })

#endif
