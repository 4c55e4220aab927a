/*
 * ipw serve-pocket: the embedded model behind HTTP, until it is told to end.
 */
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/commands.h"
#include "client/pocket/pool.h"
#include "serve/serve.h"

#include <errno.h>
#include <signal.h>

#define THREADS_DEFAULT_MAX 4

struct serve_args {
    const char *listen;
    int64_t threads;
};

static const struct option options[] = {
    {"listen", OPT_TEXT, offsetof(struct serve_args, listen),
     "where to listen; port 0 = any free one", "HOST:PORT", "127.0.0.1:8000"},
    {"threads", OPT_INT, offsetof(struct serve_args, threads),
     "answers that are made at once; 0 = one for each CPU, at most 4", "N", "0", .min = 0,
     .max = 4096},
    {0},
};

static int threads_wanted(int64_t asked)
{
    int cpus = pocket_threads_max() / POCKET_THREADS_PER_CPU;

    if (asked > 0)
        return (int)asked;
    return cpus < THREADS_DEFAULT_MAX ? cpus : THREADS_DEFAULT_MAX;
}

/* Ctrl-C and SIGTERM are how a server is told to end: that is success. */
static int wait_for_the_end(const struct serve *s, const sigset_t *ends)
{
    int signal_number;

    log_info("listening on %s", serve_url(s));
    if (!serve_is_local(s))
        log_warning("anyone who can reach this machine can use this server: it asks for no key");
    while (sigwait(ends, &signal_number) == EINTR)
        continue;
    return EXIT_DONE;
}

static int serve_run(const void *args, const struct operands *operands)
{
    const struct serve_args *a = args;
    struct serve_options o = {.listen = a->listen, .threads = threads_wanted(a->threads)};
    AUTO_PTR(serve) struct serve *s = NULL;
    struct err err = {0};
    sigset_t ends;
    int r;

    (void)operands;
    if (o.threads > pocket_threads_max()) {
        log_error("--threads: at most %d here", pocket_threads_max());
        return EXIT_USAGE;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    r = serve_open(&o, &s, &err);
    if (r < 0) {
        log_error("%s", err.text);
        return r == -EINVAL ? EXIT_USAGE : EXIT_ERROR;
    }
    return wait_for_the_end(s, &ends);
}

const struct command cmd_serve_pocket = {
    .name = "serve-pocket",
    .help = "the embedded model behind OpenAI's and Ollama's protocols",
    .options = options,
    .args_size = sizeof(struct serve_args),
    .details = "Try a client on it:\n"
               "  ipw serve-pocket &\n"
               "  curl http://127.0.0.1:8000/v1/completions -d '{\"model\":\"pocket\","
               "\"prompt\":\"2+3=\"}'\n"
               "It runs until Ctrl-C or SIGTERM. It is reachable from this machine only, unless "
               "--listen\nsays otherwise, and asks for no key.",
    .run = serve_run,
};
