/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krb5_klog_syslog as krb5kdc calls it. A request that has lost an operation fails in krb5kdc as if
 * the client had been wrong: it logs "PREAUTH_FAILED", for each of the client's tries, and what
 * reads such lines to find attackers (fail2ban, say) would ban users for an outage. These lines are
 * left out: the reason stands in the log already (agent_call.c), once, with the server's name.
 *
 * What this library has to say in krb5kdc goes the same way, so that it stands where kdc.conf's
 * [logging] has the rest. On a fiber's stack: texts are made on the heap.
 */
#include "klog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include "fiber.h"
#include "process.h"

int krb5_klog_syslog(int priority, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    if (process_config.is_kdc && fiber_request()->tainted)
        return 0;
    va_start(arguments, format);
    const int made = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (made < 0)
        return 0;
    const int logged = REAL(krb5_klog_syslog)(priority, "%s", text);
    free(text);
    return logged;
}

void klog_say(int priority, const char *text)
{
    if (process_config.is_kdc && REAL(krb5_klog_syslog))
        REAL(krb5_klog_syslog)(priority, "%s", text);
    else
        syslog(priority, "%s", text);
}
