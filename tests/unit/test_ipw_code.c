/*
 * The programs of the subject "code", run: an interpreter for as much Python as they use
 * (assignments, for over a range, a list or a string, while, if and else, print, append).
 */
#include "ipw_items.h"

#define LINES_MAX 32
#define STEPS_MAX 10000

struct value {
    enum { NUMBER, TEXT, LIST } type;
    long number;
    char text[64];
    long list[16];
    int len; /* of the list */
};

struct variable {
    char name[16];
    struct value value;
};

struct interpreter {
    char lines[LINES_MAX][96];
    int n_lines;
    struct variable variables[16];
    int n_variables;
    char output[ANSWER_MAX];
    int steps;
    const char *p; /* in the expression */
};

static struct value expression(struct interpreter *in);

static struct value *variable(struct interpreter *in, const char *name, size_t n)
{
    struct variable *v;

    for (int i = 0; i < in->n_variables; i++)
        if (strlen(in->variables[i].name) == n && memcmp(in->variables[i].name, name, n) == 0)
            return &in->variables[i].value;
    assert_true(in->n_variables < 16 && n < 16);
    v = &in->variables[in->n_variables++];
    snprintf(v->name, sizeof(v->name), "%.*s", (int)n, name);
    return &v->value;
}

static void blanks(struct interpreter *in)
{
    while (*in->p == ' ')
        in->p++;
}

static bool take(struct interpreter *in, const char *sign)
{
    blanks(in);
    if (strncmp(in->p, sign, strlen(sign)) != 0)
        return false;
    in->p += strlen(sign);
    return true;
}

static struct value number_value(long number)
{
    return (struct value){.type = NUMBER, .number = number};
}

static struct value list_literal(struct interpreter *in)
{
    struct value list = {.type = LIST};

    while (!take(in, "]")) {
        list.list[list.len++] = expression(in).number;
        take(in, ",");
    }
    return list;
}

static struct value text_literal(struct interpreter *in)
{
    struct value text = {.type = TEXT};
    size_t n = strcspn(in->p, "\"");

    snprintf(text.text, sizeof(text.text), "%.*s", (int)n, in->p);
    in->p += n + 1;
    return text;
}

static struct value element(struct interpreter *in, struct value of)
{
    long i = expression(in).number;
    struct value one = {.type = TEXT};

    assert_true(take(in, "]"));
    if (of.type == LIST) {
        assert_true(i >= 0 && i < of.len);
        return number_value(of.list[i]);
    }
    assert_true(i >= 0 && (size_t)i < strlen(of.text));
    one.text[0] = of.text[i];
    return one;
}

static struct value atom(struct interpreter *in)
{
    struct value v;
    size_t n = 0;
    char *end;

    blanks(in);
    if (isdigit((unsigned char)*in->p)) {
        v = number_value(strtol(in->p, &end, 10));
        in->p = end;
        return v;
    }
    if (take(in, "\""))
        return text_literal(in);
    if (take(in, "["))
        return list_literal(in);
    while (isalpha((unsigned char)in->p[n]))
        n++;
    assert_true(n > 0);
    v = *variable(in, in->p, n);
    in->p += n;
    return *in->p == '[' ? (in->p++, element(in, v)) : v;
}

static struct value repeated(struct value text, long times)
{
    struct value v = {.type = TEXT};

    for (long i = 0; i < times; i++)
        snprintf(v.text + strlen(v.text), sizeof(v.text) - strlen(v.text), "%s", text.text);
    return v;
}

static struct value term(struct interpreter *in)
{
    struct value v = atom(in);

    for (;;) {
        if (take(in, "*")) {
            struct value by = atom(in);

            v = v.type == TEXT ? repeated(v, by.number) : number_value(v.number * by.number);
        } else if (take(in, "//")) {
            v = number_value(v.number / atom(in).number);
        } else if (take(in, "%")) {
            v = number_value(v.number % atom(in).number);
        } else {
            return v;
        }
    }
}

static struct value expression(struct interpreter *in)
{
    struct value v = term(in);

    for (;;) {
        if (take(in, "+")) {
            struct value more = term(in);

            if (v.type == TEXT)
                snprintf(v.text + strlen(v.text), sizeof(v.text) - strlen(v.text), "%s", more.text);
            else
                v.number += more.number;
        } else if (take(in, "-")) {
            v.number -= term(in).number;
        } else {
            return v;
        }
    }
}

static bool condition(struct interpreter *in)
{
    long left = expression(in).number;

    if (take(in, "=="))
        return left == expression(in).number;
    assert_true(take(in, ">"));
    return left > expression(in).number;
}

static int indent_of(const char *line)
{
    return (int)strspn(line, " ");
}

/* The first line behind the block that begins at `line`. */
static int block_end(const struct interpreter *in, int line)
{
    int indent = indent_of(in->lines[line]), end = line;

    while (end < in->n_lines && indent_of(in->lines[end]) >= indent)
        end++;
    return end;
}

static void run_block(struct interpreter *in, int from, int to);

static void run_for(struct interpreter *in, const char *header, int body, int end)
{
    size_t n = strspn(header, "abcdefghijklmnopqrstuvwxyz");
    struct value *x = variable(in, header, n), over;
    long first = 0, last;

    in->p = header + n + 4; /* " in " */
    if (take(in, "range(")) {
        first = expression(in).number;
        assert_true(take(in, ","));
        last = expression(in).number;
        for (long i = first; i < last; i++) {
            *x = number_value(i);
            run_block(in, body, end);
        }
        return;
    }
    over = atom(in);
    last = over.type == LIST ? over.len : (long)strlen(over.text);
    for (long i = 0; i < last; i++) {
        *x = (struct value){.type = over.type == LIST ? NUMBER : TEXT};
        if (over.type == LIST)
            x->number = over.list[i];
        else
            x->text[0] = over.text[i];
        run_block(in, body, end);
    }
}

static void run_simple(struct interpreter *in, const char *line)
{
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    struct value *v, result;
    long i = -1;

    in->p = line + n;
    if (strncmp(line, "print(", 6) == 0) {
        in->p++;
        result = expression(in);
        snprintf(in->output, sizeof(in->output), "%s", result.text);
        if (result.type == NUMBER)
            say(in->output, result.number);
        return;
    }
    if (take(in, ".append(")) {
        result = expression(in);
        v = variable(in, line, n);
        v->list[v->len++] = result.number;
        return;
    }
    if (take(in, "[")) {
        i = expression(in).number;
        assert_true(take(in, "]"));
    }
    assert_true(take(in, "="));
    result = expression(in);
    v = variable(in, line, n);
    if (i >= 0)
        v->list[i] = result.number;
    else
        *v = result;
}

/* An if with its else; returns the line behind both. */
static int run_if(struct interpreter *in, const char *line, int body, int end)
{
    bool chosen;

    in->p = line + 3;
    chosen = condition(in);
    if (chosen)
        run_block(in, body, end);
    if (end < in->n_lines && strcmp(in->lines[end] + indent_of(in->lines[end]), "else:") == 0) {
        int other = end + 1;

        end = block_end(in, other);
        if (!chosen)
            run_block(in, other, end);
    }
    return end;
}

static void run_block(struct interpreter *in, int from, int to)
{
    for (int i = from; i < to;) {
        const char *line = in->lines[i] + indent_of(in->lines[i]);
        int end = line[strlen(line) - 1] == ':' ? block_end(in, i + 1) : i + 1;

        assert_true(++in->steps < STEPS_MAX);
        if (strncmp(line, "for ", 4) == 0) {
            run_for(in, line + 4, i + 1, end);
        } else if (strncmp(line, "while ", 6) == 0) {
            for (in->p = line + 6; condition(in); in->p = line + 6)
                run_block(in, i + 1, end);
        } else if (strncmp(line, "if ", 3) == 0) {
            end = run_if(in, line, i + 1, end);
        } else {
            run_simple(in, line);
        }
        i = end;
    }
}

static bool solve_code(const char *problem, const char *given, char *answer)
{
    const char *program = strstr(problem, "\n\n");
    struct interpreter in = {0};

    (void)given;
    if (!program || !has(problem, "Python"))
        return false;
    for (program += 2; *program && in.n_lines < LINES_MAX; in.n_lines++) {
        size_t n = strcspn(program, "\n");

        snprintf(in.lines[in.n_lines], sizeof(in.lines[0]), "%.*s", (int)n, program);
        program += n + (program[n] == '\n');
    }
    run_block(&in, 0, in.n_lines);
    snprintf(answer, ANSWER_MAX, "%s", in.output);
    return true;
}

static void programs(void **state)
{
    (void)state;
    assert_int_equal(check_subject("code", solve_code), 45);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(programs)};
TEST_MAIN(tests)
