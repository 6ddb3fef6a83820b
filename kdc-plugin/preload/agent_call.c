/* SPDX-License-Identifier: Apache-2.0 */
/* One operation with a key that exists as shares: see agent_call.h. */
#include "agent_call.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <syslog.h>

#include "client.h"
#include "fiber.h"
#include "klog.h"
#include "log_limit.h"
#include "loop.h"
#include "process.h"
#include "stamp.h"

enum { KDC_TIMEOUT_MS = 5000, ADMIN_TIMEOUT_MS = 30000 };

/* OpenSSL reads its configuration and loads its provider at the first use, which takes more stack
 * than a fiber has: here that is the main one. */
static bool wake_openssl(void)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    return EVP_Digest("", 0, digest, NULL, EVP_sha256(), NULL) == 1;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tkdc_client client = {.stream = {.fd = -1}};

krb5_error_code agent_configure(krb5_context context, const struct tkdc_preload_config *config)
{
    if (strlen(config->socket_path) >= sizeof process_config.socket_path) {
        krb5_set_error_message(context, KRB5_KDB_DBTYPE_INIT,
                               "tkdc_agent_socket is longer than a Unix socket's name can be");
        return KRB5_KDB_DBTYPE_INIT;
    }
    pthread_mutex_lock(&lock);
    const bool ready = wake_openssl() && stamp_draw();
    snprintf(process_config.socket_path, sizeof process_config.socket_path, "%s",
             config->socket_path);
    process_config.is_kdc = config->is_kdc;
    process_config.timeout_ms = config->timeout_ms ? config->timeout_ms
                                : config->is_kdc   ? KDC_TIMEOUT_MS
                                                   : ADMIN_TIMEOUT_MS;
    if (!process_config.configured || strcmp(client.path, config->socket_path) != 0) {
        tkdc_client_close(&client);
        tkdc_client_init(&client, config->socket_path,
                         config->is_kdc ? TKDC_ROLE_KDC : TKDC_ROLE_ADMIN);
    }
    process_config.configured = true;
    pthread_mutex_unlock(&lock);
    if (ready)
        return 0;
    krb5_set_error_message(context, KRB5_KDB_DBTYPE_INIT,
                           "tkdc: neither the system's random octets nor OpenSSL's SHA-256 can be "
                           "had: look at openssl.cnf, and start the program again");
    return KRB5_KDB_DBTYPE_INIT;
}

static krb5_error_code error_of_status(uint16_t status)
{
    switch (status) {
    case TKDC_STATUS_OK:
        return 0;
    case TKDC_STATUS_INTEGRITY:
        return KRB5KRB_AP_ERR_BAD_INTEGRITY;
    case TKDC_STATUS_DENIED:
        return KRB5_KDB_UNAUTH;
    case TKDC_STATUS_UNKNOWN_KEY:
        return KRB5_KDB_NO_MATCHING_KEY;
    case TKDC_STATUS_BAD_REQUEST:
        return KRB5_CRYPTO_INTERNAL;
    default:
        return KRB5KDC_ERR_SVC_UNAVAILABLE;
    }
}

static void log_loss(const char *operation, const char *what, const char *why)
{
    static struct log_limit limit;
    unsigned long suppressed;
    if (!log_limit_passes(&limit, &suppressed))
        return;
    char *text = NULL;
    if (asprintf(&text, "tkdc: %s failed, the client is not to blame: %s: %s (%lu more not logged)",
                 operation, what, why, suppressed) < 0)
        return;
    klog_say(LOG_ERR, text);
    free(text);
}

static void taint(struct request_state *state)
{
    if (process_config.is_kdc && (fiber_current() || loop_is_shedding()))
        state->tainted = true;
}

void agent_lost(const char *operation, const char *what, const char *why)
{
    struct request_state *state = fiber_request();
    if (!state->tainted)
        log_loss(operation, what, why);
    taint(state);
}

static void ask_blocking(const struct tkdc_request *request, struct tkdc_reply *reply)
{
    pthread_mutex_lock(&lock);
    tkdc_client_call(&client, request, process_config.timeout_ms, reply);
    if (client.greeted)
        process_learn_installation(client.installation);
    pthread_mutex_unlock(&lock);
}

/* One id for all that a client's request asks. It only has to differ from others': without the
 * system's random octets the request goes on without one. */
static uint64_t request_id(struct request_state *state)
{
    if (!state->id && getrandom(&state->id, sizeof state->id, GRND_NONBLOCK) != sizeof state->id)
        state->id = 0;
    return state->id;
}

static void ask_in_fiber(struct request_state *state, const struct tkdc_request *request,
                         struct tkdc_reply *reply)
{
    struct tkdc_request named = *request;
    named.request_id = request_id(state);
    loop_ask(&named, reply);
}

static void ask(struct request_state *state, const struct tkdc_request *request,
                struct tkdc_reply *reply)
{
    if (!process_config.configured)
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE,
                        "libtkdc-k5.so has not been told where the agent is: is ktkdc the "
                        "db_library of this realm?");
    else if (state->tainted)
        tkdc_reply_fail(reply, TKDC_STATUS_UNAVAILABLE, "an earlier operation was lost");
    else if (fiber_current() && state->database)
        tkdc_reply_fail(reply, TKDC_STATUS_INTERNAL, "operation inside a database call");
    else if (fiber_current())
        ask_in_fiber(state, request, reply);
    else if (loop_is_shedding())
        tkdc_reply_fail(reply, TKDC_STATUS_LIMIT, "too many requests in work");
    else
        ask_blocking(request, reply);
}

krb5_error_code agent_call(krb5_context context, const struct tkdc_request *request,
                           struct tkdc_reply *reply)
{
    struct request_state *state = fiber_request();
    const bool lost_before = state->tainted;

    memset(reply, 0, sizeof *reply);
    ask(state, request, reply);
    const krb5_error_code code = error_of_status(reply->status);
    if (code == 0)
        return 0;
    /* The servers' considered answer: asking again would give the same, so the client gets an
     * error instead of silence, and the request leaves no trace in the account. */
    const bool refused = reply->status == TKDC_STATUS_DENIED ||
                         reply->status == TKDC_STATUS_UNKNOWN_KEY ||
                         reply->status == TKDC_STATUS_BAD_REQUEST;
    if (refused)
        state->no_record = true;
    if (reply->status != TKDC_STATUS_INTEGRITY) {
        const char *what = tkdc_status_text(reply->status);
        char *why = strndup(reply->body.data ? (const char *)reply->body.data : "",
                            reply->body.data ? reply->body.len : 0);
        if (!refused)
            taint(state);
        if (!lost_before)
            log_loss(tkdc_wire_op_name(request->op), what, why ? why : "");
        krb5_set_error_message(context, code, "tkdc: %s: %s", what, why ? why : "");
        free(why);
    }
    tkdc_reply_free(reply);
    return code;
}
