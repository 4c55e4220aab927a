/*
 * testserver: an ipw-testserver as a child process, and what its log says.
 *
 *     AUTO(testserver) struct testserver s = TESTSERVER_NONE;
 *     r = testserver_start(program, (const char *[]){"--tokens", "8", NULL}, &s, &err);
 *     ...                                        clients talk to s.url
 *     r = testserver_stop(&s, &err);             the log is complete from here on
 *     r = testserver_log(&s, &log, &err);
 *     served_log_release(&log);
 *
 * The server ends with the test, however that ends: it waits for the end of its stdin.
 */
#ifndef IPW_TESTS_TESTSERVER_H
#define IPW_TESTS_TESTSERVER_H

#include "base/clock.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct testserver {
    pid_t pid;     /* -1 = not running */
    int stdin_fd;  /* closing it stops the server */
    char url[192]; /* "http://127.0.0.1:41234" */
    char dir[64];  /* temporary; "" = none */
    char log[80];
};
#define TESTSERVER_NONE           \
    {                             \
        .pid = -1, .stdin_fd = -1 \
    }

/* `options` is NULL-ended and at most 64 long; --log and --exit-on-stdin-close are added. */
int testserver_start(const char *program, const char *const *options, struct testserver *ret,
                     struct err *err);
/* Waits for its end; -EIO when that was not a good one. The log stays until the release. */
int testserver_stop(struct testserver *s, struct err *err);
void testserver_release(struct testserver *s);

/* A generation as the server saw it. */
struct served {
    uint64_t prompt_hash; /* answer_hash of the prompt */
    char fault[24];       /* "" = none */
    char outcome[24];
    int status;
    mono_ns received;
    mono_ns end;   /* of the last byte */
    int64_t prompt_tokens, tokens;
    double joules; /* with --powercap: of its own tokens; else NAN */
    mono_ns *sent; /* of every event with content */
    size_t n_sent;
};

struct served_log {
    struct served *items; /* in the order of their ends */
    size_t n, cap;
};

int testserver_log(const struct testserver *s, struct served_log *ret, struct err *err);
void served_log_release(struct served_log *l);
/* The first with this prompt, else NULL. */
const struct served *served_find(const struct served_log *l, uint64_t prompt_hash);

#endif
