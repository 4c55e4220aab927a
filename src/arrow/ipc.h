/*
 * ipc: the parts that reader.c is made of. Only reader.c and its tests include this.
 *
 *     ipc_message.c   the framing: where a message, its metadata and its body lie
 *     ipc_schema.c    a schema message -> struct arrow_schema
 *     ipc_batch.c     a record or dictionary batch message -> struct arrow_array
 *     ipc_buffers.c   the buffers of a batch, and what they may cost
 *
 * All work on a stream that lies in memory (mapped or given) and report errors as
 * "NAME: byte N: what", -EBADMSG for what is wrong and -ENOTSUP for what is not read.
 */
#ifndef IPW_ARROW_IPC_H
#define IPW_ARROW_IPC_H

#include "arrow/array.h"
#include "arrow/decompress.h"
#include "arrow/flatbuf_read.h"
#include "base/arena.h"

/* Memory that a loaded batch or dictionary needs beside the file: its arrays, and buffers that were
 * compressed. All zero = none. */
struct ipc_memory {
    struct arena arena;
    char **blocks; /* malloc'd */
    size_t n_blocks;
    size_t cap_blocks;
};

void ipc_memory_release(struct ipc_memory *m);
/* Forgets what is in it and keeps some room for the next batch. */
void ipc_memory_reset(struct ipc_memory *m);

struct ipc_dictionary {
    int64_t id;
    const struct arrow_field *field; /* the first in the schema that uses it; of the value type */
    struct arrow_dictionary values;
    struct ipc_memory memory; /* of all parts */
};

struct ipc_stream {
    const char *name; /* for messages */
    const uint8_t *data;
    size_t size;
    struct arrow_schema schema;
    struct ipc_dictionary *dictionaries; /* every id the schema names, sorted */
    size_t n_dictionaries;
    struct decompressor decompressor;
    /* How many bytes or rows may still come from nothing: decompressed bytes, values of a type
     * without buffers, bytes that several columns share. Every byte of the file adds some. Honest
     * files use little of it; a hostile one cannot make more work than its size deserves. */
    int64_t allowance;
};

#define IPC_ALLOWANCE_FIRST    ((int64_t)1 << 27)
#define IPC_ALLOWANCE_PER_BYTE 256

enum ipc_header { IPC_SCHEMA = 1, IPC_DICTIONARY_BATCH = 2, IPC_RECORD_BATCH = 3 };

/* Positions are bytes of the stream. Not to be copied: header points into it. */
struct ipc_message {
    size_t start;
    size_t meta; /* where fb.data lies */
    struct fb fb;
    enum ipc_header type;
    struct fb_table header;
    size_t body;
    size_t body_size;
    size_t end; /* where the next one starts */
};

/* -EBADMSG with "NAME: byte WHERE: words". */
int ipc_fail(const struct ipc_stream *s, size_t where, struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for what the flatbuffer of a message complains about. */
int ipc_fail_fb(const struct ipc_stream *s, const struct ipc_message *m, struct err *err);

/* Finds the message at `pos`. Returns 1, 0 when the stream ends there (an end marker, or the end of
 * the file), or an error. */
int ipc_message_read(const struct ipc_stream *s, size_t pos, struct ipc_message *ret,
                     struct err *err);

/* Fills s->schema and s->dictionaries from a schema message. On failure both are half-filled;
 * whoever owns the stream releases them either way. */
int ipc_schema_read(struct ipc_stream *s, struct ipc_message *m, struct err *err);

/* The dictionary of this id, NULL when the schema names none. */
struct ipc_dictionary *ipc_dictionary_find(const struct ipc_stream *s, int64_t id);

/* The rows of a record batch, from its metadata. */
int ipc_batch_rows(const struct ipc_stream *s, struct ipc_message *m, int64_t *ret,
                   struct err *err);
/* Loads and checks a record batch: an array of the schema's root. It lives in mem and the stream.
 */
int ipc_batch_load(struct ipc_stream *s, struct ipc_message *m, struct ipc_memory *mem,
                   const struct arrow_array **ret, struct err *err);
/* Loads a dictionary batch into s->dictionaries, in place of what was there or, a delta, behind
 * it. On failure nothing has changed. */
int ipc_dictionary_load(struct ipc_stream *s, struct ipc_message *m, struct err *err);
/* Forgets the values. */
void ipc_dictionary_clear(struct ipc_dictionary *d);

/* A batch while it is loaded. */
struct ipc_loader {
    struct ipc_stream *s;
    struct ipc_message *m;
    struct ipc_memory *mem;
    struct err *err;
    enum arrow_codec codec;
    bool is_dictionary; /* what is loaded are the values of a dictionary, not indexes into it */
    int64_t rows;
    struct fb_vector nodes, buffers, variadic;
    uint32_t next_node, next_buffer, next_variadic;
    size_t where;   /* of the last node or buffer in the file, for messages */
    size_t claimed; /* bytes of all buffers so far that came from the file as they are */
};

/* ipc_fail with the last position and the column in front of the words. */
int ipc_load_fail(const struct ipc_loader *l, const struct arrow_array *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes from the stream's allowance; an error when there is not enough. */
int ipc_charge(struct ipc_loader *l, const struct arrow_array *a, size_t amount);
/* Sets the length and null count of a from the next node. The count may be -1: not known. */
int ipc_take_node(struct ipc_loader *l, struct arrow_array *a);
/* The next buffer, which must have at least `need` bytes, decompressed; *ret has exactly those, and
 * NULL when none are needed. */
int ipc_take_buffer(struct ipc_loader *l, const struct arrow_array *a, size_t need,
                    struct arrow_span *ret);

#endif
