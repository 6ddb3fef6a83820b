/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and creating a database: see module.h.
 *
 * A temporary database (kdb5_util load) is filled and then promoted. Nothing
 * is destroyed at the servers on its account: the live database still names
 * the same handles. If it names what no server holds, it is not promoted, unless
 * a database argument says so (load_check.h). Handles that only the replaced
 * database named stay at the servers until `tkdc reconcile --destroy`. What
 * `kdb5_util load -update` puts into the live database is promoted by nobody, so
 * that each entry is compared before it is written.
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
static bool refused_handles;
static enum load_choice load_choice;

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

bool module_takes_handles(void)
{
    return takes_handles;
}

krb5_error_code module_take_handles(krb5_context context, krb5_db_entry *entry)
{
    takes_handles = true;
    const krb5_error_code code = load_check_entry(context, entry, load_choice);
    refused_handles = code != 0;
    return code;
}

bool module_compares_only(void)
{
    return load_choice == LOAD_COMPARES_ONLY;
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

/* To another program's `-x load_anyway` the wrapped module says that it knows none. */
static bool is_kdb5_util(void)
{
    return strcmp(program_invocation_short_name, "kdb5_util") == 0;
}

static bool is_own(const char *argument)
{
    return strcmp(argument, KEEP_DISPLACED) == 0 ||
           (is_kdb5_util() && (strcmp(argument, LOAD_ANYWAY_ARGUMENT) == 0 ||
                               strcmp(argument, LOAD_COMPARE_ONLY_ARGUMENT) == 0));
}

static void read_arguments(char **db_args)
{
    temporary = asks_for(db_args, "temporary");
    keep_displaced = asks_for(db_args, KEEP_DISPLACED);
    load_choice = LOAD_CHECKED;
    if (is_kdb5_util() && asks_for(db_args, LOAD_ANYWAY_ARGUMENT))
        load_choice = LOAD_ANYWAY;
    if (is_kdb5_util() && asks_for(db_args, LOAD_COMPARE_ONLY_ARGUMENT))
        load_choice = LOAD_COMPARES_ONLY;
}

/* All but the arguments that are this module's own, for the wrapped one. NULL: no memory. */
static char **of_wrapped(char **db_args)
{
    size_t count = 0;
    while (db_args && db_args[count])
        count++;
    char **out = calloc(count + 1, sizeof *out), **next = out;
    for (size_t i = 0; out && i < count; i++)
        if (!is_own(db_args[i]))
            *next++ = db_args[i];
    return out;
}

/* libkdb5 logs what load -update puts, also where it was not written; and load begins the log anew
 * before it asks whether the database may be promoted. */
static krb5_error_code compares_without_log(krb5_context context)
{
    bool kept = false;
    const krb5_error_code code = update_log_is_kept(context, &kept);
    if (code || !kept)
        return code;
    krb5_set_error_message(context, KRB5_PLUGIN_OP_NOTSUPP,
                           "ktkdc: iprop_enable is set, and kdb5_util load changes the update log "
                           "even where it changes nothing else: for -x " LOAD_COMPARE_ONLY_ARGUMENT
                           " name a kdc.conf without it (KRB5_KDC_PROFILE)");
    return KRB5_PLUGIN_OP_NOTSUPP;
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
    read_arguments(db_args);
    if (module_compares_only() && (code = compares_without_log(context)) != 0)
        return code;
    if (is_kdc)
        module_greet(context);
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
        load_check_end();
    /* kdb5_util leaves a database locked for good into which it loaded half a dump. What was
     * refused is not in it, and all before is what the servers hold. */
    if (wrapped && refused_handles && wrapped->unlock)
        (void)wrapped->unlock(context);
    takes_handles = refused_handles = false;
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
    read_arguments(db_args);
    if (module_compares_only() && (code = compares_without_log(context)) != 0)
        return code;
    char **passed_on = of_wrapped(db_args);
    if (!passed_on)
        return ENOMEM;
    code = temporary ? 0 : servers_make_keys(context);
    if (!code)
        code = wrapped->create(context, section, passed_on);
    created = !code && !temporary;
    free(passed_on);
    return code;
}

krb5_error_code module_destroy(krb5_context context, char *section, char **db_args)
{
    krb5_error_code code = module_load(context, section, is_kdc);
    if (code)
        return code;
    if (!wrapped->destroy)
        return KRB5_PLUGIN_OP_NOTSUPP;
    char **passed_on = of_wrapped(db_args);
    if (!passed_on)
        return ENOMEM;
    code = wrapped->destroy(context, section, passed_on);
    free(passed_on);
    return code;
}

krb5_error_code module_promote(krb5_context context, char *section, char **db_args)
{
    REQUIRE_OPEN();
    if (!wrapped->promote_db)
        return KRB5_PLUGIN_OP_NOTSUPP;
    krb5_error_code code = 0;
    if (temporary && !update_log_is_replayed())
        code = load_check(context, load_choice);
    if (code)
        return code;
    char **passed_on = of_wrapped(db_args);
    if (!passed_on)
        return ENOMEM;
    code = wrapped->promote_db(context, section, passed_on);
    free(passed_on);
    if (!code)
        temporary = false;
    return code;
}
