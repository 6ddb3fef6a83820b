/* SPDX-License-Identifier: Apache-2.0 */
/* What kdb5_util load puts in the live database's place, or into it, against the servers. */
#ifndef TKDC_KDB_LOAD_CHECK_H
#define TKDC_KDB_LOAD_CHECK_H

#include <krb5.h>

/* Says on stderr which keys of this database no server holds. Changes nothing, refuses nothing. */
void load_check(krb5_context context);

#endif
