/*
 * The golden directories were written by the real library, other_writer by the JavaScript one
 * (dictionaries in parts, decimals, a time zone). The expected rows of all these were decoded by
 * the JavaScript one; profile_*.jsonl are the rows that were saved.
 */
#include "harness.h"

#include "arrow_make.h"
#include "arrow_rows.h"
#include "base/alloc.h"
#include "base/fs.h"

#include <errno.h>
#include <sys/stat.h>

#define HF FIXTURES "/hf/"

static void read_text(const char *path, struct buf *out)
{
    struct err err = {0};

    assert_ok(fs_read_all(AT_FDCWD, path, out, &err), &err);
}

static void check_input(const char *name)
{
    AUTO(buf) struct buf expected = BUF_INIT(1 << 20);
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    AUTO_FREE char *dir = xasprintf(HF "%s", name);
    AUTO_FREE char *file = xasprintf(HF "%s.jsonl", name);
    struct err err = {0};

    read_text(file, &expected);
    assert_ok(rows_of_dir(dir, NULL, &rows, &err), &err);
    assert_string_equal(buf_str(&rows), buf_str(&expected));
}

static void golden_inputs(void **state)
{
    static const char *const names[] = {"input_basic", "input_3shards", "input_ipw_shape",
                                        "input_types", "input_zstd",    "other_writer"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_input(names[i]);
}

/* Same type, and equal: integers exactly, doubles bit by bit, members in the same order. */
static void assert_same(const struct json *a, const struct json *b)
{
    const struct json *y;

    assert_int_equal(a->type, b->type);
    switch (a->type) {
    case JSON_NULL:
        break;
    case JSON_BOOL:
        assert_int_equal(a->boolean, b->boolean);
        break;
    case JSON_INT:
        assert_true(a->integer == b->integer);
        break;
    case JSON_REAL:
        assert_true(a->real == b->real);
        break;
    case JSON_STRING:
        assert_int_equal(a->len, b->len);
        assert_memory_equal(a->text, b->text, a->len);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        assert_int_equal(a->len, b->len);
        y = json_first(b);
        JSON_FOREACH (x, a) {
            assert_true((x->key == NULL) == (y->key == NULL));
            if (x->key)
                assert_string_equal(x->key, y->key);
            assert_same(x, y);
            y = y->next;
        }
        break;
    }
}

static void check_profile(const char *name, int expected_rows)
{
    AUTO(buf) struct buf expected = BUF_INIT(1 << 20);
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    AUTO(json_doc) struct json_doc a = {0};
    AUTO(json_doc) struct json_doc b = {0};
    AUTO_FREE char *dir = xasprintf(HF "%s", name);
    AUTO_FREE char *file = xasprintf(HF "%s.jsonl", name);
    struct err err = {0};
    char *x, *y;
    int n = 0;

    read_text(file, &expected);
    assert_ok(rows_of_dir(dir, NULL, &rows, &err), &err);
    x = rows.data;
    y = expected.data;
    for (; *x && *y; n++) {
        size_t nx = strcspn(x, "\n"), ny = strcspn(y, "\n");

        assert_ok(json_doc_parse(&a, x, nx, &err), &err);
        assert_ok(json_doc_parse(&b, y, ny, &err), &err);
        assert_same(a.root, b.root);
        x += nx + (x[nx] == '\n');
        y += ny + (y[ny] == '\n');
    }
    assert_int_equal(*x, 0);
    assert_int_equal(*y, 0);
    assert_int_equal(n, expected_rows);
}

static void golden_profiles(void **state)
{
    (void)state;
    check_profile("profile_seed", 4);
    check_profile("profile_nogpu", 4);
    check_profile("profile_1row", 1);
}

static void rows_and_schema(void **state)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    struct err err = {0};
    const struct arrow_field *root;

    (void)state;
    assert_ok(hfdir_open(AT_FDCWD, HF "input_3shards", NULL, &h, &err), &err);
    assert_int_equal(hfdir_rows(h), 10);
    root = &hfdir_schema(h)->root;
    assert_int_equal(root->n_children, 3);
    assert_string_equal(root->children[1].name, "answer");
    assert_int_equal(root->children[1].type, ARROW_UTF8);
    assert_non_null(strstr(hfdir_schema(h)->huggingface, "\"problem\": {\"dtype\": \"string\""));
}

/* A directory of shards made here. */
struct made {
    char path[64];
    struct buf state;
    int n;
};

static void made_open(struct made *d)
{
    *d = (struct made){.state = BUF_INIT(1 << 20)};
    make_temp_dir(d->path);
    buf_adds(&d->state, "{\"_split\": \"train\", \"_data_files\": [");
}

static void put(const char *dir, const char *name, const void *data, size_t n)
{
    AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void made_add(struct made *d, struct buf *stream)
{
    char name[32];

    snprintf(name, sizeof(name), "shard%d.arrow", d->n);
    put(d->path, name, stream->data, stream->len);
    buf_addf(&d->state, "%s{\"filename\": \"%s\"}", d->n++ ? ", " : "", name);
    buf_release(stream);
}

static void made_finish(struct made *d)
{
    buf_adds(&d->state, "]}");
    put(d->path, "state.json", d->state.data, d->state.len);
}

static void made_remove(struct made *d)
{
    struct err err = {0};

    assert_ok(fs_remove_tree(AT_FDCWD, d->path, &err), &err);
    buf_release(&d->state);
}

/* A shard of 2 rows: x int64, s {t: utf8}, l list<int64>. */
static void add_full_shard(struct made *d)
{
    const struct mk_field fields[] = {
        {.name = "x", MK_INT(64, true)},
        {.name = "s", MK_STRUCT, MK_CHILDREN({.name = "t", MK_UTF8})},
        {.name = "l", MK_LIST, MK_CHILDREN({.name = "item", MK_INT(64, true)})}};
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = mk_batch(2);

    mk_schema(&stream, fields, 3);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int64_t[]){1, 2}, 16);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_texts(&b, (const char *const[]){"a", "b"}, 2);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int32_t[]){0, 2, 3}, 12);
    mk_node(&b, 3, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int64_t[]){7, 8, 9}, 24);
    mk_record(&stream, &b);
    mk_end(&stream);
    made_add(d, &stream);
}

/* A shard of 2 rows in another order, null-typed everywhere: l list<null>, s null, no x, and y. */
static void add_null_shard(struct made *d)
{
    const struct mk_field fields[] = {
        {.name = "l", MK_LIST, MK_CHILDREN({.name = "element", MK_NULL})},
        {.name = "y", MK_BOOL},
        {.name = "s", MK_NULL}};
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = mk_batch(2);

    mk_schema(&stream, fields, 3);
    mk_node(&b, 2, 1);
    mk_buffer(&b, "\x01", 1);
    mk_buffer(&b, (int32_t[]){0, 2, 2}, 12);
    mk_node(&b, 2, 2);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "\x02", 1);
    mk_node(&b, 2, 2);
    mk_record(&stream, &b);
    made_add(d, &stream);
}

/* A shard of 2 rows, the second struct null over a child that is not; s has another member. */
static void add_struct_shard(struct made *d)
{
    const struct mk_field fields[] = {
        {.name = "s", MK_STRUCT, MK_CHILDREN({.name = "u", MK_UTF8}, {.name = "t", MK_NULL})}};
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = mk_batch(2);

    mk_schema(&stream, fields, 1);
    mk_node(&b, 2, 1);
    mk_buffer(&b, "\x01", 1);
    mk_texts(&b, (const char *const[]){"u0", "hidden"}, 2);
    mk_node(&b, 2, 2);
    mk_record(&stream, &b);
    made_add(d, &stream);
}

static void expect_dir(const struct made *d, const char *expected)
{
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    struct err err = {0};

    assert_ok(rows_of_dir(d->path, NULL, &rows, &err), &err);
    assert_string_equal(buf_str(&rows), expected);
}

static void union_of_shards(void **state)
{
    struct made d;

    (void)state;
    made_open(&d);
    add_full_shard(&d);
    add_null_shard(&d);
    add_struct_shard(&d);
    made_finish(&d);
    expect_dir(&d, "{\"x\":1,\"s\":{\"t\":\"a\",\"u\":null},\"l\":[7,8],\"y\":null}\n"
                   "{\"x\":2,\"s\":{\"t\":\"b\",\"u\":null},\"l\":[9],\"y\":null}\n"
                   "{\"x\":null,\"s\":null,\"l\":[null,null],\"y\":false}\n"
                   "{\"x\":null,\"s\":null,\"l\":null,\"y\":true}\n"
                   "{\"x\":null,\"s\":{\"t\":null,\"u\":\"u0\"},\"l\":null,\"y\":null}\n"
                   "{\"x\":null,\"s\":null,\"l\":null,\"y\":null}\n");
    made_remove(&d);
}

/* The same, the typed shard last: types that were null at first are filled in. */
static void union_fills_in_types(void **state)
{
    struct made d;

    (void)state;
    made_open(&d);
    add_null_shard(&d);
    add_full_shard(&d);
    made_finish(&d);
    expect_dir(&d, "{\"l\":[null,null],\"y\":false,\"s\":null,\"x\":null}\n"
                   "{\"l\":null,\"y\":true,\"s\":null,\"x\":null}\n"
                   "{\"l\":[7,8],\"y\":null,\"s\":{\"t\":\"a\"},\"x\":1}\n"
                   "{\"l\":[9],\"y\":null,\"s\":{\"t\":\"b\"},\"x\":2}\n");
    made_remove(&d);
}

/* What is absent is null through every accessor, and chains through it. */
static void absent_is_null(void **state)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch, *t, *l;
    struct err err = {0};
    struct made d;
    const char *text;
    size_t n;
    int64_t start, count;

    (void)state;
    made_open(&d);
    add_full_shard(&d);
    add_null_shard(&d);
    made_finish(&d);
    assert_ok(hfdir_open(AT_FDCWD, d.path, "train", &h, &err), &err);
    assert_int_equal(hfdir_rows(h), 4);
    assert_int_equal(hfdir_next(h, &batch, &err), 1);
    assert_int_equal(arrow_i64(arrow_child(batch, "x"), 1, -5), 2);
    assert_int_equal(hfdir_next(h, &batch, &err), 1);
    assert_int_equal(batch->length, 2);
    assert_true(arrow_is_null(arrow_child(batch, "x"), 0));
    assert_int_equal(arrow_i64(arrow_child(batch, "x"), 0, -5), -5);
    assert_true(isnan(arrow_f64(arrow_child(batch, "x"), 0)));
    t = arrow_child(arrow_child(batch, "s"), "t");
    assert_non_null(t);
    assert_int_equal(t->length, 2);
    assert_false(arrow_text(t, 1, &text, &n));
    l = arrow_child(batch, "l");
    arrow_list(l, 1, &start, &count);
    assert_int_equal(count, 0);
    arrow_list(l, 0, &start, &count);
    assert_int_equal(count, 2);
    assert_true(arrow_is_null(&l->children[0], start));
    assert_ptr_equal(l->children[0].parent, l);
    assert_int_equal(hfdir_next(h, &batch, &err), 0);
    assert_int_equal(hfdir_next(h, &batch, &err), 0);
    made_remove(&d);
}

/* A null struct hides its children here too, however they are asked for. */
static void null_struct_masks(void **state)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch, *u;
    struct err err = {0};
    struct made d;
    const char *text;
    size_t n;

    (void)state;
    made_open(&d);
    add_struct_shard(&d);
    made_finish(&d);
    assert_ok(hfdir_open(AT_FDCWD, d.path, NULL, &h, &err), &err);
    assert_int_equal(hfdir_next(h, &batch, &err), 1);
    u = arrow_child(arrow_child(batch, "s"), "u");
    assert_true(arrow_text(u, 0, &text, &n));
    assert_memory_equal(text, "u0", 2);
    assert_false(arrow_text(u, 1, &text, &n));
    assert_ptr_equal(u->parent, arrow_child(batch, "s"));
    made_remove(&d);
}

static void add_one_column(struct made *d, const struct mk_field *field, uint32_t n)
{
    struct buf stream = BUF_INIT(1 << 20);

    mk_schema(&stream, field, n);
    made_add(d, &stream);
}

static void expect_failure(const struct made *d, const char *split, int code, const char *part)
{
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    struct err err = {0};

    assert_fails(rows_of_dir(d->path, split, &rows, &err), code, &err, part);
}

static void types_that_disagree(void **state)
{
    static const struct mk_field a[] = {{.name = "x", MK_INT(64, true)}};
    static const struct mk_field b[] = {{.name = "x", MK_FLOAT(2)}};
    static const struct mk_field twice[] = {{.name = "x", MK_INT(64, true)},
                                            {.name = "x", MK_UTF8}};
    struct made d;

    (void)state;
    made_open(&d);
    add_one_column(&d, a, 1);
    add_one_column(&d, b, 1);
    made_finish(&d);
    expect_failure(&d, NULL, EBADMSG,
                   "shard1.arrow: column 'x' is float64 here and int64 in an earlier shard");
    made_remove(&d);
    made_open(&d);
    add_one_column(&d, twice, 2);
    made_finish(&d);
    expect_failure(&d, NULL, EBADMSG, "two columns are called 'x'");
    made_remove(&d);
}

/* Schemas only: no rows, and that is fine. No shards at all too. */
static void zero_rows(void **state)
{
    static const struct mk_field a[] = {{.name = "x", MK_INT(64, true)}};
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    struct err err = {0};
    struct made d;

    (void)state;
    made_open(&d);
    add_one_column(&d, a, 1);
    made_finish(&d);
    assert_ok(hfdir_open(AT_FDCWD, d.path, NULL, &h, &err), &err);
    assert_int_equal(hfdir_rows(h), 0);
    assert_int_equal(hfdir_schema(h)->root.n_children, 1);
    assert_int_equal(hfdir_next(h, &batch, &err), 0);
    made_remove(&d);
    made_open(&d);
    made_finish(&d);
    expect_dir(&d, "");
    made_remove(&d);
}

/* A dictionary-encoded column in one shard, a plain one in the other. */
static void dictionary_and_plain(void **state)
{
    static const struct mk_field coded[] = {{.name = "c", MK_UTF8, MK_DICTIONARY(3, 8, false)}};
    static const struct mk_field plain[] = {{.name = "c", MK_UTF8}};
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = mk_batch(2);
    struct made d;

    (void)state;
    made_open(&d);
    mk_schema(&stream, coded, 1);
    mk_texts(&b, (const char *const[]){"red", "green"}, 2);
    mk_dictionary(&stream, &b, 3, false);
    b = mk_batch(3);
    mk_node(&b, 3, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "\1\0\1", 3);
    mk_record(&stream, &b);
    made_add(&d, &stream);
    mk_schema(&stream, plain, 1);
    b = mk_batch(1);
    mk_texts(&b, (const char *const[]){"blue"}, 1);
    mk_record(&stream, &b);
    made_add(&d, &stream);
    made_finish(&d);
    expect_dir(&d, "{\"c\":\"green\"}\n{\"c\":\"red\"}\n{\"c\":\"green\"}\n{\"c\":\"blue\"}\n");
    made_remove(&d);
}

static void splits(void **state)
{
    static const char dict[] = "{\"splits\": [\"train\", \"test\"]}";
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    AUTO_FREE char *train = NULL;
    AUTO_FREE char *test = NULL;
    struct made inner = {.state = BUF_INIT(1 << 20)}, outer = {.state = BUF_INIT(1 << 20)};
    struct err err = {0};

    (void)state;
    make_temp_dir(outer.path);
    put(outer.path, "dataset_dict.json", dict, strlen(dict));
    train = xasprintf("%s/train", outer.path);
    test = xasprintf("%s/test", outer.path);
    made_open(&inner);
    add_full_shard(&inner);
    made_finish(&inner);
    assert_int_equal(rename(inner.path, train), 0);
    buf_release(&inner.state);
    made_open(&inner);
    add_struct_shard(&inner);
    made_finish(&inner);
    assert_int_equal(rename(inner.path, test), 0);
    buf_release(&inner.state);

    assert_ok(rows_of_dir(outer.path, NULL, &rows, &err), &err);
    assert_string_equal(buf_str(&rows), "{\"x\":1,\"s\":{\"t\":\"a\"},\"l\":[7,8]}\n"
                                        "{\"x\":2,\"s\":{\"t\":\"b\"},\"l\":[9]}\n");
    buf_clear(&rows);
    assert_ok(rows_of_dir(outer.path, "test", &rows, &err), &err);
    assert_string_equal(buf_str(&rows), "{\"s\":{\"u\":\"u0\",\"t\":null}}\n{\"s\":null}\n");
    expect_failure(&outer, "validation", ENOENT,
                   "there is no split 'validation'; there are: train, test");
    assert_ok(fs_remove_tree(AT_FDCWD, test, &err), &err);
    expect_failure(&outer, "test", ENOENT, "cannot open directory test");
    put(outer.path, "dataset_dict.json", "{", 1);
    expect_failure(&outer, NULL, EINVAL, "dataset_dict.json: ");
    put(outer.path, "dataset_dict.json", "{\"splits\": []}", 14);
    expect_failure(&outer, NULL, EBADMSG, "no splits");
    put(outer.path, "dataset_dict.json", "{\"splits\": [\"..\"]}", 18);
    expect_failure(&outer, NULL, EBADMSG, "'..' is not a split's name");
    put(outer.path, "dataset_dict.json", "{\"splits\": [\"a/b\"]}", 19);
    expect_failure(&outer, NULL, EBADMSG, "'a/b' is not a split's name");
    made_remove(&outer);
}

/* A plain directory knows at most the split it was saved from. */
static void split_of_plain_directory(void **state)
{
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    struct err err = {0};
    struct made d;

    (void)state;
    made_open(&d);
    add_full_shard(&d);
    made_finish(&d);
    assert_ok(rows_of_dir(d.path, "train", &rows, &err), &err);
    expect_failure(&d, "test", ENOENT, "there is no split 'test', only 'train'");
    made_remove(&d);
    assert_fails(rows_of_dir(HF "input_basic", "test", &rows, &err), ENOENT, &err,
                 "there is no split 'test': the dataset has no splits");
}

static void bad_state(void **state)
{
    static const struct {
        const char *json, *part;
        int code;
    } cases[] = {
        {"", "state.json: ", EINVAL},
        {"{}", "no list of data files", EBADMSG},
        {"{\"_data_files\": 3}", "no list of data files", EBADMSG},
        {"{\"_data_files\": [3]}", "'' is not a file of the directory", EBADMSG},
        {"{\"_data_files\": [{\"filename\": \"/etc/passwd\"}]}",
         "'/etc/passwd' is not a file of the directory", EBADMSG},
        {"{\"_data_files\": [{\"filename\": \"a/../../b\"}]}", "is not a file of", EBADMSG},
        {"{\"_data_files\": [{\"filename\": \"..\"}]}", "is not a file of", EBADMSG},
        {"{\"_data_files\": [{\"filename\": \"a\\u0000b\"}]}", "is not a file of", EBADMSG},
        {"{\"_data_files\": [{\"filename\": \"gone\"}]}", "cannot open gone", ENOENT},
        {"{\"_data_files\": [{\"filename\": \"x\"}, {\"filename\": \"x\"}]}", "lists 'x' twice",
         EBADMSG},
        {"{\"_data_files\": [{\"filename\": \"state.json\"}]}", "state.json: byte 0", EBADMSG},
        {"{\"_data_files\": [{\"filename\": \".\"}]}", "not a regular file", EINVAL},
    };
    struct made d = {.state = BUF_INIT(1)};

    (void)state;
    make_temp_dir(d.path);
    expect_failure(&d, NULL, ENOENT, "not a HuggingFace dataset directory");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put(d.path, "state.json", cases[i].json, strlen(cases[i].json));
        expect_failure(&d, NULL, cases[i].code, cases[i].part);
    }
    made_remove(&d);
    expect_failure(&d, NULL, ENOENT, "cannot open directory");
}

/* Names that begin with two dots, and shards below the directory, are fine. */
static void shards_in_folders(void **state)
{
    static const char json[] = "{\"_data_files\": [{\"filename\": \"sub/..x\"}]}";
    AUTO(buf) struct buf shard = BUF_INIT(1 << 20);
    AUTO_FREE char *sub = NULL;
    struct made d = {.state = BUF_INIT(1)};
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    struct err err = {0};

    (void)state;
    make_temp_dir(d.path);
    sub = xasprintf("%s/sub", d.path);
    assert_int_equal(mkdir(sub, 0777), 0);
    read_text(HF "input_basic/data-00000-of-00001.arrow", &shard);
    put(sub, "..x", shard.data, shard.len);
    put(d.path, "state.json", json, strlen(json));
    assert_ok(rows_of_dir(d.path, NULL, &rows, &err), &err);
    assert_memory_equal(rows.data, "{\"problem\":\"What is 0*0?\"", 25);
    made_remove(&d);
}

/* A shard that is cut off is noticed at opening, with directory, file and byte. */
static void truncated_shard(void **state)
{
    AUTO(buf) struct buf shard = BUF_INIT(1 << 20);
    struct made d;

    (void)state;
    made_open(&d);
    read_text(HF "input_basic/data-00000-of-00001.arrow", &shard);
    shard.len -= 9;
    made_add(&d, &shard);
    made_finish(&d);
    expect_failure(&d, NULL, EBADMSG, d.path);
    expect_failure(&d, NULL, EBADMSG, "shard0.arrow: byte ");
    made_remove(&d);
}

/* A shard that becomes another one between opening and reading. */
static void shard_changes(void **state)
{
    static const struct mk_field a[] = {{.name = "x", MK_INT(64, true)}};
    static const struct mk_field b[] = {{.name = "x", MK_UTF8}};
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    AUTO(buf) struct buf stream = BUF_INIT(1 << 20);
    AUTO_FREE char *path = NULL;
    const struct arrow_array *batch;
    struct err err = {0};
    struct made d;

    (void)state;
    made_open(&d);
    add_one_column(&d, a, 1);
    made_finish(&d);
    assert_ok(hfdir_open(AT_FDCWD, d.path, NULL, &h, &err), &err);
    mk_schema(&stream, b, 1);
    put(d.path, "shard0.arrow", stream.data, stream.len);
    assert_fails(hfdir_next(h, &batch, &err), EBADMSG, &err,
                 "shard0.arrow: column 'x' is string here and int64 in an earlier shard");
    path = xasprintf("%s/shard0.arrow", d.path);
    assert_int_equal(unlink(path), 0);
    assert_fails(hfdir_next(h, &batch, &err), ENOENT, &err, "cannot open shard0.arrow");
    assert_int_equal(hfdir_next(h, &batch, NULL), -ENOENT);
    made_remove(&d);
}

/* A body that is wrong is found when its batch is read, after the good ones before it. */
static void bad_body(void **state)
{
    static const struct mk_field field[] = {{.name = "t", MK_UTF8}};
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    struct err err = {0};
    struct made d;

    (void)state;
    made_open(&d);
    for (int i = 0; i < 2; i++) {
        struct buf stream = BUF_INIT(1 << 20);
        struct mk_batch b = mk_batch(1);

        mk_schema(&stream, field, 1);
        mk_texts(&b, (const char *const[]){i ? "\xFF" : "good"}, 1);
        mk_record(&stream, &b);
        made_add(&d, &stream);
    }
    made_finish(&d);
    assert_ok(hfdir_open(AT_FDCWD, d.path, NULL, &h, &err), &err);
    assert_int_equal(hfdir_rows(h), 2);
    assert_int_equal(hfdir_next(h, &batch, &err), 1);
    for (int i = 0; i < 2; i++) {
        assert_fails(hfdir_next(h, &batch, &err), EBADMSG, &err, "shard1.arrow: byte ");
        assert_non_null(strstr(err.text, "column 't': value 0 is not valid UTF-8"));
        assert_memory_equal(err.text, d.path, strlen(d.path));
    }
    made_remove(&d);
}

/* Names that occur twice below a struct; a directory with a long name of two-byte letters. */
static void duplicates_below(void **state)
{
    const struct mk_field field = {
        .name = "s",
        MK_STRUCT,
        MK_CHILDREN({.name = "a", MK_UTF8}, {.name = "b", MK_UTF8}, {.name = "a", MK_NULL})};
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    AUTO_FREE char *moved = NULL;
    struct err err = {0};
    struct made d;
    char letters[201];

    (void)state;
    for (size_t i = 0; i < 200; i += 2)
        memcpy(letters + i, "\xC3\xA9", 2);
    letters[200] = '\0';
    for (int odd = 0; odd < 2; odd++) {
        made_open(&d);
        add_one_column(&d, &field, 1);
        made_finish(&d);
        moved = xasprintf("%s%s%s", d.path, letters, odd ? "x" : "");
        assert_int_equal(rename(d.path, moved), 0);
        assert_fails(rows_of_dir(moved, NULL, &rows, &err), EBADMSG, &err,
                     "shard0.arrow: two columns are called 'a'");
        assert_memory_equal(err.text, "...\xC3\xA9", 5);
        assert_ok(fs_remove_tree(AT_FDCWD, moved, &err), &err);
        buf_release(&d.state);
        free(STEAL(moved));
    }
}

/* Thousands of columns, the other way round in the second shard: by name, and soon. */
static void many_columns(void **state)
{
    enum { N = 20000 };
    AUTO_FREE struct mk_field *fields = xcalloc(N, sizeof(*fields));
    AUTO_FREE char(*names)[16] = xcalloc(N, sizeof(*names));
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    struct err err = {0};
    struct made d;

    (void)state;
    made_open(&d);
    for (int shard = 0; shard < 2; shard++) {
        struct buf stream = BUF_INIT(1 << 28);

        for (int i = 0; i < N; i++) {
            snprintf(names[i], sizeof(names[i]), "c%d", shard ? N - 1 - i : i);
            fields[i] = (struct mk_field){.name = names[i], MK_INT(8, true)};
        }
        mk_schema(&stream, fields, N);
        made_add(&d, &stream);
    }
    made_finish(&d);
    assert_ok(hfdir_open(AT_FDCWD, d.path, NULL, &h, &err), &err);
    assert_int_equal(hfdir_schema(h)->root.n_children, N);
    assert_string_equal(hfdir_schema(h)->root.children[N - 1].name, "c19999");
    made_remove(&d);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(golden_inputs),
    cmocka_unit_test(golden_profiles),
    cmocka_unit_test(rows_and_schema),
    cmocka_unit_test(union_of_shards),
    cmocka_unit_test(union_fills_in_types),
    cmocka_unit_test(absent_is_null),
    cmocka_unit_test(null_struct_masks),
    cmocka_unit_test(types_that_disagree),
    cmocka_unit_test(zero_rows),
    cmocka_unit_test(dictionary_and_plain),
    cmocka_unit_test(splits),
    cmocka_unit_test(split_of_plain_directory),
    cmocka_unit_test(bad_state),
    cmocka_unit_test(shards_in_folders),
    cmocka_unit_test(truncated_shard),
    cmocka_unit_test(shard_changes),
    cmocka_unit_test(bad_body),
    cmocka_unit_test(duplicates_below),
    cmocka_unit_test(many_columns),
};
TEST_MAIN(tests)
