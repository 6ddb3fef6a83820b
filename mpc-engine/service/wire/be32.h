/* SPDX-License-Identifier: Apache-2.0 */
/* 32-bit numbers in network order, as everything on the wire and in the marks
   of key data has them. */
#ifndef TKDC_BE32_H
#define TKDC_BE32_H

#include <stdint.h>

static inline void tkdc_put_u32(uint8_t *out, uint32_t v)
{
    out[0] = (uint8_t)(v >> 24);
    out[1] = (uint8_t)(v >> 16);
    out[2] = (uint8_t)(v >> 8);
    out[3] = (uint8_t)v;
}

static inline uint32_t tkdc_get_u32(const uint8_t *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

#endif
