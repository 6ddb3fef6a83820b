/* SPDX-License-Identifier: Apache-2.0 */
/* What kdb5_util load puts in the live database's place, or into it, against the servers. */
#ifndef TKDC_KDB_LOAD_CHECK_H
#define TKDC_KDB_LOAD_CHECK_H

#include <kdb.h>
#include <krb5.h>

/* Arguments of kdb5_util's -x, which this module keeps to itself. */
#define LOAD_ANYWAY_ARGUMENT "load_anyway"
#define LOAD_COMPARE_ONLY_ARGUMENT "compare_only"

enum load_choice {
    LOAD_CHECKED,       /* what no server holds is refused */
    LOAD_ANYWAY,        /* and named alone */
    LOAD_COMPARES_ONLY, /* nothing is written */
};

/* Says on stderr which keys of this database no server holds. 0: it may take the live one's place.
 * Otherwise a code with a message that says what to do. */
krb5_error_code load_check(krb5_context context, enum load_choice choice);
/* The same of an entry that is about to be written into the live database. */
krb5_error_code load_check_entry(krb5_context context, krb5_db_entry *entry,
                                 enum load_choice choice);
/* The sums of what load_check_entry() was given since. */
void load_check_end(void);

#endif
