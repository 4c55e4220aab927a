/*
 * loop: sockets and time for any number of exchanges, on one thread.
 */
#ifndef IPW_FAKES_LOOP_H
#define IPW_FAKES_LOOP_H

#include "exchange.h"

struct loop_options {
    const char *listen;
    int log_fd; /* -1 = no log */
    bool exit_on_stdin_close;
};

/* Prints "listening ADDRESS" and serves until SIGTERM, SIGINT, or the end of stdin. */
int loop_run(struct server *s, const struct loop_options *o, struct err *err);

#endif
