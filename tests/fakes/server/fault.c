/* One table says how a fault is spelt, what its arguments are and what it does. */
#include "fault.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum arg_kind { ARG_NONE, ARG_TIME, ARG_BYTES, ARG_NUMBER, ARG_AT, ARG_TEXT };

static const struct row {
    enum fault_kind kind;
    const char *name;
    enum arg_kind args[2]; /* ARG_TEXT takes the rest, colons and all */
    int64_t arg;           /* when none is given */
    const char *help;
} rows[] = {
    {FAULT_REFUSE,
     "refuse",
     {ARG_TIME},
     500 * NS_PER_MS,
     ":TIME  reset this connection and refuse new ones for a while (500ms)"},
    {FAULT_DROP, "drop", {ARG_NONE}, 0, "  close the connection instead of answering"},
    {FAULT_STATUS,
     "status",
     {ARG_NUMBER, ARG_TEXT},
     500,
     ":CODE[:json|text|html|empty]  answer with this status (500) and body (the dialect's JSON)"},
    {FAULT_RATE_LIMIT, "rate-limit", {ARG_NUMBER}, 1, ":SECONDS  answer 429 with Retry-After (1)"},
    {FAULT_LOADING,
     "loading",
     {ARG_TIME},
     2 * NS_PER_S,
     ":TIME  503 on every route until the server has run so long (2s); ignores the rate"},
    {FAULT_REDIRECT, "redirect", {ARG_TEXT}, 0, ":URL  answer 307 to this place"},
    {FAULT_RESET, "reset", {ARG_AT}, 0, "[:N]  reset the connection before token N (half-way)"},
    {FAULT_CUT, "cut", {ARG_AT}, 0, "[:N]  close before token N, without the last chunk"},
    {FAULT_STALL,
     "stall",
     {ARG_TIME, ARG_AT},
     NS_PER_S,
     ":TIME[:N]  fall silent for so long (1s) before token N"},
    {FAULT_SLOW_HEADERS,
     "slow-headers",
     {ARG_TIME},
     NS_PER_S,
     ":TIME  answer so much later (1s), headers and all"},
    {FAULT_GARBAGE, "garbage", {ARG_BYTES}, 4096, "[:BYTES]  a body of random bytes (4096)"},
    {FAULT_CONTENT_TYPE,
     "content-type",
     {ARG_TEXT},
     0,
     "[:TYPE]  the right body under another Content-Type (text/html)"},
    {FAULT_BAD_UTF8, "bad-utf8", {ARG_AT}, 0, "[:N]  invalid UTF-8 in token N"},
    {FAULT_LONG_LINE,
     "long-line",
     {ARG_BYTES, ARG_AT},
     INT64_C(1) << 30,
     "[:BYTES[:N]]  token N has so many bytes (1GiB) and never a line end; then the connection "
     "closes"},
    {FAULT_NO_USAGE, "no-usage", {ARG_NONE}, 0, "  neither usage nor timings, asked or not"},
    {FAULT_ENDLESS, "endless", {ARG_NONE}, 0, "  tokens for ever"},
    {FAULT_ERROR, "error", {ARG_AT}, 0, "[:N]  an error inside the stream before token N"},
    {FAULT_SILENT_END,
     "silent-end",
     {ARG_AT},
     0,
     "[:N]  the stream ends in good order before token N, without finish reason or usage"},
    {FAULT_EMPTY, "empty", {ARG_NONE}, 0, "  an answer of no tokens"},
    {FAULT_HUGE_TOKEN,
     "huge-token",
     {ARG_BYTES, ARG_AT},
     1 << 20,
     "[:BYTES[:N]]  token N has so many more bytes (1MiB, at most 64MiB)"},
    {FAULT_NO_STREAM_OPTIONS,
     "no-stream-options",
     {ARG_NONE},
     0,
     "  400 when the request has stream_options"},
    {FAULT_SPLIT_UTF8,
     "split-utf8",
     {ARG_TIME},
     NS_PER_MS,
     "[:TIME]  chunks and segments end inside characters; the rest comes later (1ms)"},
    {FAULT_BYTES, "bytes", {ARG_TIME}, 0, "[:TIME]  one write per byte, so far apart (0)"},
    {FAULT_CLOSE, "close", {ARG_NONE}, 0, "  close the connection after the answer"},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static const struct row *find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static int parse_arg(enum arg_kind kind, const char *text, struct fault *f, struct err *err)
{
    switch (kind) {
    case ARG_TIME:
        return parse_duration(text, &f->arg, err);
    case ARG_BYTES:
        return parse_size(text, &f->arg, err);
    case ARG_NUMBER:
        return parse_i64(text, &f->arg, err);
    case ARG_AT:
        return parse_i64(text, &f->at, err);
    case ARG_TEXT:
        if (strpbrk(text, "\r\n"))
            return err_set(err, EINVAL, "a fault's argument is one line");
        snprintf(f->text, sizeof(f->text), "%s", text);
        return 0;
    case ARG_NONE:
        break;
    }
    return err_set(err, EINVAL, "'%.80s' is one argument too many", text);
}

static int check(const struct fault *f, struct err *err)
{
    if (f->kind == FAULT_STATUS && (f->arg < 200 || f->arg > 599))
        return err_set(err, EINVAL, "a status is between 200 and 599");
    if (f->kind == FAULT_REDIRECT && !*f->text)
        return err_set(err, EINVAL, "redirect needs a URL");
    if (f->kind == FAULT_HUGE_TOKEN && f->arg > (64 << 20))
        return err_set(err, EINVAL, "a huge token has at most 64 MiB");
    if (f->arg < 0 || f->at < -1)
        return err_set(err, EINVAL, "a fault's arguments are not negative");
    return 0;
}

int fault_parse(const char *spec, struct fault *ret, struct err *err)
{
    struct fault f = {.at = -1};
    char text[256];
    char *arg, *next;
    const struct row *row;
    int r;

    if (strlen(spec) >= sizeof(text))
        return err_set(err, EINVAL, "the fault is too long");
    snprintf(text, sizeof(text), "%s", spec);
    next = text;
    strsep(&next, ":");
    row = find(text);
    if (!row) {
        struct suggest s = suggest_for(text);

        for (size_t i = 0; i < N_ROWS; i++)
            suggest_offer(&s, rows[i].name);
        return err_set(err, EINVAL, "no fault is called '%.40s'%s%s", text,
                       s.best ? "; is it " : "", s.best ? s.best : "");
    }
    f.kind = row->kind;
    f.arg = row->arg;
    for (int i = 0; next; i++) {
        enum arg_kind kind = i < 2 ? row->args[i] : ARG_NONE;

        arg = kind == ARG_TEXT ? next : strsep(&next, ":");
        next = kind == ARG_TEXT ? NULL : next;
        r = parse_arg(kind, arg, &f, err);
        if (r < 0)
            return err_prefix(err, "fault %s", row->name);
    }
    r = check(&f, err);
    if (r < 0)
        return r;
    *ret = f;
    return 0;
}

const char *fault_name(enum fault_kind kind)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].kind == kind)
            return rows[i].name;
    return NULL;
}

void fault_print_help(void)
{
    for (size_t i = 0; i < N_ROWS; i++)
        printf("  %s%s\n", rows[i].name, rows[i].help);
}
