/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_agent: the plaintext reference of the agent's socket protocol.
 *
 * It answers as tkdc-agent does, but with keys that it holds in memory and in
 * a state file, IN THE CLEAR. The real agent and the servers are checked
 * against it, and the KDC plugins are tested with it. It is never installed
 * and protects nothing.
 *
 *   plain_agent SOCKET STATE [--delay-ms N] [--drop-rate F] [--kill-after N]
 *               [--refuse OPERATION] [--verbose]
 *
 * --delay-ms holds each reply back by so much (many at once, as the servers
 * would); --drop-rate loses that fraction of replies; --kill-after ends the
 * program with the N-th request unanswered; --refuse answers one operation with
 * a limit reached. One thread, one poll loop.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "keys.h"
#include "stream.h"

enum { CONNECTIONS_MAX = 256 };

struct connection {
    bool used;
    uint64_t generation; /* replies held back find their connection by it */
    struct tkdc_stream stream;
    struct plain_peer peer;
};

struct held {
    int64_t due_ms;
    unsigned slot;
    uint64_t generation;
    struct tkdc_buffer frame;
    struct held *next;
};

static struct {
    krb5_context context;
    int delay_ms;
    double drop_rate;
    long kill_after;
    const char *refuse; /* an operation's name */
    bool verbose;
    struct connection connections[CONNECTIONS_MAX];
    uint64_t generation;
    struct held *first, *last; /* the delay is one for all: a queue */
} self;

static volatile sig_atomic_t stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void hold(unsigned slot, const struct tkdc_wire_header *asked, uint16_t status,
                 struct tkdc_buffer *body)
{
    struct held *h = calloc(1, sizeof *h);
    uint8_t header[TKDC_WIRE_HEADER_BYTES];
    const struct tkdc_wire_header reply = {
        .op = asked->op, .status = status, .id = asked->id, .body_bytes = (uint32_t)body->len};
    tkdc_wire_put_header(header, &reply);
    tkdc_buffer_put(&h->frame, header, sizeof header);
    tkdc_buffer_put(&h->frame, body->data, body->len);
    h->due_ms = now_ms() + self.delay_ms;
    h->slot = slot;
    h->generation = self.connections[slot].generation;
    if (self.last)
        self.last->next = h;
    else
        self.first = h;
    self.last = h;
}

static void on_frame(void *arg, const struct tkdc_wire_header *header, struct tkdc_span body)
{
    struct connection *c = arg;
    struct tkdc_buffer out = {0};
    if (self.kill_after > 0 && --self.kill_after == 0)
        _exit(3);
    const bool refused = self.refuse && strcmp(self.refuse, tkdc_wire_op_name(header->op)) == 0;
    const uint16_t status =
        refused ? TKDC_STATUS_LIMIT : answer(self.context, &c->peer, header->op, body, &out);
    if (self.verbose)
        fprintf(stderr, "%s id %llx: %s\n", tkdc_wire_op_name(header->op),
                (unsigned long long)header->id, tkdc_status_text(status));
    if (header->op == TKDC_OP_HELLO || drand48() >= self.drop_rate)
        hold((unsigned)(c - self.connections), header, status, &out);
    tkdc_buffer_free(&out);
}

static void close_connection(struct connection *c)
{
    tkdc_stream_close(&c->stream);
    c->used = false;
}

static void send_due(void)
{
    const int64_t now = now_ms();
    while (self.first && self.first->due_ms <= now) {
        struct held *h = self.first;
        struct connection *c = &self.connections[h->slot];
        if (c->used && c->generation == h->generation) {
            tkdc_buffer_put(&c->stream.out, h->frame.data, h->frame.len);
            if (!tkdc_stream_flush(&c->stream))
                close_connection(c);
        }
        self.first = h->next;
        if (!self.first)
            self.last = NULL;
        tkdc_buffer_free(&h->frame);
        free(h);
    }
}

static void accept_one(int listener)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    for (unsigned i = 0; fd >= 0 && i < CONNECTIONS_MAX; i++) {
        struct connection *c = &self.connections[i];
        if (c->used)
            continue;
        memset(c, 0, sizeof *c);
        c->used = true;
        c->generation = ++self.generation;
        c->stream.fd = fd;
        return;
    }
    if (fd >= 0)
        close(fd);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0)
        return -1;
    return fd;
}

static void turn(int listener)
{
    struct pollfd polls[CONNECTIONS_MAX + 1];
    unsigned of[CONNECTIONS_MAX + 1];
    nfds_t n = 1;
    polls[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        const struct connection *c = &self.connections[i];
        if (!c->used)
            continue;
        of[n] = i;
        polls[n++] = (struct pollfd){.fd = c->stream.fd,
                                     .events = (short)(POLLIN | (c->stream.out.len ? POLLOUT : 0))};
    }
    int64_t wait_ms = self.first ? self.first->due_ms - now_ms() : 1000;
    if (wait_ms < 0)
        wait_ms = 0;
    if (poll(polls, n, (int)wait_ms) < 0)
        return;
    for (nfds_t i = 1; i < n; i++) {
        struct connection *c = &self.connections[of[i]];
        if ((polls[i].revents & (POLLIN | POLLHUP | POLLERR)) &&
            !tkdc_stream_read(&c->stream, on_frame, c))
            close_connection(c);
        else if ((polls[i].revents & POLLOUT) && !tkdc_stream_flush(&c->stream))
            close_connection(c);
    }
    if (polls[0].revents & POLLIN)
        accept_one(listener);
    send_due();
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"delay-ms", required_argument, NULL, 'd'},   {"drop-rate", required_argument, NULL, 'r'},
        {"kill-after", required_argument, NULL, 'k'}, {"refuse", required_argument, NULL, 'f'},
        {"verbose", no_argument, NULL, 'v'},          {NULL, 0, NULL, 0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'd':
            self.delay_ms = atoi(optarg);
            break;
        case 'r':
            self.drop_rate = atof(optarg);
            break;
        case 'k':
            self.kill_after = atol(optarg);
            break;
        case 'f':
            self.refuse = optarg;
            break;
        case 'v':
            self.verbose = true;
            break;
        default:
            exit(2);
        }
    }
    if (argc - optind != 2) {
        fprintf(stderr, "usage: plain_agent SOCKET STATE [--delay-ms N] [--drop-rate F] "
                        "[--kill-after N] [--refuse OPERATION] [--verbose]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    srand48((long)getpid());
    if (krb5_init_context(&self.context) != 0 || !keys_open(argv[optind + 1])) {
        fprintf(stderr, "plain_agent: cannot read or write %s\n", argv[optind + 1]);
        return 1;
    }
    const int listener = listen_at(argv[optind]);
    if (listener < 0) {
        fprintf(stderr, "plain_agent: %s: %s\n", argv[optind], strerror(errno));
        return 1;
    }
    while (!stop)
        turn(listener);
    unlink(argv[optind]);
    return 0;
}
