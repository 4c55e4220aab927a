/*
 * analysis: what the records of a run mean, behind one ops struct.
 *
 *     struct analysis_options o = {.scorer = "numeric"};
 *     AUTO(analysis_result) struct analysis_result result = {0};
 *     r = analysis_run("accuracy", "runs/profile_x", &o, &result, &err);
 *     puts(buf_str(&result.document));
 *
 * An analysis reads the run record by record, in memory that does not grow with it, and writes one
 * document {analysis, summary, warnings, data}, which is kept as analysis/<id>.json in the run's
 * directory. What it takes from the command line comes as `--option k=v`; every one knows `model`.
 *
 * To add one: write src/analysis/<name>.c with the ops at its bottom and name it in registry.c.
 */
#ifndef IPW_ANALYSIS_ANALYSIS_H
#define IPW_ANALYSIS_ANALYSIS_H

#include "analysis/run.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "core/kv.h"
#include "core/plugin.h"

#include <stdbool.h>
#include <stddef.h>

struct answer_judge; /* scoring.h */

struct analysis_options {
    /* The analysis' own; a value may be followed by ",k=v" of another that it knows. NULL = none */
    const struct kv_list *params;
    /* Only `accuracy` looks at these. */
    const char *scorer;               /* how to score; NULL = as the records say */
    bool rescore;                     /* also what has a score */
    const struct answer_judge *judge; /* decides what no rule can; NULL = nobody */
};

/* Sentences for the person. */
struct warnings {
    char **items;
    size_t n, cap;
};

void warnings_add(struct warnings *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As the member "warnings" of the open object. */
void warnings_write(const struct warnings *w, struct json_writer *out);
void warnings_release(struct warnings *w);

struct analysis_ops {
    struct plugin plugin;
    /* NULL-ended: the options it takes beside `model`; NULL = none. */
    const char *const *params;
    /* Required. Reads the run, which stands at its first record, and writes the members "summary",
     * "warnings" and "data" of the open object. o->params has only keys that it takes. */
    int (*run)(struct run *run, const struct analysis_options *o, struct json_writer *w,
               struct err *err);
};

extern const struct registry analyses;

struct analysis_result {
    struct buf document; /* JSON, indented */
    char *artifact;      /* where it is kept */
};

/* Whether the words of the command line make sense, before anything is read: -ENOENT: there is no
 * such analysis or scorer; -EINVAL: an option that it does not take, or a malformed scorer. */
int analysis_check(const char *id, const struct analysis_options *o, struct err *err);

/* Checks and runs. -ENOENT: no such analysis, or nothing to read; -EINVAL: an option it does not
 * take; -ENODATA: the records do not have what it needs; -EDOM: they do not determine the answer.
 */
int analysis_run(const char *id, const char *dir, const struct analysis_options *o,
                 struct analysis_result *ret, struct err *err);
void analysis_result_release(struct analysis_result *r);

/* true, false, 1, 0, yes, no, on, off; absent is false. -EINVAL otherwise. */
int analysis_flag(const struct analysis_options *o, const char *key, bool *ret, struct err *err);

#endif
