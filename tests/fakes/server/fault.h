/*
 * fault: what the test server does wrong, on demand.
 *
 *     NAME[:ARG[:ARG]]        --fault on the command line, or [[fault:NAME:ARG]] in a prompt
 */
#ifndef IPW_FAKES_FAULT_H
#define IPW_FAKES_FAULT_H

#include "base/err.h"

#include <stdint.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_REFUSE,
    FAULT_DROP,
    FAULT_STATUS,
    FAULT_RATE_LIMIT,
    FAULT_LOADING,
    FAULT_REDIRECT,
    FAULT_RESET,
    FAULT_CUT,
    FAULT_STALL,
    FAULT_SLOW_HEADERS,
    FAULT_GARBAGE,
    FAULT_CONTENT_TYPE,
    FAULT_BAD_UTF8,
    FAULT_LONG_LINE,
    FAULT_NO_USAGE,
    FAULT_ENDLESS,
    FAULT_ERROR,
    FAULT_SILENT_END,
    FAULT_EMPTY,
    FAULT_HUGE_TOKEN,
    FAULT_NO_STREAM_OPTIONS,
    FAULT_SPLIT_UTF8,
    FAULT_BYTES,
    FAULT_CLOSE
};

struct fault {
    enum fault_kind kind;
    int64_t arg;    /* ns, bytes, seconds or an HTTP status, by kind */
    int64_t at;     /* the token it strikes before; -1 = half-way */
    char text[160]; /* URL, content type or shape of a body, by kind; "" = the default */
};

int fault_parse(const char *spec, struct fault *ret, struct err *err);
const char *fault_name(enum fault_kind kind);
/* One line per fault for --help. */
void fault_print_help(void);

#endif
