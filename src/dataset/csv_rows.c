/*
 * A record becomes an object whose members are the columns of the header, all of them strings: a
 * .csv file has no other type. The nodes lie in an arena that is emptied for each row; keys and
 * values are lent from the header and the parser.
 */
#include "dataset/rows.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/utf8.h"
#include "dataset/csv.h"
#include "dataset/feed.h"

#include <errno.h>
#include <string.h>

struct csv_rows {
    struct feed *feed;
    const char *piece;
    size_t piece_len;
    struct csv csv;
    char **columns;
    size_t n_columns;
    int64_t first_row; /* byte behind the header */
    int64_t first_line;
    bool line_known; /* false after a seek into the middle */
    int64_t number;  /* of the next row */
    bool ended;
    struct arena arena;
};

static int next_event(struct csv_rows *c, enum csv_event *ret, struct err *err)
{
    enum csv_event event = CSV_MORE;

    while (event == CSV_MORE && !c->ended) {
        size_t used;
        int r = c->piece_len ? 1 : feed_read(c->feed, &c->piece, &c->piece_len, err);

        if (r < 0)
            return r;
        if (r == 0) {
            c->ended = true;
            event = csv_finish(&c->csv);
            break;
        }
        event = csv_push(&c->csv, c->piece, c->piece_len, &used);
        c->piece += used;
        c->piece_len -= used;
    }
    *ret = event;
    return 0;
}

static const struct json *make_object(struct csv_rows *c)
{
    struct json *object = arena_alloc(&c->arena, sizeof(*object));
    struct json **tail = &object->child;

    *object = (struct json){.type = JSON_OBJECT, .len = c->n_columns};
    for (size_t i = 0; i < c->n_columns; i++) {
        struct json *v = arena_alloc(&c->arena, sizeof(*v));

        *v = (struct json){.type = JSON_STRING, .key = c->columns[i]};
        v->key_len = strlen(c->columns[i]);
        v->text = csv_field(&c->csv, i, &v->len);
        *tail = v;
        tail = &v->next;
    }
    *tail = NULL;
    return object;
}

static int check_record(const struct csv_rows *c, enum csv_event event, struct err *err)
{
    if (event == CSV_BAD)
        return err_set(err, EBADMSG, "%s", c->csv.reason);
    if (c->csv.n_fields != c->n_columns)
        return err_set(err, EBADMSG, "%zu fields, but the header has %zu", c->csv.n_fields,
                       c->n_columns);
    if (!utf8_valid(c->csv.text.data, c->csv.text.len))
        return err_set(err, EBADMSG, "not valid UTF-8");
    return 0;
}

static int csv_next(void *ctx, struct row *ret, struct err *err)
{
    struct csv_rows *c = ctx;
    enum csv_event event;
    int r = next_event(c, &event, err);

    if (r < 0 || event == CSV_MORE)
        return r;
    *ret = (struct row){.place = {.offset = c->csv.offset, .number = c->number++},
                        .line = c->line_known ? c->csv.line : -1};
    r = check_record(c, event, err);
    if (r < 0)
        return r;
    arena_reset(&c->arena);
    ret->object = make_object(c);
    return 1;
}

static int csv_seek(void *ctx, struct row_place place, struct err *err)
{
    struct csv_rows *c = ctx;
    bool first = place.offset <= c->first_row;

    (void)err;
    if (first)
        place.offset = c->first_row;
    feed_seek(c->feed, place.offset);
    csv_restart(&c->csv, place.offset, c->first_line);
    c->piece_len = 0;
    c->ended = false;
    c->line_known = first;
    c->number = place.number;
    return 0;
}

static void csv_close(void *ctx)
{
    struct csv_rows *c = ctx;

    for (size_t i = 0; i < c->n_columns; i++)
        free(c->columns[i]);
    free(c->columns);
    csv_release(&c->csv);
    arena_release(&c->arena);
    feed_free(c->feed);
    free(c);
}

/* A column without a name (a data frame's index has none) is called by its place. */
static char *column_name(const struct csv *csv, size_t i)
{
    size_t len;
    const char *text = csv_field(csv, i, &len);

    return len ? xstrdup(text) : xasprintf("column_%zu", i + 1);
}

static int take_header(struct csv_rows *c, enum csv_event event, struct err *err)
{
    if (event == CSV_MORE)
        return err_set(err, EINVAL, "empty");
    if (event == CSV_BAD)
        return err_set(err, EINVAL, "the header cannot be read: %s", c->csv.reason);
    if (!utf8_valid(c->csv.text.data, c->csv.text.len))
        return err_set(err, EINVAL, "the header is not valid UTF-8");
    c->columns = xcalloc(c->csv.n_fields, sizeof(*c->columns));
    for (size_t i = 0; i < c->csv.n_fields; i++) {
        c->columns[i] = column_name(&c->csv, i);
        c->n_columns++;
        for (size_t k = 0; k < i; k++)
            if (strcmp(c->columns[k], c->columns[i]) == 0)
                return err_set(err, EINVAL, "two columns are called '%.80s'", c->columns[i]);
    }
    c->first_row = c->csv.next_offset;
    c->first_line = c->csv.next_line;
    c->line_known = true;
    return 0;
}

static const struct rows_ops csv_ops = {
    .next = csv_next,
    .seek = csv_seek,
    .close = csv_close,
};

int rows_csv_take(const char *name, struct feed *feed, struct rows **ret, struct err *err)
{
    struct csv_rows *c = xcalloc(1, sizeof(*c));
    enum csv_event event;
    int r;

    c->feed = feed;
    csv_init(&c->csv, ROW_MAX);
    r = next_event(c, &event, err);
    if (r == 0)
        r = take_header(c, event, err);
    if (r < 0) {
        csv_close(c);
        return err ? err_prefix(err, "%s", name) : r;
    }
    *ret = xcalloc(1, sizeof(**ret));
    **ret = (struct rows){.ops = &csv_ops, .ctx = c, .name = xstrdup(name)};
    return 0;
}
