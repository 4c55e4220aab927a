/*
 * listen: a listening socket from the words of a person.
 */
#ifndef IPW_SERVE_LISTEN_H
#define IPW_SERVE_LISTEN_H

#include "base/err.h"

#include <stdbool.h>

struct listener {
    int fd; /* the caller's */
    bool ipv6;
    bool local;   /* a loopback address */
    char url[80]; /* with the port that it got */
};

/* "127.0.0.1:8000", "[::1]:0", "localhost:8000". -EINVAL for what is no such address; else the
 * system's reason why it cannot be had. */
int listen_open(const char *address, struct listener *ret, struct err *err);

#endif
