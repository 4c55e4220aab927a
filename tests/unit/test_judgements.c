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

static void keep(struct judgements *j, uint64_t key, const struct judge_result *result)
{
    struct err err = {0};

    assert_ok(judgements_add(j, key, 7, "judge", "m", result, &err), &err);
}

static struct judge_result scored(enum verdict verdict, const char *said, const char *reason)
{
    struct judge_result r = {.scored = true, .attempts = 1, .score.verdict = verdict};

    snprintf(r.score.extracted, sizeof(r.score.extracted), "%s", said);
    snprintf(r.score.reason, sizeof(r.score.reason), "%s", reason);
    return r;
}

static struct judge_result failed(bool refused)
{
    return (struct judge_result){.refused = refused, .error = "HTTP 500", .attempts = 4};
}

static void verdicts_outlive_the_process(void **state)
{
    struct judge_result results[] = {scored(VERDICT_CORRECT, "TRUE", ""),
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
        const struct judgement *v = judgements_find(j, i);

        assert_non_null(v);
        assert_true(v->scored && judgement_is_final(v));
        assert_int_equal(v->score.verdict, results[i].score.verdict);
        assert_string_equal(v->score.extracted, results[i].score.extracted);
        assert_string_equal(v->score.reason, results[i].score.reason);
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
    struct judge_result r = scored(VERDICT_WRONG, "FALSE", "");
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct judgements *j;
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    j = open_at(dir);
    keep(j, 0xABCDEF, &r);
    r = failed(true);
    keep(j, 2, &r);
    judgements_close(j);
    get_file(dir, &text);
    assert_string_equal(
        text.data,
        "{\"row\":7,\"key\":\"0000000000abcdef\",\"scorer\":\"judge\",\"model\":\"m\","
        "\"verdict\":\"wrong\",\"said\":\"FALSE\",\"reason\":\"\",\"attempts\":1}\n"
        "{\"row\":7,\"key\":\"0000000000000002\",\"scorer\":\"judge\",\"model\":\"m\","
        "\"verdict\":\"failed\",\"said\":\"\",\"reason\":\"HTTP 500\",\"attempts\":4}\n");
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

/* One failure: ask again; three: do not. Failures that say nothing of the question do not count. */
static void failures_are_counted(void **state)
{
    struct judge_result refused = failed(true), nobody = failed(false);
    struct judge_result right = scored(VERDICT_CORRECT, "TRUE", "");
    struct judgements *j;
    char dir[64];

    (void)state;
    make_temp_dir(dir);
    for (int i = 0; i < 6; i++) {
        j = open_at(dir);
        keep(j, 1, &nobody);
        assert_int_equal(judgement_is_final(judgements_find(j, 1)), i >= 3);
        keep(j, 1, &refused);
        assert_int_equal(judgement_is_final(judgements_find(j, 1)), i >= 2);
        assert_null(judgements_find(j, 2));
        judgements_close(j);
    }
    j = open_at(dir);
    keep(j, 1, &right); /* someone asked all the same */
    keep(j, 1, &refused);
    judgements_close(j);
    j = open_at(dir);
    assert_true(judgements_find(j, 1)->scored);
    judgements_close(j);
    assert_false(judgement_is_final(NULL));
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

static void damage_is_passed_over(void **state)
{
    static const char good[] = "{\"key\":\"000000000000000a\",\"verdict\":\"correct\"}\n";
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct judge_result r = scored(VERDICT_WRONG, "FALSE", "");
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
    assert_int_equal(judgements_find(j, 0xA)->score.verdict, VERDICT_CORRECT);
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
    struct judge_result r = scored(VERDICT_CORRECT, "", "");
    struct judgements *j;
    char dir[64], text[16];

    (void)state;
    make_temp_dir(dir);
    j = open_at(dir);
    for (uint64_t i = 0; i < 3000;
         i++) { /* the same low bits, so that they get in each other's way */
        snprintf(r.score.extracted, sizeof(r.score.extracted), "%d", (int)i);
        keep(j, i << 20, &r);
    }
    for (int again = 0; again < 2; again++) {
        for (uint64_t i = 0; i < 3000; i++) {
            snprintf(text, sizeof(text), "%d", (int)i);
            assert_string_equal(judgements_find(j, i << 20)->score.extracted, text);
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
    struct judge_result r = scored(VERDICT_CORRECT, "TRUE", "");
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
    cmocka_unit_test(failures_are_counted),
    cmocka_unit_test(damage_is_passed_over),
    cmocka_unit_test(many_are_found),
    cmocka_unit_test(keys_differ),
    cmocka_unit_test(what_cannot_be_written_is_said),
};
TEST_MAIN(tests)
