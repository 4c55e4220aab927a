#include "cli/progress.h"

#include "base/log.h"
#include "base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PLAIN_NS (10 * NS_PER_S)

static int columns_of_terminal(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nowhere left to say so */
}

static void clear_line(struct progress *p)
{
    if (p->drawn)
        put("\r\033[K");
    p->drawn = false;
}

static struct progress *active;

/* A message must not be written into the line. */
static void make_room(void)
{
    if (active)
        clear_line(active);
}

void progress_begin(struct progress *p, bool quiet)
{
    *p = (struct progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO), .shown_done = -1};
    active = p;
    log_set_before(make_room);
}

void progress_end(struct progress *p)
{
    clear_line(p);
    active = NULL;
    log_set_before(NULL);
}

static void draw(struct progress *p, const char *text)
{
    clear_line(p);
    put(text);
    p->drawn = true;
}

void progress_status(struct progress *p, const char *words)
{
    if (p->quiet || strncmp(p->status, words, sizeof(p->status) - 1) == 0)
        return;
    snprintf(p->status, sizeof(p->status), "%s", words);
    if (p->terminal)
        draw(p, p->status);
    else
        log_info("%s", p->status);
}

struct line {
    char *text;
    size_t size, len;
};

static void part(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void part(struct line *l, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(l->text + l->len, l->size - l->len, fmt, ap);
    va_end(ap);
    if (n > 0)
        l->len = l->len + (size_t)n < l->size ? l->len + (size_t)n : l->size - 1;
}

void progress_format(const struct profile_progress *s, int columns, char *text, size_t size)
{
    struct line l = {.text = text, .size = size};
    char duration[32];

    text[0] = '\0';
    if (s->total >= 0)
        part(&l, "%" PRId64 "/%" PRId64, s->done, s->total);
    else
        part(&l, "%" PRId64 " done", s->done);
    if (s->failed > 0)
        part(&l, "  %" PRId64 " FAILED", s->failed);
    part(&l, "  %.2f q/s", s->queries_per_s);
    if (s->tokens_per_s > 0)
        part(&l, "  %.1f tok/s", s->tokens_per_s);
    if (!isnan(s->watts))
        part(&l, "  %.1f W%s", s->watts, s->estimated ? " (estimated)" : "");
    if (!isnan(s->joules_per_token))
        part(&l, "  %.4g J/tok", s->joules_per_token);
    if (s->in_flight > 1)
        part(&l, "  %" PRId64 " in flight", s->in_flight);
    if (s->eta_s > 0) {
        format_duration(s_to_ns(s->eta_s), duration, sizeof(duration));
        part(&l, "  ETA %s", duration);
    }
    if (columns > 0 && l.len >= (size_t)columns)
        text[columns - 1] = '\0';
}

void progress_show(struct progress *p, const struct profile_progress *s)
{
    mono_ns now = mono_now();
    bool last = s->total >= 0 && s->done == s->total && s->in_flight == 0;
    char text[256];

    if (p->quiet || (!p->terminal && !last && now - p->shown < PLAIN_NS && p->shown_done >= 0) ||
        (!p->terminal && s->done == p->shown_done))
        return;
    p->shown = now;
    p->shown_done = s->done;
    progress_format(s, p->terminal ? columns_of_terminal() : 0, text, sizeof(text));
    if (p->terminal)
        draw(p, text);
    else
        log_info("%s", text);
}
