/*
 * Temporal and decimal values as text. The calendar is the proleptic Gregorian one, computed from
 * the day number in 64 bits, since a timestamp in seconds reaches years that struct tm cannot hold.
 */
#include "arrow/array.h"

#include "arrow/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_PER_DAY INT64_C(86400)

struct civil {
    int64_t year;
    int month, day;
};

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    return a % b + (a % b < 0 ? b : 0);
}

/* The date of a day counted from 1970-01-01. The calendar repeats after 400 years; within them the
 * last year of a century or of four is the one that may be a day longer, hence the limits of 3. */
static struct civil civil_of(int64_t day)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int64_t days_400 = 146097, days_100 = 36524, days_4 = 1461;
    int64_t since_year_1 = day + 719162;
    int64_t cycle = floor_div(since_year_1, days_400);
    int64_t left = floor_mod(since_year_1, days_400);
    int64_t century = left / days_100 < 3 ? left / days_100 : 3;
    int64_t four, one;
    struct civil c = {.month = 1};

    left -= century * days_100;
    four = left / days_4;
    left -= four * days_4;
    one = left / 365 < 3 ? left / 365 : 3;
    left -= one * 365;
    c.year = 1 + cycle * 400 + century * 100 + four * 4 + one;
    for (;; c.month++) {
        int n = month_days[c.month - 1] + (c.month == 2 && is_leap(c.year));

        if (left < n)
            break;
        left -= n;
    }
    c.day = (int)left + 1;
    return c;
}

static size_t add_date(char *text, size_t size, int64_t day)
{
    struct civil c = civil_of(day);
    const char *sign = c.year > 9999 ? "+" : c.year < 0 ? "-" : "";

    return (size_t)snprintf(text, size, "%s%04" PRId64 "-%02d-%02d", sign,
                            c.year < 0 ? -c.year : c.year, c.month, c.day);
}

static int64_t ticks_per_second(enum arrow_unit unit)
{
    static const int64_t ticks[] = {1, 1000, 1000000, 1000000000};

    return ticks[unit];
}

/* ".123" with the decimals of the unit; nothing for seconds. */
static size_t add_fraction(char *text, size_t size, int64_t ticks, enum arrow_unit unit)
{
    if (unit == ARROW_SECOND) {
        text[0] = '\0';
        return 0;
    }
    return (size_t)snprintf(text, size, ".%0*" PRId64, (int)unit * 3, ticks);
}

static size_t add_time(char *text, size_t size, int64_t seconds, int64_t ticks,
                       enum arrow_unit unit)
{
    size_t n = (size_t)snprintf(text, size, "%02" PRId64 ":%02d:%02d", seconds / 3600,
                                (int)(seconds / 60 % 60), (int)(seconds % 60));

    return n + add_fraction(text + n, size - n, ticks, unit);
}

/* A time of day outside 0..24 h is not one, but is shown for what it holds. */
static size_t format_time(char *text, size_t size, int64_t value, enum arrow_unit unit)
{
    int64_t per_second = ticks_per_second(unit);
    int64_t seconds = value / per_second, ticks = value % per_second;
    size_t n = 0;

    if (value < 0)
        text[n++] = '-';
    return n + add_time(text + n, size - n, seconds < 0 ? -seconds : seconds,
                        ticks < 0 ? -ticks : ticks, unit);
}

static size_t format_timestamp(char *text, size_t size, int64_t value, const struct arrow_field *f)
{
    static const char *const utc[] = {"UTC", "Etc/UTC", "Z", "+00:00", "GMT", "Etc/GMT", "utc"};
    int64_t per_second = ticks_per_second(f->unit);
    int64_t seconds = floor_div(value, per_second);
    size_t n = add_date(text, size, floor_div(seconds, SECONDS_PER_DAY));

    text[n++] = 'T';
    n += add_time(text + n, size - n, floor_mod(seconds, SECONDS_PER_DAY),
                  floor_mod(value, per_second), f->unit);
    if (!f->timezone || !*f->timezone)
        return n;
    text[n++] = 'Z';
    text[n] = '\0';
    for (size_t i = 0; i < sizeof(utc) / sizeof(utc[0]); i++)
        if (strcmp(f->timezone, utc[i]) == 0)
            return n;
    return n + (size_t)snprintf(text + n, size - n, "[%.*s]", ARROW_TIMEZONE_MAX, f->timezone);
}

static size_t format_duration_iso(char *text, size_t size, int64_t value, enum arrow_unit unit)
{
    int64_t per_second = ticks_per_second(unit);
    /* of the magnitude, without overflow at INT64_MIN */
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    size_t n = (size_t)snprintf(text, size, "%sPT%" PRIu64, value < 0 ? "-" : "",
                                magnitude / (uint64_t)per_second);

    n += add_fraction(text + n, size - n, (int64_t)(magnitude % (uint64_t)per_second), unit);
    text[n++] = 'S';
    text[n] = '\0';
    return n;
}

/* The digits of a two's complement number of 4 to 32 bytes, most significant first. */
static size_t decimal_digits(const uint8_t *p, int width, bool *ret_negative, char digits[80])
{
    uint32_t limbs[8];
    int n_limbs = width / 4;
    size_t n = 0;

    *ret_negative = p[width - 1] & 0x80;
    for (int k = 0; k < n_limbs; k++)
        limbs[k] = *ret_negative ? ~load_u32(p + 4 * k) : load_u32(p + 4 * k);
    for (int k = 0; *ret_negative && k < n_limbs && ++limbs[k] == 0; k++)
        ;
    while (n_limbs > 0) {
        uint64_t rest = 0;

        for (int k = n_limbs - 1; k >= 0; k--) {
            rest = rest << 32 | limbs[k];
            limbs[k] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[n++] = (char)('0' + rest);
        while (n_limbs > 0 && limbs[n_limbs - 1] == 0)
            n_limbs--;
    }
    for (size_t k = 0; k < n / 2; k++) {
        char c = digits[k];

        digits[k] = digits[n - 1 - k];
        digits[n - 1 - k] = c;
    }
    return n;
}

static size_t format_decimal(char *text, size_t size, const uint8_t *p, const struct arrow_field *f)
{
    char digits[80], zeros[ARROW_SCALE_MAX];
    bool negative;
    int n = (int)decimal_digits(p, f->param, &negative, digits), scale = f->scale;
    const char *sign = negative ? "-" : "";

    if (scale < 0)
        return (size_t)snprintf(text, size, "%s%.*sE+%d", sign, n, digits, -scale);
    if (scale == 0)
        return (size_t)snprintf(text, size, "%s%.*s", sign, n, digits);
    if (n > scale)
        return (size_t)snprintf(text, size, "%s%.*s.%.*s", sign, n - scale, digits, scale,
                                digits + n - scale);
    memset(zeros, '0', sizeof(zeros));
    return (size_t)snprintf(text, size, "%s0.%.*s%.*s", sign, scale - n, zeros, n, digits);
}

static size_t format_value(const struct arrow_array *a, int64_t i, char *text)
{
    const size_t size = ARROW_TEXT_MAX;
    const struct arrow_field *f = a->field;

    switch (a->storage) {
    case ARROW_DATE32:
        return add_date(text, size, load_i32(a->values + i * 4));
    case ARROW_DATE64:
        return add_date(text, size, floor_div(load_i64(a->values + i * 8), SECONDS_PER_DAY * 1000));
    case ARROW_TIME32:
        return format_time(text, size, load_i32(a->values + i * 4), f->unit);
    case ARROW_TIME64:
        return format_time(text, size, load_i64(a->values + i * 8), f->unit);
    case ARROW_TIMESTAMP:
        return format_timestamp(text, size, load_i64(a->values + i * 8), f);
    case ARROW_DURATION:
        return format_duration_iso(text, size, load_i64(a->values + i * 8), f->unit);
    case ARROW_DECIMAL:
        return format_decimal(text, size, a->values + i * f->param, f);
    default:
        return 0;
    }
}

size_t arrow_format(const struct arrow_array *a, int64_t i, char text[ARROW_TEXT_MAX])
{
    if (arrow_is_null(a, i))
        return 0;
    if (a->dictionary)
        a = arrow_dictionary_at(a->dictionary, arrow_index(a, i), &i);
    return format_value(a, i, text);
}
