/*
 * url: the address of a server, taken apart once.
 *
 * Forms: http://host:port/path, https://..., host:port (http is meant), and for a Unix socket
 * unix:/run/server.sock or, with a path on the server, unix:/run/server.sock:/v1. Slashes at the
 * end do not count. A query or fragment is refused: paths are appended to it.
 */
#ifndef IPW_CLIENT_URL_H
#define IPW_CLIENT_URL_H

#include "base/err.h"

#include <stdbool.h>

struct url {
    char *root;     /* scheme, credentials, host, port: for libcurl only */
    char *shown;    /* the same without credentials, for people; "unix:/path" for a socket */
    char *path;     /* "" or "/..." without a slash at its end */
    char *socket;   /* path of the Unix socket, else NULL */
    char *password; /* decoded, else NULL: must never be shown */
};

/* -EINVAL with words that do not repeat the address, which may hold a password. */
int url_parse(const char *text, struct url *ret, struct err *err);
void url_release(struct url *u);

/* Has the path a part such as "v1" or "v1beta"? */
bool url_has_version(const struct url *u);
void url_add_path(struct url *u, const char *path);
/* For libcurl, and for people; the caller frees. */
char *url_full(const struct url *u, const char *path);
char *url_for_people(const struct url *u, const char *path);

#endif
