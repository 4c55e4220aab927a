/*
 * The new data is made by hfwriter in the directory `.ipw-rewrite`, from the rows of the old; only
 * the path model_metrics.<model>.{lm_correctness, evaluation} is walked by hand. Added columns come
 * last in their struct, so that a child of the new schema with a number below the old count is the
 * same child of the old one.
 */
#include "store/rewrite.h"

#include "arrow/copy.h"
#include "arrow/hfdir.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "store/hfwriter.h"
#include "store/rewrite_private.h"
#include "store/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The numbers of the columns that change, each within its parent. */
struct places {
    size_t metrics, model, correct, evaluation;
    size_t is_correct, metadata, scorer;
};

struct rewrite {
    char *dir, *model;
    int fd;       /* locked */
    int64_t rows; /* given so far */

    /* from the first change on */
    struct hfdir *old;
    const struct arrow_array *batch; /* NULL = none is open */
    int64_t next_row;                /* of the batch */
    struct hfwriter *writer;
    struct places at;
    bool schema_changed;
    const struct evaluation *change; /* of the row being put */
};

void rewrite_close(struct rewrite *w)
{
    if (!w)
        return;
    hfdir_close(w->old);
    if (w->writer) {
        hfwriter_free(w->writer);
        rewrite_settle(w->fd, NULL);
    }
    cleanup_fd(&w->fd);
    free(w->model);
    free(w->dir);
    free(w);
}

int rewrite_open(const char *dir, const char *model, struct rewrite **ret, struct err *err)
{
    AUTO_PTR(rewrite) struct rewrite *w = xcalloc(1, sizeof(*w));
    int r;

    w->dir = xstrdup(dir);
    w->model = xstrdup(model);
    w->fd = rundir_lock(dir, err);
    if (w->fd < 0)
        return w->fd;
    if (!fs_exists(w->fd, "state.json"))
        return err_set(err, ENOTSUP, "%s holds several sets, or none: it is not changed", dir);
    r = rewrite_settle(w->fd, err);
    if (r < 0)
        return r;
    *ret = STEAL(w);
    return 0;
}

/*
 * The schema with the columns that are needed.
 */

static size_t child_number(const struct arrow_field *parent, const char *name)
{
    const struct arrow_field *f = arrow_field_child(parent, name);

    return f ? (size_t)(f - parent->children) : parent->n_children;
}

/* Makes the child of this name be of this type: it is, or has only nulls, or is added. */
static int need(struct arrow_field *parent, const char *name, enum arrow_type type, size_t *ret,
                bool *changed, struct err *err)
{
    char words[ARROW_TYPE_NAME_MAX];

    *ret = child_number(parent, name);
    if (*ret == parent->n_children) {
        arrow_field_add(parent, name, type);
        *changed = true;
    } else if (parent->children[*ret].type == ARROW_NULL && type != ARROW_NULL) {
        parent->children[*ret].type = type;
        *changed = true;
    } else if (parent->children[*ret].type != type) {
        return err_set(err, ENOTSUP, "column %s is %s: verdicts cannot be stored there", name,
                       arrow_type_name(&parent->children[*ret], words));
    }
    return 0;
}

static int need_columns(struct rewrite *w, struct arrow_schema *schema, struct err *err)
{
    struct arrow_field *root = &schema->root, *model, *evaluation;
    const struct arrow_field *metrics = arrow_field_child(root, "model_metrics");
    int r;

    if (!metrics || metrics->type != ARROW_STRUCT || !arrow_field_child(metrics, w->model))
        return err_set(err, EINVAL, "the run has no model_metrics of %s", w->model);
    w->at.metrics = child_number(root, "model_metrics");
    w->at.model = child_number(metrics, w->model);
    model = &root->children[w->at.metrics].children[w->at.model];
    r = model->type == ARROW_STRUCT ? 0 : err_set(err, EINVAL, "model_metrics are no structs");
    if (r == 0)
        r = need(model, "lm_correctness", ARROW_BOOL, &w->at.correct, &w->schema_changed, err);
    if (r == 0)
        r = need(model, "evaluation", ARROW_STRUCT, &w->at.evaluation, &w->schema_changed, err);
    if (r < 0)
        return r;
    evaluation = &model->children[w->at.evaluation];
    r = need(evaluation, "is_correct", ARROW_BOOL, &w->at.is_correct, &w->schema_changed, err);
    if (r == 0)
        r = need(evaluation, "metadata", ARROW_UTF8, &w->at.metadata, &w->schema_changed, err);
    if (r == 0)
        r = need(evaluation, "scorer", ARROW_UTF8, &w->at.scorer, &w->schema_changed, err);
    return r;
}

/*
 * One row.
 */

static void put_text(struct arrow_column *c, const char *text)
{
    arrow_put_text(c, text, text ? strlen(text) : 0);
}

static void put_verdict(struct arrow_column *c, int correct)
{
    if (correct < 0)
        arrow_put_null(c);
    else
        arrow_put_bool(c, correct > 0);
}

/* The value as it was; NULL = the old data has no such column. */
static void put_old(struct arrow_column *c, const struct arrow_array *a, int64_t i)
{
    if (a)
        arrow_put_value(c, a, i);
    else
        arrow_put_null(c);
}

static const struct arrow_array *child_at(const struct arrow_array *a, size_t k)
{
    return a && k < a->n_children ? &a->children[k] : NULL;
}

static void put_evaluation(const struct rewrite *w, struct arrow_column *c,
                           const struct arrow_array *a, int64_t i)
{
    struct arrow_column *end = c + c->span, *child = arrow_column_child(c);

    if (!w->change && (!a || arrow_is_null(a, i))) {
        arrow_put_null(c);
        return;
    }
    arrow_put_struct(c);
    for (size_t k = 0; child < end; k++, child = arrow_column_sibling(child)) {
        if (w->change && k == w->at.is_correct)
            put_verdict(child, w->change->correct);
        else if (w->change && k == w->at.metadata)
            put_text(child, w->change->metadata);
        else if (w->change && k == w->at.scorer)
            put_text(child, w->change->scorer);
        else
            put_old(child, child_at(a, k), i);
    }
}

/* What a null struct around them hides reads as null, so even such a row can get a verdict. */
static void put_model(const struct rewrite *w, struct arrow_column *c, const struct arrow_array *a,
                      int64_t i)
{
    struct arrow_column *end = c + c->span, *child = arrow_column_child(c);

    if (!w->change && arrow_is_null(a, i)) {
        arrow_put_null(c);
        return;
    }
    arrow_put_struct(c);
    for (size_t k = 0; child < end; k++, child = arrow_column_sibling(child)) {
        if (w->change && k == w->at.correct)
            put_verdict(child, w->change->correct);
        else if (k == w->at.evaluation)
            put_evaluation(w, child, child_at(a, k), i);
        else
            put_old(child, child_at(a, k), i);
    }
}

static void put_metrics(const struct rewrite *w, struct arrow_column *c,
                        const struct arrow_array *a, int64_t i)
{
    struct arrow_column *child = arrow_column_child(c);

    if (!w->change && arrow_is_null(a, i)) {
        arrow_put_null(c);
        return;
    }
    arrow_put_struct(c);
    for (size_t k = 0; k < a->n_children; k++, child = arrow_column_sibling(child)) {
        if (k == w->at.model)
            put_model(w, child, &a->children[k], i);
        else
            arrow_put_value(child, &a->children[k], i);
    }
}

/* A hfwriter_put_fn. */
static void put_row(void *arg, struct arrow_builder *b)
{
    const struct rewrite *w = arg;
    struct arrow_column *c = arrow_builder_column(b, 0);

    for (size_t k = 0; k < w->batch->n_children; k++, c = arrow_column_sibling(c)) {
        if (k == w->at.metrics)
            put_metrics(w, c, &w->batch->children[k], w->next_row);
        else
            arrow_put_value(c, &w->batch->children[k], w->next_row);
    }
}

/* Appends the next row of the old data. 0 = there is none. */
static int copy_row(struct rewrite *w, const struct evaluation *change, struct err *err)
{
    int r;

    while (!w->batch || w->next_row == w->batch->length) {
        w->batch = NULL;
        w->next_row = 0;
        r = hfdir_next(w->old, &w->batch, err);
        if (r <= 0)
            return r;
    }
    w->change = change;
    r = hfwriter_append(w->writer, put_row, w, mono_now(), err);
    w->next_row++;
    return r < 0 ? r : 1;
}

/* The first change: opens both sides and copies the rows before. */
static int start(struct rewrite *w, struct err *err)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_FD int fd = -1;
    int r = hfdir_open(AT_FDCWD, w->dir, NULL, &w->old, err);

    if (r < 0)
        return r;
    arrow_schema_init(&schema);
    for (size_t i = 0; i < hfdir_schema(w->old)->root.n_children; i++)
        arrow_field_copy(&schema.root, &hfdir_schema(w->old)->root.children[i]);
    r = need_columns(w, &schema, err);
    if (r == 0)
        r = arrow_schema_check_writable(&schema, err);
    if (r < 0)
        return r;
    if (mkdirat(w->fd, REWRITE_DIR, 0777) < 0)
        return err_sys(err, errno, "cannot create %s/" REWRITE_DIR, w->dir);
    fd = fs_open_dir(w->fd, REWRITE_DIR, err);
    r = fd < 0 ? fd : hfwriter_create(fd, &schema, &w->writer, err);
    for (int64_t i = 0; r >= 0 && i < w->rows; i++)
        r = copy_row(w, NULL, err);
    return r < 0 ? r : 0;
}

int rewrite_row(struct rewrite *w, const struct evaluation *change, struct err *err)
{
    int r = 0;

    if (change && !w->writer)
        r = start(w, err);
    if (r == 0 && w->writer) {
        r = copy_row(w, change, err);
        if (r == 0)
            r = err_set(err, EINVAL, "%s has only %lld rows", w->dir, (long long)w->rows);
    }
    w->rows++;
    return r < 0 ? r : 0;
}

int rewrite_commit(struct rewrite *w, struct err *err)
{
    int r = 1;

    if (!w->writer)
        return 0;
    while (r > 0)
        r = copy_row(w, NULL, err);
    if (r == 0)
        r = hfwriter_finish(w->writer, err);
    return r < 0 ? r : rewrite_publish(w->fd, w->schema_changed, err);
}
