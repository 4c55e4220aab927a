/*
 * probe: a plain socket client and a process handle, to test the test server without any HTTP
 * library in between.
 *
 *     struct probe_server s = probe_start((const char *[]){"--ttft", "1ms", NULL});
 *     struct probe_reply r = probe_post(&s, "/v1/completions", "{...}");
 *     probe_reply_release(&r);
 *     probe_stop(&s);
 *
 * Everything that must not happen fails the test at once, with words.
 */
#ifndef IPW_E2E_PROBE_H
#define IPW_E2E_PROBE_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct probe_server {
    pid_t pid;
    int stdin_fd;      /* closing it stops the server */
    uint16_t port;     /* 0 = a Unix socket */
    char address[160]; /* as printed */
    char dir[64];      /* temporary, removed at the stop */
    char log[80];      /* the server's log in it */
};

/* The program's path is in the environment, IPW_TESTSERVER. `options` are added to --log and
 * --exit-on-stdin-close. */
struct probe_server probe_start(const char *const *options);
/* Closes its stdin, waits, checks that it ended well, and removes the directory. */
void probe_stop(struct probe_server *s);
/* The same without the removal, for a look into the log. */
void probe_wait(struct probe_server *s);
void probe_remove(struct probe_server *s);
/* Line n of the log, from 0; fails when there are fewer. Waits for a server that runs. */
void probe_log_line(const struct probe_server *s, int n, struct json_doc *ret);

/* A connection, or -1 when it was refused. */
int probe_connect(const struct probe_server *s);
void probe_send(int fd, const void *data, size_t n);
/* "METHOD path HTTP/1.1" with a body (NULL = none); more = further header lines with CRLF. */
void probe_request(int fd, const char *method, const char *path, const char *more,
                   const char *body);

struct probe_reply {
    struct buf raw;
    int status;       /* 0 = none came */
    struct buf head;  /* header lines */
    struct buf body;  /* without chunk framing */
    bool complete;    /* the body came to its end */
    bool reset;       /* the connection was reset */
    mono_ns first_at; /* first byte */
    int pieces;       /* receives */
    int inside;       /* of these, the ones that began inside a character */
    mono_ns end_at;
};

/* Reads until the connection closes, at most `max` bytes; 20 s without a byte fails the test. */
struct probe_reply probe_read(int fd, size_t max);
struct probe_reply probe_post(const struct probe_server *s, const char *path, const char *body);
struct probe_reply probe_get(const struct probe_server *s, const char *path);
void probe_reply_release(struct probe_reply *r);
/* Splits raw into status, head and body, as probe_read does. */
void probe_parse(struct probe_reply *r);

/* What a stream or a whole answer said, whichever protocol. */
struct probe_answer {
    struct buf text, reasoning;
    char finish[32];                          /* "" = none */
    char error[128];                          /* "" = none */
    int64_t prompt_tokens, completion_tokens; /* -1 = not told; the last told counts */
    int events;                               /* JSON documents */
    int with_text;
    bool done;    /* [DONE], or done:true */
    bool timings; /* timings, metrics or durations */
    bool bad_json;
};

struct probe_answer probe_answer(const struct probe_reply *r);
void probe_answer_release(struct probe_answer *a);

#endif
