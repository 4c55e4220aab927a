#include "analysis/analysis.h"

#include "analysis/scoring.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "base/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void warnings_add(struct warnings *w, const char *fmt, ...)
{
    va_list ap;

    GROW(w->items, w->n, w->cap);
    va_start(ap, fmt);
    if (vasprintf(&w->items[w->n], fmt, ap) < 0)
        abort();
    va_end(ap);
    w->n++;
}

void warnings_write(const struct warnings *w, struct json_writer *out)
{
    jw_begin_array(out, "warnings");
    for (size_t i = 0; i < w->n; i++)
        jw_text(out, NULL, w->items[i]);
    jw_end_array(out);
}

void warnings_release(struct warnings *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->items[i]);
    free(w->items);
    *w = (struct warnings){0};
}

void analysis_result_release(struct analysis_result *r)
{
    buf_release(&r->document);
    free(r->artifact);
    r->artifact = NULL;
}

int analysis_flag(const struct analysis_options *o, const char *key, bool *ret, struct err *err)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"0", "1"}, {"no", "yes"}, {"off", "on"}};
    const char *value = o->params ? kv_get(o->params, key) : NULL;

    if (!value) {
        *ret = false;
        return 0;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        for (int truth = 0; truth < 2; truth++) {
            if (strcasecmp(value, words[i][truth]) == 0) {
                *ret = truth;
                return 0;
            }
        }
    }
    return err_set(err, EINVAL, "option %s: '%.60s' is neither true nor false", key, value);
}

/* The n-th name of an option, NULL behind the last. */
static const char *param_name(const struct analysis_ops *ops, size_t n)
{
    return n == 0 ? "model" : ops->params ? ops->params[n - 1] : NULL;
}

static int check_key(const struct analysis_ops *ops, const char *key, struct err *err)
{
    struct suggest s = suggest_for(key);
    const char *name;

    for (size_t n = 0; (name = param_name(ops, n)); n++) {
        if (strcmp(name, key) == 0)
            return 0;
        suggest_offer(&s, name);
    }
    return err_set(err, EINVAL, "analysis %s has no option '%.60s'%s%s%s", ops->plugin.id, key,
                   s.best ? ": did you mean '" : "", s.best ? s.best : "", s.best ? "'?" : "");
}

/* Where a comma is followed by another option that the analysis knows, NULL = nowhere. */
static const char *next_option(const struct analysis_ops *ops, const char *value)
{
    for (const char *p = strchr(value, ','); p; p = strchr(p + 1, ',')) {
        const char *name;

        for (size_t n = 0; (name = param_name(ops, n)); n++)
            if (strncmp(p + 1, name, strlen(name)) == 0 && p[1 + strlen(name)] == '=')
                return p;
    }
    return NULL;
}

/* The options one by one: the Python tool's users join them by commas. */
static int read_params(const struct analysis_ops *ops, const struct kv_list *given,
                       struct kv_list *ret, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && given && i < given->n; i++) {
        AUTO_FREE char *key = xstrdup(given->items[i].key);
        const char *value = given->items[i].value, *next;

        while ((next = next_option(ops, value))) {
            AUTO_FREE char *first = xstrndup(value, (size_t)(next - value));

            kv_add(ret, key, first);
            value = strchr(next, '=') + 1;
            free(key);
            key = xstrndup(next + 1, (size_t)(value - next) - 2);
        }
        kv_add(ret, key, value);
    }
    for (size_t i = 0; r == 0 && i < ret->n; i++)
        r = check_key(ops, ret->items[i].key, err);
    return r;
}

static int write_artifact(const char *dir, const char *id, struct analysis_result *result,
                          struct err *err)
{
    AUTO_FREE char *folder = xasprintf("%s/analysis", dir);
    int r = fs_mkdirs(folder, err);

    if (r < 0)
        return r;
    result->artifact = xasprintf("%s/%s.json", folder, id);
    return fs_replace(AT_FDCWD, result->artifact, result->document.data, result->document.len, err);
}

static int run_on(const struct analysis_ops *ops, const char *dir, const struct analysis_options *o,
                  struct analysis_result *result, struct err *err)
{
    AUTO_PTR(run) struct run *run = NULL;
    struct json_writer w = json_writer(&result->document, JSON_PRETTY);
    int r = run_open(dir, &run, err);

    if (r == 0)
        r = run_select(run, kv_get(o->params, "model"), err);
    if (r == 0 && run_rows(run) == 0)
        r = err_set(err, ENODATA, "%s: the run has no records", dir);
    if (r < 0)
        return r;
    jw_begin_object(&w, NULL);
    jw_text(&w, "analysis", ops->plugin.id);
    r = ops->run(run, o, &w, err);
    if (r < 0)
        return r;
    jw_end_object(&w);
    buf_addc(&result->document, '\n');
    if (result->document.failed)
        return err_set(err, EMSGSIZE, "the analysis is too large");
    return write_artifact(dir, ops->plugin.id, result, err);
}

int analysis_check(const char *id, const struct analysis_options *o, struct err *err)
{
    /* plugin is the first member of every ops struct */
    const struct analysis_ops *ops = (const struct analysis_ops *)registry_find(&analyses, id, err);
    AUTO(kv_list) struct kv_list params = {0};
    int r;

    if (!ops)
        return -ENOENT;
    r = read_params(ops, o->params, &params, err);
    return r < 0 || !o->scorer ? r : scoring_check(o->scorer, err);
}

int analysis_run(const char *id, const char *dir, const struct analysis_options *o,
                 struct analysis_result *ret, struct err *err)
{
    const struct analysis_ops *ops;
    AUTO(analysis_result)
    struct analysis_result result = {.document = BUF_INIT(BUF_MAX_OWN)};
    AUTO(kv_list) struct kv_list params = {0};
    struct analysis_options own = *o;
    int r = analysis_check(id, o, err);

    if (r < 0)
        return r;
    ops = (const struct analysis_ops *)registry_find(&analyses, id, err);
    own.params = &params;
    r = read_params(ops, o->params, &params, err);
    if (r == 0)
        r = run_on(ops, dir, &own, &result, err);
    if (r < 0)
        return r;
    *ret = result;
    result = (struct analysis_result){0};
    return 0;
}
