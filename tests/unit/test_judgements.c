#include "harness.h"

#include "analysis/judgements.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static const struct item item = {.problem = "Which city?", .answer = "Paris"};

static struct judgements *open_at(const char *dir)
{
    struct judgements *j = NULL;
    struct err err = {0};

    assert_ok(judgements_open(dir, &j, &err), &err);
    return j;
}

static void keep(struct judgements *j, uint64_t key, const struct score *result)
{
    struct err err = {0};

    assert_ok(judgements_add(j, key, 7, "judge", "m", result, &err), &err);
}

static struct score scored(enum verdict verdict, const char *said, const char *reason)
{
    struct score r = {.verdict = verdict};

    snprintf(r.extracted, sizeof(r.extracted), "%s", said);
    snprintf(r.reason, sizeof(r.reason), "%s", reason);
    return r;
}

static void verdicts_outlive_the_process(void **state)
{
    struct score results[] = {scored(VERDICT_CORRECT, "TRUE", ""),
                              scored(VERDICT_WRONG, "**false**", ""),
                              scored(VERDICT_UNSCORABLE, "caf\xC3\xA9 \"\n", "neither")};
    struct judgements *j;
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    j = open_at(dir);
    assert_null(judgements_find(j, 1));
    judgements_close(j);
    {
        AUTO_FREE char *folder = xasprintf("%s/analysis", dir);

        assert_false(fs_exists(AT_FDCWD, folder)); /* looking leaves no trace */
    }
    for (uint64_t i = 0; i < 3; i++) {
        j = open_at(dir);
        keep(j, i, &results[i]);
        judgements_close(j);
    }
    j = open_at(dir);
    for (uint64_t i = 0; i < 3; i++) {
        const struct score *v = judgements_find(j, i);

        assert_non_null(v);
        assert_int_equal(v->verdict, results[i].verdict);
        assert_string_equal(v->extracted, results[i].extracted);
        assert_string_equal(v->reason, results[i].reason);
    }
    assert_null(judgements_find(j, 3));
    judgements_close(j);
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

/* The file that `text` is. */
static void put_file(const char *dir, const char *text)
{
    AUTO_FREE char *folder = xasprintf("%s/analysis", dir);
    AUTO_FREE char *path = xasprintf("%s/" JUDGEMENTS_FILE, dir);
    struct err err = {0};

    assert_ok(fs_mkdirs(folder, &err), &err);
    assert_ok(fs_replace(AT_FDCWD, path, text, strlen(text), &err), &err);
}

static void get_file(const char *dir, struct buf *ret)
{
    AUTO_FREE char *path = xasprintf("%s/" JUDGEMENTS_FILE, dir);
    struct err err = {0};

    assert_ok(fs_read_all(AT_FDCWD, path, ret, &err), &err);
}

static void a_line_says_it_all(void **state)
{
    struct score r = scored(VERDICT_WRONG, "FALSE", "");
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct judgements *j;
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    j = open_at(dir);
    keep(j, 0xABCDEF, &r);
    judgements_close(j);
    get_file(dir, &text);
    assert_string_equal(
        text.data, "{\"row\":7,\"key\":\"0000000000abcdef\",\"scorer\":\"judge\",\"model\":\"m\","
                   "\"verdict\":\"wrong\",\"said\":\"FALSE\",\"reason\":\"\"}\n");
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

/* Asked again by someone: the last word counts. */
static void the_last_verdict_counts(void **state)
{
    struct score wrong = scored(VERDICT_WRONG, "FALSE", "");
    struct score right = scored(VERDICT_CORRECT, "TRUE", "");
    struct judgements *j;
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    j = open_at(dir);
    keep(j, 1, &wrong);
    keep(j, 1, &right);
    assert_int_equal(judgements_find(j, 1)->verdict, VERDICT_CORRECT);
    judgements_close(j);
    j = open_at(dir);
    assert_int_equal(judgements_find(j, 1)->verdict, VERDICT_CORRECT);
    judgements_close(j);
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

static void damage_is_passed_over(void **state)
{
    static const char good[] = "{\"key\":\"000000000000000a\",\"verdict\":\"correct\"}\n";
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct score r = scored(VERDICT_WRONG, "FALSE", "");
    struct judgements *j;
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    buf_adds(&text,
             "\n{}\n[]\nnull\n\"x\"\n{\"key\":1}\n{\"key\":\"xyz\",\"verdict\":\"wrong\"}\n");
    buf_adds(&text, "{\"key\":\"00000000000000ZZ\",\"verdict\":\"wrong\"}\n\xFF\xFE\n");
    buf_adds(&text, "{\"key\":\"000000000000000b\",\"verdict\":\"maybe\"}\n");
    buf_adds(&text, "{\"key\":\"000000000000000c\",\"verdict\":3,\"said\":[1]}\n");
    buf_adds(&text, good);
    buf_adds(&text, "{\"key\":\"000000000000000d\",\"verd"); /* killed here */
    put_file(dir, text.data);
    j = open_at(dir);
    assert_int_equal(judgements_find(j, 0xA)->verdict, VERDICT_CORRECT);
    assert_null(judgements_find(j, 0xB));
    assert_null(judgements_find(j, 0xC));
    assert_null(judgements_find(j, 0xD));
    assert_null(judgements_find(j, 0));
    keep(j, 0xE, &r); /* on a line of its own */
    judgements_close(j);
    j = open_at(dir);
    assert_non_null(judgements_find(j, 0xE));
    judgements_close(j);
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

static void many_are_found(void **state)
{
    struct score r = scored(VERDICT_CORRECT, "", "");
    struct judgements *j;
    char dir[64], text[16];

    (void)state;
    make_temp_dir(dir);
    j = open_at(dir);
    for (uint64_t i = 0; i < 3000;
         i++) { /* the same low bits, so that they get in each other's way */
        snprintf(r.extracted, sizeof(r.extracted), "%d", (int)i);
        keep(j, i << 20, &r);
    }
    for (int again = 0; again < 2; again++) {
        for (uint64_t i = 0; i < 3000; i++) {
            snprintf(text, sizeof(text), "%d", (int)i);
            assert_string_equal(judgements_find(j, i << 20)->extracted, text);
        }
        assert_null(judgements_find(j, 3000 << 20));
        judgements_close(j);
        j = open_at(dir);
    }
    judgements_close(j);
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

/* Everything that is asked is in the key, and nothing runs into its neighbour. */
static void keys_differ(void **state)
{
    static const struct item other = {.problem = "Which city?P", .answer = "aris"};
    static const struct item none = {.problem = "Which city?"};
    uint64_t keys[] = {
        judgements_key("judge", "m", &item, "x"),      judgements_key("judge", "m", &item, "y"),
        judgements_key("judge", "m", &item, NULL),     judgements_key("judge", "n", &item, "x"),
        judgements_key("judge:math", "m", &item, "x"), judgements_key("judge", "m", &other, "x"),
        judgements_key("judge", "m", &none, "x"),      judgements_key("judgem", "", &item, "x")};

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        for (size_t k = 0; k < i; k++)
            assert_true(keys[i] != keys[k]);
    assert_true(keys[0] == judgements_key("judge", "m", &item, "x"));
}

static void what_cannot_be_written_is_said(void **state)
{
    struct score r = scored(VERDICT_CORRECT, "TRUE", "");
    struct judgements *j;
    struct err err = {0};
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    {
        AUTO_FREE char *path = xasprintf("%s/analysis", dir);

        assert_ok(fs_replace(AT_FDCWD, path, "x", 1, &err), &err); /* a file in the way */
    }
    assert_int_equal(judgements_open(dir, &j, &err), -ENOTDIR);
    fs_remove_tree(AT_FDCWD, dir, NULL);
    make_temp_dir(dir);
    j = open_at(dir);
    {
        AUTO_FREE char *path = xasprintf("%s/analysis", dir);

        assert_ok(fs_replace(AT_FDCWD, path, "x", 1, &err), &err);
    }
    assert_true(judgements_add(j, 1, 0, "judge", "m", &r, &err) < 0);
    assert_non_null(strstr(err.text, "analysis"));
    assert_null(judgements_find(j, 1));
    judgements_close(j);
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(verdicts_outlive_the_process),
    cmocka_unit_test(a_line_says_it_all),
    cmocka_unit_test(the_last_verdict_counts),
    cmocka_unit_test(damage_is_passed_over),
    cmocka_unit_test(many_are_found),
    cmocka_unit_test(keys_differ),
    cmocka_unit_test(what_cannot_be_written_is_said),
};
TEST_MAIN(tests)
