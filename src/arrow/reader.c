/*
 * The stream as a whole: where it lies, and the order of its messages. A message counts as read
 * only when it was found good, so that an error repeats and the position stays in front of it.
 */
#include "arrow/reader.h"

#include "arrow/ipc.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Pages that were read are given back when this much has been passed. */
#define BEHIND_BYTES ((size_t)4 << 20)

struct arrow_reader {
    struct ipc_stream stream;
    char *name;
    void *mapping; /* NULL = the bytes are the caller's */
    size_t position;
    size_t dropped; /* bytes of the mapping in front of which no page is kept */
    size_t paid;    /* bytes that have added to the stream's allowance */
    struct ipc_memory batch;
};

void arrow_reader_close(struct arrow_reader *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->stream.n_dictionaries; i++)
        ipc_dictionary_clear(&r->stream.dictionaries[i]);
    free(r->stream.dictionaries);
    arrow_schema_release(&r->stream.schema);
    decompressor_release(&r->stream.decompressor);
    ipc_memory_release(&r->batch);
    if (r->mapping)
        munmap(r->mapping, r->stream.size);
    free(r->name);
    free(r);
}

/* A message pays for what it holds before that is loaded, once however often it is tried. */
static void pay(struct arrow_reader *r, const struct ipc_message *m)
{
    if (m->end <= r->paid)
        return;
    r->stream.allowance += (int64_t)(m->end - r->paid) * IPC_ALLOWANCE_PER_BYTE;
    r->paid = m->end;
}

/* The first message, which must be the schema. */
static int start(struct arrow_reader *r, struct err *err)
{
    static const char file_magic[] = "ARROW1";
    struct ipc_stream *s = &r->stream;
    struct ipc_message m;
    int result;

    s->name = r->name;
    s->allowance = IPC_ALLOWANCE_FIRST;
    if (s->size == 0 || !s->data)
        return ipc_fail(s, 0, err, "the file is empty");
    if (s->size >= strlen(file_magic) && memcmp(s->data, file_magic, strlen(file_magic)) == 0)
        return ipc_fail(s, 0, err,
                        "this is the Arrow file format; HuggingFace datasets, and this program, "
                        "use the stream format");
    result = ipc_message_read(s, 0, &m, err);
    if (result < 0)
        return result;
    if (result == 0 || m.type != IPC_SCHEMA)
        return ipc_fail(s, 0, err, "the stream does not start with a schema");
    pay(r, &m);
    result = ipc_schema_read(s, &m, err);
    if (result == 0)
        r->position = m.end;
    return result;
}

int arrow_reader_open_memory(const void *data, size_t size, const char *name,
                             struct arrow_reader **ret, struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = xcalloc(1, sizeof(*r));
    int result;

    r->name = xstrdup(name);
    r->stream.data = data;
    r->stream.size = size;
    result = start(r, err);
    if (result == 0)
        *ret = STEAL(r);
    return result;
}

static int map_file(int dirfd, const char *path, void **ret, size_t *ret_size, struct err *err)
{
    /* not blocking, in case it is a pipe that nobody writes to */
    AUTO_FD int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    void *p;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, errno, "cannot open %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, EINVAL, "%s is not a regular file", path);
    *ret_size = (size_t)st.st_size;
    *ret = NULL;
    if (st.st_size == 0)
        return 0;
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_sys(err, errno, "cannot map %s", path);
    *ret = p;
    return 0;
}

int arrow_reader_open(int dirfd, const char *path, struct arrow_reader **ret, struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = xcalloc(1, sizeof(*r));
    int result = map_file(dirfd, path, &r->mapping, &r->stream.size, err);

    if (result < 0)
        return result;
    r->name = xstrdup(path);
    r->stream.data = r->mapping;
    result = start(r, err);
    if (result == 0)
        *ret = STEAL(r);
    return result;
}

const struct arrow_schema *arrow_reader_schema(const struct arrow_reader *r)
{
    return &r->stream.schema;
}

int64_t arrow_reader_position(const struct arrow_reader *r)
{
    return (int64_t)r->position;
}

/* What a reader has passed still counts as the program's memory until it is given back; whoever
 * looks there again (a dictionary) gets the page from the file anew. */
static void drop_behind(const struct arrow_reader *r, size_t position, size_t *dropped)
{
    if (!r->mapping || position < *dropped + BEHIND_BYTES)
        return;
    position -= position % BEHIND_BYTES;
    madvise((char *)r->mapping + *dropped, position - *dropped, MADV_DONTNEED);
    *dropped = position;
}

int arrow_reader_next(struct arrow_reader *r, const struct arrow_array **ret, struct err *err)
{
    struct ipc_stream *s = &r->stream;

    ipc_memory_reset(&r->batch);
    drop_behind(r, r->position, &r->dropped);
    for (;;) {
        struct ipc_message m;
        int result = ipc_message_read(s, r->position, &m, err);

        if (result <= 0)
            return result;
        if (m.type == IPC_SCHEMA)
            return ipc_fail(s, m.start, err, "a second schema in the stream");
        pay(r, &m);
        if (m.type == IPC_DICTIONARY_BATCH)
            result = ipc_dictionary_load(s, &m, err);
        else
            result = ipc_batch_load(s, &m, &r->batch, ret, err);
        if (result < 0)
            return result;
        r->position = m.end;
        if (m.type == IPC_RECORD_BATCH)
            return 1;
    }
}

int arrow_reader_rows(const struct arrow_reader *r, int64_t *ret, struct err *err)
{
    const struct ipc_stream *s = &r->stream;
    struct ipc_message m;
    int64_t total = 0, rows;
    size_t dropped = 0;
    int result = ipc_message_read(s, 0, &m, err);

    for (; result > 0; result = ipc_message_read(s, m.end, &m, err)) {
        drop_behind(r, m.start, &dropped);
        if (m.type != IPC_RECORD_BATCH)
            continue;
        result = ipc_batch_rows(s, &m, &rows, err);
        if (result < 0)
            break;
        if (__builtin_add_overflow(total, rows, &total))
            return ipc_fail(s, m.start, err, "more rows than can be counted");
    }
    if (result == 0)
        *ret = total;
    return result;
}
