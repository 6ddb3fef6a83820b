/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkdb5's log of incremental propagation (iprop), as far as this module has
 * to know of it.
 *
 * With iprop_enable libkdb5 copies an entry before it is put here, and logs the
 * copy once it is written: the log names handles as fresh that are bound by
 * then. kpropd, which replays the log at a replica, takes them for what they
 * are, and makes and removes nothing at the servers: the primary did.
 *
 * A record of the log has less than 64 KiB. libkdb5 notices that only after the
 * entry is written, and leaves replicas with the old one.
 */
#ifndef TKDC_KDB_UPDATE_LOG_H
#define TKDC_KDB_UPDATE_LOG_H

#include "module.h"

/* What is put and deleted was put and deleted at the primary before. */
bool update_log_is_replayed(void);

/* Whether this realm has such a log. */
krb5_error_code update_log_is_kept(krb5_context context, bool *kept);

/* Before fresh keys of an entry are bound: whether the log, if there is one, takes the entry. */
krb5_error_code update_log_has_room(krb5_context context, const krb5_db_entry *entry,
                                    const char *principal);

#endif
