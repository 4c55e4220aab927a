/*
 * The answers of the simple subjects, found again from the words of the questions and by other
 * means than their generator's: sums digit by digit, products by adding, the calendar step by step.
 */
#include "ipw_items.h"

/* Digit by digit from the right, as on paper. */
static long add_on_paper(long a, long b)
{
    long sum = 0, place = 1;
    int carry = 0;

    while (a || b || carry) {
        int digit = (int)(a % 10 + b % 10) + carry;

        sum += digit % 10 * place;
        carry = digit / 10;
        place *= 10;
        a /= 10;
        b /= 10;
    }
    return sum;
}

static long difference_by_counting(long from, long to)
{
    long n = 0;

    for (; from < to; from++)
        n++;
    return n;
}

static bool solve_arithmetic(const char *problem, const char *given, char *answer)
{
    long n[4], product = 0;

    (void)given;
    if (numbers_in(problem, n, 4) != 2)
        return false;
    if (has(problem, " + ") || has(problem, "Add ") || has(problem, "sum") || has(problem, "plus"))
        return say(answer, add_on_paper(n[0], n[1]));
    if (has(problem, "Subtract ") || has(problem, "taken away"))
        return say(answer, difference_by_counting(n[0], n[1]));
    if (has(problem, " - ") || has(problem, "minus"))
        return say(answer, difference_by_counting(n[1], n[0]));
    if (!has(problem, " * ") && !has(problem, "Multiply") && !has(problem, "product") &&
        !has(problem, "times"))
        return false;
    for (long i = 0; i < n[1]; i++)
        product = add_on_paper(product, n[0]);
    return say(answer, product);
}

static bool solve_comparison(const char *problem, const char *given, char *answer)
{
    bool most = has(problem, "larger") || has(problem, "greater") || has(problem, "largest");
    bool least = has(problem, "smaller") || has(problem, "lesser") || has(problem, "smallest");
    long n[8];
    int count = numbers_in(problem, n, 8);

    (void)given;
    if (most == least || count < 2)
        return false;
    for (int i = 0; i < count; i++) {
        int beaten = 0;

        for (int k = 0; k < count; k++)
            beaten += most ? n[i] > n[k] : n[i] < n[k];
        if (beaten == count - 1)
            return say(answer, n[i]);
    }
    return false;
}

/* Only the last digit says it. */
static bool solve_parity(const char *problem, const char *given, char *answer)
{
    int odd = 0, numbers = 0;

    (void)given;
    for (const char *p = problem; *p; p++) {
        if (isdigit((unsigned char)p[0]) && !isdigit((unsigned char)p[1])) {
            odd ^= strchr("13579", *p) != NULL;
            numbers++;
        }
    }
    snprintf(answer, ANSWER_MAX, "%s", odd ? "odd" : "even");
    return numbers == (has(problem, "sum") ? 2 : 1);
}

static bool solve_counting(const char *problem, const char *given, char *answer)
{
    char first[64], word[64];
    long n = 0;

    (void)given;
    if (!quoted(problem, 0, first))
        return false;
    if (has(problem, "How many letters")) {
        for (const char *p = first; *p; p++)
            n++;
        return say(answer, n);
    }
    if (has(problem, "vowels")) {
        for (const char *p = first; *p; p++)
            n += strchr("aeiou", *p) != NULL;
        return say(answer, n);
    }
    if (!quoted(problem, 1, word) || strlen(first) != 1)
        return false;
    for (const char *p = word; (p = strchr(p, first[0])); p++)
        n++;
    return say(answer, n);
}

static bool solve_reversal(const char *problem, const char *given, char *answer)
{
    char word[64];
    size_t n;

    (void)given;
    if (!quoted(problem, 0, word))
        return false;
    n = strlen(word);
    for (size_t i = 0; i < n / 2; i++) {
        char other = word[i];

        word[i] = word[n - 1 - i];
        word[n - 1 - i] = other;
    }
    snprintf(answer, ANSWER_MAX, "%s", word);
    return true;
}

static bool sort_numbers(const char *problem, char *answer)
{
    bool down = has(problem, "largest to smallest");
    long n[8], last = down ? 1000 : -1;
    int count = numbers_in(problem, n, 8);
    size_t at = 0;

    /* The next one is the nearest beyond the last. */
    for (int i = 0; i < count; i++) {
        long best = down ? -1 : 1000;

        for (int k = 0; k < count; k++)
            if (down ? n[k] < last && n[k] > best : n[k] > last && n[k] < best)
                best = n[k];
        last = best;
        at += (size_t)snprintf(answer + at, ANSWER_MAX - at, "%s%ld", i ? ", " : "", best);
    }
    return count > 2 && (down || has(problem, "smallest to largest"));
}

static bool solve_sorting(const char *problem, const char *given, char *answer)
{
    char word[64];
    size_t at = 0;

    (void)given;
    if (!quoted(problem, 0, word))
        return sort_numbers(problem, answer);
    for (char c = 'a'; c <= 'z'; c++)
        for (const char *p = word; *p; p++)
            if (*p == c)
                answer[at++] = c;
    answer[at] = '\0';
    return at == strlen(word);
}

static bool solve_calendar(const char *problem, const char *given, char *answer)
{
    static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    bool by_month = has(problem, "month");
    const char *const *names = by_month ? months : days;
    int size = by_month ? 12 : 7, at = -1;
    bool back = has(problem, "before") || has(problem, "ago");
    long n;

    (void)given;
    for (int i = 0; i < size; i++)
        if (has(problem, names[i]))
            at = at < 0 ? i : size;
    if (at < 0 || at == size || numbers_in(problem, &n, 1) != 1)
        return false;
    for (; n > 0; n--) {
        if (back)
            at = at == 0 ? size - 1 : at - 1;
        else
            at = at == size - 1 ? 0 : at + 1;
    }
    snprintf(answer, ANSWER_MAX, "%s", names[at]);
    return true;
}

static void simple_subjects(void **state)
{
    (void)state;
    assert_int_equal(check_subject("arithmetic", solve_arithmetic), 120);
    assert_int_equal(check_subject("comparison", solve_comparison), 42);
    assert_int_equal(check_subject("parity", solve_parity), 32);
    assert_int_equal(check_subject("counting", solve_counting), 40);
    assert_int_equal(check_subject("reversal", solve_reversal), 40);
    assert_int_equal(check_subject("sorting", solve_sorting), 42);
    assert_int_equal(check_subject("calendar", solve_calendar), 52);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(simple_subjects)};
TEST_MAIN(tests)
