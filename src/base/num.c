/*
 * strtod and strtoll accept blanks, hexadecimal and prefixes; a check of the shape in front of them
 * makes them exact. The program never calls setlocale for LC_NUMERIC, so the point is a point.
 */
#include "base/num.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct err *err, int code, const char *text, const char *wanted)
{
    return err_set(err, code, "'%.80s' is not %s", text, wanted);
}

int parse_i64(const char *text, int64_t *ret, struct err *err)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    long long value;

    if (!isdigit((unsigned char)*digits))
        return refuse(err, EINVAL, text, "a whole number");
    errno = 0;
    value = strtoll(text, &end, 10);
    if (*end)
        return refuse(err, EINVAL, text, "a whole number");
    if (errno)
        return refuse(err, ERANGE, text, "a number of 64 bits");
    *ret = value;
    return 0;
}

int parse_u64(const char *text, uint64_t *ret, struct err *err)
{
    char *end;
    unsigned long long value;

    if (!isdigit((unsigned char)*text))
        return refuse(err, EINVAL, text, "a whole number that is not negative");
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*end)
        return refuse(err, EINVAL, text, "a whole number that is not negative");
    if (errno)
        return refuse(err, ERANGE, text, "a number of 64 bits");
    *ret = value;
    return 0;
}

/* [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent. Returns what
 * follows the number, NULL when there is none. */
static const char *skip_decimal(const char *p)
{
    int digits = 0;

    p += *p == '-' || *p == '+';
    for (; isdigit((unsigned char)*p); p++)
        digits++;
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p); p++)
            digits++;
    if (!digits)
        return NULL;
    if (*p == 'e' || *p == 'E') {
        const char *exponent = p + 1;

        exponent += *exponent == '-' || *exponent == '+';
        if (isdigit((unsigned char)*exponent)) {
            while (isdigit((unsigned char)*exponent))
                exponent++;
            p = exponent;
        }
    }
    return p;
}

int parse_f64(const char *text, double *ret, struct err *err)
{
    const char *end = skip_decimal(text);
    double value;

    if (!end || *end)
        return refuse(err, EINVAL, text, "a number");
    value = strtod(text, NULL);
    if (!isfinite(value))
        return refuse(err, ERANGE, text, "a number that fits a double");
    *ret = value;
    return 0;
}

struct unit {
    const char *name;
    double factor;
};

/* A decimal and one of the units, as a whole number of the smallest unit. */
static int parse_with_unit(const char *text, const struct unit *units, const char *wanted,
                           int64_t *ret, struct err *err)
{
    const char *suffix = skip_decimal(text);
    const struct unit *u;
    double value;

    if (!suffix)
        return refuse(err, EINVAL, text, wanted);
    for (u = units; u->name; u++)
        if (strcmp(suffix, u->name) == 0)
            break;
    if (!u->name)
        return refuse(err, EINVAL, text, wanted);
    value = strtod(text, NULL) * u->factor;
    if (value < 0)
        return refuse(err, ERANGE, text, wanted);
    if (!(value < 9.2e18))
        return refuse(err, ERANGE, text, "in range");
    *ret = (int64_t)llround(value);
    return 0;
}

int parse_duration(const char *text, int64_t *ret_ns, struct err *err)
{
    static const struct unit units[] = {{"ns", 1},     {"us", 1e3}, {"ms", 1e6},
                                        {"s", 1e9},    {"m", 60e9}, {"min", 60e9},
                                        {"h", 3600e9}, {"", 1e9},   {NULL, 0}};

    return parse_with_unit(text, units, "a time (20ms, 1.5s, 2m)", ret_ns, err);
}

int parse_size(const char *text, int64_t *ret_bytes, struct err *err)
{
    static const struct unit units[] = {
        {"", 1},         {"B", 1},       {"k", 1e3},      {"kB", 1e3},     {"K", 1e3},
        {"KB", 1e3},     {"M", 1e6},     {"MB", 1e6},     {"G", 1e9},      {"GB", 1e9},
        {"T", 1e12},     {"TB", 1e12},   {"Ki", 0x1p10},  {"KiB", 0x1p10}, {"Mi", 0x1p20},
        {"MiB", 0x1p20}, {"Gi", 0x1p30}, {"GiB", 0x1p30}, {"Ti", 0x1p40},  {"TiB", 0x1p40},
        {NULL, 0}};

    return parse_with_unit(text, units, "a size (64MiB, 1.5GB, 512)", ret_bytes, err);
}

size_t format_f64(double value, char *text)
{
    int n = 0;

    if (isnan(value))
        return (size_t)snprintf(text, 32, "nan");
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, 32, "%.*g", digits, value);
        if (isinf(value) || strtod(text, NULL) == value)
            break;
    }
    return (size_t)n;
}

void format_duration(int64_t ns, char *text, size_t size)
{
    double s = ns_to_s(ns);

    if (s < 1e-6)
        snprintf(text, size, "%" PRId64 " ns", ns);
    else if (s < 1e-3)
        snprintf(text, size, "%.3g us", s * 1e6);
    else if (s < 1)
        snprintf(text, size, "%.3g ms", s * 1e3);
    else if (s < 120)
        snprintf(text, size, "%.3g s", s);
    else if (s < 7200)
        snprintf(text, size, "%.3g min", s / 60);
    else
        snprintf(text, size, "%.3g h", s / 3600);
}
