/*
 * A recursive descent over the normal form of latex.h. Nothing in it can run away: its depth is
 * bounded, its input is, and each byte is taken once.
 */
#include "score/latex.h"

#include "base/rng.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

struct evaluator {
    const char *p;
    const char *end;
    unsigned sample;
    int depth;
    bool variables;
    bool failed;
};

static double sum(struct evaluator *e);
static double factor(struct evaluator *e);

static double fail(struct evaluator *e)
{
    e->failed = true;
    return NAN;
}

static char peek(const struct evaluator *e)
{
    return e->p < e->end ? *e->p : '\0';
}

static bool take(struct evaluator *e, char c)
{
    if (peek(e) != c || e->p == e->end)
        return false;
    e->p++;
    return true;
}

/* Between 0.6 and 2.1: positive for roots and logarithms, and nothing round. */
static double variable_value(struct evaluator *e, const char *name, size_t n)
{
    uint64_t hash = 0;
    struct rng rng;

    for (size_t i = 0; i < n; i++)
        hash = hash * 131 + (unsigned char)name[i];
    rng = rng_seed(e->sample, hash);
    e->variables = true;
    return 0.6 + 1.5 * rng_uniform(&rng);
}

static double number(struct evaluator *e)
{
    char digits[64];
    size_t n = 0;
    double value;

    while (e->p < e->end && (isdigit((unsigned char)*e->p) || *e->p == '.')) {
        if (n == sizeof(digits) - 1)
            return fail(e);
        digits[n++] = *e->p++;
    }
    digits[n] = '\0';
    if (strchr(digits, '.') != strrchr(digits, '.') || strcmp(digits, ".") == 0)
        return fail(e);
    value = strtod(digits, NULL);
    if (take(e, MATH_MIXED)) {
        double fraction = peek(e) == '(' ? factor(e) : number(e);

        if (e->p[-1] != ')') /* a fraction on one line: 1/2 */
            fraction = take(e, '/') ? fraction / number(e) : fail(e);
        value += fraction;
    }
    return value;
}

static double parenthesised(struct evaluator *e, char closing)
{
    double value = sum(e);

    return take(e, closing) ? value : fail(e);
}

static double command(struct evaluator *e)
{
    const char *name = e->p;

    while (e->p < e->end && *e->p != MATH_NAME_END)
        e->p++;
    if (!take(e, MATH_NAME_END))
        return fail(e);
    return variable_value(e, name, (size_t)(e->p - name));
}

static double function(struct evaluator *e, char name)
{
    double x, degree;

    if (name == MATH_ROOT) {
        if (!take(e, '('))
            return fail(e);
        degree = parenthesised(e, ')');
        x = factor(e);
        return x < 0 && fmod(degree, 2) == 1 ? -pow(-x, 1 / degree) : pow(x, 1 / degree);
    }
    x = factor(e);
    switch (name) {
    case MATH_SQRT:
        return sqrt(x);
    case MATH_SIN:
        return sin(x);
    case MATH_COS:
        return cos(x);
    case MATH_TAN:
        return tan(x);
    case MATH_LN:
        return log(x);
    case MATH_LOG:
        return log10(x);
    default:
        return exp(x);
    }
}

static bool is_function(char c)
{
    return c == MATH_SQRT || c == MATH_ROOT || (c >= MATH_SIN && c <= MATH_EXP);
}

static double primary(struct evaluator *e)
{
    char c = peek(e);

    if (isdigit((unsigned char)c) || c == '.')
        return number(e);
    if (c == '\\')
        return command(e);
    e->p += e->p < e->end;
    if (c == '(')
        return parenthesised(e, ')');
    if (c == '[')
        return parenthesised(e, ']');
    if (c == '|')
        return fabs(parenthesised(e, '|'));
    if (c == MATH_PI)
        return acos(-1);
    if (c == MATH_INFINITY)
        return variable_value(e, "infinity", 8);
    if (is_function(c))
        return function(e, c);
    if (isalpha((unsigned char)c))
        return variable_value(e, &c, 1);
    return fail(e);
}

static double power(struct evaluator *e)
{
    double base = primary(e);

    while (take(e, '!'))
        base = base >= 0 && base <= 170 && base == floor(base) ? tgamma(base + 1) : fail(e);
    return take(e, '^') ? pow(base, factor(e)) : base;
}

/* A signed power. */
static double factor(struct evaluator *e)
{
    double value;

    if (e->failed || e->depth >= DEPTH_MAX)
        return fail(e);
    e->depth++;
    if (take(e, '-'))
        value = -factor(e);
    else if (take(e, '+'))
        value = factor(e);
    else
        value = power(e);
    e->depth--;
    return value;
}

/* Does a factor begin here without a sign of multiplication? */
static bool juxtaposed(const struct evaluator *e)
{
    char c = peek(e);

    return isalpha((unsigned char)c) || c == '(' || c == '\\' || c == MATH_PI || is_function(c);
}

static double product(struct evaluator *e)
{
    double value = factor(e);

    while (!e->failed) {
        if (take(e, '*'))
            value *= factor(e);
        else if (take(e, '/'))
            value /= factor(e);
        else if (juxtaposed(e))
            value *= power(e);
        else
            break;
    }
    return value;
}

static double sum(struct evaluator *e)
{
    double value;

    if (e->depth >= DEPTH_MAX)
        return fail(e);
    e->depth++;
    value = product(e);
    while (!e->failed && (peek(e) == '+' || peek(e) == '-')) {
        if (take(e, '+'))
            value += product(e);
        else if (take(e, '-'))
            value -= product(e);
    }
    e->depth--;
    return value;
}

bool expression_value(struct span form, unsigned sample, double *ret, bool *ret_variables)
{
    struct evaluator e = {.p = form.p, .end = form.p + form.n, .sample = sample};
    double value = form.n ? sum(&e) : fail(&e);

    if (e.failed || e.p != e.end)
        return false;
    *ret = value;
    *ret_variables = e.variables;
    return true;
}
