/*
 * dataset: questions from somewhere behind one ops struct.
 *
 * The bundled set, a file, a HuggingFace directory or a generator; read item by item, so that a set
 * of any size takes little memory. What the next() gives belongs to the dataset and is valid until
 * the next call.
 *
 *     r = dataset_open("ipw" or a path, &config, &d, &err);
 *     while ((r = dataset_next(d, &item, &err)) > 0) ...
 *     dataset_rewind(d);                     --duration asks the same questions again
 *     dataset_free(d);
 *
 * To add one: write src/dataset/<name>.c with the ops at its bottom and name it in registry.c.
 */
#ifndef IPW_DATASET_DATASET_H
#define IPW_DATASET_DATASET_H

#include "base/cleanup.h"
#include "base/err.h"
#include "core/item.h"
#include "core/kv.h"
#include "core/plugin.h"

#include <stdint.h>

struct dataset_config {
    const char *path;             /* for file formats; NULL for a registered id */
    const struct kv_list *params; /* --dataset-param */
    uint64_t seed;                /* shuffling, generated prompts */
};

/* What was left out, and why: never silently. */
struct dataset_rejects {
    int64_t count;
    char first[ERR_TEXT_MAX]; /* "file.jsonl:12: no problem" */
};

struct dataset_ops {
    struct plugin plugin;
    const char *title;  /* for the run directory's name: "ipw", "MMLU-Pro" */
    const char *scorer; /* for items that name none; NULL = not scored */
    /* Required. An unknown parameter is -EINVAL with the nearest valid one. A set without any valid
     * row is an error that names the first bad one. */
    int (*open)(const struct dataset_config *config, void **ret_ctx, struct err *err);
    /* Required. 1 = an item, 0 = end, negative = the set cannot be read further. */
    int (*next)(void *ctx, struct item *ret, struct err *err);
    /* Required. Starts again at the first item. */
    int (*rewind)(void *ctx, struct err *err);
    /* Required. How many items next() will give in one pass. */
    int64_t (*size)(void *ctx);
    /* Optional. */
    void (*rejects)(void *ctx, struct dataset_rejects *ret);
    /* Required. NULL is fine. */
    void (*close)(void *ctx);
};

struct dataset {
    const struct dataset_ops *ops;
    void *ctx;
    char title[128]; /* sanitised only by the store */
};

extern const struct registry datasets;

/* A registered id, or a path (anything with a slash, an ending .jsonl, .csv, or an existing file or
 * directory): then the format's ops are chosen by its ending or kind. */
int dataset_open(const char *id_or_path, const struct kv_list *params, uint64_t seed,
                 struct dataset **ret, struct err *err);
int dataset_next(struct dataset *d, struct item *ret, struct err *err);
int dataset_rewind(struct dataset *d, struct err *err);
int64_t dataset_size(struct dataset *d);
/* What was left out; a count of 0 when nothing was. */
void dataset_rejects(struct dataset *d, struct dataset_rejects *ret);
/* NULL is fine. */
void dataset_free(struct dataset *d);

DEFINE_AUTO_PTR(dataset, dataset_free);

#endif
