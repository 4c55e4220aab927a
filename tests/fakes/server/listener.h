/*
 * listener: the address the server is reached at, on this machine only.
 */
#ifndef IPW_FAKES_LISTENER_H
#define IPW_FAKES_LISTENER_H

#include "base/err.h"

#include <netinet/in.h>
#include <sys/un.h>

struct listener {
    int fd; /* -1 = closed for now */
    int family;
    union {
        struct sockaddr_in in;
        struct sockaddr_un un;
    };
};

/* "127.0.0.1:PORT" (0 = any) or "unix:PATH". A socket file of that name is replaced. */
int listener_open(const char *where, struct listener *ret, struct err *err);
/* Listens again after listener_close, at the same place. */
int listener_reopen(struct listener *l, struct err *err);
/* New connections are refused from now on. */
void listener_close(struct listener *l);
/* Also removes the socket file. */
void listener_release(struct listener *l);
/* "127.0.0.1:41234", or "unix:PATH"; size 160. */
void listener_name(const struct listener *l, char *text, size_t size);

#endif
