/*
 * One state and one byte give the next state; only runs of ordinary text are taken in one go. The
 * state survives the end of a piece, so that the same bytes give the same records however they are
 * cut.
 */
#include "dataset/csv.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const char bom[] = "\xEF\xBB\xBF";

void csv_init(struct csv *c, size_t record_max)
{
    *c = (struct csv){.text = BUF_INIT(record_max), .next_line = 1, .line = 1};
}

void csv_release(struct csv *c)
{
    buf_release(&c->text);
    free(c->field_ends);
    c->field_ends = NULL;
    c->n_fields = c->cap_fields = 0;
}

static void begin_record(struct csv *c)
{
    buf_clear(&c->text);
    c->n_fields = 0;
    c->state = CSV_FIELD_START;
    c->in_record = c->record_given = false;
    c->line = c->next_line;
    c->offset = c->next_offset;
}

void csv_restart(struct csv *c, int64_t offset, int64_t line)
{
    c->next_offset = offset;
    c->next_line = line;
    c->bom_seen = offset == 0 ? 0 : 3;
    begin_record(c);
}

const char *csv_field(const struct csv *c, size_t i, size_t *ret_len)
{
    size_t start = i ? c->field_ends[i - 1] : 0;

    *ret_len = c->field_ends[i] - start - 1;
    return c->text.data + start;
}

/* Bad from here to the end of the line. */
static void refuse(struct csv *c, const char *why)
{
    c->reason = why;
    c->state = CSV_SKIPPING;
}

static void add_text(struct csv *c, const char *p, size_t n)
{
    c->in_record = true;
    if (buf_add(&c->text, p, n) < 0)
        refuse(c, "record too long");
}

static void end_field(struct csv *c)
{
    add_text(c, "", 1);
    if (c->state == CSV_SKIPPING)
        return;
    if (c->n_fields == CSV_FIELDS_MAX) {
        refuse(c, "too many fields");
        return;
    }
    GROW(c->field_ends, c->n_fields, c->cap_fields);
    c->field_ends[c->n_fields++] = c->text.len;
    c->state = CSV_FIELD_START;
}

/* At a line's end, outside of quotes. */
static enum csv_event end_record(struct csv *c)
{
    if (c->state == CSV_SKIPPING) {
        c->record_given = true;
        return CSV_BAD;
    }
    if (!c->in_record) { /* a blank line */
        begin_record(c);
        return CSV_MORE;
    }
    end_field(c);
    c->record_given = true;
    return c->state == CSV_SKIPPING ? CSV_BAD : CSV_RECORD;
}

static void start_field(struct csv *c, char byte)
{
    if (byte == '"') {
        c->in_record = true;
        c->state = CSV_QUOTED;
    } else {
        c->state = CSV_PLAIN;
        add_text(c, &byte, 1);
    }
}

static void after_quote(struct csv *c, char byte)
{
    if (byte == '"') {
        c->state = CSV_QUOTED;
        add_text(c, &byte, 1);
    } else {
        refuse(c, "text behind a closing quote");
    }
}

/* A CR was seen and is not the end of the line after all: it is text. */
static void cr_is_text(struct csv *c, char byte)
{
    if (c->cr_from == CSV_QUOTE_ENDED) {
        refuse(c, "text behind a closing quote");
        return;
    }
    c->state = c->cr_from = CSV_PLAIN;
    add_text(c, "\r", 1);
    if (c->state != CSV_PLAIN)
        return;
    if (byte == ',')
        end_field(c);
    else if (byte == '\r')
        c->state = CSV_CR;
    else
        add_text(c, &byte, 1);
}

/* One byte in a place where it may mean something. */
static enum csv_event take_byte(struct csv *c, char byte)
{
    if (c->state == CSV_QUOTED) { /* only a quote gets here */
        c->state = CSV_QUOTE_ENDED;
        return CSV_MORE;
    }
    if (byte == '\n')
        return end_record(c);
    if (c->state == CSV_SKIPPING)
        return CSV_MORE;
    if (c->state == CSV_CR) {
        cr_is_text(c, byte);
    } else if (byte == '\r') {
        c->cr_from = c->state;
        c->state = CSV_CR;
    } else if (byte == ',') {
        c->in_record = true;
        end_field(c);
    } else if (c->state == CSV_QUOTE_ENDED) {
        after_quote(c, byte);
    } else {
        start_field(c, byte);
    }
    return CSV_MORE;
}

/* How many bytes are plain text in this state: they need no look one by one. */
static size_t text_run(const struct csv *c, const char *p, size_t n)
{
    size_t i = 0;

    if (c->state == CSV_PLAIN)
        while (i < n && p[i] != ',' && p[i] != '\r' && p[i] != '\n')
            i++;
    if (c->state == CSV_QUOTED || c->state == CSV_SKIPPING) {
        const char *end = memchr(p, c->state == CSV_QUOTED ? '"' : '\n', n);

        i = end ? (size_t)(end - p) : n;
    }
    return i;
}

static void count(struct csv *c, const char *p, size_t n)
{
    c->next_offset += (int64_t)n;
    for (const char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        c->next_line++;
}

/* True while the bytes are those of a byte order mark. What begins like one and is none is text. */
static bool take_bom(struct csv *c, char byte)
{
    unsigned seen = c->bom_seen;

    if (seen == 3)
        return false;
    if (byte == bom[seen]) {
        c->bom_seen++;
        return true;
    }
    c->bom_seen = 3;
    if (seen) {
        c->state = CSV_PLAIN;
        add_text(c, bom, seen);
    }
    return false;
}

enum csv_event csv_push(struct csv *c, const char *data, size_t n, size_t *ret_used)
{
    enum csv_event event = CSV_MORE;
    size_t i = 0;

    if (c->record_given)
        begin_record(c);
    while (i < n && event == CSV_MORE) {
        bool in_bom = take_bom(c, data[i]);
        size_t run = in_bom ? 1 : text_run(c, data + i, n - i);

        if (run && !in_bom && c->state != CSV_SKIPPING)
            add_text(c, data + i, run);
        /* Counted first: a blank line must see its own end before the next record begins. */
        count(c, data + i, run ? run : 1);
        if (!run)
            event = take_byte(c, data[i]);
        i += run ? run : 1;
    }
    *ret_used = i;
    return event;
}

enum csv_event csv_finish(struct csv *c)
{
    if (c->record_given)
        begin_record(c);
    if (c->bom_seen > 0 && c->bom_seen < 3)
        add_text(c, bom, c->bom_seen);
    c->bom_seen = 3;
    if (c->state == CSV_QUOTED)
        refuse(c, "a quote is never closed");
    return end_record(c);
}
