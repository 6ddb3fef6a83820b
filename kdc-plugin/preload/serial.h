/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request at a time per principal. Lockout counts failures that were
 * recorded before; with many requests suspended at once, thirty guesses would
 * all be evaluated before the first was counted. So a login of a principal
 * whose policy has a lockout holds the principal until its fiber ends, the
 * others wait in a bounded queue, in order.
 */
#ifndef TKDC_PRELOAD_SERIAL_H
#define TKDC_PRELOAD_SERIAL_H

#include <krb5.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

enum { SERIAL_QUEUE_MAX = 64 };

/* api.h: serialise. */
krb5_error_code serial_take(krb5_context context,
                            const uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES], bool *waited);

#endif
