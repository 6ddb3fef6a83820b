/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of handles: see stamp.h. */
#include "stamp.h"

#include <sodium.h>
#include <string.h>
#include <sys/random.h>

#include "derivation.h"
#include "equal.h"

enum { SECRET_BYTES = 32 };

static uint8_t secret[SECRET_BYTES];
static bool drawn;

/* Of octets whose stamp is zero. */
static bool compute(const uint8_t *plain, size_t len, uint8_t out[TKDC_HANDLE_STAMP_BYTES])
{
    return crypto_generichash(out, TKDC_HANDLE_STAMP_BYTES, plain, len, secret, sizeof secret) == 0;
}

bool stamp_draw(void)
{
    if (!drawn)
        drawn = sodium_init() >= 0 && getrandom(secret, sizeof secret, 0) == sizeof secret;
    return drawn;
}

static bool is_sized(const uint8_t *octets, size_t len)
{
    return drawn && octets && len >= TKDC_HANDLE_BYTES && len <= TKDC_DERIVED_HANDLE_MAX_BYTES;
}

bool stamp_put(uint8_t *octets, size_t len)
{
    uint8_t stamp[TKDC_HANDLE_STAMP_BYTES];
    if (!is_sized(octets, len))
        return false;
    memset(octets + TKDC_HANDLE_STAMP_AT, 0, sizeof stamp);
    if (!compute(octets, len, stamp))
        return false;
    memcpy(octets + TKDC_HANDLE_STAMP_AT, stamp, sizeof stamp);
    return true;
}

bool stamp_take_off(const uint8_t *octets, size_t len, uint8_t *plain)
{
    uint8_t copy[TKDC_DERIVED_HANDLE_MAX_BYTES], stamp[TKDC_HANDLE_STAMP_BYTES];
    if (!is_sized(octets, len))
        return false;
    memcpy(copy, octets, len);
    memset(copy + TKDC_HANDLE_STAMP_AT, 0, sizeof stamp);
    const bool holds =
        compute(copy, len, stamp) && tkdc_equal(stamp, octets + TKDC_HANDLE_STAMP_AT, sizeof stamp);
    if (holds)
        memcpy(plain, copy, len);
    explicit_bzero(stamp, sizeof stamp); /* the right one, for octets that somebody sent */
    explicit_bzero(copy, sizeof copy);   /* a derived handle's known half */
    return holds;
}
