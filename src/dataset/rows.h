/*
 * rows: where questions come from, as one JSON object after another.
 *
 * A .jsonl file, a .csv file (each column a string member) and a HuggingFace directory look the
 * same from here on, so that columns are found and recipes are written once, in table.h. A bad row
 * is reported and reading goes on behind it. A row of up to ROW_MAX bytes is read; memory is that
 * of the largest row, whatever the size of the file.
 *
 *     r = rows_open("questions.csv", NULL, &rows, &err);
 *     while ((r = rows_next(rows, &row, &err)) != 0) {
 *         if (r == -EBADMSG)  ...         this row is unusable, err says why; go on
 *         else if (r < 0)     return r;   the file is
 *         ... row.object ...
 *     }
 *     rows_free(rows);
 *
 * To add a format: fill struct rows_ops and choose it in rows_open.
 */
#ifndef IPW_DATASET_ROWS_H
#define IPW_DATASET_ROWS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define ROW_MAX ((size_t)64 << 20)

/* A row that can be gone back to. */
struct row_place {
    int64_t offset; /* the format's own measure: bytes, or rows */
    int64_t number; /* of the row in the file, from 0; bad ones count, blank lines and headers do
                       not */
};

struct row {
    const struct json *object; /* the rows' own, until the next call; NULL for a bad row */
    struct row_place place;
    int64_t line; /* it begins at, from 1; -1 = unknown (after a seek), or a format without lines */
};

struct rows_ops {
    /* Required. 1 = a row; 0 = the end; -EBADMSG = a bad row, *ret says where (its object is NULL)
     * and err why; another negative errno = no further reading. */
    int (*next)(void *ctx, struct row *ret, struct err *err);
    /* Required. The next row will be this one. {0, 0} is the first. */
    int (*seek)(void *ctx, struct row_place place, struct err *err);
    /* Required. */
    void (*close)(void *ctx);
};

struct rows {
    const struct rows_ops *ops;
    void *ctx;
    char *name; /* for messages: the path */
};

/* Does the path end like a file that can be read (.jsonl, .csv; any case)? Returns the ending
 * within it, else NULL. */
const char *rows_ending(const char *path);

/* By the ending (.jsonl, .csv) or kind (a directory) of the path. `split`: of a directory that has
 * several; NULL = the first. */
int rows_open(const char *path, const char *split, struct rows **ret, struct err *err);
/* Text in memory in the form of a .jsonl file; lent, it must outlive the rows. */
struct rows *rows_open_jsonl_memory(const char *name, const char *text, size_t n);
void rows_free(struct rows *r);

int rows_next(struct rows *r, struct row *ret, struct err *err);
int rows_seek(struct rows *r, struct row_place place, struct err *err);
/* Puts "questions.csv:12: " (or "questions.csv: row 11: ") before the words of err. */
void rows_prefix(const struct rows *r, const struct row *row, struct err *err);

/* The formats: take ownership of the feed. For rows_open and tests. */
struct feed;
struct rows *rows_jsonl_take(const char *name, struct feed *feed);
int rows_csv_take(const char *name, struct feed *feed, struct rows **ret, struct err *err);

int rows_hf_open(const char *path, const char *split, struct rows **ret, struct err *err);

DEFINE_AUTO_PTR(rows, rows_free);

#endif
