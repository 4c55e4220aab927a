/*
 * The first pass maps every row and throws the result away: only then are the number of items, the
 * bad rows and the missing subject known before the first query is sent, and nothing that depends
 * on them has to be taken back. Should the file change between the passes, that is an error, not a
 * shorter run.
 */
#include "dataset/table.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "dataset/params.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SUBJECTS_KEPT 64 /* for the words about a subject that nothing has */

struct table {
    struct rows *rows;
    struct mapping map;
    char *names[4]; /* the mapping's, ours */
    char *filter;   /* only this subject; NULL = all */
    int64_t n_items;
    struct dataset_rejects rejects;
    struct row_place *order; /* NULL: in the order of the file */
    int64_t given;           /* items of this pass */
    char *subjects[SUBJECTS_KEPT];
    size_t n_subjects;
};

void table_close(void *ctx)
{
    struct table *t = ctx;

    if (!t)
        return;
    rows_free(t->rows);
    arena_release(&t->map.arena);
    for (size_t i = 0; i < t->n_subjects; i++)
        free(t->subjects[i]);
    for (size_t i = 0; i < 4; i++)
        free(t->names[i]);
    free(t->filter);
    free(t->order);
    free(t);
}

DEFINE_AUTO_PTR(table, table_close);

static void reject(struct table *t, const struct row *row, struct err *why)
{
    rows_prefix(t->rows, row, why);
    if (t->rejects.count++ == 0)
        snprintf(t->rejects.first, sizeof(t->rejects.first), "%s", why->text);
}

/* 1 = an item, 0 = of another subject, negative = a bad row. */
static int map_row(struct table *t, const struct row *row, struct item *ret, struct err *err)
{
    struct item item = {.index = row->place.number, .metadata = row->object};
    int r;

    arena_reset(&t->map.arena);
    r = t->map.map(&t->map, row->object, row->place.number, &item, err);
    if (r < 0)
        return r;
    *ret = item;
    return !t->filter || strcasecmp(t->filter, item.subject) == 0;
}

static void remember_subject(struct table *t, const char *subject)
{
    for (size_t i = 0; i < t->n_subjects; i++)
        if (strcasecmp(t->subjects[i], subject) == 0)
            return;
    if (t->n_subjects < SUBJECTS_KEPT)
        t->subjects[t->n_subjects++] = xstrndup(subject, 80);
}

/* The next row as an item: 1 = it is one, 0 = the end, -EBADMSG = it is none (why says why not, or
 * is empty when its subject is another one), else the rows cannot be read. */
static int next_item(struct table *t, struct row *row, struct item *item, struct err *why)
{
    int r = rows_next(t->rows, row, why);

    if (r == 0 || r == -EBADMSG)
        return r;
    if (r < 0)
        return err_prefix(why, "%s", t->rows->name);
    r = map_row(t, row, item, why);
    return r > 0 ? 1 : -EBADMSG;
}

static int read_all(struct table *t, bool keep_places, struct err *err)
{
    size_t cap = 0;
    struct item item = {.subject = ""};
    struct row row;

    for (;;) {
        struct err why = {0};
        int r = next_item(t, &row, &item, &why);

        if (r == 0)
            return 0;
        if (r == -EBADMSG && why.code) {
            reject(t, &row, &why);
        } else if (r == -EBADMSG) {
            remember_subject(t, item.subject);
        } else if (r < 0) {
            return err_set(err, -r, "%s", why.text);
        } else {
            if (keep_places) {
                GROW(t->order, (size_t)t->n_items, cap);
                t->order[t->n_items] = row.place;
            }
            t->n_items++;
        }
    }
}

static int nothing_there(const struct table *t, struct err *err)
{
    AUTO(buf) struct buf all = BUF_INIT(BUF_MAX_OWN);
    struct suggest s = suggest_for(t->filter ? t->filter : "");

    for (size_t i = 0; i < t->n_subjects; i++) {
        suggest_offer(&s, t->subjects[i]);
        buf_addf(&all, "%s%s", all.len ? ", " : "", t->subjects[i]);
    }
    if (s.best)
        return err_set(err, EINVAL, "no item has the subject '%.60s': did you mean '%s'?",
                       t->filter, s.best);
    if (t->n_subjects)
        return err_set(err, EINVAL, "no item has the subject '%.60s' (there are: %s)", t->filter,
                       buf_str(&all));
    if (t->rejects.count)
        return err_set(err, EINVAL, "no valid row in %.80s (%" PRId64 " are bad): %s",
                       t->rows->name, t->rejects.count, t->rejects.first);
    return err_set(err, EINVAL, "%s has no rows", t->rows->name);
}

static void shuffle(struct row_place *order, int64_t n, uint64_t seed)
{
    struct rng rng;

    rng = rng_seed(seed, RNG_STREAM_SHUFFLE);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = (int64_t)rng_below(&rng, (uint64_t)i + 1);
        struct row_place other = order[k];

        order[k] = order[i];
        order[i] = other;
    }
}

static void copy_mapping(struct table *t, const struct mapping *m)
{
    const char **names[] = {&t->map.problem, &t->map.answer, &t->map.subject, &t->map.scorer};

    t->map = *m;
    for (size_t i = 0; i < 4; i++)
        if (*names[i])
            *names[i] = t->names[i] = xstrdup(*names[i]);
}

int table_open_take(struct rows *rows, const struct mapping *mapping,
                    const struct dataset_config *config, void **ret, struct err *err)
{
    AUTO_PTR(table) struct table *t = xcalloc(1, sizeof(*t));
    const char *filter = params_text(config->params, "subject");
    bool shuffled;
    int r;

    t->rows = rows;
    copy_mapping(t, mapping);
    t->map.seed = config->seed;
    t->filter = filter ? xstrdup(filter) : NULL;
    r = params_bool(config->params, "shuffle", false, &shuffled, err);
    if (r == 0)
        r = read_all(t, shuffled, err);
    if (r < 0)
        return r;
    if (t->n_items == 0)
        return nothing_there(t, err);
    if (shuffled)
        shuffle(t->order, t->n_items, config->seed);
    r = table_rewind(t, err);
    if (r < 0)
        return r;
    *ret = STEAL(t);
    return 0;
}

static int changed(const struct table *t, struct err *err)
{
    return err_set(err, ESTALE, "%s has changed while it was being read", t->rows->name);
}

int table_next(void *ctx, struct item *ret, struct err *err)
{
    struct table *t = ctx;
    struct err why = {0};
    struct item item;
    struct row row;
    int r;

    if (t->given == t->n_items)
        return 0;
    if (t->order) {
        r = rows_seek(t->rows, t->order[t->given], err);
        if (r < 0)
            return r;
    }
    do
        r = next_item(t, &row, &item, &why);
    while (r == -EBADMSG && !t->order);
    if (r == 0 || r == -EBADMSG)
        return changed(t, err);
    if (r < 0)
        return err_set(err, -r, "%s", why.text);
    t->given++;
    *ret = item;
    return 1;
}

int table_rewind(void *ctx, struct err *err)
{
    struct table *t = ctx;

    t->given = 0;
    return rows_seek(t->rows, (struct row_place){0}, err);
}

int64_t table_size(void *ctx)
{
    const struct table *t = ctx;

    return t->n_items;
}

void table_rejects(void *ctx, struct dataset_rejects *ret)
{
    const struct table *t = ctx;

    *ret = t->rejects;
}
