/*
 * serve: the embedded model as a server, behind OpenAI's and Ollama's protocols at once.
 *
 *     struct serve_options o = {.listen = "127.0.0.1:8000", .threads = 2};
 *     r = serve_open(&o, &server, &err);
 *     ... serve_url(server) ...                 it answers from now on
 *     serve_close(server);
 *
 *     GET  /v1/models                           GET  /api/tags  /api/version
 *     POST /v1/chat/completions                 POST /api/chat
 *     POST /v1/completions                      POST /api/generate
 *
 * There is no key and no encryption: it is for trying clients on one machine. What it accepts is
 * bounded: requests of SERVE_BODY_MAX bytes, SERVE_CONNECTIONS_MAX connections, SERVE_WAITING_MAX
 * requests that wait for a worker (more are refused with 503). A request whose client has gone is
 * given up, waiting or being answered.
 *
 * It runs on a thread of its own (libmicrohttpd's) and the workers of the model. The functions are
 * for one thread.
 */
#ifndef IPW_SERVE_SERVE_H
#define IPW_SERVE_SERVE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

#define SERVE_BODY_MAX        ((size_t)1 << 20)
#define SERVE_CONNECTIONS_MAX 128
#define SERVE_WAITING_MAX     64

struct serve_options {
    const char *listen; /* HOST:PORT or [IPV6]:PORT; port 0 = any free one */
    int threads;        /* of the model, 1 .. pocket_threads_max() */
};

struct serve;

int serve_open(const struct serve_options *o, struct serve **ret, struct err *err);
/* Ends what is being answered. NULL is fine. */
void serve_close(struct serve *s);
DEFINE_AUTO_PTR(serve, serve_close);

/* "http://127.0.0.1:8000". The server's. */
const char *serve_url(const struct serve *s);
/* Can only this machine reach it? */
bool serve_is_local(const struct serve *s);

#endif
