/*
 * School mathematics: equations, whole numbers, units, sequences.
 */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "+ 5" or "- 5". */
static const char *signed_term(int value, char text[32])
{
    snprintf(text, 32, "%c %d", value < 0 ? '-' : '+', abs(value));
    return text;
}

/* "+ 5x", "- x". */
static const char *signed_x(int factor, char text[32])
{
    if (abs(factor) == 1)
        snprintf(text, 32, "%c x", factor < 0 ? '-' : '+');
    else
        snprintf(text, 32, "%c %dx", factor < 0 ? '-' : '+', abs(factor));
    return text;
}

static void draw_linear(struct rng *rng, int variant, struct draft *d)
{
    int x = draw_between(rng, -12, 20), a = draw_between(rng, 2, 9), b = draw_between(rng, -30, 30);
    int c = draw_between(rng, 2, 9);
    char term[32];

    d->useless = x == 0 || b == 0 || a == c;
    switch (variant % 3) {
    case 0:
        ask(d, "Solve for x: %dx %s = %d. " NUMBER_ONLY, a, signed_term(b, term), a * x + b);
        d->difficulty = EASY;
        break;
    case 1:
        ask(d, "If %d(x %s) = %d, what is x? " NUMBER_ONLY, a, signed_term(b, term), a * (x + b));
        d->difficulty = MEDIUM;
        break;
    default:
        ask(d, "Find the value of x for which %dx %s = %dx", a, signed_term(b, term), c);
        ask_more(d, " %s. " NUMBER_ONLY, signed_term(a * x + b - c * x, term));
        d->useless = d->useless || a * x + b == c * x;
        d->difficulty = MEDIUM;
        break;
    }
    answer_number(d, x);
}

static void draw_pair(struct rng *rng, int variant, struct draft *d)
{
    int x = draw_between(rng, 3, 60), y = draw_between(rng, 2, 40);
    int a = draw_between(rng, 2, 5), b = draw_between(rng, 2, 5);

    d->useless = x <= y || a == b;
    d->difficulty = MEDIUM;
    if (variant % 2 == 0) {
        ask(d,
            "Two numbers have the sum %d and the difference %d. What is the larger "
            "number? " NUMBER_ONLY,
            x + y, x - y);
        answer_number(d, x);
    } else {
        ask(d, "Given %dx + y = %d and x + %dy = %d, what is x + y? " NUMBER_ONLY, a, a * x + y, b,
            x + b * y);
        answer_number(d, x + y);
        d->difficulty = HARD;
    }
}

static void draw_quadratic(struct rng *rng, int variant, struct draft *d)
{
    int p = draw_between(rng, -9, 9), q = draw_between(rng, -9, 9);
    char middle[32], last[32];

    (void)variant;
    d->useless = p >= q || p == 0 || q == 0 || p + q == 0;
    d->difficulty = HARD;
    ask(d, "The equation x^2 %s %s = 0 has two solutions. List both, separated by a comma.",
        signed_x(-(p + q), middle), signed_term(p * q, last));
    answer(d, "list", "%d, %d", p, q);
}

static void draw_polynomial(struct rng *rng, int variant, struct draft *d)
{
    int a = draw_between(rng, 2, 6), b = draw_between(rng, -9, 9), c = draw_between(rng, -20, 20);
    int x = draw_between(rng, -5, 6), p = draw_between(rng, -9, 9), q = draw_between(rng, -9, 9);
    char middle[32], last[32], first[32];

    d->difficulty = MEDIUM;
    if (variant % 2 == 0) {
        d->useless = b == 0 || c == 0 || x == 0;
        ask(d, "What is the value of %dx^2 %s %s at x = %d? " NUMBER_ONLY, a, signed_x(b, middle),
            signed_term(c, last), x);
        answer_number(d, a * x * x + b * x + c);
    } else {
        d->useless = p == 0 || q == 0 || p + q == 0;
        ask(d, "Expand (x %s)(x %s). Answer with the expanded polynomial only.",
            signed_term(p, first), signed_term(q, last));
        answer(d, "math", "x^2 %s %s", signed_x(p + q, middle), signed_term(p * q, last));
    }
}

static int gcd(int a, int b)
{
    return b ? gcd(b, a % b) : a;
}

static bool is_prime(int n)
{
    for (int i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return n > 1;
}

static void draw_divisors(struct rng *rng, int variant, struct draft *d)
{
    int a = draw_between(rng, 12, 120), b = draw_between(rng, 12, 120), n = 0;

    d->difficulty = MEDIUM;
    switch (variant % 4) {
    case 0:
        d->useless = gcd(a, b) < 3 || a == b;
        ask(d, "What is the greatest common divisor of %d and %d? " NUMBER_ONLY, a, b);
        answer_number(d, gcd(a, b));
        break;
    case 1:
        d->useless = gcd(a, b) < 2 || a == b || a > 40 || b > 40;
        ask(d, "What is the least common multiple of %d and %d? " NUMBER_ONLY, a, b);
        answer_number(d, a / gcd(a, b) * b);
        break;
    case 2:
        for (int i = 1; i <= a; i++)
            n += a % i == 0;
        d->useless = n < 4;
        ask(d, "How many positive divisors does %d have? " NUMBER_ONLY, a);
        answer_number(d, n);
        break;
    default:
        a *= draw_between(rng, 2, 9);
        for (int i = 2; i <= a; i++)
            n = a % i == 0 && is_prime(i) ? i : n;
        ask(d, "What is the largest prime factor of %d? " NUMBER_ONLY, a);
        answer_number(d, n);
        d->difficulty = HARD;
        break;
    }
}

static int power_mod(int base, int exponent, int modulus)
{
    int result = 1;

    while (exponent-- > 0)
        result = result * base % modulus;
    return result;
}

static void draw_remainders(struct rng *rng, int variant, struct draft *d)
{
    int a = draw_between(rng, 100, 999), b = draw_between(rng, 6, 23), n = 0;

    d->difficulty = MEDIUM;
    switch (variant % 4) {
    case 0:
        ask(d, "What is the remainder when %d is divided by %d? " NUMBER_ONLY, a, b);
        answer_number(d, a % b);
        break;
    case 1:
        for (int rest = a * 37; rest; rest /= 10)
            n += rest % 10;
        ask(d, "What is the sum of the digits of %d? " NUMBER_ONLY, a * 37);
        answer_number(d, n);
        d->difficulty = EASY;
        break;
    case 2:
        ask(d, "What is the last digit of %d^%d? " NUMBER_ONLY, b, a % 40 + 10);
        answer_number(d, power_mod(b, a % 40 + 10, 10));
        d->difficulty = HARD;
        break;
    default:
        for (n = a / 4 + 1; !is_prime(n);)
            n++;
        ask(d, "What is the smallest prime number greater than %d? " NUMBER_ONLY, a / 4);
        answer_number(d, n);
        break;
    }
}

struct conversion {
    const char *from;
    const char *to;
    int factor; /* one `from` in hundredths of `to` */
    int low, high;
    int divisor; /* of the drawn amount, so that some have decimals */
};

static const struct conversion conversions[] = {
    {"kilometres", "metres", 100000, 2, 90, 10},
    {"metres", "centimetres", 10000, 2, 80, 4},
    {"centimetres", "millimetres", 1000, 3, 99, 2},
    {"kilograms", "grams", 100000, 2, 60, 4},
    {"litres", "millilitres", 100000, 2, 40, 4},
    {"hours", "minutes", 6000, 2, 30, 2},
    {"minutes", "seconds", 6000, 3, 50, 2},
    {"days", "hours", 2400, 2, 40, 2},
    {"weeks", "days", 700, 3, 60, 1},
    {"dozens", "pieces", 1200, 3, 40, 2},
    {"feet", "inches", 1200, 2, 50, 2},
    {"inches", "centimetres", 254, 2, 40, 1},
    {"square metres", "square centimetres", 1000000, 2, 12, 2},
    {"tonnes", "kilograms", 100000, 2, 30, 4},
    {"pounds", "ounces", 1600, 2, 40, 2},
};

/* Hundredths as a decimal without final zeros. */
static const char *decimal(int hundredths, char text[32])
{
    if (hundredths % 100 == 0)
        snprintf(text, 32, "%d", hundredths / 100);
    else if (hundredths % 10 == 0)
        snprintf(text, 32, "%d.%d", hundredths / 100, hundredths / 10 % 10);
    else
        snprintf(text, 32, "%d.%02d", hundredths / 100, hundredths % 100);
    return text;
}

static void draw_units(struct rng *rng, int variant, struct draft *d)
{
    const struct conversion *c = &DRAW(rng, conversions);
    int n = draw_between(rng, c->low, c->high);
    char amount[32], result[32];

    d->useless = n * 100 % c->divisor != 0 || n * c->factor % c->divisor != 0;
    decimal(n * 100 / c->divisor, amount);
    decimal(n * c->factor / c->divisor, result);
    d->difficulty = n % c->divisor ? MEDIUM : EASY;
    switch (variant % 3) {
    case 0:
        ask(d, "Convert %s %s to %s. " NUMBER_ONLY, amount, c->from, c->to);
        break;
    case 1:
        ask(d, "How many %s are %s %s? " NUMBER_ONLY, c->to, amount, c->from);
        break;
    default:
        ask(d, "Express %s %s in %s. " NUMBER_ONLY, amount, c->from, c->to);
        break;
    }
    answer(d, "numeric", "%s", result);
}

static void draw_rates(struct rng *rng, int variant, struct draft *d)
{
    int n = draw_between(rng, 2, 40);

    d->difficulty = HARD;
    switch (variant % 3) {
    case 0:
        ask(d, "Convert %d kilometres per hour to metres per second. " NUMBER_ONLY, 18 * n);
        answer_number(d, 5 * n);
        break;
    case 1:
        ask(d, "Convert %d degrees Celsius to degrees Fahrenheit. " NUMBER_ONLY, 5 * n - 60);
        answer_number(d, 9 * n - 76);
        break;
    default:
        ask(d, "Convert %d degrees Fahrenheit to degrees Celsius. " NUMBER_ONLY, 9 * n - 4);
        answer_number(d, 5 * n - 20);
        break;
    }
}

static void fill_sequence(struct rng *rng, int kind, int a[7])
{
    int p = draw_between(rng, 2, 9), q = draw_between(rng, 1, 12);

    a[0] = draw_between(rng, 1, 30);
    a[1] = a[0] + q;
    for (int i = 1; i < 7; i++) {
        switch (kind) {
        case 0: /* adds p */
            a[i] = a[i - 1] + p + q;
            break;
        case 1: /* takes p away */
            a[0] = 60 + q;
            a[i] = a[i - 1] - p;
            break;
        case 2: /* times 2, 3 or 4 */
            a[0] = q;
            a[i] = a[i - 1] * (2 + p % 3);
            break;
        case 3: /* adds p, p + 1, p + 2 ... */
            a[i] = a[i - 1] + p + i - 1;
            break;
        case 4: /* each the sum of the two before */
            if (i > 1)
                a[i] = a[i - 1] + a[i - 2];
            break;
        default: /* squares, moved */
            a[0] = p % 5 + 1;
            a[i] = (p % 5 + 1 + i) * (p % 5 + 1 + i) + q;
            a[0] = a[0] * a[0] + q;
            break;
        }
    }
}

static void draw_sequence(struct rng *rng, int variant, struct draft *d)
{
    static const enum difficulty difficulties[] = {EASY, EASY, EASY, MEDIUM, MEDIUM, HARD};
    int a[7], kind = variant % 6;

    fill_sequence(rng, kind, a);
    d->difficulty = difficulties[kind];
    switch (variant / 6 % 3) {
    case 0:
        ask(d, "What number comes next: %d, %d, %d, %d, %d, ...? " NUMBER_ONLY, a[0], a[1], a[2],
            a[3], a[4]);
        break;
    case 1:
        ask(d, "Continue the sequence %d, %d, %d, %d, %d with the next number. " NUMBER_ONLY, a[0],
            a[1], a[2], a[3], a[4]);
        break;
    default:
        ask(d, "The numbers %d, %d, %d, %d, %d follow a rule. Which one is sixth? " NUMBER_ONLY,
            a[0], a[1], a[2], a[3], a[4]);
        break;
    }
    answer_number(d, a[5]);
}

const struct generator mathematics_generators[] = {
    {"algebra", 15, draw_linear, false},
    {"algebra", 10, draw_pair, false},
    {"algebra", 7, draw_quadratic, false},
    {"algebra", 10, draw_polynomial, false},
    {"number-theory", 20, draw_divisors, false},
    {"number-theory", 20, draw_remainders, false},
    {"units", 27, draw_units, false},
    {"units", 9, draw_rates, false},
    {"sequences", 42, draw_sequence, false},
    {0},
};
