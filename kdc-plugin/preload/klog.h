/* SPDX-License-Identifier: Apache-2.0 */
/* krb5kdc's log lines, by libkadm5srv: its header for this is not installed. */
#ifndef TKDC_PRELOAD_KLOG_H
#define TKDC_PRELOAD_KLOG_H

int krb5_klog_syslog(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line of ours: where krb5kdc writes its own, elsewhere into the system's log. */
void klog_say(int priority, const char *text);

#endif
