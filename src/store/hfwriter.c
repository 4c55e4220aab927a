/*
 * Rows go into two builders: `batch`, which becomes a batch of a part when it has 1000 rows, and
 * `fresh`, the rows that the journal does not have yet. A part is written only in whole batches;
 * the COMMIT entry behind each batch carries its checksum, so recovery knows without guessing which
 * bytes of the parts are good, and which rows must come from the journal.
 */
#include "store/hfwriter.h"

#include "arrow/copy.h"
#include "arrow/writer.h"
#include "base/alloc.h"
#include "base/checksum.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "store/hfwriter_private.h"
#include "store/journal.h"
#include "store/syncer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void part_name(char name[PART_NAME_MAX], uint64_t part)
{
    snprintf(name, PART_NAME_MAX, "part-%05" PRIu64 ".arrow", part);
}

void shard_name(char name[PART_NAME_MAX], uint64_t part, uint64_t parts)
{
    snprintf(name, PART_NAME_MAX, "data-%05" PRIu64 "-of-%05" PRIu64 ".arrow", part, parts);
}

static int write_chunk(struct hfwriter *w, struct err *err)
{
    const char *p = w->chunk + w->chunk_from;
    size_t n = w->chunk_to - w->chunk_from;

    checksum_add(&w->batch_sum, p, n);
    w->batch_bytes += n;
    w->chunk_from = w->chunk_to = w->chunk_to % CHUNK_BYTES;
    return fs_write_full(w->part_fd, p, n, err);
}

/* The sink of a part: counts and sums what passes. A batch has hundreds of small buffers that end
 * anywhere. The kernel takes chunks that are still in the cache, and end where its large pages do,
 * in half the time, and the sum over them is made in half the time, too. */
static int write_to_part(void *ctx, const struct iovec *parts, size_t n_parts, struct err *err)
{
    struct hfwriter *w = ctx;
    int r = 0;

    w->chunk_from = w->chunk_to = (w->offset + w->batch_bytes) % CHUNK_BYTES;
    for (size_t i = 0; r == 0 && i < n_parts; i++) {
        const char *p = parts[i].iov_base;
        size_t left = parts[i].iov_len;

        while (r == 0 && left > 0) {
            size_t room = CHUNK_BYTES - w->chunk_to, n = left < room ? left : room;

            memcpy(w->chunk + w->chunk_to, p, n);
            w->chunk_to += n;
            p += n;
            left -= n;
            if (w->chunk_to == CHUNK_BYTES)
                r = write_chunk(w, err);
        }
    }
    return r < 0 ? r : write_chunk(w, err);
}

static struct arrow_sink part_sink(struct hfwriter *w)
{
    w->batch_sum = (struct checksum){0};
    w->batch_bytes = 0;
    return (struct arrow_sink){.write = write_to_part, .ctx = w};
}

/* What was just written to the part counts from now on. */
static int commit(struct hfwriter *w, struct err *err)
{
    struct journal_commit c = {.part = w->part,
                               .from = w->offset,
                               .to = w->offset + w->batch_bytes,
                               .checksum = checksum_value(&w->batch_sum)};
    int r = journal_write_commit(w->journal_fd, &c, err);

    if (r < 0)
        return r;
    w->offset = c.to;
    syncer_ask(w->syncer, w->part_fd, w->journal_fd);
    return 0;
}

/* Nothing that was not committed stays in the part. */
static void undo_part(const struct hfwriter *w)
{
    if (ftruncate(w->part_fd, (off_t)w->offset) == 0)
        lseek(w->part_fd, (off_t)w->offset, SEEK_SET);
}

static int start_part(struct hfwriter *w, uint64_t part, struct err *err)
{
    struct arrow_sink sink;
    char name[PART_NAME_MAX];
    int r;

    part_name(name, part);
    w->part_fd = openat(w->dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->part_fd < 0)
        return err_sys(err, errno, "cannot create %s", name);
    w->part = part;
    w->offset = 0;
    sink = part_sink(w);
    r = arrow_write_schema(&sink, &w->schema, err);
    return r < 0 ? r : commit(w, err);
}

/* The end marker is not committed: what recovery takes up can be continued. */
static int finish_part(struct hfwriter *w, struct err *err)
{
    struct arrow_sink sink = part_sink(w);
    int r = arrow_write_end(&sink, err);

    if (r == 0) {
        syncer_ask(w->syncer, w->part_fd, w->journal_fd);
        r = syncer_wait(w->syncer, err);
    }
    if (r < 0) {
        undo_part(w);
        return r;
    }
    close(w->part_fd);
    w->part_fd = -1;
    return 0;
}

static int write_batch(struct hfwriter *w, struct err *err)
{
    uint64_t bytes = arrow_builder_bytes(w->batch);
    struct arrow_sink sink;
    int r = 0;

    if (arrow_builder_rows(w->batch) == 0)
        return 0;
    if (w->offset > w->schema_message.len && w->offset + bytes > HFWRITER_SHARD_BYTES) {
        r = finish_part(w, err);
        if (r == 0)
            r = start_part(w, w->part + 1, err);
        if (r < 0)
            return r;
    }
    sink = part_sink(w);
    r = arrow_write_batch(&sink, w->batch, err);
    if (r == 0)
        r = commit(w, err);
    if (r < 0) {
        undo_part(w);
        return r;
    }
    arrow_builder_clear(w->batch);
    w->journaled = 0;
    return 0;
}

/* Writes the rows of the batch that the journal does not have. */
static int flush_fresh(struct hfwriter *w, struct err *err)
{
    AUTO(buf) struct buf message = BUF_INIT(BUF_MAX_OWN);
    struct arrow_sink sink = arrow_sink_buf(&message);
    struct iovec part;
    int r = 0;

    if (w->journaled == arrow_builder_rows(w->batch))
        return 0;
    arrow_builder_clear(w->message);
    for (int64_t i = w->journaled; r == 0 && i < arrow_builder_rows(w->batch); i++) {
        arrow_put_built_row(w->message, w->batch, i);
        r = arrow_builder_end_row(w->message, err);
    }
    if (r == 0)
        r = arrow_write_batch(&sink, w->message, err);
    if (r < 0)
        return r;
    part = (struct iovec){message.data, message.len};
    r = journal_write(w->journal_fd, JOURNAL_ROWS, &part, 1, err);
    if (r < 0)
        return r;
    w->journaled = arrow_builder_rows(w->batch);
    syncer_ask(w->syncer, w->part_fd, w->journal_fd);
    return 0;
}

/* When a column is full (2 GiB of text), the batch is written early. */
static int add_row(struct hfwriter *w, hfwriter_put_fn *put, void *arg, struct err *err)
{
    int r;

    put(arg, w->batch);
    r = arrow_builder_end_row(w->batch, err);
    if (r == -EFBIG) {
        r = write_batch(w, err);
        if (r < 0)
            return r;
        put(arg, w->batch);
        r = arrow_builder_end_row(w->batch, err);
    }
    if (r == 0)
        w->rows++;
    return r;
}

int hfwriter_append(struct hfwriter *w, hfwriter_put_fn *put, void *arg, mono_ns now,
                    struct err *err)
{
    int r = add_row(w, put, arg, err);

    if (r < 0)
        return r;
    if (arrow_builder_rows(w->batch) == w->journaled + 1)
        w->oldest_fresh = now;
    if (arrow_builder_rows(w->batch) >= HFWRITER_BATCH_ROWS)
        return write_batch(w, err);
    return hfwriter_tick(w, now, err);
}

mono_ns hfwriter_due(const struct hfwriter *w)
{
    return arrow_builder_rows(w->batch) > w->journaled ? w->oldest_fresh + HFWRITER_FLUSH_NS
                                                       : MONO_NEVER;
}

int hfwriter_tick(struct hfwriter *w, mono_ns now, struct err *err)
{
    if (now < hfwriter_due(w))
        return 0;
    if (syncer_failure(w->syncer, err) < 0)
        return -EIO;
    return flush_fresh(w, err);
}

int hfwriter_sync(struct hfwriter *w, struct err *err)
{
    int r = flush_fresh(w, err);

    return r < 0 ? r : syncer_wait(w->syncer, err);
}

const struct arrow_schema *hfwriter_schema(const struct hfwriter *w)
{
    return &w->schema;
}

int64_t hfwriter_rows(const struct hfwriter *w)
{
    return w->rows;
}

bool hfwriter_unfinished(int dirfd)
{
    return fs_exists(dirfd, JOURNAL_NAME);
}

void hfwriter_free(struct hfwriter *w)
{
    if (!w)
        return;
    syncer_free(w->syncer);
    if (w->part_fd >= 0)
        close(w->part_fd);
    if (w->journal_fd >= 0)
        close(w->journal_fd);
    if (w->dirfd >= 0)
        close(w->dirfd);
    arrow_builder_free(w->batch);
    arrow_builder_free(w->message);
    free(w->chunk);
    buf_release(&w->schema_message);
    arrow_schema_release(&w->schema);
    free(w);
}

int hfwriter_new(int dirfd, struct arrow_schema *schema, struct hfwriter **ret, struct err *err)
{
    struct hfwriter *w = xcalloc(1, sizeof(*w));
    struct arrow_sink memory = arrow_sink_buf(&w->schema_message);
    int r;

    w->part_fd = w->journal_fd = -1;
    w->chunk = xmalloc(CHUNK_BYTES);
    w->schema = *schema;
    *schema = (struct arrow_schema){0};
    buf_init(&w->schema_message, BUF_MAX_OWN);
    w->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 3);
    r = w->dirfd < 0 ? err_sys(err, errno, "cannot keep the directory open") : 0;
    if (r == 0)
        r = arrow_write_schema(&memory, &w->schema, err);
    if (r == 0)
        r = arrow_builder_new(&w->schema, &w->batch, err);
    if (r == 0)
        r = arrow_builder_new(&w->schema, &w->message, err);
    if (r == 0)
        r = syncer_new(&w->syncer, err);
    if (r < 0) {
        hfwriter_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

void hfwriter_copy_schema(struct arrow_schema *to, const struct arrow_schema *from)
{
    arrow_schema_init(to);
    for (size_t i = 0; i < from->root.n_children; i++)
        arrow_field_copy(&to->root, &from->root.children[i]);
    arrow_schema_describe(to);
}

int hfwriter_open_journal(struct hfwriter *w, const char *name, int flags, struct err *err)
{
    w->journal_fd = openat(w->dirfd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
    return w->journal_fd < 0 ? err_sys(err, errno, "cannot create %s", name) : 0;
}

int hfwriter_create(int dirfd, const struct arrow_schema *schema, struct hfwriter **ret,
                    struct err *err)
{
    struct arrow_schema own = {0};
    struct hfwriter *w = NULL;
    int r;

    hfwriter_copy_schema(&own, schema);
    r = hfwriter_new(dirfd, &own, &w, err);
    arrow_schema_release(&own);
    if (r == 0)
        r = hfwriter_open_journal(w, JOURNAL_NAME, O_EXCL, err);
    if (r == 0)
        r = start_part(w, 0, err);
    if (r == 0)
        r = syncer_wait(w->syncer, err);
    if (r == 0)
        r = fs_sync_parent(w->dirfd, JOURNAL_NAME, err);
    if (r < 0) {
        hfwriter_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

static void random_fingerprint(char text[17])
{
    unsigned char bytes[8] = {0};

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        memset(bytes, 0x5A, sizeof(bytes)); /* nobody checks it; any sixteen digits load */
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static void write_state(struct json_writer *w, const char *const *shards, size_t n_shards)
{
    char fingerprint[17];

    random_fingerprint(fingerprint);
    jw_begin_object(w, NULL);
    jw_begin_array(w, "_data_files");
    for (size_t i = 0; i < n_shards; i++) {
        jw_begin_object(w, NULL);
        jw_text(w, "filename", shards[i]);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_text(w, "_fingerprint", fingerprint);
    jw_null(w, "_format_columns");
    jw_begin_object(w, "_format_kwargs");
    jw_end_object(w);
    jw_null(w, "_format_type");
    jw_bool(w, "_output_all_columns", false);
    jw_null(w, "_split");
    jw_end_object(w);
}

static void write_info(struct json_writer *w, const struct arrow_schema *schema)
{
    jw_begin_object(w, NULL);
    jw_text(w, "citation", "");
    jw_text(w, "description", "");
    arrow_features_json(schema, w, "features");
    jw_text(w, "homepage", "");
    jw_text(w, "license", "");
    jw_end_object(w);
}

int hf_write_metadata(int dirfd, const struct arrow_schema *schema, const char *const *shards,
                      size_t n_shards, struct err *err)
{
    AUTO(buf) struct buf info = BUF_INIT(BUF_MAX_OWN), state = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&info, JSON_PRETTY);
    int r;

    w.ascii = true;
    write_info(&w, schema);
    w = json_writer(&state, JSON_PRETTY);
    w.ascii = true;
    write_state(&w, shards, n_shards);
    r = fs_replace(dirfd, "dataset_info.json", info.data, info.len, err);
    return r < 0 ? r : fs_replace(dirfd, "state.json", state.data, state.len, err);
}

/* A crash in the middle leaves an unfinished directory, whose parts recovery names back. */
static int parts_to_shards(int dirfd, uint64_t parts, char **shards, struct err *err)
{
    for (uint64_t i = 0; i < parts; i++) {
        char from[PART_NAME_MAX];

        part_name(from, i);
        shards[i] = xmalloc(PART_NAME_MAX);
        shard_name(shards[i], i, parts);
        if (renameat(dirfd, from, dirfd, shards[i]) < 0)
            return err_sys(err, errno, "cannot rename %s", from);
    }
    return 0;
}

static int become_dataset(struct hfwriter *w, struct err *err)
{
    uint64_t parts = w->part + 1;
    char **shards = xcalloc(parts, sizeof(*shards));
    int r = parts_to_shards(w->dirfd, parts, shards, err);

    if (r == 0)
        r = hf_write_metadata(w->dirfd, &w->schema, (const char *const *)shards, parts, err);
    if (r == 0 && unlinkat(w->dirfd, JOURNAL_NAME, 0) < 0)
        r = err_sys(err, errno, "cannot remove the journal");
    if (r == 0)
        r = fs_sync_parent(w->dirfd, JOURNAL_NAME, err);
    for (uint64_t i = 0; i < parts; i++)
        free(shards[i]);
    free(shards);
    return r;
}

int hfwriter_finish(struct hfwriter *w, struct err *err)
{
    int r = flush_fresh(w, err); /* should the batch not fit on the disk, the journal has it */

    if (r == 0)
        r = write_batch(w, err);
    if (r == 0)
        r = finish_part(w, err);
    return r < 0 ? r : become_dataset(w, err);
}
