/* SPDX-License-Identifier: Apache-2.0 */
/* At most one line of a kind in LOG_INTERVAL_S: what others cause must not fill the disk. */
#ifndef TKDC_PRELOAD_LOG_LIMIT_H
#define TKDC_PRELOAD_LOG_LIMIT_H

#include <stdbool.h>
#include <time.h>

enum { LOG_INTERVAL_S = 5 };

struct log_limit {
    time_t last;
    unsigned long suppressed;
};

/* True when a line is due; *suppressed then counts those left out since the last one. */
static inline bool log_limit_passes(struct log_limit *limit, unsigned long *suppressed)
{
    const time_t now = time(NULL);
    if (now - limit->last < LOG_INTERVAL_S) {
        limit->suppressed++;
        return false;
    }
    *suppressed = limit->suppressed;
    limit->last = now;
    limit->suppressed = 0;
    return true;
}

#endif
