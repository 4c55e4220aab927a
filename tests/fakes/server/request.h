/*
 * request: the head of an HTTP/1.x request, from bytes that may be hostile.
 */
#ifndef IPW_FAKES_REQUEST_H
#define IPW_FAKES_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_HEAD_MAX (32u << 10)
#define REQUEST_BODY_MAX (16u << 20)

struct request {
    char method[8];
    char path[512];  /* without the query */
    char query[256]; /* "" = none */
    char authorization[256];
    char content_type[64];
    int64_t body_bytes;
    size_t head_bytes; /* head and its blank line */
    bool http10;
    bool close;      /* the client wants the connection closed afterwards */
    bool expect_100; /* it waits for leave to send the body */
};

/* 0: the head is complete and *ret filled. 1: more bytes are needed. Otherwise the HTTP status to
 * refuse with (400, 411, 413, 431, 501). */
int request_parse(const char *data, size_t n, struct request *ret);

#endif
