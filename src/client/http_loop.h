/* What the two halves of http share: http.c is the loop, http_transfer.c one transfer in it. */
#ifndef IPW_CLIENT_HTTP_LOOP_H
#define IPW_CLIENT_HTTP_LOOP_H

#include "client/http.h"

#include <curl/curl.h>

/* Sorted by time; almost always appended at the end. */
struct http_timers {
    struct http_timer *first, *last;
};

struct http {
    CURLM *multi;
    int epoll_fd;
    int wake_fd; /* in the epoll set; -1 = none */
    mono_ns curl_timer;
    struct http_request *starting; /* not yet given to libcurl; the oldest first */
    struct http_request **starting_end;
    struct http_request *active; /* given to libcurl */
    size_t in_flight;
    struct http_timers totals, idles;
    struct curl_slist *get_headers, *post_headers;
    char *socket;
    mono_ns connect_timeout_ns;
};

/* A transfer ready to be added to the loop. NULL when libcurl refuses; then r->words say why. */
CURL *transfer_new(struct http *h, struct http_request *r);
/* How the transfer ended. Fills r->words when it failed. */
enum failure transfer_verdict(struct http_request *r, CURLcode code);

void timer_set(struct http_timers *l, struct http_timer *t, mono_ns at);
void timer_clear(struct http_timers *l, struct http_timer *t);

#endif
