/*
 * Taking up a directory that was not finished, or is to be continued. The journal's last COMMIT
 * whose bytes are in the part as they were written is the base; the part is cut there, and the rows
 * of the journal behind it are appended again as if they came now. A finished directory is first
 * made unfinished: its shards become parts, its last short batch goes to a journal.
 */
#include "store/hfwriter.h"

#include "arrow/copy.h"
#include "arrow/reader.h"
#include "base/fs.h"
#include "store/hfwriter_private.h"
#include "store/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Shards of a finished (or half finished) directory get their old names again. */
static int shards_to_parts(int dirfd, struct err *err)
{
    AUTO_FD int fd = fs_open_dir(dirfd, ".", err);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    int r = 0;

    if (!dir)
        return -EIO;
    steal_fd(&fd);
    while (r == 0 && (e = readdir(dir))) {
        unsigned long long part, parts;
        char name[PART_NAME_MAX];
        int end = 0;

        if (sscanf(e->d_name, "data-%5llu-of-%5llu.arrow%n", &part, &parts, &end) != 2 ||
            e->d_name[end] || !end)
            continue;
        part_name(name, part);
        if (renameat(dirfd, e->d_name, dirfd, name) < 0)
            r = err_sys(err, errno, "cannot rename %s", e->d_name);
    }
    closedir(dir);
    return r;
}

/* Whether the bytes that the COMMIT speaks of are there as they were written. */
static bool commit_holds(int dirfd, const struct journal_commit *c)
{
    AUTO(fs_map) struct fs_map part = {0};
    char name[PART_NAME_MAX];

    part_name(name, c->part);
    return fs_map_open(dirfd, name, &part, NULL) == 0 && c->from < c->to && c->to <= part.size &&
           checksum64(part.data + c->from, (size_t)(c->to - c->from)) == c->checksum;
}

/* The last COMMIT that holds; the entries behind it carry the remaining rows. */
static int find_base(int dirfd, const struct journal *j, size_t *ret_entry,
                     struct journal_commit *ret, struct err *err)
{
    bool began = false;

    for (size_t i = j->n; i-- > 0;) {
        if (j->entries[i].type != JOURNAL_COMMIT)
            continue;
        began = true;
        *ret = journal_commit_of(&j->entries[i]);
        if (commit_holds(dirfd, ret)) {
            *ret_entry = i;
            return 0;
        }
    }
    if (!began)
        return err_set(err, ENODATA, "it was interrupted before anything was written");
    return err_set(err, EBADMSG, "the data does not match its journal");
}

/* Shows every batch of a part. */
static int show_part(int dirfd, uint64_t part, hfwriter_seen_fn *seen, void *arg, int64_t *rows,
                     struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *reader = NULL;
    const struct arrow_array *batch;
    char name[PART_NAME_MAX];
    int r;

    part_name(name, part);
    r = arrow_reader_open(dirfd, name, &reader, err);
    while (r >= 0 && (r = arrow_reader_next(reader, &batch, err)) > 0) {
        *rows += batch->length;
        if (seen)
            r = seen(arg, batch, err);
    }
    return r;
}

static int open_part_at(struct hfwriter *w, const struct journal_commit *c, struct err *err)
{
    char name[PART_NAME_MAX];

    part_name(name, c->part);
    w->part_fd = openat(w->dirfd, name, O_RDWR | O_CLOEXEC);
    if (w->part_fd < 0)
        return err_sys(err, errno, "cannot open %s", name);
    if (ftruncate(w->part_fd, (off_t)c->to) < 0 || lseek(w->part_fd, (off_t)c->to, SEEK_SET) < 0)
        return err_sys(err, errno, "cannot shorten %s", name);
    w->part = c->part;
    w->offset = c->to;
    part_name(name, c->part + 1); /* begun, but never committed to */
    return fs_remove_tree(w->dirfd, name, err);
}

struct row_of {
    const struct arrow_array *batch;
    int64_t i;
};

static void put_row_of(void *arg, struct arrow_builder *b)
{
    const struct row_of *row = arg;

    arrow_put_row(b, row->batch, row->i);
}

/* Rows of a ROWS entry are appended as if they came now. */
static int replay_rows(struct hfwriter *w, const struct journal_entry *e, hfwriter_seen_fn *seen,
                       void *arg, struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *reader = NULL;
    AUTO(buf) struct buf stream = BUF_INIT(BUF_MAX_OWN);
    struct row_of row = {0};
    int r;

    buf_add(&stream, w->schema_message.data, w->schema_message.len);
    if (buf_add(&stream, e->payload, e->n) < 0)
        return err_set(err, EFBIG, "the journal holds too large a batch");
    r = arrow_reader_open_memory(stream.data, stream.len, JOURNAL_NAME, &reader, err);
    while (r >= 0 && (r = arrow_reader_next(reader, &row.batch, err)) > 0) {
        if (seen)
            r = seen(arg, row.batch, err);
        for (row.i = 0; r >= 0 && row.i < row.batch->length; row.i++)
            r = hfwriter_append(w, put_row_of, &row, mono_now(), err);
    }
    return r;
}

/* A new journal replaces the old one only when it holds all that the old one held. */
static int replace_journal(struct hfwriter *w, const struct journal *j, size_t base,
                           const struct journal_commit *c, hfwriter_seen_fn *seen, void *arg,
                           struct err *err)
{
    static const char name[] = JOURNAL_NAME ".new";
    int r = hfwriter_open_journal(w, name, O_TRUNC, err);

    if (r == 0)
        r = journal_write_commit(w->journal_fd, c, err);
    for (size_t i = base + 1; r == 0 && i < j->n; i++)
        if (j->entries[i].type == JOURNAL_ROWS)
            r = replay_rows(w, &j->entries[i], seen, arg, err);
    if (r == 0)
        r = hfwriter_sync(w, err);
    if (r == 0 && fdatasync(w->journal_fd) < 0)
        r = err_sys(err, errno, "cannot sync the journal");
    if (r == 0 && renameat(w->dirfd, name, w->dirfd, JOURNAL_NAME) < 0)
        r = err_sys(err, errno, "cannot rename the journal");
    return r < 0 ? r : fs_sync_parent(w->dirfd, JOURNAL_NAME, err);
}

static int read_schema(int dirfd, struct arrow_schema *ret, struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *reader = NULL;
    char name[PART_NAME_MAX];
    int r;

    part_name(name, 0);
    r = arrow_reader_open(dirfd, name, &reader, err);
    if (r == 0)
        hfwriter_copy_schema(ret, arrow_reader_schema(reader));
    return r;
}

/* Where the last part may be continued: behind its last whole batch. A shorter batch at the end
 * goes to the journal, as if it had not been written yet. */
static int adopt_part(int dirfd, uint64_t part, int journal_fd, struct err *err)
{
    AUTO(fs_map) struct fs_map file = {0};
    AUTO_PTR(arrow_reader) struct arrow_reader *reader = NULL;
    const struct arrow_array *batch;
    struct journal_commit c = {.part = part};
    char name[PART_NAME_MAX];
    struct iovec rows;
    int r;

    part_name(name, part);
    r = fs_map_open(dirfd, name, &file, err);
    if (r == 0)
        r = arrow_reader_open_memory(file.data, file.size, name, &reader, err);
    if (r < 0)
        return r;
    c.to = (uint64_t)arrow_reader_position(reader);
    while ((r = arrow_reader_next(reader, &batch, err)) > 0 && batch->length >= HFWRITER_BATCH_ROWS)
        c.to = (uint64_t)arrow_reader_position(reader);
    if (r < 0)
        return r;
    rows = (struct iovec){(void *)((uintptr_t)file.data + c.to),
                          (size_t)arrow_reader_position(reader) - c.to};
    c.checksum = checksum64(file.data, c.to);
    r = journal_write_commit(journal_fd, &c, err);
    if (r == 0 && rows.iov_len > 0)
        r = journal_write(journal_fd, JOURNAL_ROWS, &rows, 1, err);
    return r;
}

/* A finished directory becomes an unfinished one that holds the same rows. */
static int unfinish(int dirfd, struct err *err)
{
    static const char name[] = JOURNAL_NAME ".new";
    AUTO_FD int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    char next[PART_NAME_MAX];
    uint64_t part = 0;
    int r;

    if (fd < 0)
        return err_sys(err, errno, "cannot create the journal");
    for (part_name(next, 1); fs_exists(dirfd, next); part_name(next, part + 1))
        part++;
    r = adopt_part(dirfd, part, fd, err);
    if (r == 0 && fdatasync(fd) < 0)
        r = err_sys(err, errno, "cannot sync the journal");
    if (r == 0 && renameat(dirfd, name, dirfd, JOURNAL_NAME) < 0)
        r = err_sys(err, errno, "cannot rename the journal");
    return r;
}

int hfwriter_resume(int dirfd, hfwriter_seen_fn *seen, void *arg, struct hfwriter **ret,
                    struct err *err)
{
    AUTO(journal) struct journal j = {0};
    struct arrow_schema schema = {0};
    struct journal_commit c = {0};
    struct hfwriter *w = NULL;
    size_t base = 0;
    int r = shards_to_parts(dirfd, err);

    if (r == 0 && !hfwriter_unfinished(dirfd))
        r = unfinish(dirfd, err);
    if (r == 0)
        r = fs_remove_tree(dirfd, "state.json", err); /* it speaks of shards that are not there */
    if (r == 0)
        r = journal_open(dirfd, &j, err);
    if (r == 0)
        r = find_base(dirfd, &j, &base, &c, err);
    if (r == 0)
        r = read_schema(dirfd, &schema, err);
    if (r == 0)
        r = hfwriter_new(dirfd, &schema, &w, err);
    arrow_schema_release(&schema);
    if (r == 0)
        r = open_part_at(w, &c, err);
    for (uint64_t part = 0; r == 0 && part <= c.part; part++)
        r = show_part(dirfd, part, seen, arg, &w->rows, err);
    if (r == 0)
        r = replace_journal(w, &j, base, &c, seen, arg, err);
    if (r < 0) {
        hfwriter_free(w);
        return r;
    }
    *ret = w;
    return 0;
}
