/*
 * One transfer: its options, what libcurl calls back, and what its error codes mean to us.
 *
 * Time stamps: a piece is stamped when libcurl hands it over, right after the read. Within one call
 * libcurl may read several times, so no time is carried over from piece to piece.
 */
#include "client/http_loop.h"

#include "version.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* One read holds some sixty events; two thousand streams need 32 MiB of these. */
#define RECEIVE_BYTES 16384L
#define UPLOAD_BYTES  16384L
#define RETRY_MAX_S   (365 * 86400)

/* A byte came: the idle limit counts anew. */
static void touch(struct http_request *r, mono_ns at)
{
    if (r->idle_ns > 0)
        timer_set(&r->http->idles, &r->idle, at + r->idle_ns);
}

static int on_sent(void *arg, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    struct http_request *r = arg;
    mono_ns at = mono_now();

    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    touch(r, at);
    if (r->handler->sent)
        r->handler->sent(r, at);
    return CURL_PREREQFUNC_OK;
}

static size_t on_header(char *line, size_t size, size_t count, void *arg)
{
    struct http_request *r = arg;
    size_t n = size * count;
    mono_ns at = mono_now();
    long status = 0;

    touch(r, at);
    if (r->headers_over || n > 2 || (line[0] != '\r' && line[0] != '\n'))
        return n;
    curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return n;
    r->headers_over = true;
    r->status = (int)status;
    if (r->handler->headers)
        r->handler->headers(r, at);
    return n;
}

static size_t on_body(char *piece, size_t size, size_t count, void *arg)
{
    struct http_request *r = arg;
    size_t n = size * count;
    mono_ns at = mono_now();

    touch(r, at);
    if (r->handler->data && r->handler->data(r, piece, n, at) != 0) {
        r->aborted = true;
        return CURL_WRITEFUNC_ERROR;
    }
    return n;
}

/* The variables of the curl command. */
static void set_authorities(CURL *e)
{
    const char *bundle = getenv("CURL_CA_BUNDLE"), *file = getenv("SSL_CERT_FILE"),
               *dir = getenv("SSL_CERT_DIR");

    if (!bundle || !*bundle)
        bundle = file;
    if (bundle && *bundle)
        curl_easy_setopt(e, CURLOPT_CAINFO, bundle);
    if (dir && *dir)
        curl_easy_setopt(e, CURLOPT_CAPATH, dir);
}

static void set_callbacks(CURL *e, struct http_request *r)
{
    curl_easy_setopt(e, CURLOPT_PRIVATE, r);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, r->words);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_sent);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, r);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

CURL *transfer_new(struct http *h, struct http_request *r)
{
    CURL *e = curl_easy_init();
    CURLcode code;

    if (!e) {
        snprintf(r->words, sizeof(r->words), "libcurl gives no handle");
        return NULL;
    }
    set_callbacks(e, r);
    set_authorities(e);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_USERAGENT, "ipw/" IPW_VERSION);
    /* understood; a header of the list takes back that it is asked for */
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BYTES);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(h->connect_timeout_ns / NS_PER_MS));
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, r->body ? h->post_headers : h->get_headers);
    if (r->body) {
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, r->body);
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
    }
    if (h->socket)
        curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, h->socket);
    code = curl_easy_setopt(e, CURLOPT_URL, r->url);
    if (code != CURLE_OK) {
        snprintf(r->words, sizeof(r->words), "%s", curl_easy_strerror(code));
        curl_easy_cleanup(e);
        return NULL;
    }
    return e;
}

static enum failure classify(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return FAILURE_NONE;
    case CURLE_UNSUPPORTED_PROTOCOL: /* the answer is not HTTP/1 or 2 */
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
        return FAILURE_GARBAGE;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2_STREAM:
        return FAILURE_CUT;
    default: /* name, proxy, connection, its time limit, TLS */
        return FAILURE_CONNECT;
    }
}

/* libcurl does not say why the system refused a connection. */
static const char *system_words(const struct http_request *r, CURLcode code)
{
    long number = 0;

    if (code == CURLE_COULDNT_CONNECT)
        curl_easy_getinfo(r->easy, CURLINFO_OS_ERRNO, &number);
    return number ? strerror((int)number) : NULL;
}

enum failure transfer_verdict(struct http_request *r, CURLcode code)
{
    enum failure f = r->aborted ? FAILURE_NONE : classify(code);
    const char *system = system_words(r, code);
    char said[HTTP_WORDS_MAX];

    if (f == FAILURE_NONE)
        return f;
    if (f == FAILURE_CUT && strstr(r->words, "chunked-encoding"))
        f = FAILURE_GARBAGE; /* the framing is broken, not the connection */
    snprintf(said, sizeof(said), "%s", *r->words ? r->words : curl_easy_strerror(code));
    snprintf(r->words, sizeof(r->words), "%s%.150s%s%s",
             f == FAILURE_CONNECT ? "cannot connect: "
             : f == FAILURE_CUT   ? "the connection broke off: "
                                  : "not understood: ",
             said, system ? ": " : "", system ? system : "");
    return f;
}

const char *http_header(const struct http_request *r, const char *name)
{
    struct curl_header *found;

    if (!r->easy || curl_easy_header(r->easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

int64_t http_retry_after_ns(const struct http_request *r)
{
    const char *value = http_header(r, "Retry-After");
    int64_t s;
    time_t date;

    if (!value)
        return -1;
    if (isdigit((unsigned char)*value)) {
        s = strtoll(value, NULL, 10);
    } else {
        date = curl_getdate(value, NULL);
        if (date < 0)
            return -1;
        s = (int64_t)date - (int64_t)time(NULL);
    }
    if (s < 0)
        s = 0;
    return (s < RETRY_MAX_S ? s : RETRY_MAX_S) * NS_PER_S;
}
