/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and creating a database: see module.h.
 *
 * A temporary database (kdb5_util load) is filled and then promoted. Nothing
 * is destroyed at the servers on its account: the live database still names
 * the same handles. What it names and no server holds is said before
 * (load_check.h). Handles that only the replaced database named stay at the
 * servers until `tkdc reconcile --destroy`. What `kdb5_util load -update` puts
 * into the live database is promoted by nobody, so that it is compared when
 * the database is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load_check.h"
#include "module.h"
#include "update_log.h"

/* A database argument of `tkdc export restore`, whose `finish` destroys what it displaces. */
#define KEEP_DISPLACED "keep_displaced"

static bool temporary;
static bool created;
static bool keep_displaced;
static bool is_kdc;
static bool takes_handles; /* that were not given out here: see module_takes_handles() */

bool module_is_temporary(void)
{
    return temporary;
}

bool module_is_created(void)
{
    return created;
}

bool module_is_kdc(void)
{
    return is_kdc;
}

void module_takes_handles(void)
{
    takes_handles = true;
}

bool module_keeps_displaced(void)
{
    return keep_displaced;
}

static bool asks_for(char **db_args, const char *what)
{
    for (; db_args && *db_args; db_args++)
        if (strcmp(*db_args, what) == 0)
            return true;
    return false;
}

/* All but the argument that is this module's own, for the wrapped one. NULL: no memory. */
static char **of_wrapped(char **db_args)
{
    size_t count = 0;
    while (db_args && db_args[count])
        count++;
    char **out = calloc(count + 1, sizeof *out), **next = out;
    for (size_t i = 0; out && i < count; i++)
        if (strcmp(db_args[i], KEEP_DISPLACED) != 0)
            *next++ = db_args[i];
    return out;
}

/* A greeting at start tells which installation this is, and the log at once
 * when the agent is away. The KDC starts without it all the same. */
void module_greet(krb5_context context)
{
    uint8_t id[TKDC_WIRE_INSTALLATION_BYTES];
    const struct tkdc_request request = {.op = TKDC_OP_HELLO};
    struct tkdc_reply reply;
    if (preload->installation(id))
        return;
    if (preload->call(context, &request, &reply) == 0)
        tkdc_reply_free(&reply);
    krb5_clear_error_message(context);
}

krb5_error_code module_init(krb5_context context, char *section, char **db_args, int mode)
{
    if (mode & KRB5_KDB_SRV_TYPE_KDC)
        is_kdc = true;
    krb5_error_code code = module_load(context, section, is_kdc);
    if (code)
        return code;
    temporary = asks_for(db_args, "temporary");
    keep_displaced = asks_for(db_args, KEEP_DISPLACED);
    if (is_kdc)
        module_greet(context);
    if (!keep_displaced)
        return wrapped->init_module(context, section, db_args, mode);
    char **passed_on = of_wrapped(db_args);
    if (!passed_on)
        return ENOMEM;
    code = wrapped->init_module(context, section, passed_on, mode);
    free(passed_on);
    return code;
}

krb5_error_code module_fini(krb5_context context)
{
    if (wrapped && preload && takes_handles)
        load_check(context);
    takes_handles = false;
    return wrapped ? wrapped->fini_module(context) : 0;
}

/* A realm begins with keys, which need all three servers: half of one would be left behind. So a
 * key is drawn that nobody binds; it goes by itself. */
static krb5_error_code servers_make_keys(krb5_context context)
{
    const struct tkdc_request request = {
        .op = TKDC_OP_STAGE,
        .label = TKDC_ORIGIN_DRAWN,
        .key = {.kvno = 1, .enctype = ENCTYPE_AES256_CTS_HMAC_SHA1_96},
    };
    struct tkdc_reply reply;
    const krb5_error_code code = preload->call(context, &request, &reply);
    if (code) {
        krb5_prepend_error_message(context, code,
                                   "nothing was created, since no key can be made now");
        return code;
    }
    tkdc_reply_free(&reply);
    return 0;
}

krb5_error_code module_create(krb5_context context, char *section, char **db_args)
{
    krb5_error_code code = module_load(context, section, is_kdc);
    if (code)
        return code;
    if (!wrapped->create)
        return KRB5_PLUGIN_OP_NOTSUPP;
    temporary = asks_for(db_args, "temporary");
    code = temporary ? 0 : servers_make_keys(context);
    if (!code)
        code = wrapped->create(context, section, db_args);
    created = !code && !temporary;
    return code;
}

krb5_error_code module_destroy(krb5_context context, char *section, char **db_args)
{
    const krb5_error_code code = module_load(context, section, is_kdc);
    if (code)
        return code;
    return wrapped->destroy ? wrapped->destroy(context, section, db_args) : KRB5_PLUGIN_OP_NOTSUPP;
}

krb5_error_code module_promote(krb5_context context, char *section, char **db_args)
{
    REQUIRE_OPEN();
    if (!wrapped->promote_db)
        return KRB5_PLUGIN_OP_NOTSUPP;
    if (temporary && !update_log_is_replayed())
        load_check(context);
    const krb5_error_code code = wrapped->promote_db(context, section, db_args);
    if (!code)
        temporary = false;
    return code;
}
