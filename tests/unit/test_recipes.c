/*
 * The recipes, on rows that have the columns of the published sets. The content is made up here.
 */
#include "dataset_files.h"

#include "base/cleanup.h"

#include <errno.h>

static char dir[64];

static int make_dir(void **state)
{
    (void)state;
    make_temp_dir(dir);
    return 0;
}

static int remove_dir(void **state)
{
    struct err err = {0};

    (void)state;
    return fs_remove_tree(AT_FDCWD, dir, &err);
}

static struct dataset *open_recipe(const char *id, const char *name, const char *text)
{
    char path[128], param[160];

    write_file(dir, name, text, path);
    snprintf(param, sizeof(param), "path=%s", path);
    return open_set(id, param, NULL);
}

static struct item first_of(struct dataset *d)
{
    struct err err = {0};
    struct item item;

    assert_int_equal(dataset_next(d, &item, &err), 1);
    return item;
}

static void check_rejects(struct dataset *d, int64_t count, const char *first)
{
    struct dataset_rejects rejects;

    dataset_rejects(d, &rejects);
    assert_int_equal(rejects.count, count);
    if (!strstr(rejects.first, first))
        fail_msg("\"%s\" does not contain \"%s\"", rejects.first, first);
}

static void mmlu_pro(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *d = open_recipe(
        "mmlu-pro", "mmlu.jsonl",
        "{\"question_id\":1,\"question\":\" Which? \",\"options\":[\"one\",\"two\",\"three\"],"
        "\"answer\":\"C\",\"answer_index\":2,\"category\":\"law\"}\n"
        "{\"question\":\"q\",\"options\":[\"one\",\"two\"],\"answer\":\"C\"}\n"
        "{\"question\":\"q\",\"options\":\"one\",\"answer\":\"A\"}\n"
        "{\"question\":\"q\",\"options\":[\"one\",2],\"answer\":\"A\"}\n"
        "{\"question\":\" \",\"options\":[\"one\",\"two\"],\"answer\":\"A\"}\n");
    struct item item = first_of(d);

    (void)state;
    assert_string_equal(d->title, "MMLU-Pro");
    assert_string_equal(d->ops->scorer, "choice");
    assert_string_equal(item.problem, "Which?\n\nOptions:\nA. one\nB. two\nC. three\n\n"
                                      "Answer with the letter of the correct option.");
    assert_string_equal(item.answer, "C");
    assert_string_equal(item.subject, "law");
    assert_null(item.scorer);
    assert_int_equal(json_int(json_get(item.metadata, "question_id"), -1), 1);
    assert_int_equal(dataset_size(d), 1);
    check_rejects(d, 4, "mmlu.jsonl:2: the answer 'C' is none of the 2 options");
}

static void supergpqa(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *d = open_recipe(
        "supergpqa", "s.jsonl",
        "{\"uuid\":\"u\",\"question\":\"Which?\",\"options\":[\"one\",\"two\"],\"answer\":\"two\","
        "\"answer_letter\":\"B\",\"discipline\":\"Science\",\"field\":\"Physics\"}\n");
    struct item item = first_of(d);

    (void)state;
    assert_string_equal(d->ops->scorer, "choice");
    assert_string_equal(item.answer, "B");
    assert_string_equal(item.subject, "Science");
    assert_non_null(strstr(item.problem, "B. two\n"));
}

/* The right text must stand behind the letter, whichever that is, and all letters must occur. */
static void gpqa(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    AUTO_PTR(dataset) struct dataset *d = NULL;
    int seen[4] = {0};
    struct err err = {0};
    struct item item;

    (void)state;
    buf_adds(&text, "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,"
                    "Incorrect Answer 3,High-level domain\n");
    for (int i = 0; i < 100; i++)
        buf_addf(&text, "\"Q%d?\n\",right%d,wrong one,\" wrong two\n\",wrong three,Physics\n", i,
                 i);
    d = open_recipe("gpqa", "g.csv", text.data);
    for (int i = 0; i < 100; i++) {
        char line[32];

        assert_int_equal(dataset_next(d, &item, &err), 1);
        snprintf(line, sizeof(line), "\n%s. right%d\n", item.answer, i);
        assert_non_null(strstr(item.problem, line));
        assert_non_null(strstr(item.problem, ". wrong one\n"));
        assert_non_null(strstr(item.problem, ". wrong two\n"));
        assert_non_null(strstr(item.problem, ". wrong three\n"));
        assert_string_equal(item.subject, "Physics");
        seen[item.answer[0] - 'A']++;
    }
    for (int i = 0; i < 4; i++)
        assert_true(seen[i] > 10 && seen[i] < 45);
}

static void gpqa_order_follows_the_seed(void **state)
{
    static const char header[] = "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,"
                                 "Incorrect Answer 3\n";
    AUTO(buf) struct buf text = BUF_INIT(1 << 16), one = BUF_INIT(1 << 16);
    AUTO(buf) struct buf two = BUF_INIT(1 << 16), other = BUF_INIT(1 << 16);
    struct buf *results[] = {&one, &two, &other};
    struct err err = {0};
    char path[128];

    (void)state;
    buf_adds(&text, header);
    for (int i = 0; i < 20; i++)
        buf_addf(&text, "Q%d,a,b,c,d\n", i);
    write_bytes(dir, "seed.csv", text.data, text.len, path);
    for (int i = 0; i < 3; i++) {
        struct kv_list params = {0};
        struct dataset *d;

        kv_add(&params, "path", path);
        assert_ok(dataset_open("gpqa", &params, i == 2 ? 9 : 5, &d, &err), &err);
        read_problems(d, results[i]);
        dataset_free(d);
        kv_list_release(&params);
    }
    assert_string_equal(one.data, two.data);
    assert_string_not_equal(one.data, other.data);
}

static void math500(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *d =
        open_recipe("math500", "m.jsonl",
                    "{\"problem\":\"Halve 1.\",\"solution\":\"s\",\"answer\":\"\\\\frac{1}{2}\","
                    "\"subject\":\"Algebra\",\"level\":2,\"unique_id\":\"x\"}\n"
                    "{\"problem\":\"No answer.\"}\n");
    struct item item = first_of(d);

    (void)state;
    assert_string_equal(d->title, "MATH-500");
    assert_string_equal(d->ops->scorer, "math");
    assert_string_equal(item.problem, "Halve 1.\n\nPut the final answer in \\boxed{}.");
    assert_string_equal(item.answer, "\\frac{1}{2}");
    assert_string_equal(item.subject, "Algebra");
    check_rejects(d, 1, "m.jsonl:2: no column 'answer'");
}

static void gsm8k(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *d =
        open_recipe("gsm8k", "g.jsonl",
                    "{\"question\":\"How many?\",\"answer\":\"2+1=<<2+1=3>>3\\n#### 1,003\\n\"}\n"
                    "{\"question\":\"And now?\",\"answer\":\"7\"}\n");
    struct item item = first_of(d);

    (void)state;
    assert_string_equal(d->ops->scorer, "numeric");
    assert_string_equal(item.answer, "1,003");
    assert_int_equal(strncmp(item.problem, "How many?\n\n", 11), 0);
    assert_string_equal(first_of(d).answer, "7");
}

static void simpleqa(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *csv = open_recipe(
        "simpleqa", "s.csv",
        "metadata,problem,answer\n\"{'topic': 'Art', 'answer_type': 'Person'}\",Who?,Someone\n");
    AUTO_PTR(dataset)
    struct dataset *plain =
        open_recipe("simpleqa", "s.jsonl",
                    "{\"problem\":\"Who?\",\"answer\":\"Someone\",\"topic\":\"Music\"}\n"
                    "{\"problem\":\"Who?\",\"answer\":\"Someone\",\"metadata\":\"'topic': '\"}\n");
    struct item item = first_of(csv);

    (void)state;
    assert_string_equal(item.problem, "Who?");
    assert_string_equal(item.answer, "Someone");
    assert_string_equal(item.subject, "Art");
    assert_string_equal(csv->ops->scorer, "judge:simpleqa");
    assert_string_equal(first_of(plain).subject, "Music");
    assert_string_equal(first_of(plain).subject, "general");
}

static void natural_reasoning(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *d =
        open_recipe("natural-reasoning", "n.jsonl",
                    "{\"question\":\"Why?\",\"reference_answer\":\"Because.\",\"responses\":[]}\n"
                    "{\"question\":\"Why not?\",\"reference_answer\":\"\"}\n");

    (void)state;
    assert_string_equal(d->ops->scorer, "judge:natural-reasoning");
    assert_string_equal(first_of(d).answer, "Because.");
    assert_string_equal(first_of(d).answer, "");
}

static void wildchat(void **state)
{
    AUTO_PTR(dataset)
    struct dataset *d = open_recipe(
        "wildchat", "w.jsonl",
        "{\"conversation\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\","
        "\"content\":\"Hello\"},{\"role\":\"user\",\"content\":\"Bye\"}],\"language\":\"English\"}"
        "\n"
        "{\"conversation\":[{\"role\":\"user\",\"content\":\"Alone\"}]}\n"
        "{\"conversation\":[]}\n"
        "{\"conversation\":\"text\"}\n"
        "{\"conversation\":[{\"role\":\"user\",\"content\":\"\"}]}\n");
    struct item item = first_of(d);

    (void)state;
    assert_string_equal(item.problem, "Hi");
    assert_string_equal(item.answer, "Hello");
    assert_string_equal(item.subject, "English");
    item = first_of(d);
    assert_string_equal(item.answer, "");
    assert_string_equal(item.subject, "general");
    check_rejects(d, 3, "w.jsonl:3: no user turn");
}

static void parameters(void **state)
{
    struct err err = {0};

    (void)state;
    assert_fails(try_open(&err, "mmlu-pro", NULL), EINVAL, &err,
                 "mmlu-pro needs a local copy: --dataset-param path=");
    assert_fails(try_open(&err, "mmlu-pro", "pth=x", NULL), EINVAL, &err, "did you mean 'path'?");
    assert_fails(try_open(&err, "gsm8k", "path=/nowhere.jsonl", NULL), ENOENT, &err,
                 "/nowhere.jsonl");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(mmlu_pro), cmocka_unit_test(supergpqa),
    cmocka_unit_test(gpqa),     cmocka_unit_test(gpqa_order_follows_the_seed),
    cmocka_unit_test(math500),  cmocka_unit_test(gsm8k),
    cmocka_unit_test(simpleqa), cmocka_unit_test(natural_reasoning),
    cmocka_unit_test(wildchat), cmocka_unit_test(parameters),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
