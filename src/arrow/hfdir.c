/*
 * The union is built first, from all shards. A batch of a shard is then dressed in it: a tree of
 * arrays in the shape of the union, whose nodes are the shard's or, where the shard has nothing,
 * all null. Which child of the shard stands for which child of the union is worked out once per
 * shard (`map`, in pre-order), by sorted names, so that thousands of columns in any order are no
 * burden.
 */
#include "arrow/hfdir.h"

#include "arrow/reader.h"
#include "base/alloc.h"
#include "base/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* state.json has some 50 bytes for each shard. */
#define STATE_MAX_BYTES ((size_t)16 << 20)
/* More of the directory's path would leave no room for the words. */
#define PATH_SHOWN_MAX 80

struct hfdir {
    char *path; /* for messages */
    int fd;
    char **files;
    size_t n_files;
    size_t next_file;
    struct arrow_schema schema;
    size_t n_fields; /* of the schema, without its root */
    int64_t rows;
    struct arrow_reader *shard; /* NULL = none open */
    int32_t *map;       /* for each field of the schema: its place in the shard, -1 = none */
    struct arena arena; /* the arrays of the current batch */
};

void hfdir_close(struct hfdir *h)
{
    if (!h)
        return;
    arrow_reader_close(h->shard);
    arrow_schema_release(&h->schema);
    arena_release(&h->arena);
    for (size_t i = 0; i < h->n_files; i++)
        free(h->files[i]);
    free(h->files);
    free(h->map);
    free(h->path);
    cleanup_fd(&h->fd);
    free(h);
}

/* Puts the directory in front of the words of a failed call. */
static int in_directory(const struct hfdir *h, int result, struct err *err)
{
    size_t n = strlen(h->path);
    const char *shown = n > PATH_SHOWN_MAX ? h->path + n - PATH_SHOWN_MAX : h->path;

    while (shown > h->path && ((unsigned char)*shown & 0xC0) == 0x80)
        shown++;
    if (result < 0 && err)
        err_prefix(err, "%s%s", shown > h->path ? "..." : "", shown);
    return result;
}

/* Children of a field by name. */
struct named {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Sorted; the caller frees. */
static struct named *sort_children(const struct arrow_field *f)
{
    struct named *all = xcalloc(f->n_children + 1, sizeof(*all));

    for (size_t i = 0; i < f->n_children; i++)
        all[i] = (struct named){f->children[i].name, i};
    qsort(all, f->n_children, sizeof(*all), compare_names);
    return all;
}

/* -1 = not among them. */
static int32_t find_child(const struct named *sorted, size_t n, const char *name)
{
    const struct named key = {.name = name};
    const struct named *found = bsearch(&key, sorted, n, sizeof(*sorted), compare_names);

    return found ? (int32_t)found->index : -1;
}

static int refuse_duplicates(const struct arrow_field *f, struct err *err)
{
    AUTO_FREE struct named *sorted = f->type == ARROW_STRUCT ? sort_children(f) : NULL;

    for (size_t i = 1; sorted && i < f->n_children; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
            return err_set(err, EBADMSG, "two columns are called '%s'", sorted[i].name);
    for (size_t i = 0; i < f->n_children; i++) {
        int r = refuse_duplicates(&f->children[i], err);

        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_same_type(const struct arrow_field *a, const struct arrow_field *b)
{
    const char *zone_a = a->timezone ? a->timezone : "", *zone_b = b->timezone ? b->timezone : "";

    return a->type == b->type && a->param == b->param && a->scale == b->scale &&
           a->unit == b->unit && strcmp(zone_a, zone_b) == 0;
}

static int refuse_type(const struct arrow_field *f, const struct arrow_field *other,
                       struct err *err)
{
    char here[ARROW_TYPE_NAME_MAX], there[ARROW_TYPE_NAME_MAX];

    return err_set(err, EBADMSG, "column '%s' is %s here and %s in an earlier shard", f->name,
                   arrow_type_name(f, here), arrow_type_name(other, there));
}

/* Everything but the name. `to` is of type null and has no children. */
static void become(struct arrow_field *to, const struct arrow_field *from)
{
    to->type = from->type;
    to->param = from->param;
    to->precision = from->precision;
    to->scale = from->scale;
    to->unit = from->unit;
    to->timezone = from->timezone ? xstrdup(from->timezone) : NULL;
    for (size_t i = 0; i < from->n_children; i++)
        become(arrow_field_add(to, from->children[i].name, ARROW_NULL), &from->children[i]);
}

/* Adds to the union what a shard has. */
static int merge(struct arrow_field *into, const struct arrow_field *from, struct err *err)
{
    AUTO_FREE struct named *sorted = NULL;
    size_t n = into->n_children;
    int r = 0;

    if (from->type == ARROW_NULL)
        return 0;
    if (into->type == ARROW_NULL) {
        become(into, from);
        return 0;
    }
    if (!is_same_type(into, from))
        return refuse_type(from, into, err);
    if (from->type != ARROW_STRUCT) /* of a list the item, whatever it is called */
        return from->n_children ? merge(&into->children[0], &from->children[0], err) : 0;
    sorted = sort_children(into);
    for (size_t i = 0; r == 0 && i < from->n_children; i++) {
        const struct arrow_field *child = &from->children[i];
        int32_t k = find_child(sorted, n, child->name);

        if (k >= 0)
            r = merge(&into->children[k], child, err);
        else
            become(arrow_field_add(into, child->name, ARROW_NULL), child);
    }
    return r;
}

/* Fills h->map for the children of a field of the union and what a shard has in its place (NULL =
 * nothing). The shard must still be what it was when the union was made. */
static int map_children(struct hfdir *h, const struct arrow_field *f,
                        const struct arrow_field *shard, size_t *k, struct err *err)
{
    AUTO_FREE struct named *sorted = NULL;
    int r = 0;

    if (shard && (shard->type == ARROW_NULL || !is_same_type(f, shard))) {
        if (shard->type != ARROW_NULL)
            return refuse_type(shard, f, err);
        shard = NULL;
    }
    if (shard && f->type == ARROW_STRUCT)
        sorted = sort_children(shard);
    for (size_t i = 0; r == 0 && i < f->n_children; i++) {
        int32_t at = !shard   ? -1
                     : sorted ? find_child(sorted, shard->n_children, f->children[i].name)
                              : 0;

        h->map[(*k)++] = at;
        r = map_children(h, &f->children[i], at < 0 ? NULL : &shard->children[at], k, err);
    }
    return r;
}

/* Dresses the children of `a`, which is in place itself; src NULL = the shard has none. */
static void dress_children(struct hfdir *h, struct arrow_array *a, const struct arrow_array *src,
                           size_t *k)
{
    const struct arrow_field *f = a->field;
    bool is_struct = f->type == ARROW_STRUCT;

    a->n_children = f->n_children;
    a->children = arena_alloc(&h->arena, f->n_children * sizeof(*a->children));
    for (size_t i = 0; i < f->n_children; i++) {
        int32_t at = h->map[(*k)++];
        const struct arrow_array *from = src && at >= 0 ? &src->children[at] : NULL;
        struct arrow_array *child = &a->children[i];

        if (from && from->field->type != ARROW_NULL) {
            *child = *from;
        } else {
            /* items of lists that are all null are never looked at: 0 of them will do */
            int64_t length = from ? from->length : is_struct ? a->length : 0;

            from = NULL;
            *child = (struct arrow_array){.length = length, .null_count = length, .all_null = true};
            child->storage = f->children[i].type;
        }
        child->field = &f->children[i];
        child->parent = a;
        child->mask = !is_struct ? NULL : a->validity ? a : a->mask;
        dress_children(h, child, from, k);
    }
}

static const struct arrow_array *dress(struct hfdir *h, const struct arrow_array *batch)
{
    struct arrow_array *root;
    size_t k = 0;

    arena_reset(&h->arena);
    root = arena_alloc(&h->arena, sizeof(*root));
    *root = *batch;
    root->field = &h->schema.root;
    dress_children(h, root, batch, &k);
    return root;
}

/* Opens the next shard and says how its columns lie in the union. */
static int open_next(struct hfdir *h, struct err *err)
{
    const char *file = h->files[h->next_file];
    size_t k = 0;
    int r = arrow_reader_open(h->fd, file, &h->shard, err);

    if (r < 0)
        return r;
    r = refuse_duplicates(&arrow_reader_schema(h->shard)->root, err);
    if (r == 0)
        r = map_children(h, &h->schema.root, &arrow_reader_schema(h->shard)->root, &k, err);
    if (r < 0) {
        arrow_reader_close(STEAL(h->shard));
        return err ? err_prefix(err, "%s", file) : r;
    }
    h->next_file++;
    return 0;
}

int hfdir_next(struct hfdir *h, const struct arrow_array **ret, struct err *err)
{
    for (;;) {
        const struct arrow_array *batch;
        int r;

        if (!h->shard) {
            if (h->next_file == h->n_files)
                return 0;
            r = open_next(h, err);
            if (r < 0)
                return in_directory(h, r, err);
        }
        r = arrow_reader_next(h->shard, &batch, err);
        if (r < 0)
            return in_directory(h, r, err);
        if (r > 0) {
            *ret = dress(h, batch);
            return 1;
        }
        arrow_reader_close(STEAL(h->shard));
    }
}

const struct arrow_schema *hfdir_schema(const struct hfdir *h)
{
    return &h->schema;
}

int64_t hfdir_rows(const struct hfdir *h)
{
    return h->rows;
}

/* The schema and rows of one shard. */
static int survey_shard(struct hfdir *h, const char *file, struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    const struct arrow_schema *schema;
    int64_t rows = 0;
    int result = arrow_reader_open(h->fd, file, &r, err);

    if (result < 0)
        return result;
    result = arrow_reader_rows(r, &rows, err);
    if (result < 0)
        return result;
    schema = arrow_reader_schema(r);
    result = refuse_duplicates(&schema->root, err);
    if (result == 0)
        result = merge(&h->schema.root, &schema->root, err);
    if (result == 0 && __builtin_add_overflow(h->rows, rows, &h->rows))
        result = err_set(err, EBADMSG, "more rows than can be counted");
    if (result < 0)
        return err ? err_prefix(err, "%s", file) : result;
    if (!h->schema.huggingface && schema->huggingface)
        h->schema.huggingface = xstrdup(schema->huggingface);
    return 0;
}

/* A name in the directory or below it, nothing that leads out. */
static bool is_inside(const struct json *name)
{
    const char *text = json_text(name, "");

    if (!json_is(name, JSON_STRING) || strlen(text) != name->len || !*text || *text == '/')
        return false;
    for (const char *p = text; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
            return false;
    }
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One file listed twice would be its rows twice. */
static int refuse_repeats(const struct hfdir *h, struct err *err)
{
    AUTO_FREE char **sorted = xmemdup(h->files, (h->n_files + 1) * sizeof(*h->files));

    qsort(sorted, h->n_files, sizeof(*sorted), compare_texts);
    for (size_t i = 1; i < h->n_files; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return err_set(err, EBADMSG, "state.json: lists '%s' twice", sorted[i]);
    return 0;
}

static int list_files(struct hfdir *h, const struct json *state, struct err *err)
{
    const struct json *files = json_get(state, "_data_files");

    if (!json_is(files, JSON_ARRAY))
        return err_set(err, EBADMSG, "state.json: no list of data files");
    h->files = xcalloc(files->len + 1, sizeof(*h->files));
    JSON_FOREACH (item, files) {
        const struct json *name = json_get(item, "filename");

        if (!is_inside(name))
            return err_set(err, EBADMSG, "state.json: '%s' is not a file of the directory",
                           json_text(name, ""));
        h->files[h->n_files++] = xstrdup(name->text);
    }
    return refuse_repeats(h, err);
}

static int read_json(int dirfd, const char *name, struct json_doc *doc, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(STATE_MAX_BYTES);
    int r = fs_read_all(dirfd, name, &text, err);

    if (r < 0)
        return r;
    r = json_doc_parse(doc, buf_str(&text), text.len, err);
    return r < 0 && err ? err_prefix(err, "%s", name) : r;
}

static int check_split(const struct json *state, const char *split, struct err *err)
{
    const char *own = json_text(json_get(state, "_split"), NULL);

    if (!split || (own && strcmp(own, split) == 0))
        return 0;
    if (own)
        return err_set(err, ENOENT, "there is no split '%s', only '%s'", split, own);
    return err_set(err, ENOENT, "there is no split '%s': the dataset has no splits", split);
}

/* The directory h->fd is a plain dataset. */
static int survey(struct hfdir *h, const char *split, struct err *err)
{
    AUTO(json_doc) struct json_doc state = {0};
    int r = read_json(h->fd, "state.json", &state, err);

    if (r == 0)
        r = check_split(state.root, split, err);
    if (r == 0)
        r = list_files(h, state.root, err);
    arrow_schema_init(&h->schema);
    for (size_t i = 0; r == 0 && i < h->n_files; i++)
        r = survey_shard(h, h->files[i], err);
    h->n_fields = arrow_field_count(&h->schema.root) - 1;
    h->map = xcalloc(h->n_fields + 1, sizeof(*h->map));
    return r;
}

/* The wanted or first split of a DatasetDict; the caller frees. */
static int choose_split(int fd, const char *split, char **ret, struct err *err)
{
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO(buf) struct buf names = BUF_INIT(ERR_TEXT_MAX);
    const struct json *splits;
    int r = read_json(fd, "dataset_dict.json", &doc, err);

    if (r < 0)
        return r;
    splits = json_get(doc.root, "splits");
    JSON_FOREACH (item, splits) {
        const char *name = json_text(item, "");

        if (!is_inside(item) || strchr(name, '/'))
            return err_set(err, EBADMSG, "dataset_dict.json: '%s' is not a split's name", name);
        if (!split || strcmp(name, split) == 0) {
            *ret = xstrdup(name);
            return 0;
        }
        buf_addf(&names, "%s%s", names.len ? ", " : "", name);
    }
    if (!names.len)
        return err_set(err, EBADMSG, "dataset_dict.json: no splits");
    return err_set(err, ENOENT, "there is no split '%s'; there are: %s", split, buf_str(&names));
}

/* Goes down into a split when the directory is a DatasetDict. */
static int enter(struct hfdir *h, const char **split, struct err *err)
{
    AUTO_FREE char *chosen = NULL;
    AUTO_FREE char *outer = NULL;
    AUTO_FD int below = -1;
    int r;

    if (fs_exists(h->fd, "state.json"))
        return 0;
    if (!fs_exists(h->fd, "dataset_dict.json"))
        return err_set(err, ENOENT,
                       "not a HuggingFace dataset directory: neither state.json nor "
                       "dataset_dict.json is there");
    r = choose_split(h->fd, *split, &chosen, err);
    if (r < 0)
        return r;
    below = fs_open_dir(h->fd, chosen, err);
    if (below < 0)
        return below;
    cleanup_fd(&h->fd);
    h->fd = steal_fd(&below);
    outer = h->path;
    h->path = xasprintf("%s/%s", outer, chosen);
    *split = NULL;
    return 0;
}

int hfdir_open(int dirfd, const char *path, const char *split, struct hfdir **ret, struct err *err)
{
    AUTO_PTR(hfdir) struct hfdir *h = xcalloc(1, sizeof(*h));
    int r;

    h->path = xstrdup(path);
    h->fd = fs_open_dir(dirfd, path, err);
    if (h->fd < 0)
        return h->fd;
    r = enter(h, &split, err);
    if (r == 0)
        r = survey(h, split, err);
    if (r < 0)
        return in_directory(h, r, err);
    *ret = STEAL(h);
    return 0;
}
