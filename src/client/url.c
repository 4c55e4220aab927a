/*
 * libcurl takes the address apart, because libcurl will use it: two parsers that disagree about
 * where a host name ends are a hole.
 */
#include "client/url.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

void url_release(struct url *u)
{
    free(u->root);
    free(u->shown);
    free(u->path);
    free(u->socket);
    free(u->password);
    *u = (struct url){0};
}

static void cut_slashes(char *path)
{
    size_t n = strlen(path);

    while (n > 0 && path[n - 1] == '/')
        path[--n] = '\0';
}

/* unix:/socket or unix:/socket:/path */
static int parse_unix(const char *text, struct url *ret, struct err *err)
{
    const char *colon = strstr(text, ":/");
    size_t n = colon ? (size_t)(colon - text) : strlen(text);

    if (*text != '/' || n < 2)
        return err_set(err, EINVAL,
                       "the base URL names no Unix socket (unix:/path or "
                       "unix:/path:/v1)");
    if (n >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return err_set(err, ENAMETOOLONG, "the path of the Unix socket is too long");
    *ret = (struct url){
        .root = xstrdup("http://localhost"),
        .path = xstrdup(colon ? colon + 1 : ""),
        .socket = xstrndup(text, n),
    };
    ret->shown = xasprintf("unix:%s", ret->socket);
    cut_slashes(ret->path);
    return 0;
}

/* A part of the address as a string of our own; NULL when it has none. */
static char *get_part(CURLU *u, CURLUPart part, unsigned flags)
{
    char *text = NULL, *copy = NULL;

    if (curl_url_get(u, part, &text, flags) == CURLUE_OK)
        copy = xstrdup(text);
    curl_free(text);
    return copy;
}

/* The address without its path. */
static char *get_root(CURLU *u)
{
    char *root;

    curl_url_set(u, CURLUPART_PATH, "/", 0);
    root = get_part(u, CURLUPART_URL, 0);
    if (root)
        cut_slashes(root);
    return root;
}

static int take_apart(CURLU *u, struct url *ret, struct err *err)
{
    AUTO_FREE char *scheme = get_part(u, CURLUPART_SCHEME, 0),
                   *query = get_part(u, CURLUPART_QUERY, 0),
                   *fragment = get_part(u, CURLUPART_FRAGMENT, 0);

    if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        return err_set(err, EINVAL, "the base URL must begin with http://, https:// or unix:");
    if (query || fragment)
        return err_set(err, EINVAL, "the base URL must not have a query or a fragment");
    ret->path = get_part(u, CURLUPART_PATH, 0);
    ret->password = get_part(u, CURLUPART_PASSWORD, CURLU_URLDECODE);
    ret->root = get_root(u);
    curl_url_set(u, CURLUPART_USER, NULL, 0);
    curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
    curl_url_set(u, CURLUPART_OPTIONS, NULL, 0);
    ret->shown = get_root(u);
    if (!ret->path || !ret->root || !ret->shown)
        return err_set(err, EINVAL, "the base URL is malformed");
    cut_slashes(ret->path);
    return 0;
}

int url_parse(const char *text, struct url *ret, struct err *err)
{
    AUTO_FREE char *with_scheme = NULL;
    struct url parsed = {0};
    CURLU *u;
    CURLUcode code;
    int r;

    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(strncmp(text, "unix:///", 8) == 0 ? text + 7 : text + 5, ret, err);
    with_scheme = xasprintf("%s%s", strstr(text, "://") ? "" : "http://", text);
    u = curl_url();
    code = curl_url_set(u, CURLUPART_URL, with_scheme, CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK)
        r = err_set(err, EINVAL, "the base URL is malformed: %s", curl_url_strerror(code));
    else
        r = take_apart(u, &parsed, err);
    curl_url_cleanup(u);
    if (r < 0)
        url_release(&parsed);
    else
        *ret = parsed;
    return r;
}

bool url_has_version(const struct url *u)
{
    for (const char *p = u->path; *p; p++)
        if (p[0] == '/' && p[1] == 'v' && isdigit((unsigned char)p[2]))
            return true;
    return false;
}

void url_add_path(struct url *u, const char *path)
{
    char *longer = xasprintf("%s%s", u->path, path);

    free(u->path);
    u->path = longer;
}

char *url_full(const struct url *u, const char *path)
{
    return xasprintf("%s%s%s", u->root, u->path, path);
}

char *url_for_people(const struct url *u, const char *path)
{
    bool colon = u->socket && (*u->path || *path);

    return xasprintf("%s%s%s%s", u->shown, colon ? ":" : "", u->path, path);
}
