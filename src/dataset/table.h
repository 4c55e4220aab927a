/*
 * table: a dataset made of rows and of a rule that turns a row into an item.
 *
 * The bundled set, files and the recipes for published sets are all this, and differ in the rule.
 * Opening reads everything once: it counts the items and the rejected rows, and fails when there is
 * no item at all. After that the rows are streamed; with shuffle=true only their places are kept
 * (16 bytes an item).
 *
 * The five functions from table_next on are meant for the slots of a struct dataset_ops.
 */
#ifndef IPW_DATASET_TABLE_H
#define IPW_DATASET_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/item.h"
#include "dataset/dataset.h"
#include "dataset/rows.h"

struct mapping;

/* Fills problem, answer, subject and scorer of *ret (index and metadata are the table's part). What
 * it gives lives in the row, in the mapping's arena or forever. A negative errno and words: the row
 * is rejected. `number` is that of the row. */
typedef int (*mapping_fn)(struct mapping *m, const struct json *row, int64_t number,
                          struct item *ret, struct err *err);

struct mapping {
    mapping_fn map;
    uint64_t seed;
    /* Column names for map_columns; NULL = found by its rules. */
    const char *problem;
    const char *answer;
    const char *subject;
    const char *scorer;
    struct arena arena; /* text made for the current item; the table empties it */
};

/* The rule for plain files: problem is the column `problem`, `prompt` or `question`, answer is
 * `answer` or `expected_answer`, subject is `subject` or `category`, scorer is `scorer`, each by
 * the first of these that the row has. A name in the mapping replaces the rule, and then the row
 * must have it. Numbers and booleans become text. No problem: rejected; no answer: "". */
int map_columns(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                struct err *err);

/* The text of a scalar member, NULL when it is absent, null or empty. -EINVAL: it is an array or
 * object, or contains a NUL byte. */
int column_text(struct mapping *m, const struct json *row, const char *key, const char **ret,
                struct err *err);

/* The parameters that every table understands; the names for an ops' own list. */
#define TABLE_PARAMS "subject", "shuffle"

/* Takes ownership of the rows, also on failure; copies the mapping's names. Understands the
 * parameters subject (only items of this subject, whatever its case) and shuffle. */
int table_open_take(struct rows *rows, const struct mapping *mapping,
                    const struct dataset_config *config, void **ret, struct err *err);

int table_next(void *ctx, struct item *ret, struct err *err);
int table_rewind(void *ctx, struct err *err);
int64_t table_size(void *ctx);
void table_rejects(void *ctx, struct dataset_rejects *ret);
void table_close(void *ctx);

#endif
