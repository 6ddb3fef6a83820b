/* SPDX-License-Identifier: Apache-2.0 */
/* k5_other.c's part of the table in api.h. */
#ifndef TKDC_PRELOAD_K5_OTHER_H
#define TKDC_PRELOAD_K5_OTHER_H

#include <krb5.h>
#include <stdbool.h>

bool k5_was_drawn_here(const krb5_keyblock *key);

#endif
