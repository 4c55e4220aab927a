/*
 * A row is read by the table it was written by (core/record.c): for each batch the table is walked
 * once and every field that the batch has values for becomes a binding, a column and the address it
 * fills. Most columns of most runs are null throughout, so that a row costs a fraction of the
 * table. The record, the device and the system are the run's own, filled anew for each row; texts
 * are copied, as the columns have no NUL behind them.
 */
#include "analysis/run.h"

#include "analysis/run_private.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "store/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define SUMMARY_MAX_BYTES ((size_t)64 << 20)

void run_close(struct run *r)
{
    if (!r)
        return;
    hfdir_close(r->rows);
    json_doc_release(&r->summary);
    json_doc_release(&r->metadata);
    buf_release(&r->metadata_text);
    arena_release(&r->texts);
    arena_release(&r->channel_texts);
    free(r->channels);
    free(r->bindings);
    free(r->model);
    free(r->dir);
    free(r);
}

/* Without one, or with one that cannot be read, the run has no summary. */
static void read_summary(struct run *r)
{
    AUTO(buf) struct buf text = BUF_INIT(SUMMARY_MAX_BYTES);
    AUTO_FREE char *path = xasprintf("%s/summary.json", r->dir);

    if (fs_read_all(AT_FDCWD, path, &text, NULL) < 0)
        return;
    if (json_doc_parse(&r->summary, buf_str(&text), text.len, NULL) < 0 ||
        !json_is(r->summary.root, JSON_OBJECT))
        r->summary.root = NULL;
}

static int find_model(struct run *r, struct err *err)
{
    const struct arrow_field *metrics =
        arrow_field_child(&hfdir_schema(r->rows)->root, "model_metrics");

    if (!metrics || metrics->type != ARROW_STRUCT || metrics->n_children == 0)
        return err_set(err, EINVAL, "%s is no run: its rows have no model_metrics", r->dir);
    r->model = xstrdup(metrics->children[0].name);
    return 0;
}

int run_open(const char *dir, struct run **ret, struct err *err)
{
    AUTO_PTR(run) struct run *r = xcalloc(1, sizeof(*r));
    int result;

    r->dir = xstrdup(dir);
    r->metadata_text.max = BUF_MAX_OWN;
    r->bindings = xcalloc(n_record_fields, sizeof(*r->bindings));
    result = rundir_recover(dir, err);
    if (result == 0)
        result = hfdir_open(AT_FDCWD, dir, NULL, &r->rows, err);
    if (result == 0)
        result = find_model(r, err);
    if (result < 0)
        return result;
    read_summary(r);
    *ret = STEAL(r);
    return 0;
}

const char *run_dir(const struct run *r)
{
    return r->dir;
}

const char *run_model(const struct run *r)
{
    return r->model;
}

const struct json *run_summary(const struct run *r)
{
    return r->summary.root;
}

int64_t run_rows(const struct run *r)
{
    return hfdir_rows(r->rows);
}

int run_rewind(struct run *r, struct err *err)
{
    struct hfdir *again = NULL;
    int result = hfdir_open(AT_FDCWD, r->dir, NULL, &again, err);

    if (result < 0)
        return result;
    hfdir_close(r->rows);
    r->rows = again;
    r->batch = NULL;
    return 0;
}

int run_select(struct run *r, const char *model, struct err *err)
{
    const struct arrow_field *metrics =
        arrow_field_child(&hfdir_schema(r->rows)->root, "model_metrics");
    AUTO(buf) struct buf names = BUF_INIT(ERR_TEXT_MAX);

    if (!model && metrics->n_children == 1)
        return run_rewind(r, err);
    for (size_t i = 0; i < metrics->n_children; i++) {
        const char *name = metrics->children[i].name;

        if (model && strcmp(name, model) == 0) {
            free(r->model);
            r->model = xstrdup(model);
            return run_rewind(r, err);
        }
        buf_addf(&names, "%s%s", i ? ", " : "", name);
    }
    if (model)
        return err_set(err, EINVAL, "model '%.60s' is not in %s; there are: %s", model, r->dir,
                       buf_str(&names));
    return err_set(err, EINVAL, "%s has records of several models (%s): --option model=NAME",
                   r->dir, buf_str(&names));
}

static struct binding *add_binding(struct run *r, const struct record_field *f,
                                   const struct arrow_array *column, char *base)
{
    struct binding *b = &r->bindings[r->n_bindings++];

    *b = (struct binding){.kind = f->kind, .column = column, .size = f->size};
    b->member = base + f->offset;
    b->is_evaluation = f->kind == FIELD_TRI && strcmp(f->name, "is_correct") == 0;
    return b;
}

/* Whether a value of this column can ever be had. */
static bool has_values(const struct arrow_array *column)
{
    return column && !column->all_null && column->null_count < column->length;
}

/* Binds the fields from *i up to the FIELD_END of this level to the children of `parent`; base is
 * the struct that holds their members. */
static void bind_fields(struct run *r, size_t *i, const struct arrow_array *parent, char *base)
{
    while (*i < n_record_fields && record_fields[*i].kind != FIELD_END) {
        const struct record_field *f = &record_fields[(*i)++];
        const struct arrow_array *column = arrow_child(parent, f->name ? f->name : r->model);
        struct binding *b = NULL;
        char *inside = base;

        if (!has_values(column))
            column = NULL;
        if (f->kind == FIELD_BEGIN_AT) {
            inside =
                f->offset == offsetof(struct record, gpu) ? (char *)&r->gpu : (char *)&r->system;
            if (column && column->field->type == ARROW_STRUCT)
                b = add_binding(r, f, column, base);
        }
        if (f->kind == FIELD_BEGIN || f->kind == FIELD_BEGIN_AT) {
            bind_fields(r, i, column, inside);
            (*i)++; /* its FIELD_END */
        } else if (column) {
            add_binding(r, f, column, base);
        }
        if (b)
            b->next = r->n_bindings;
    }
}

static const char *read_text(struct run *r, const struct arrow_array *column, int64_t row)
{
    const char *text;
    size_t n;

    return arrow_text(column, row, &text, &n) ? arena_strndup(&r->texts, text, n) : NULL;
}

/* What does not fit is cut between two characters. */
static void read_chars(const struct binding *b, int64_t row)
{
    const char *text;
    size_t n, len = 0, step;

    if (!arrow_text(b->column, row, &text, &n))
        return;
    while (len < n && (step = utf8_char(text + len, n - len, NULL)) > 0 && len + step < b->size)
        len += step;
    memcpy(b->member, text, len);
    ((char *)b->member)[len] = '\0';
}

static void read_reasons(struct run *r, const struct arrow_array *column, int64_t row)
{
    int64_t start, count;

    arrow_list(column, row, &start, &count);
    for (int64_t i = 0; i < count && r->record.measurement.n_reasons < RECORD_REASONS_MAX; i++) {
        const char *reason = read_text(r, &column->children[0], start + i);

        if (reason)
            r->record.measurement.reasons[r->record.measurement.n_reasons++] = reason;
    }
}

/* The Python tool stores metadata as a struct, or as the text of an object. */
static void read_metadata(struct run *r, const struct arrow_array *column, int64_t row)
{
    const char *text;
    size_t n;

    if (arrow_is_null(column, row))
        return;
    if (!arrow_text(column, row, &text, &n)) {
        struct json_writer w = json_writer(&r->metadata_text, JSON_LINE);

        buf_clear(&r->metadata_text);
        arrow_value_json(column, row, &w, NULL);
        text = buf_str(&r->metadata_text);
        n = r->metadata_text.len;
    }
    if (json_doc_parse(&r->metadata, text, n, NULL) == 0 && json_is(r->metadata.root, JSON_OBJECT))
        r->record.metadata = r->metadata.root;
}

static void read_number(const struct binding *b, int64_t row)
{
    double *member = b->member, value;

    if (!isnan(*member))
        return;
    value = arrow_f64(b->column, row);
    *member = isfinite(value) ? value : NAN;
}

static void read_whole(const struct binding *b, int64_t row)
{
    int64_t *member = b->member, value = arrow_i64(b->column, row, -1);

    if (*member < 0 && value >= 0)
        *member = value;
}

static void read_int(const struct binding *b, int64_t row)
{
    int64_t value = arrow_i64(b->column, row, -1);

    *(int *)b->member = value > INT_MAX || value < 0 ? -1 : (int)value;
}

static void read_verdict(const struct binding *b, int64_t row, bool *judged)
{
    const char *text;
    size_t n;

    if (!arrow_text(b->column, row, &text, &n))
        return;
    for (enum validity v = VALIDITY_VALID; v <= VALIDITY_INVALID; v++) {
        if (strlen(validity_name(v)) == n && memcmp(text, validity_name(v), n) == 0) {
            *(enum validity *)b->member = v;
            *judged = true;
        }
    }
}

/* With either fallback the same: the value is there. */
static void read_truth(const struct binding *b, int64_t row)
{
    bool truth = arrow_bool(b->column, row, false);

    if (truth || (b->is_evaluation && !arrow_bool(b->column, row, true)))
        *(int *)b->member = truth;
}

static void read_leaf(struct run *r, const struct binding *b, int64_t row, bool *judged)
{
    switch (b->kind) {
    case FIELD_F64:
        read_number(b, row);
        break;
    case FIELD_I64:
        read_whole(b, row);
        break;
    case FIELD_INT:
        read_int(b, row);
        break;
    case FIELD_TEXT:
        if (!*(const char **)b->member)
            *(const char **)b->member = read_text(r, b->column, row);
        break;
    case FIELD_CHARS:
        read_chars(b, row);
        break;
    case FIELD_TRI:
        read_truth(b, row);
        break;
    case FIELD_VALIDITY:
        read_verdict(b, row, judged);
        break;
    case FIELD_REASONS:
        read_reasons(r, b->column, row);
        break;
    case FIELD_METADATA:
        read_metadata(r, b->column, row);
        break;
    default:
        break;
    }
}

/* Two structs live behind pointers; what a directory does not say of them is absent. */
static void begin_struct(struct run *r, const struct binding *b)
{
    if (b->member == &r->record.gpu) {
        r->gpu = (struct device){.kind = DEVICE_GPU, .number = -1};
        r->record.gpu = &r->gpu;
    } else {
        r->system = (struct system_info){.cpu_count = -1};
        r->record.system = &r->system;
    }
}

static void read_row(struct run *r, int64_t row)
{
    bool judged = false;

    arena_reset(&r->texts);
    record_init(&r->record);
    for (size_t i = 0; i < r->n_bindings; i++) {
        const struct binding *b = &r->bindings[i];

        if (b->kind != FIELD_BEGIN_AT)
            read_leaf(r, b, row, &judged);
        else if (!arrow_is_null(b->column, row))
            begin_struct(r, b);
        else
            i = b->next - 1;
    }
    if (!judged) {
        r->record.measurement.validity = VALIDITY_DEGRADED;
        r->record.measurement.reasons[0] = RUN_UNCHECKED;
        r->record.measurement.n_reasons = 1;
    }
}

int run_next(struct run *r, const struct record **ret, struct err *err)
{
    while (!r->batch || r->next_row == r->batch->length) {
        size_t i = 0;
        int more;

        r->batch = NULL;
        more = hfdir_next(r->rows, &r->batch, err);
        if (more <= 0)
            return more;
        r->next_row = 0;
        r->n_bindings = 0;
        bind_fields(r, &i, r->batch, (char *)&r->record);
    }
    read_row(r, r->next_row++);
    *ret = &r->record;
    return 1;
}

double record_joules(const struct record *r)
{
    const char *basis = r->energy.basis;

    if (!basis) {
        if (r->gpu && strcasecmp(r->gpu->vendor, "apple") == 0 && !isnan(r->energy.soc_j))
            return r->energy.soc_j;
        return isnan(r->energy.gpu_j) ? r->energy.cpu_j : r->energy.gpu_j;
    }
    if (strcmp(basis, "gpu") == 0)
        return r->energy.gpu_j;
    if (strcmp(basis, "gpu+cpu") == 0)
        return r->energy.gpu_j + r->energy.cpu_j;
    if (strcmp(basis, "soc") == 0)
        return r->energy.soc_j;
    return strcmp(basis, "cpu") == 0 ? r->energy.cpu_j : NAN;
}

double record_watts(const struct record *r)
{
    return r->latency.total_s > 0 ? record_joules(r) / r->latency.total_s : NAN;
}

bool record_ok(const struct record *r)
{
    return r->request.status ? strcmp(r->request.status, "ok") == 0 : r->response != NULL;
}
