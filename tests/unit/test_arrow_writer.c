#include "harness.h"

#include "arrow/builder.h"
#include "arrow/writer.h"
#include "arrow_verify.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Large, so not on the stack. */
static struct arrow_stream stream;

static const char *verify(const struct buf *bytes, struct buf *rows)
{
    memset(&stream, 0, sizeof(stream));
    stream.p = (const uint8_t *)bytes->data;
    stream.n = bytes->len;
    stream.rows = rows;
    return arrow_verify(&stream);
}

#define assert_verified(bytes, rows)                \
    do {                                            \
        const char *why_ = verify((bytes), (rows)); \
        if (why_)                                   \
            fail_msg("%s", why_);                   \
    } while (0)

/* One int64 column with one row, each byte checked by hand against the specification. The numbers
 * in front are positions in the flatbuffer. */
static const unsigned char small_schema[] = {
    0xFF,         0xFF, 0xFF, 0xFF, 136, 0, 0,  0, /* metadata of 136 bytes */
    /*   0 */ 20, 0,    0,    0,    0,   0, 0,  0, /* root -> 20 */
    /*   8 */ 12, 0,    19,   0,    16,  0, 18, 0, /* Message's vtable: version 16, header_type 18,
                                                    */
    /*  16 */ 12, 0,    4,    0,                   /* header 12, bodyLength 4 */
    /*  20 */ 12, 0,    0,    0,                   /* Message */
    /*  24 */ 0,  0,    0,    0,    0,   0, 0,  0, /* bodyLength 0 */
    /*  32 */ 16, 0,    0,    0,    4,   0, 1,  0, /* header -> 48, V5, Schema */
    /*  40 */ 8,  0,    8,    0,    0,   0, 4,  0, /* Schema's vtable: no endianness, fields 4 */
    /*  48 */ 8,  0,    0,    0,    4,   0, 0,  0, /* Schema: fields -> 56 */
    /*  56 */ 1,  0,    0,    0,    20,  0, 0,  0, /* one: -> 80 */
    /*  64 */ 16, 0,    18,   0,    4,   0, 16, 0, /* Field's vtable: name 4, nullable 16, */
    /*  72 */ 17, 0,    8,    0,    0,   0, 12, 0, /* type_type 17, type 8, no dictionary, children
                                                      12 */
    /*  80 */ 16, 0,    0,    0,    16,  0, 0,  0, /* Field: name -> 100 */
    /*  88 */ 28, 0,    0,    0,    36,  0, 0,  0, /* type -> 116, children -> 128 */
    /*  96 */ 1,  2,    0,    0,                   /* nullable, Int */
    /* 100 */ 1,  0,    0,    0,    'a', 0, 0,  0, /* "a" */
    /* 108 */ 8,  0,    9,    0,    4,   0, 8,  0, /* Int's vtable: bitWidth 4, is_signed 8 */
    /* 116 */ 8,  0,    0,    0,    64,  0, 0,  0, 1, 0, 0, 0, /* Int: 64, signed */
    /* 128 */ 0,  0,    0,    0,    0,   0, 0,  0,             /* no children; padding */
};
static const unsigned char small_batch[] = {
    0xFF,         0xFF, 0xFF, 0xFF, 136, 0, 0,  0, /* metadata of 136 bytes */
    /*   0 */ 20, 0,    0,    0,    0,   0, 0,  0, /* root -> 20 */
    /*   8 */ 12, 0,    19,   0,    16,  0, 18, 0, /* Message's vtable, as above */
    /*  16 */ 12, 0,    4,    0,    12,  0, 0,  0, /* Message at 20 */
    /*  24 */ 8,  0,    0,    0,    0,   0, 0,  0, /* bodyLength 8 */
    /*  32 */ 20, 0,    0,    0,    4,   0, 3,  0, /* header -> 52, V5, RecordBatch */
    /*  40 */ 0,  0,    10,   0,    20,  0, 4,  0, /* RecordBatch's vtable at 42: length 4, */
    /*  48 */ 12, 0,    16,   0,    10,  0, 0,  0, /* nodes 12, buffers 16; RecordBatch at 52 */
    /*  56 */ 1,  0,    0,    0,    0,   0, 0,  0, /* length 1 */
    /*  64 */ 12, 0,    0,    0,    32,  0, 0,  0, /* nodes -> 76, buffers -> 100 */
    /*  72 */ 0,  0,    0,    0,    1,   0, 0,  0, /* one node: */
    /*  80 */ 1,  0,    0,    0,    0,   0, 0,  0, /* length 1 */
    /*  88 */ 0,  0,    0,    0,    0,   0, 0,  0, /* no nulls */
    /*  96 */ 0,  0,    0,    0,    2,   0, 0,  0, /* two buffers: */
    /* 104 */ 0,  0,    0,    0,    0,   0, 0,  0, /* validity at 0, */
    /* 112 */ 0,  0,    0,    0,    0,   0, 0,  0, /* of 0 bytes */
    /* 120 */ 0,  0,    0,    0,    0,   0, 0,  0, /* values at 0, */
    /* 128 */ 8,  0,    0,    0,    0,   0, 0,  0, /* of 8 bytes */
    /* body */ 5, 0,    0,    0,    0,   0, 0,  0,
};

static void writes_exact_bytes(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf out = BUF_INIT(1 << 20), rows = BUF_INIT(1 << 20);
    struct arrow_sink sink = arrow_sink_buf(&out);
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    arrow_field_add(&s.root, "a", ARROW_INT64);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    arrow_put_i64(arrow_builder_column(b, 0), 5);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_ok(arrow_write_schema(&sink, &s, &err), &err);
    assert_int_equal(out.len, sizeof(small_schema));
    assert_memory_equal(out.data, small_schema, sizeof(small_schema));
    assert_ok(arrow_write_batch(&sink, b, &err), &err);
    assert_int_equal(out.len, sizeof(small_schema) + sizeof(small_batch));
    assert_memory_equal(out.data + sizeof(small_schema), small_batch, sizeof(small_batch));
    assert_ok(arrow_write_end(&sink, &err), &err);
    assert_memory_equal(out.data + out.len - 8, "\xFF\xFF\xFF\xFF\0\0\0\0", 8);
    assert_verified(&out, &rows);
    assert_string_equal(buf_str(&rows), "{\"a\":5}\n");
}

/* The verifier is no rubber stamp: almost every changed bit of the small stream is found. */
static void verifier_sees_changes(void **state)
{
    AUTO(buf) struct buf good = BUF_INIT(1 << 20);
    size_t unseen = 0;

    (void)state;
    buf_add(&good, small_schema, sizeof(small_schema));
    buf_add(&good, small_batch, sizeof(small_batch));
    buf_add(&good, "\xFF\xFF\xFF\xFF\0\0\0\0", 8);
    assert_verified(&good, NULL);
    for (size_t bit = 0; bit < 8 * good.len; bit++) {
        good.data[bit / 8] ^= (char)(1 << bit % 8);
        if (!verify(&good, NULL))
            unseen++;
        good.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    /* What cannot be seen: 31 bytes of padding in the metadata, 7 bits of the name, the value; and
     * 33 bits that make something else that is valid: a larger table or vtable, a longer name (the
     * bytes behind it are 0), a body length that is absent instead of 0. */
    assert_int_equal(unseen, 8 * 31 + 7 + 64 + 33);
    for (size_t n = 0; n < good.len; n++) {
        AUTO(buf) struct buf cut = BUF_INIT(1 << 20);

        buf_add(&cut, good.data, n);
        assert_non_null(verify(&cut, NULL));
    }
}

/* Every type in every kind of nesting, nulls at each level. */
enum {
    A_INT,
    A_REAL,
    A_FLAG,
    A_TEXT,
    A_NOTHING,
    A_EMPTY,
    A_PAIR,
    A_PAIR_X,
    A_PAIR_IN,
    A_PAIR_IN_T,
    A_LIST,
    A_LIST_ITEM,
    A_DEEP,
    A_DEEP_LIST,
    A_DEEP_ITEM,
    A_DEEP_ITEM_B,
    A_NULLS,
    A_NULLS_ITEM,
    N_ALL
};

static struct arrow_column *col(struct arrow_builder *b, size_t i)
{
    return arrow_builder_column(b, i);
}

static void make_all_types(struct arrow_schema *s)
{
    struct arrow_field *f;

    arrow_schema_init(s);
    arrow_field_add(&s->root, "int", ARROW_INT64);
    arrow_field_add(&s->root, "real", ARROW_FLOAT64);
    arrow_field_add(&s->root, "flag", ARROW_BOOL);
    arrow_field_add(&s->root, "", ARROW_UTF8); /* a name may be anything */
    arrow_field_add(&s->root, "noth\xC3\xAFng", ARROW_NULL);
    arrow_field_add(&s->root, "empty", ARROW_STRUCT);
    f = arrow_field_add(&s->root, "pair", ARROW_STRUCT);
    arrow_field_add(f, "x", ARROW_INT64);
    arrow_field_add(arrow_field_add(f, "in", ARROW_STRUCT), "t", ARROW_UTF8);
    arrow_field_add(arrow_field_add(&s->root, "list", ARROW_LIST), "item", ARROW_FLOAT64);
    f = arrow_field_add(arrow_field_add(&s->root, "deep", ARROW_LIST), "item", ARROW_LIST);
    arrow_field_add(arrow_field_add(f, "item", ARROW_STRUCT), "b", ARROW_BOOL);
    arrow_field_add(arrow_field_add(&s->root, "nulls", ARROW_LIST), "item", ARROW_NULL);
    assert_int_equal(arrow_field_count(&s->root), N_ALL + 1);
}

static void put_full_row(struct arrow_builder *b)
{
    arrow_put_i64(col(b, A_INT), INT64_MIN);
    arrow_put_f64(col(b, A_REAL), NAN);
    arrow_put_bool(col(b, A_FLAG), true);
    arrow_put_text(col(b, A_TEXT), "h\xC3\xA9\"\n", 5);
    arrow_put_null(col(b, A_NOTHING));
    arrow_put_struct(col(b, A_EMPTY));
    arrow_put_struct(col(b, A_PAIR));
    arrow_put_i64(col(b, A_PAIR_X), 9007199254740993);
    arrow_put_struct(col(b, A_PAIR_IN));
    arrow_put_text(col(b, A_PAIR_IN_T), "", 0);
    arrow_put_list(col(b, A_LIST), 3);
    arrow_put_f64(col(b, A_LIST_ITEM), 0.1);
    arrow_put_null(col(b, A_LIST_ITEM));
    arrow_put_f64(col(b, A_LIST_ITEM), -INFINITY);
    arrow_put_list(col(b, A_DEEP), 3);
    arrow_put_list(col(b, A_DEEP_LIST), 2);
    arrow_put_struct(col(b, A_DEEP_ITEM));
    arrow_put_bool(col(b, A_DEEP_ITEM_B), false);
    arrow_put_null(col(b, A_DEEP_ITEM));
    arrow_put_list(col(b, A_DEEP_LIST), 0);
    arrow_put_null(col(b, A_DEEP_LIST));
    arrow_put_list(col(b, A_NULLS), 1);
    arrow_put_null(col(b, A_NULLS_ITEM));
}

#define FULL_ROW                                                                                  \
    "{\"int\":-9223372036854775808,\"real\":\"NaN\",\"flag\":true,\"\":\"h\xC3\xA9\\\"\\n\","     \
    "\"noth\xC3\xAFng\":null,\"empty\":{},\"pair\":{\"x\":9007199254740993,\"in\":{\"t\":\"\"}}," \
    "\"list\":[0.1,null,\"-Infinity\"],\"deep\":[[{\"b\":false},null],[],null],\"nulls\":[null]}" \
    "\n"
#define NULL_ROW                                                                   \
    "{\"int\":null,\"real\":null,\"flag\":null,\"\":null,\"noth\xC3\xAFng\":null," \
    "\"empty\":null,\"pair\":null,\"list\":null,\"deep\":null,\"nulls\":null}\n"

static void put_null_row(struct arrow_builder *b)
{
    for (size_t i = 0; i < N_ALL; i += col(b, i)->span)
        arrow_put_null(col(b, i));
}

static void writes_every_nesting(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf out = BUF_INIT(1 << 20), rows = BUF_INIT(1 << 20);
    struct arrow_sink sink = arrow_sink_buf(&out);
    struct err err = {0};

    (void)state;
    make_all_types(&s);
    arrow_schema_describe(&s);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    assert_ok(arrow_write_schema(&sink, &s, &err), &err);
    for (int batch = 0; batch < 3; batch++) {
        size_t before = out.len;

        for (int i = 0; i <= batch; i++) {
            put_full_row(b);
            assert_ok(arrow_builder_end_row(b, &err), &err);
        }
        put_null_row(b);
        assert_ok(arrow_builder_end_row(b, &err), &err);
        assert_ok(arrow_write_batch(&sink, b, &err), &err);
        assert_true(out.len > before + arrow_builder_bytes(b));
        arrow_builder_clear(b);
    }
    assert_ok(arrow_write_batch(&sink, b, &err), &err); /* without rows */
    assert_ok(arrow_write_end(&sink, &err), &err);
    assert_verified(&out, &rows);
    assert_int_equal(stream.n_batches, 4);
    assert_int_equal(stream.n_rows, 9);
    assert_string_equal(stream.huggingface, s.huggingface);
    assert_string_equal(
        buf_str(&rows),
        FULL_ROW NULL_ROW FULL_ROW FULL_ROW NULL_ROW FULL_ROW FULL_ROW FULL_ROW NULL_ROW);
}

/* Rows 0 to 70: bitmaps and offsets of every remainder, with and without nulls. */
static void writes_every_length(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};

    (void)state;
    make_all_types(&s);
    for (int n = 0; n <= 70; n++) {
        AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
        AUTO(buf) struct buf out = BUF_INIT(1 << 20), rows = BUF_INIT(1 << 20);
        AUTO(buf) struct buf expected = BUF_INIT(1 << 20);
        struct arrow_sink sink = arrow_sink_buf(&out);
        struct err err = {0};

        assert_ok(arrow_builder_new(&s, &b, &err), &err);
        assert_ok(arrow_write_schema(&sink, &s, &err), &err);
        for (int i = 0; i < n; i++) {
            bool full = n % 2 || i % 5 != 2;

            if (full)
                put_full_row(b);
            else
                put_null_row(b);
            buf_adds(&expected, full ? FULL_ROW : NULL_ROW);
            assert_ok(arrow_builder_end_row(b, &err), &err);
        }
        assert_ok(arrow_write_batch(&sink, b, &err), &err);
        assert_ok(arrow_write_end(&sink, &err), &err);
        assert_verified(&out, &rows);
        assert_int_equal(stream.body_bytes, arrow_builder_bytes(b));
        assert_null(stream.huggingface);
        assert_string_equal(buf_str(&rows), buf_str(&expected));
    }
}

static void writes_no_columns(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf out = BUF_INIT(1 << 20), rows = BUF_INIT(1 << 20);
    struct arrow_sink sink = arrow_sink_buf(&out);
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_ok(arrow_write_schema(&sink, &s, &err), &err);
    assert_ok(arrow_write_batch(&sink, b, &err), &err);
    assert_ok(arrow_write_end(&sink, &err), &err);
    assert_verified(&out, &rows);
    assert_string_equal(buf_str(&rows), "{}\n");
}

static void mends_names(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO(buf) struct buf out = BUF_INIT(1 << 20);
    struct arrow_sink sink = arrow_sink_buf(&out);
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    arrow_field_add(&s.root, "na\xFFme", ARROW_BOOL);
    arrow_schema_describe(&s);
    assert_ok(arrow_write_schema(&sink, &s, &err), &err);
    assert_ok(arrow_write_end(&sink, &err), &err);
    assert_verified(&out, NULL);
    assert_string_equal(stream.fields[0].name, "na\xEF\xBF\xBDme");
    assert_non_null(strstr(stream.huggingface, "na\\ufffdme")); /* and they still match */
}

static void refuses(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0}, odd = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf out = BUF_INIT(100);
    struct arrow_sink sink = arrow_sink_buf(&out);
    struct err err = {0};

    (void)state;
    make_all_types(&s);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    arrow_put_i64(col(b, A_INT), 1);
    assert_fails(arrow_write_batch(&sink, b, &err), EINVAL, &err, "middle of a row");
    assert_int_equal(out.len, 0);
    arrow_schema_init(&odd);
    arrow_field_add(&odd.root, "d", ARROW_DATE32);
    assert_fails(arrow_write_schema(&sink, &odd, &err), ENOTSUP, &err, "'d'");
    assert_int_equal(out.len, 0);
    assert_fails(arrow_write_schema(&sink, &s, &err), EMSGSIZE, &err, "100 bytes");
    sink = arrow_sink_fd(-1);
    assert_fails(arrow_write_end(&sink, &err), EBADF, &err, "cannot write an Arrow stream");
}

/* More parts than one writev takes: the file has the same bytes as the memory. */
static void writes_to_a_file(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf memory = BUF_INIT(1 << 20), file = BUF_INIT(1 << 20);
    AUTO_FD int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct arrow_sink sinks[] = {arrow_sink_buf(&memory), arrow_sink_fd(fd)};
    char name[32];
    struct err err = {0};

    (void)state;
    assert_true(fd >= 0);
    arrow_schema_init(&s);
    for (int i = 0; i < 700; i++) {
        snprintf(name, sizeof(name), "column %d", i);
        arrow_field_add(&s.root, name, i % 2 ? ARROW_UTF8 : ARROW_BOOL);
    }
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    for (size_t i = 0; i < 700; i++) {
        if (i % 2)
            arrow_put_text(col(b, i), name, i % 9);
        else
            arrow_put_bool(col(b, i), i % 3);
    }
    assert_ok(arrow_builder_end_row(b, &err), &err);
    for (int i = 0; i < 2; i++) {
        assert_ok(arrow_write_schema(&sinks[i], &s, &err), &err);
        assert_ok(arrow_write_batch(&sinks[i], b, &err), &err);
        assert_ok(arrow_write_end(&sinks[i], &err), &err);
    }
    assert_verified(&memory, NULL);
    assert_int_equal(buf_reserve(&file, memory.len), 0);
    assert_int_equal(pread(fd, file.data, memory.len + 1, 0), memory.len);
    assert_memory_equal(file.data, memory.data, memory.len);
}

/* The kernel takes a part, then refuses: the part is right and the error comes back. */
static void reports_a_full_disk(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO(buf) struct buf memory = BUF_INIT(1 << 20);
    AUTO_FD int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct arrow_sink to_memory = arrow_sink_buf(&memory), to_file = arrow_sink_fd(fd);
    struct rlimit before, small;
    char start[128];
    struct err err = {0};
    int r;

    (void)state;
    assert_true(fd >= 0);
    make_all_types(&s);
    assert_ok(arrow_write_schema(&to_memory, &s, &err), &err);
    assert_true(memory.len > 100);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    r = arrow_write_schema(&to_file, &s, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_fails(r, EFBIG, &err, "cannot write an Arrow stream: ");
    assert_int_equal(pread(fd, start, sizeof(start), 0), 100);
    assert_memory_equal(start, memory.data, 100);
}

static void on_signal(int signo)
{
    (void)signo;
}

/* In a child: waits until the pipe is full, interrupts the writer, then reads all there is. Exit 0
 * when that is what was expected. */
static void interrupt_and_read(const int *pipe_fds, const struct buf *expected)
{
    struct pollfd room = {.fd = pipe_fds[1], .events = POLLOUT};
    AUTO(buf) struct buf got = BUF_INIT(1 << 24);
    char piece[4096];
    ssize_t n;

    alarm(60); /* should the writer be gone */
    while (poll(&room, 1, 0) == 1)
        continue;
    kill(getppid(), SIGUSR1);
    close(pipe_fds[1]);
    while ((n = read(pipe_fds[0], piece, sizeof(piece))) > 0)
        buf_add(&got, piece, (size_t)n);
    n = got.len == expected->len && memcmp(got.data, expected->data, got.len) == 0;
    buf_release(&got);
    _exit(n ? 0 : 1);
}

/* A signal makes writev return early, in the middle of a part: the rest follows, nothing twice. */
static void goes_on_after_a_part(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf memory = BUF_INIT(1 << 24);
    struct arrow_sink to_memory = arrow_sink_buf(&memory), to_pipe;
    struct sigaction interrupt = {.sa_handler = on_signal}; /* without SA_RESTART */
    int fds[2], status;
    struct err err = {0};
    pid_t child;

    (void)state;
    arrow_schema_init(&s);
    arrow_field_add(&s.root, "n", ARROW_INT64);
    arrow_field_add(&s.root, "m", ARROW_INT64);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    for (int64_t i = 0; i < 100000; i++) {
        arrow_put_i64(col(b, 0), i);
        arrow_put_i64(col(b, 1), -i);
        assert_ok(arrow_builder_end_row(b, &err), &err);
    }
    assert_ok(arrow_write_batch(&to_memory, b, &err), &err);
    assert_int_equal(sigaction(SIGUSR1, &interrupt, NULL), 0);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    to_pipe = arrow_sink_fd(fds[1]);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        interrupt_and_read(fds, &memory);
    close(fds[0]);
    assert_ok(arrow_write_batch(&to_pipe, b, &err), &err);
    close(fds[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_exact_bytes),
    cmocka_unit_test(verifier_sees_changes),
    cmocka_unit_test(writes_every_nesting),
    cmocka_unit_test(writes_every_length),
    cmocka_unit_test(writes_no_columns),
    cmocka_unit_test(mends_names),
    cmocka_unit_test(refuses),
    cmocka_unit_test(writes_to_a_file),
    cmocka_unit_test(reports_a_full_disk),
    cmocka_unit_test(goes_on_after_a_part),
};
TEST_MAIN(tests)
