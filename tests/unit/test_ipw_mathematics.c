/*
 * The answers of the mathematical subjects, verified: solutions are put into their equations, and
 * properties of numbers are looked for by trying.
 */
#include "ipw_items.h"

/* Values of expressions in x and y, with products written side by side. */
struct formula {
    const char *p;
    double x, y;
};

static double formula_sum(struct formula *f);

static void skip_blanks(struct formula *f)
{
    while (*f->p == ' ')
        f->p++;
}

static double formula_factor(struct formula *f)
{
    double value = 1;
    char *end;

    skip_blanks(f);
    if (isdigit((unsigned char)*f->p)) {
        value = strtod(f->p, &end);
        f->p = end;
    } else if (*f->p == '(') {
        f->p++;
        value = formula_sum(f);
        f->p++;
    } else if (*f->p == 'x' || *f->p == 'y') {
        value = *f->p++ == 'x' ? f->x : f->y;
    } else {
        fail_msg("not a formula: %s", f->p);
    }
    if (*f->p == '^') {
        double base = value;

        for (long n = strtol(f->p + 1, &end, 10); n > 1; n--)
            value *= base;
        f->p = end;
    }
    return value;
}

static double formula_product(struct formula *f)
{
    double value = formula_factor(f);

    while (isdigit((unsigned char)*f->p) || *f->p == '(' || *f->p == 'x' || *f->p == 'y')
        value *= formula_factor(f);
    return value;
}

static double formula_sum(struct formula *f)
{
    double value = 0, sign = 1;

    for (;;) {
        skip_blanks(f);
        if (*f->p == '-' || *f->p == '+')
            sign = *f->p++ == '-' ? -1 : 1;
        value += sign * formula_product(f);
        skip_blanks(f);
        if (*f->p != '-' && *f->p != '+')
            return value;
    }
}

/* Left minus right side of the equation at the start of text. */
static double imbalance(const char *text, double x, double y)
{
    struct formula f = {text, x, y};
    double left = formula_sum(&f);

    skip_blanks(&f);
    assert_int_equal(*f.p, '=');
    f.p++;
    return left - formula_sum(&f);
}

static double value_at(const char *text, double x)
{
    struct formula f = {text, x, 0};

    return formula_sum(&f);
}

static const char *behind(const char *text, const char *part)
{
    const char *at = strstr(text, part);

    return at ? at + strlen(part) : NULL;
}

/* The whole number for which the equation holds, if there is exactly one within reach. */
static bool solve_equation(const char *equation, char *answer)
{
    int found = 0;

    for (int x = -300; x <= 300; x++) {
        if (imbalance(equation, x, 0) == 0) {
            say(answer, x);
            found++;
        }
    }
    return found == 1;
}

static bool solve_pair(const char *problem, char *answer)
{
    const char *first = behind(problem, "Given "), *second = behind(problem, " and ");
    long n[2];

    if (first) {
        int found = 0;

        for (int x = 0; x <= 100; x++) {
            for (int y = 0; y <= 100; y++) {
                if (imbalance(first, x, y) == 0 && imbalance(second, x, y) == 0) {
                    say(answer, x + y);
                    found++;
                }
            }
        }
        return found == 1;
    }
    if (!has(problem, "Two numbers have the sum") || numbers_in(problem, n, 2) != 2)
        return false;
    for (long x = 0; x <= n[0]; x++)
        if (x - (n[0] - x) == n[1])
            return say(answer, x);
    return false;
}

static bool solve_algebra(const char *problem, const char *given, char *answer)
{
    static const char *const leads[] = {"Solve for x: ", "If ", "for which "};
    const char *part;
    long n[8], roots[2];

    if ((part = behind(problem, "The equation "))) {
        if (numbers_in(given, roots, 2) != 2)
            return false;
        if (given[0] == '-')
            roots[0] = -roots[0]; /* at the start of the text */
        snprintf(answer, ANSWER_MAX, "%ld, %ld", roots[0], roots[1]);
        return roots[0] != roots[1] && imbalance(part, (double)roots[0], 0) == 0 &&
               imbalance(part, (double)roots[1], 0) == 0;
    }
    if ((part = behind(problem, "Expand "))) {
        snprintf(answer, ANSWER_MAX, "%s", given);
        for (int x = -3; x <= 3; x++)
            if (value_at(part, x) != value_at(given, x))
                return false;
        return !strchr(given, '(');
    }
    if ((part = behind(problem, "What is the value of ")))
        return numbers_in(strstr(part, " at x"), n, 1) == 1 &&
               say(answer, (long)value_at(part, (double)n[0]));
    for (int i = 0; i < 3; i++)
        if ((part = behind(problem, leads[i])))
            return solve_equation(part, answer);
    return solve_pair(problem, answer);
}

static bool divides(long a, long b)
{
    while (b > 0)
        b -= a;
    return b == 0;
}

static bool prime_by_sieve(long n)
{
    bool composite[2000] = {false};

    for (long i = 2; i <= n; i++)
        for (long k = 2 * i; k <= n; k += i)
            composite[k] = true;
    return n > 1 && !composite[n];
}

static bool solve_divisors(const char *problem, const long *n, char *answer)
{
    long count = 0;

    if (has(problem, "greatest common divisor")) {
        for (long i = n[0];; i--)
            if (divides(i, n[0]) && divides(i, n[1]))
                return say(answer, i);
    }
    if (has(problem, "least common multiple")) {
        for (long i = n[0];; i += n[0])
            if (divides(n[1], i))
                return say(answer, i);
    }
    if (has(problem, "positive divisors")) {
        for (long i = 1; i <= n[0]; i++)
            for (long k = 1; k <= n[0]; k++)
                count += i * k == n[0];
        return say(answer, count);
    }
    if (has(problem, "largest prime factor")) {
        long rest = n[0], factor = 2;

        while (rest > 1) {
            if (rest % factor == 0)
                rest /= factor;
            else
                factor++;
        }
        return say(answer, factor);
    }
    return false;
}

static bool solve_number_theory(const char *problem, const char *given, char *answer)
{
    long n[4], x = 0;
    int count = numbers_in(problem, n, 4);

    (void)given;
    if (has(problem, "remainder")) {
        for (x = n[0]; x >= n[1];)
            x -= n[1];
        return say(answer, x);
    }
    if (has(problem, "digits")) {
        for (const char *p = problem; *p; p++)
            x += isdigit((unsigned char)*p) ? *p - '0' : 0;
        return say(answer, x);
    }
    if (has(problem, "last digit")) {
        /* by squaring */
        long base = n[0] % 10, power = n[1];

        for (x = 1; power; power /= 2, base = base * base % 10)
            x = power % 2 ? x * base % 10 : x;
        return say(answer, x);
    }
    if (has(problem, "smallest prime")) {
        for (x = n[0] + 1; !prime_by_sieve(x);)
            x++;
        return say(answer, x);
    }
    return count > 0 && solve_divisors(problem, n, answer);
}

/* Everything in the smallest unit of its kind. */
static double unit_size(const char *name)
{
    static const struct {
        const char *name;
        double size;
    } units[] = {
        {"square centimetres", 1},
        {"square metres", 10000},
        {"kilometres", 1e6},
        {"centimetres", 10},
        {"millimetres", 1},
        {"metres", 1000},
        {"inches", 25.4},
        {"feet", 304.8},
        {"kilograms", 1000},
        {"tonnes", 1e6},
        {"grams", 1},
        {"millilitres", 1},
        {"litres", 1000},
        {"seconds", 1},
        {"minutes", 60},
        {"hours", 3600},
        {"days", 86400},
        {"weeks", 604800},
        {"dozens", 12},
        {"pieces", 1},
        {"pounds", 16},
        {"ounces", 1},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strncmp(name, units[i].name, strlen(units[i].name)) == 0)
            return units[i].size;
    return NAN;
}

static bool solve_units(const char *problem, const char *given, char *answer)
{
    const char *to = behind(problem, " to "), *number = problem + strcspn(problem, "0123456789");
    char *from;
    double amount = strtod(number, &from), result;

    if (number > problem && number[-1] == '-')
        amount = -amount;
    from++;
    if (has(problem, "kilometres per hour"))
        return say(answer, (long)(amount * 1000 / 3600));
    if (has(problem, "degrees Celsius to"))
        return say(answer, (long)(amount * 1.8 + 32));
    if (has(problem, "degrees Fahrenheit to"))
        return say(answer, (long)((amount - 32) / 1.8 + (amount < 32 ? -1e-9 : 1e-9)));
    if (!to)
        to = behind(problem, " in ");
    if (!to)
        to = behind(problem, "How many ");
    result = amount * unit_size(from) / unit_size(to);
    snprintf(answer, ANSWER_MAX, "%.10g", result);
    (void)given;
    return isfinite(result);
}

/* Every simple rule that fits the five numbers must lead to the same sixth. */
static bool solve_sequence(const char *problem, const char *given, char *answer)
{
    long a[8], next[4];
    int n = 0;
    bool adds = true, times = true, steps = true, sums = true;

    (void)given;
    if (numbers_in(problem, a, 8) != 5)
        return false;
    for (int i = 1; i < 4; i++) {
        adds = adds && a[i + 1] - a[i] == a[1] - a[0];
        times = times && a[i + 1] * a[0] == a[i] * a[1];
        steps = steps && a[i + 1] - 2 * a[i] + a[i - 1] == a[2] - 2 * a[1] + a[0];
        sums = sums && a[i + 1] == a[i] + a[i - 1];
    }
    if (adds)
        next[n++] = a[4] + a[1] - a[0];
    if (times)
        next[n++] = a[4] * a[1] / a[0];
    if (steps)
        next[n++] = 3 * a[4] - 3 * a[3] + a[2];
    if (sums)
        next[n++] = a[4] + a[3];
    for (int i = 1; i < n; i++)
        if (next[i] != next[0])
            return false;
    return n > 0 && say(answer, next[0]);
}

static void mathematical_subjects(void **state)
{
    (void)state;
    assert_int_equal(check_subject("algebra", solve_algebra), 42);
    assert_int_equal(check_subject("number-theory", solve_number_theory), 40);
    assert_int_equal(check_subject("units", solve_units), 36);
    assert_int_equal(check_subject("sequences", solve_sequence), 42);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(mathematical_subjects)};
TEST_MAIN(tests)
