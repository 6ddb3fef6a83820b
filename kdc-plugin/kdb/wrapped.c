/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding what this module stands on: the wrapped module's function table and
 * the preload library. See module.h.
 *
 * The wrapped module is looked for where libkdb5 looks: [dbmodules]
 * db_module_dir first, then krb5/plugins/kdb beside libkdb5 itself. One
 * process wraps one module.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "module_keys.h"

#define DEFAULT_WRAPPED "db2"

const kdb_vftabl *wrapped;
const struct tkdc_preload_api *preload;

static char wrapped_name[64];
static void *wrapped_library;

static krb5_error_code find_preload(krb5_context context)
{
    const struct tkdc_preload_api *api = dlsym(RTLD_DEFAULT, TKDC_PRELOAD_SYMBOL);
    if (!api) {
        krb5_set_error_message(context, KRB5_KDB_DBTYPE_INIT,
                               "ktkdc: libtkdc-k5.so is not loaded, so keys that exist only as "
                               "shares could not be used: run this program with "
                               "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtkdc-k5.so (daemons: "
                               "in a drop-in, see docs/operations.md, An installation, step 6)");
        return KRB5_KDB_DBTYPE_INIT;
    }
    if (api->api != TKDC_PRELOAD_API || api->bytes != sizeof *api ||
        strncmp(api->version, TKDC_VERSION, sizeof api->version) != 0) {
        krb5_set_error_message(context, KRB5_KDB_DBTYPE_INIT,
                               "ktkdc: libtkdc-k5.so is not of this module's version " TKDC_VERSION
                               ": install both from one package and restart this program");
        return KRB5_KDB_DBTYPE_INIT;
    }
    preload = api;
    return 0;
}

static krb5_error_code refuse_module(krb5_context context, const char *name, const char *why)
{
    krb5_set_error_message(context, KRB5_KDB_DBTYPE_INIT, "ktkdc: wrapped module '%s': %s", name,
                           why);
    return KRB5_KDB_DBTYPE_INIT;
}

/* This module leaves these to libkdb5, which a wrapped module that has its
 * own would not expect. No stock module has. kldap has its own way to rename,
 * but here nothing is renamed. */
static bool has_own_key_handling(const kdb_vftabl *table)
{
    return table->fetch_master_key || table->fetch_master_key_list ||
           table->store_master_key_list || table->dbe_search_enctype || table->change_pwd ||
           table->decrypt_key_data || table->encrypt_key_data;
}

static void *open_in(const char *directory, const char *name)
{
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/%s.so", directory, name);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *open_beside_libkdb5(const char *name)
{
    Dl_info info;
    char path[4096], directory[4200];
    if (dladdr((void *)krb5_db_open, &info) == 0 || !info.dli_fname) // NOLINT
        return NULL;
    snprintf(path, sizeof path, "%s", info.dli_fname);
    snprintf(directory, sizeof directory, "%s/krb5/plugins/kdb", dirname(path));
    return open_in(directory, name);
}

static void *open_wrapped(profile_t profile, const char *name)
{
    const char *names[] = {"dbmodules", "db_module_dir", NULL};
    char **directories = NULL;
    void *library = NULL;
    if (profile_get_values(profile, names, &directories) == 0) {
        for (size_t i = 0; !library && directories[i]; i++)
            library = open_in(directories[i], name);
        profile_free_list(directories);
    }
    return library ? library : open_beside_libkdb5(name);
}

static krb5_error_code load_wrapped(krb5_context context, profile_t profile, const char *name)
{
    if (wrapped) {
        if (strcmp(name, wrapped_name) == 0)
            return 0;
        return refuse_module(context, name, "this process already wraps another one");
    }
    if (strchr(name, '/') || strcmp(name, "ktkdc") == 0 || strlen(name) >= sizeof wrapped_name)
        return refuse_module(context, name,
                             "tkdc_wrapped takes the name of a stock module, e.g. db2");
    void *library = open_wrapped(profile, name);
    if (!library) {
        const char *why = dlerror();
        return refuse_module(context, name, why ? why : "not found");
    }
    const kdb_vftabl *table = dlsym(library, "kdb_function_table");
    krb5_error_code code = 0;
    if (!table)
        code = refuse_module(context, name, "has no kdb_function_table");
    else if (table->maj_ver != KRB5_KDB_DAL_MAJOR_VERSION)
        code = refuse_module(context, name, "is built for another version of krb5");
    else if (has_own_key_handling(table))
        code = refuse_module(context, name,
                             "treats keys in a way of its own; wrap db2, klmdb or kldap");
    else
        code = table->init_library();
    if (code) {
        dlclose(library);
        return code;
    }
    wrapped_library = library;
    wrapped = table;
    snprintf(wrapped_name, sizeof wrapped_name, "%s", name);
    return 0;
}

/* Where two agents with different rights run on one host, kadmind and the
 * tools have a socket of their own: tkdc_admin_socket. */
static krb5_error_code socket_path(profile_t profile, const char *section, bool is_kdc, char **path)
{
    char *common = NULL;
    const krb5_error_code code =
        profile_get_string(profile, "dbmodules", section, "tkdc_agent_socket",
                           is_kdc ? TKDC_KDC_SOCKET : TKDC_ADMIN_SOCKET, &common);
    if (code || is_kdc) {
        *path = common;
        return code;
    }
    const krb5_error_code admin =
        profile_get_string(profile, "dbmodules", section, "tkdc_admin_socket", common, path);
    profile_release_string(common);
    return admin;
}

static krb5_error_code read_timeout(krb5_context context, profile_t profile, const char *section,
                                    const char *name, int fallback_ms, int *timeout_ms)
{
    krb5_error_code code =
        profile_get_integer(profile, "dbmodules", section, name, fallback_ms, timeout_ms);
    if (!code && (*timeout_ms < 0 || *timeout_ms > 600000)) {
        code = KRB5_KDB_DBTYPE_INIT;
        krb5_set_error_message(context, code, "ktkdc: %s is to lie between 0 and 600000", name);
    }
    return code;
}

static krb5_error_code configure(krb5_context context, profile_t profile, const char *section,
                                 bool is_kdc)
{
    char *path = NULL;
    int timeout_ms = 0;
    const char *override = secure_getenv("TKDC_AGENT_SOCKET");
    krb5_error_code code = socket_path(profile, section, is_kdc, &path);
    if (!code)
        code = read_timeout(context, profile, section, "tkdc_timeout_ms", 0, &timeout_ms);
    /* Two servers take longer to make a key than a login's client waits. */
    if (!code && !is_kdc)
        code = read_timeout(context, profile, section, "tkdc_admin_timeout_ms", timeout_ms,
                            &timeout_ms);
    if (!code) {
        const struct tkdc_preload_config config = {
            .socket_path = override ? override : path,
            .is_kdc = is_kdc,
            .timeout_ms = (unsigned)timeout_ms,
        };
        code = preload->configure(context, &config);
    }
    profile_release_string(path);
    return code;
}

/* A key of ours that is misspelt would be ignored, and its default taken. */
static krb5_error_code check_names(krb5_context context, profile_t profile, const char *section)
{
    const char *place[] = {"dbmodules", section, NULL};
    char **names = NULL;
    krb5_error_code code = 0;
    if (profile_get_relation_names(profile, place, &names) != 0)
        return 0; /* no such stanza: defaults */
    for (char **name = names; !code && *name; name++) {
        bool found = strncmp(*name, "tkdc_", 5) != 0;
        for (size_t i = 0; !found && i < sizeof tkdc_module_keys / sizeof tkdc_module_keys[0]; i++)
            found = strcmp(*name, tkdc_module_keys[i]) == 0;
        if (found)
            continue;
        code = KRB5_KDB_DBTYPE_INIT;
        krb5_set_error_message(context, code,
                               "ktkdc: kdc.conf, [dbmodules] %s: there is no key %s; there are "
                               "tkdc_wrapped, tkdc_agent_socket, tkdc_admin_socket, "
                               "tkdc_timeout_ms and tkdc_admin_timeout_ms",
                               section, *name);
    }
    profile_free_list(names);
    return code;
}

krb5_error_code module_load(krb5_context context, const char *section, bool is_kdc)
{
    profile_t profile = NULL;
    char *name = NULL;
    krb5_error_code code = find_preload(context);
    if (!code)
        code = krb5_get_profile(context, &profile);
    if (!code)
        code = check_names(context, profile, section);
    if (!code)
        code = configure(context, profile, section, is_kdc);
    if (!code)
        code = profile_get_string(profile, "dbmodules", section, "tkdc_wrapped", DEFAULT_WRAPPED,
                                  &name);
    if (!code)
        code = load_wrapped(context, profile, name);
    profile_release_string(name);
    if (profile)
        profile_release(profile);
    return code;
}

krb5_error_code module_unload(void)
{
    krb5_error_code code = 0;
    if (wrapped)
        code = wrapped->fini_library();
    if (wrapped_library)
        dlclose(wrapped_library);
    wrapped_library = NULL;
    wrapped = NULL;
    return code;
}
