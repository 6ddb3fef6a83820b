/* SPDX-License-Identifier: Apache-2.0 */
/*
 * krb5_klog_syslog and com_err as krb5kdc calls them. A request that has lost an operation fails in
 * krb5kdc as if the client had been wrong: it logs "PREAUTH_FAILED", for each of the client's
 * tries, and what reads such lines to find attackers (fail2ban, say) would ban users for an outage.
 * These lines are left out: the reason stands in the log already (agent_call.c), with the server's
 * name. So is what krb5kdc says of each of the client's tries that got no answer ("while
 * dispatching"), which repeats that reason. Whatever else it says of such a request is logged: who
 * asked for what.
 *
 * Lines of a request that has asked the servers end in its id, under which the agent's and the
 * servers' logs have what was asked.
 *
 * What this library has to say in krb5kdc goes the same way, so that it stands where kdc.conf's
 * [logging] has the rest. On a fiber's stack: texts are made on the heap.
 */
#include "klog.h"

#include <com_err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fiber.h"
#include "process.h"

/* As do_as_req.c and kdc_preauth.c have it: the preauthentication's module failed, and so did the
 * request. Both repeat what agent_call.c has said of the operation. */
static bool blames_client(const char *text)
{
    return strncmp(text, "preauth (", strlen("preauth (")) == 0 ||
           strstr(text, ": PREAUTH_FAILED: ") != NULL;
}

/* In krb5kdc's log. */
static int say(int priority, const char *text)
{
    const uint64_t id = process_config.is_kdc ? fiber_request()->id : 0;
    if (id)
        return REAL(krb5_klog_syslog)(priority, "%s, TKDC_REQUEST=%016" PRIx64, text, id);
    return REAL(krb5_klog_syslog)(priority, "%s", text);
}

int krb5_klog_syslog(int priority, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int made = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (made < 0)
        return 0;
    const bool left_out = process_config.is_kdc && fiber_request()->tainted && blames_client(text);
    const int logged = left_out ? 0 : say(priority, text);
    free(text);
    return logged;
}

void com_err(const char *program, long code, const char *format, ...)
{
    static const char no_answer[] = "while dispatching";
    if (process_config.is_kdc && fiber_request()->tainted && format &&
        strncmp(format, no_answer, sizeof no_answer - 1) == 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    REAL(com_err_va)(program, code, format, arguments);
    va_end(arguments);
}

void klog_say(int priority, const char *text)
{
    if (process_config.is_kdc && REAL(krb5_klog_syslog))
        say(priority, text);
    else
        syslog(priority, "%s", text);
}
