#include "harness.h"

#include "cli/judge_options.h"

#include <errno.h>

struct args {
    bool json;
    struct judge_args judge;
};

static const struct option rows[] = {
    {"json", OPT_FLAG, offsetof(struct args, json), "as JSON"},
    JUDGE_OPTIONS(struct args, judge),
    {0},
};
static const struct command command = {
    .name = "try", .options = rows, .args_size = sizeof(struct args)};

/* Parses the line (split at blanks, kept in `words`) and makes a configuration of it. */
static int configure(char *words, struct args *args, struct judge_config *ret, struct err *err)
{
    struct operands operands = {0};
    char *argv[32] = {0}, *word;
    int argc = 0, r;

    while ((word = strsep(&words, " ")))
        if (*word)
            argv[argc++] = word;
    r = options_parse(&command, argc, argv, args, &operands, err);
    free(operands.items);
    return r < 0 ? r : judge_args_config(&args->judge, ret, err);
}

static void no_judge_is_no_mistake(void **state)
{
    char line[] = "--json --judge-concurrency 2";
    struct judge_config c = {.model = "untouched"};
    struct args args = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(configure(line, &args, &c, &err), 0);
    assert_string_equal(c.model, "untouched");
}

static void defaults_are_there(void **state)
{
    char line[] = "--judge-model m";
    struct judge_config c;
    struct args args = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(configure(line, &args, &c, &err), 1);
    assert_string_equal(c.model, "m");
    assert_null(c.base_url);
    assert_int_equal(c.concurrency, 4);
    assert_int_equal(c.retries, 3);
    assert_int_equal(c.params->n, 0);
}

static void everything_arrives(void **state)
{
    char line[] = "--eval-model m --eval-base-url http://h/v1 --judge-param temperature=0 "
                  "--judge-param api_key=a=b,c --judge-concurrency 9 --judge-retries 0";
    struct judge_config c;
    struct args args = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(configure(line, &args, &c, &err), 1);
    assert_string_equal(c.base_url, "http://h/v1");
    assert_string_equal(kv_get(c.params, "temperature"), "0");
    assert_string_equal(kv_get(c.params, "api_key"), "a=b,c");
    assert_int_equal(c.concurrency, 9);
    assert_int_equal(c.retries, 0);
    kv_list_release(&args.judge.params);
}

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *line, *words;
    } cases[] = {{"--judge-base-url http://h/v1", "--judge-base-url needs --judge-model"},
                 {"--judge-param temperature=0", "--judge-param needs --judge-model"},
                 {"--judge-modle m", "did you mean --judge-model?"},
                 {"--judge-model m --judge-concurrency 0", "not between 1 and 1000"},
                 {"--judge-model m --judge-retries -1", "not between 0 and 100"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[80];
        struct judge_config c;
        struct args args = {0};
        struct err err = {0};

        snprintf(line, sizeof(line), "%s", cases[i].line);
        assert_fails(configure(line, &args, &c, &err), EINVAL, &err, cases[i].words);
        kv_list_release(&args.judge.params);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_judge_is_no_mistake),
    cmocka_unit_test(defaults_are_there),
    cmocka_unit_test(everything_arrives),
    cmocka_unit_test(mistakes_are_named),
};
TEST_MAIN(tests)
