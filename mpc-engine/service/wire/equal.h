/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison of octets in constant time, for all of kdc-plugin: little of what
 * is compared here is secret, but then nobody has to ask which.
 */
#ifndef TKDC_WIRE_EQUAL_H
#define TKDC_WIRE_EQUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool tkdc_equal(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t difference = 0;
    for (size_t i = 0; i < len; i++)
        difference |= (uint8_t)(x[i] ^ y[i]);
    return difference == 0;
}

#endif
