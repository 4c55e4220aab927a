#include "harness.h"

#include "base/clock.h"
#include "cli/options.h"

#include <errno.h>

struct args {
    bool flag;
    const char *text;
    int64_t number;
    double real;
    int64_t duration;
    int64_t size;
    const char *choice;
    struct kv_list params;
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct option rows[] = {
    {"flag", OPT_FLAG, offsetof(struct args, flag), "a flag", .letter = 'f'},
    {"text", OPT_TEXT, offsetof(struct args, text), "text", .value = "T", .alias = "old-text",
     .letter = 't'},
    {"number", OPT_INT, offsetof(struct args, number), "number", .value = "N", .initial = "7",
     .min = 1, .max = 100},
    {"real", OPT_REAL, offsetof(struct args, real), "real", .value = "R"},
    {"interval", OPT_DURATION, offsetof(struct args, duration), "time", .value = "T",
     .initial = "20ms"},
    {"size", OPT_SIZE, offsetof(struct args, size), "size", .value = "S"},
    {"colour", OPT_CHOICE, offsetof(struct args, choice), "colour", .value = "C",
     .choices = colours},
    {"param", OPT_KV, offsetof(struct args, params), "k=v", .value = "k=v"},
    {0},
};
static const struct command command = {.name = "try",
                                       .operands = "[FILE...]",
                                       .operands_max = 3,
                                       .options = rows,
                                       .args_size = sizeof(struct args)};

struct parsed {
    struct args args;
    struct operands operands;
    struct err err;
    int result;
};

/* Splits the line at blanks; the words stay in `line`. */
static struct parsed parse(const struct command *c, char *line)
{
    struct parsed p = {0};
    char *argv[32] = {0}, *word, *rest = line;
    int argc = 0;

    while ((word = strsep(&rest, " ")))
        if (*word)
            argv[argc++] = word;
    p.result = options_parse(c, argc, argv, &p.args, &p.operands, &p.err);
    return p;
}

static void release(struct parsed *p)
{
    options_release(&command, &p->args, &p->operands);
}

static void defaults_come_from_the_table(void **state)
{
    char line[] = "";
    struct parsed p = parse(&command, line);

    (void)state;
    assert_int_equal(p.result, 0);
    assert_false(p.args.flag);
    assert_null(p.args.text);
    assert_int_equal(p.args.number, 7);
    assert_true(isnan(p.args.real));
    assert_int_equal(p.args.duration, 20 * NS_PER_MS);
    assert_int_equal(p.args.size, -1);
    release(&p);
}

static void every_form_is_read(void **state)
{
    char line[] = "a -f --text=x=y --number 42 --real -1.5e3 --interval 1.5s --size 2KiB "
                  "--colour green --param k=a,b=c --param k=2 b -- --flag";
    struct parsed p = parse(&command, line);

    (void)state;
    assert_ok(p.result, &p.err);
    assert_true(p.args.flag);
    assert_string_equal(p.args.text, "x=y");
    assert_int_equal(p.args.number, 42);
    assert_true(p.args.real == -1500.0);
    assert_int_equal(p.args.duration, 1500 * NS_PER_MS);
    assert_int_equal(p.args.size, 2048);
    assert_string_equal(p.args.choice, "green");
    assert_int_equal(p.args.params.n, 2);
    assert_string_equal(p.args.params.items[0].value, "a,b=c");
    assert_string_equal(kv_get(&p.args.params, "k"), "2");
    assert_int_equal(p.operands.n, 3);
    assert_string_equal(p.operands.items[2], "--flag");
    release(&p);
}

static void short_forms_and_aliases(void **state)
{
    char line[] = "-tvalue", old[] = "--old-text v";
    struct parsed p = parse(&command, line), q = parse(&command, old);

    (void)state;
    assert_string_equal(p.args.text, "value");
    assert_string_equal(q.args.text, "v");
    release(&p);
    release(&q);
}

static void mistakes_are_named_with_the_nearest(void **state)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"--colur red", "did you mean --colour?"},
        {"--colour gren", "--colour: unknown 'gren': did you mean 'green'?"},
        {"--colour mauve", "one of: red, green, blue"},
        {"--number x", "--number: 'x' is not a whole number"},
        {"--number 1.5", "--number: '1.5' is not a whole number"},
        {"--number 101", "not between 1 and 100"},
        {"--number", "--number needs a value (N)"},
        {"--interval 5parsecs", "--interval: '5parsecs' is not a time"},
        {"--param novalue", "--param: 'novalue' is not of the form key=value"},
        {"--param =v", "is not of the form"},
        {"--flag=1", "--flag takes no value"},
        {"--zzzzzz", "unknown option --zzzzzz (see ipw try --help)"},
        {"-z", "unknown option -z"},
        {"a b c d", "unexpected 'd'"},
        {"--real nan", "'nan' is not a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char line[64];
        struct parsed p;

        snprintf(line, sizeof(line), "%s", cases[i].line);
        p = parse(&command, line);
        assert_fails(p.result, EINVAL, &p.err, cases[i].words);
        release(&p);
    }
}

static void help_is_recognised_anywhere(void **state)
{
    char line[] = "a --help --number x";
    struct parsed p = parse(&command, line);

    (void)state;
    assert_int_equal(p.result, -ECANCELED);
    release(&p);
}

static void too_few_operands_name_what_is_missing(void **state)
{
    struct command strict = command;
    char line[] = "";
    struct parsed p;

    (void)state;
    strict.operands = "DIR";
    strict.operands_min = 1;
    p = parse(&strict, line);
    assert_fails(p.result, EINVAL, &p.err, "ipw try needs DIR");
    release(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(defaults_come_from_the_table),
    cmocka_unit_test(every_form_is_read),
    cmocka_unit_test(short_forms_and_aliases),
    cmocka_unit_test(mistakes_are_named_with_the_nearest),
    cmocka_unit_test(help_is_recognised_anywhere),
    cmocka_unit_test(too_few_operands_name_what_is_missing),
};
TEST_MAIN(tests)
