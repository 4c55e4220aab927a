/*
 * The forms of the work: one line that a reader can follow and that the model can write one
 * character at a time, each following from a few it can see.
 */
#include "work.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const work_days[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                  "Friday", "Saturday", "Sunday"};
const char *const work_months[12] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static void write(struct task *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void write(struct task *t, const char *format, ...)
{
    size_t n = strlen(t->text);
    va_list ap;

    va_start(ap, format);
    vsnprintf(t->text + n, sizeof(t->text) - n, format, ap);
    va_end(ap);
}

/* The work is done: the answer on a line of its own. */
static void finish(struct task *t, const char *answer)
{
    snprintf(t->answer, sizeof(t->answer), "%s", answer);
    write(t, "%s%s", t->text[0] ? "\n" : "", answer);
}

static void finish_number(struct task *t, int value)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", value);
    finish(t, text);
}

/* "7+5=12 4+8+1=13 3+0+1=4": by columns, from the last; behind the second + the carry. */
void work_addition(struct task *t, int a, int b)
{
    int sum = a + b, carry = 0;

    do {
        int column = a % 10 + b % 10 + carry;

        write(t, "%s%d+%d", t->text[0] ? " " : "", a % 10, b % 10);
        if (carry)
            write(t, "+1");
        write(t, "=%d", column);
        carry = column / 10;
        a /= 10;
        b /= 10;
    } while (a || b);
    finish_number(t, sum);
}

/* "12-5=7 13-8-1=4 4-0-1=3": ten more where it takes a loan, which the next column pays back. */
void work_subtraction(struct task *t, int a, int b)
{
    int difference = a - b, loan = 0;

    do {
        int low = a % 10 - b % 10 - loan < 0;

        write(t, "%s%d-%d", t->text[0] ? " " : "", a % 10 + 10 * low, b % 10);
        if (loan)
            write(t, "-1");
        write(t, "=%d", a % 10 + 10 * low - b % 10 - loan);
        loan = low;
        a /= 10;
        b /= 10;
    } while (a || b);
    finish_number(t, difference);
}

/* "7*8=56 4*8=32 32+5=37". */
void work_product(struct task *t, int a, int b)
{
    int low = a % 10 * b, high = a / 10 * b;

    write(t, "%d*%d=%d", a % 10, b, low);
    if (a >= 10) {
        write(t, " %d*%d=%d", a / 10, b, high);
        write(t, " %d+%d=%d", high, low / 10, high + low / 10);
    }
    finish_number(t, a * b);
}

void work_comparison(struct task *t, const int *a, int n, bool largest)
{
    int found = a[0];

    for (int i = 1; i < n; i++)
        if ((a[i] > found) == largest)
            found = a[i];
    finish_number(t, found);
}

/* The last digits decide. */
void work_sum_parity(struct task *t, int a, int b)
{
    write(t, "%d+%d=%d", a % 10, b % 10, a % 10 + b % 10);
    finish(t, (a + b) % 2 ? "odd" : "even");
}

/* "f0e1a1t1h1e2r2": each letter with the count so far. */
void work_counting(struct task *t, const char *word, const char *letters)
{
    int n = 0;

    for (const char *p = word; *p; p++) {
        n += !letters || strchr(letters, *p);
        write(t, "%c%d", *p, n);
    }
    finish_number(t, n);
}

void work_reversal(struct task *t, const char *word)
{
    char reversed[16] = "";
    size_t n = strlen(word);

    for (size_t i = 0; i < n; i++)
        reversed[i] = word[n - 1 - i];
    finish(t, reversed);
}

static int by_char(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

void work_letter_sorting(struct task *t, const char *word)
{
    char sorted[16] = "";

    snprintf(sorted, sizeof(sorted), "%s", word);
    qsort(sorted, strlen(sorted), 1, by_char);
    finish(t, sorted);
}

static int by_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void work_number_sorting(struct task *t, const int *a, int n, bool up)
{
    int sorted[8];
    char list[64] = "";
    size_t at = 0;

    memcpy(sorted, a, (size_t)n * sizeof(*a));
    qsort(sorted, (size_t)n, sizeof(*sorted), by_int);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%d", i ? ", " : "",
                               sorted[up ? i : n - 1 - i]);
    finish(t, list);
}

/* "17=14+3 5+3=8=1" and the like: whole rounds are taken off, the days and months counted from 1.
 */
static int go_round(struct task *t, int start, int n, bool back, int round)
{
    int rest = n % round, end = start + 1 + (back ? -rest : rest);
    int within = ((end - 1) % round + round) % round + 1;

    if (rest != n)
        write(t, "%d-%d=%d ", n, n - rest, rest);
    write(t, "%d%c%d=%d", start + 1, back ? '-' : '+', rest, end);
    if (within != end)
        write(t, "%c%d=%d", back ? '+' : '-', round, within);
    return within - 1;
}

void work_weekday(struct task *t, int start, int n, bool back)
{
    finish(t, work_days[go_round(t, start, n, back, 7)]);
}

void work_month(struct task *t, int start, int n, bool back)
{
    finish(t, work_months[go_round(t, start, n, back, 12)]);
}
