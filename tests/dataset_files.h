/*
 * dataset_files: datasets written for a test, opened and read to their end.
 *
 *     write_file(dir, "a.jsonl", text, path);
 *     d = open_set(path, "shuffle=true", "subject=x", NULL);
 *     read_problems(d, text)     the problems of one pass, with a "|" behind each
 */
#ifndef IPW_TESTS_DATASET_FILES_H
#define IPW_TESTS_DATASET_FILES_H

#include "harness.h"

#include "base/buf.h"
#include "base/fs.h"
#include "dataset/dataset.h"

#include <fcntl.h>
#include <stdarg.h>

static inline void write_bytes(const char *dir, const char *name, const char *data, size_t n,
                               char path[128])
{
    struct err err = {0};

    snprintf(path, 128, "%s/%s", dir, name);
    assert_ok(fs_replace(AT_FDCWD, path, data, n, &err), &err);
}

static inline void write_file(const char *dir, const char *name, const char *text, char path[128])
{
    write_bytes(dir, name, text, strlen(text), path);
}

static inline void add_params(struct kv_list *params, va_list ap)
{
    const char *text;

    while ((text = va_arg(ap, const char *))) {
        char key[64];
        const char *equals = strchr(text, '=');

        assert_non_null(equals);
        snprintf(key, sizeof(key), "%.*s", (int)(equals - text), text);
        kv_add(params, key, equals + 1);
    }
}

/* Parameters as "key=value", then NULL. Seed 7. */
static inline struct dataset *open_set(const char *id_or_path, ...)
{
    struct kv_list params = {0};
    struct dataset *d = NULL;
    struct err err = {0};
    va_list ap;

    va_start(ap, id_or_path);
    add_params(&params, ap);
    va_end(ap);
    assert_ok(dataset_open(id_or_path, &params, 7, &d, &err), &err);
    kv_list_release(&params);
    return d;
}

static inline int try_open(struct err *err, const char *id_or_path, ...)
{
    struct kv_list params = {0};
    struct dataset *d = NULL;
    va_list ap;
    int r;

    va_start(ap, id_or_path);
    add_params(&params, ap);
    va_end(ap);
    r = dataset_open(id_or_path, &params, 7, &d, err);
    assert_true(r < 0 ? d == NULL : d != NULL);
    dataset_free(d);
    kv_list_release(&params);
    return r;
}

static inline void read_problems(struct dataset *d, struct buf *text)
{
    struct err err = {0};
    struct item item;
    int r;

    buf_clear(text);
    while ((r = dataset_next(d, &item, &err)) > 0) {
        buf_adds(text, item.problem);
        buf_addc(text, '|');
    }
    assert_int_equal(r, 0);
}

#endif
