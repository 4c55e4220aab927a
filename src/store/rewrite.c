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
#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "store/hfwriter.h"
#include "store/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_NAME ".ipw-rewrite"
#define PREFIX   DIR_NAME "/"
#define REPLACED_STATE \
    PREFIX "replaced-state.json" /* state.json and dataset_info.json as they were */
#define REPLACED_INFO  PREFIX "replaced-info.json"
#define JSON_MAX_BYTES ((size_t)64 << 20)

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
    if (mkdirat(w->fd, DIR_NAME, 0777) < 0)
        return err_sys(err, errno, "cannot create %s/" DIR_NAME, w->dir);
    fd = fs_open_dir(w->fd, DIR_NAME, err);
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

/*
 * The metadata.
 */

static int read_json(int fd, const char *name, struct json_doc *doc, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(JSON_MAX_BYTES);
    int r = fs_read_all(fd, name, &text, err);

    if (r == 0)
        r = json_doc_parse(doc, buf_str(&text), text.len, err);
    if (r == 0 && !json_is(doc->root, JSON_OBJECT))
        r = err_set(err, EBADMSG, "not an object");
    return r < 0 && err ? err_prefix(err, "%s", name) : r;
}

static int write_json(int fd, const char *name, const struct buf *text, struct err *err)
{
    return fs_replace(fd, name, text->data, text->len, err);
}

static struct json_writer metadata_writer(struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_PRETTY);

    w.ascii = true;
    return w;
}

/* The file's name in the directory itself, NULL when that is not what it is. */
static const char *plain_name(const struct json *file)
{
    const char *name = json_text(json_get(file, "filename"), "");

    if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
        name += strlen(PREFIX);
    return *name && *name != '.' && !strchr(name, '/') ? name : NULL;
}

/* state.json with the shards and fingerprint of `fresh`, the rest of `old`. */
static int write_state(int fd, const struct json *old, const struct json *fresh, const char *prefix,
                       struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = metadata_writer(&text);

    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, old) {
        if (strcmp(member->key, "_fingerprint") == 0) {
            jw_value(&w, member->key, json_get(fresh, member->key));
        } else if (strcmp(member->key, "_data_files") == 0) {
            jw_begin_array(&w, member->key);
            JSON_FOREACH (file, json_get(fresh, member->key)) {
                AUTO_FREE char *name = xasprintf("%s%s", prefix, plain_name(file));

                jw_begin_object(&w, NULL);
                jw_text(&w, "filename", name);
                jw_end_object(&w);
            }
            jw_end_array(&w);
        } else {
            jw_value(&w, member->key, member);
        }
    }
    jw_end_object(&w);
    return write_json(fd, "state.json", &text, err);
}

/* dataset_info.json with these features; NULL = without any, and then the shards' own count. */
static int write_features(int fd, const struct json *features, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc info = {0};
    struct json_writer w = metadata_writer(&text);
    bool done = !features;
    int r = read_json(fd, "dataset_info.json", &info, err);

    if (r < 0)
        return r;
    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, info.root) {
        /* where the library has it, in front of "homepage" */
        if (!done && strcmp(member->key, "homepage") == 0) {
            jw_value(&w, "features", features);
            done = true;
        }
        if (strcmp(member->key, "features") != 0)
            jw_value(&w, member->key, member);
    }
    if (!done)
        jw_value(&w, "features", features);
    jw_end_object(&w);
    return write_json(fd, "dataset_info.json", &text, err);
}

/*
 * The exchange.
 */

bool rewrite_unsettled(int dirfd)
{
    return fs_exists(dirfd, DIR_NAME);
}

/* Whether state.json names the shards in `.ipw-rewrite/`. */
static bool is_committed(const struct json *state)
{
    const char *first =
        json_text(json_get(json_first(json_get(state, "_data_files")), "filename"), "");

    return strncmp(first, PREFIX, strlen(PREFIX)) == 0;
}

/* Gives a shard its usual name, under which an old one may be. With a hard link both names are good
 * until the rest is done; without one it moves, and must not be moved again. */
static int place(int fd, const char *name, struct err *err)
{
    AUTO_FREE char *from = xasprintf(PREFIX "%s", name), *beside = xasprintf("%s.link", name);
    int r;

    if (!fs_exists(fd, from))
        return 0;
    unlinkat(fd, beside, 0);
    if (linkat(fd, from, fd, beside, 0) == 0) {
        r = renameat(fd, beside, fd, name);
        unlinkat(fd, beside, 0); /* renaming one link over another does nothing */
    } else {
        r = renameat(fd, from, fd, name);
    }
    return r < 0 ? err_sys(err, errno, "cannot rename %s", from) : 0;
}

static bool names(const struct json *state, const char *name)
{
    JSON_FOREACH (file, json_get(state, "_data_files")) {
        const char *other = plain_name(file);

        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* The old shards, but those whose names the new ones have taken. */
static int remove_replaced(int fd, const struct json *state, struct err *err)
{
    AUTO(json_doc) struct json_doc old = {0};
    int r = read_json(fd, REPLACED_STATE, &old, err);

    if (r < 0)
        return r;
    JSON_FOREACH (file, json_get(old.root, "_data_files")) {
        const char *name = plain_name(file);

        if (name && !names(state, name) && unlinkat(fd, name, 0) < 0 && errno != ENOENT)
            return err_sys(err, errno, "cannot remove %s", name);
    }
    return 0;
}

/* Puts back the features that were left out for the time of the exchange. */
static int restore_features(int fd, const char *source, struct err *err)
{
    AUTO(json_doc) struct json_doc info = {0}, from = {0};

    if (!fs_exists(fd, source))
        return 0;
    int r = read_json(fd, "dataset_info.json", &info, err);

    if (r < 0 || json_get(info.root, "features"))
        return r;
    r = read_json(fd, source, &from, err);
    return r < 0 ? r : write_features(fd, json_get(from.root, "features"), err);
}

/* The new data is the run already; now it gets its place. Every step may be repeated. */
static int move_up(int fd, const struct json *state, struct err *err)
{
    int r = 0;

    JSON_FOREACH (file, json_get(state, "_data_files")) {
        const char *name = plain_name(file);

        r = name ? place(fd, name, err) : err_set(err, EBADMSG, "state.json: no name of a shard");
        if (r < 0)
            return r;
    }
    r = remove_replaced(fd, state, err);
    if (r == 0)
        r = fs_sync_parent(fd, "state.json", err);
    if (r == 0)
        r = restore_features(fd, PREFIX "dataset_info.json", err);
    return r < 0 ? r : write_state(fd, state, state, "", err);
}

int rewrite_settle(int dirfd, struct err *err)
{
    AUTO(json_doc) struct json_doc state = {0};
    int r;

    if (!rewrite_unsettled(dirfd))
        return 0;
    r = read_json(dirfd, "state.json", &state, err);
    if (r == 0)
        r = is_committed(state.root) ? move_up(dirfd, state.root, err)
                                     : restore_features(dirfd, REPLACED_INFO, err);
    return r < 0 ? r : fs_remove_tree(dirfd, DIR_NAME, err);
}

static int keep_copy(int fd, const char *name, const char *copy, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(JSON_MAX_BYTES);
    int r = fs_read_all(fd, name, &text, err);

    return r < 0 ? r : write_json(fd, copy, &text, err);
}

static int publish(struct rewrite *w, struct err *err)
{
    AUTO(json_doc) struct json_doc old = {0}, fresh = {0};
    int r = read_json(w->fd, "state.json", &old, err);

    if (r == 0)
        r = read_json(w->fd, PREFIX "state.json", &fresh, err);
    if (r == 0)
        r = keep_copy(w->fd, "state.json", REPLACED_STATE, err);
    if (r == 0 && w->schema_changed) {
        r = keep_copy(w->fd, "dataset_info.json", REPLACED_INFO, err);
        if (r == 0)
            r = write_features(w->fd, NULL, err);
    }
    if (r == 0)
        r = fs_sync_parent(w->fd, DIR_NAME, err);
    if (r == 0)
        r = write_state(w->fd, old.root, fresh.root, PREFIX, err);
    return r < 0 ? r : rewrite_settle(w->fd, err);
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
    return r < 0 ? r : publish(w, err);
}
