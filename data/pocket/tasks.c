/*
 * The drawing. A task writes down its work the way one does on paper, where that helps: a sum digit
 * by digit with its carries, a word letter by letter with the count so far. The answer stands alone
 * on the last line, where the scorers look for it.
 *
 * The wordings are those of data/ipw/basic.c and a few more, each with and without its "answer
 * with ..." sentence.
 */
#include "tasks.h"

#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const task_names[TASK_KINDS] = {
    "addition", "subtraction",  "product",        "comparison", "parity", "counting",
    "reversal", "letter order", "number sorting", "weekdays",   "months",
};

const char *const task_subjects[TASK_KINDS] = {
    "arithmetic", "arithmetic", "arithmetic", "comparison", "parity",   "counting",
    "reversal",   "sorting",    "sorting",    "calendar",   "calendar",
};

static const int shares[TASK_KINDS] = {14, 16, 10, 9, 4, 10, 12, 10, 9, 6, 5};

static int between(struct rng *rng, int low, int high)
{
    return low + (int)rng_below(rng, (uint64_t)(high - low + 1));
}

#define PICK(rng, list) ((list)[rng_below((rng), sizeof(list) / sizeof((list)[0]))])

/* A whole number of at most so many digits, of each length about as often. */
static int number(struct rng *rng, int digits)
{
    static const int low[] = {0, 0, 10, 100}, high[] = {0, 9, 99, 999};
    int n = between(rng, 1, digits);

    return between(rng, low[n], high[n]);
}

/* Wordings hold %1 and %2 for the first and second text. */
static void word(struct task *t, const char *wording, const char *first, const char *second)
{
    size_t at = 0, size = sizeof(t->problem);

    for (const char *p = wording; *p && at + 1 < size; p++) {
        if (*p == '%' && (p[1] == '1' || p[1] == '2')) {
            at += (size_t)snprintf(t->problem + at, size - at, "%s", *++p == '1' ? first : second);
            at = at < size ? at : size - 1;
        } else {
            t->problem[at++] = *p;
        }
    }
    t->problem[at] = '\0';
}

/* Most questions are put briefly: there the same is learned from fewer characters. */
static bool is_brief(struct rng *rng)
{
    return rng_below(rng, 5) < 3;
}

static void ask_for(struct rng *rng, struct task *t, bool brief, const char *sentence)
{
    size_t n = strlen(t->problem);

    if (!brief && rng_below(rng, 4))
        snprintf(t->problem + n, sizeof(t->problem) - n, " %s", sentence);
}

/* The first wording is the brief one; there are five. */
static void word_numbers(struct rng *rng, struct task *t, const char *const *wordings, int a, int b)
{
    bool brief = is_brief(rng);
    char first[16], second[16];

    snprintf(first, sizeof(first), "%d", a);
    snprintf(second, sizeof(second), "%d", b);
    word(t, wordings[brief ? 0 : 1 + rng_below(rng, 4)], first, second);
    ask_for(rng, t, brief, "Answer with the number only.");
    t->scorer = "numeric";
}

static void draw_addition(struct rng *rng, struct task *t)
{
    static const char *const wordings[] = {"%1 + %2", "What is %1 + %2?", "Add %1 and %2.",
                                           "Calculate the sum of %1 and %2.",
                                           "%1 plus %2 equals what?"};
    int digits = between(rng, 0, 2) ? 3 : 2, a = number(rng, digits), b = number(rng, digits);

    word_numbers(rng, t, wordings, a, b);
    work_addition(t, a, b);
}

static void draw_subtraction(struct rng *rng, struct task *t)
{
    static const char *const wordings[] = {"%1 - %2", "What is %1 - %2?", "Subtract %2 from %1.",
                                           "%1 minus %2 equals what?",
                                           "How much is left when %2 is taken away from %1?"};
    int digits = between(rng, 0, 2) ? 3 : 2, a = number(rng, digits), b = number(rng, digits);

    word_numbers(rng, t, wordings, a > b ? a : b, a > b ? b : a);
    work_subtraction(t, a > b ? a : b, a > b ? b : a);
}

static void draw_product(struct rng *rng, struct task *t)
{
    static const char *const wordings[] = {"%1 * %2", "What is %1 * %2?", "Multiply %1 by %2.",
                                           "Calculate the product of %1 and %2.",
                                           "%1 times %2 equals what?"};
    int a = between(rng, 0, 7) ? between(rng, 10, 99) : between(rng, 0, 9), b = between(rng, 0, 9);

    if (b < 2 && between(rng, 0, 2))
        b = between(rng, 2, 9);
    word_numbers(rng, t, wordings, a, b);
    work_product(t, a, b);
}

static void draw_comparison(struct rng *rng, struct task *t)
{
    static const char *const larger[] = {"Which number is larger: %1 or %2?",
                                         "Pick the greater of the two numbers %1 and %2."};
    static const char *const smaller[] = {"Which number is smaller: %1 or %2?",
                                          "Pick the lesser of the two numbers %1 and %2."};
    int digits = between(rng, 2, 3), least = digits == 2 ? 10 : 100, most = digits == 2 ? 99 : 999;
    int a[3], n = between(rng, 0, 2) ? 2 : 3;
    bool up = between(rng, 0, 1), brief = is_brief(rng);
    char first[16], second[32];

    do {
        for (int i = 0; i < 3; i++)
            a[i] = between(rng, least, most);
        /* The first digits alike: the hard ones. */
        if (between(rng, 0, 2) == 0)
            a[1] = a[0] - a[0] % (digits == 2 ? 10 : 100) + a[1] % (digits == 2 ? 10 : 100);
    } while (a[0] == a[1] || a[0] == a[2] || a[1] == a[2]);
    snprintf(first, sizeof(first), n == 3 ? "%d, %d" : "%d", a[0], a[1]);
    snprintf(second, sizeof(second), "%d", a[n - 1]);
    if (brief)
        word(t, up ? "Larger: %1, %2" : "Smaller: %1, %2", first, second);
    else if (n == 3)
        word(t,
             up ? "Which is the largest of the numbers %1 and %2?"
                : "Which is the smallest of the numbers %1 and %2?",
             first, second);
    else
        word(t, up ? PICK(rng, larger) : PICK(rng, smaller), first, second);
    ask_for(rng, t, brief, "Answer with the number only.");
    t->scorer = "numeric";
    work_comparison(t, a, n, up);
}

static void draw_parity(struct rng *rng, struct task *t)
{
    static const char *const wordings[] = {"Is %1 even or odd?", "Is the number %1 odd or even?",
                                           "Tell whether %1 is an even or an odd number."};
    static const char *const sums[] = {"Is the sum of %1 and %2 even or odd?",
                                       "Is %1 + %2 even or odd?"};
    int a = number(rng, 3), b = number(rng, 2);
    bool sum = between(rng, 0, 2) == 0, brief = is_brief(rng);
    char first[16], second[16];

    snprintf(first, sizeof(first), "%d", a);
    snprintf(second, sizeof(second), "%d", b);
    if (brief)
        word(t, sum ? "%1 + %2: even or odd?" : "%1: even or odd?", first, second);
    else
        word(t, sum ? PICK(rng, sums) : PICK(rng, wordings), first, second);
    ask_for(rng, t, brief,
            between(rng, 0, 2) ? "Answer with one word." : "Answer with one word, even or odd.");
    t->scorer = "exact";
    if (sum)
        work_sum_parity(t, a, b);
    else
        snprintf(t->answer, sizeof(t->answer), "%s", a % 2 ? "odd" : "even");
}

/* Letters that make no word, or nearly one: with vowels in turn and doubled letters. */
static void draw_word(struct rng *rng, char *text, int least, int most)
{
    static const char vowels[] = "aaeeeeiioou", others[] = "bbccddfgghhjkllmmnnpprrssttvwxyz";
    int n = between(rng, least, most), way = between(rng, 0, 3);
    bool vowel = between(rng, 0, 1);

    for (int i = 0; i < n; i++) {
        if (way == 0)
            text[i] = (char)between(rng, 'a', 'z');
        else if (i > 0 && between(rng, 0, 5) == 0)
            text[i] = text[i - 1];
        else if (i > 1 && between(rng, 0, 9) == 0)
            text[i] = text[between(rng, 0, i - 1)];
        else
            text[i] = vowel ? vowels[between(rng, 0, 10)] : others[between(rng, 0, 31)];
        vowel = between(rng, 0, 4) ? strchr("aeiou", text[i]) == NULL : !vowel;
    }
    text[n] = '\0';
}

static void draw_counting(struct rng *rng, struct task *t)
{
    static const char *const letter_wordings[] = {
        "How many times does the letter '%1' appear in the word '%2'?",
        "Count the letter '%1' in '%2'.", "How often is '%1' used when you spell '%2'?"};
    char text[16], letter[2] = "";
    bool brief = is_brief(rng);

    draw_word(rng, text, 4, 11);
    t->scorer = "numeric";
    switch (between(rng, 0, 4)) {
    case 0:
        word(t, brief ? "Length of '%2'" : "How many letters does the word '%2' have?", "", text);
        work_counting(t, text, NULL);
        break;
    case 1:
        word(t,
             brief ? "Count vowels in '%2'"
                   : "How many vowels (a, e, i, o, u) are in the word '%2'?",
             "", text);
        work_counting(t, text, "aeiou");
        break;
    default:
        letter[0] = text[rng_below(rng, strlen(text))];
        if (between(rng, 0, 15) == 0)
            letter[0] = (char)between(rng, 'a', 'z');
        word(t, brief ? "Count '%1' in '%2'" : PICK(rng, letter_wordings), letter, text);
        work_counting(t, text, letter);
        break;
    }
    ask_for(rng, t, brief, "Answer with the number only.");
}

static void draw_reversal(struct rng *rng, struct task *t)
{
    static const char *const wordings[][2] = {
        {"Write the word '%1' backwards.", "Answer with the reversed word only."},
        {"Reverse the string '%1'.", "Answer with the reversed string only."},
        {"Spell '%1' from its last letter to its first.",
         "Answer with the letters only, without spaces."},
        {"Turn the letters of '%1' around.", "Answer with the result only."}};
    const char *const *wording = PICK(rng, wordings);
    bool brief = is_brief(rng);
    char text[16];

    draw_word(rng, text, 3, 8);
    word(t, brief ? "Reverse '%1'" : wording[0], text, "");
    ask_for(rng, t, brief, wording[1]);
    t->scorer = "exact";
    work_reversal(t, text);
}

static void draw_letter_sorting(struct rng *rng, struct task *t)
{
    static const char *const wordings[][2] = {
        {"Put the letters of '%1' in alphabetical order.",
         "Answer with the sorted letters only, without spaces."},
        {"Sort the characters of the string '%1' from a to z.",
         "Answer with the sorted string only."},
        {"Arrange the letters of '%1' alphabetically.",
         "Answer with the result only, without spaces."}};
    const char *const *wording = PICK(rng, wordings);
    bool brief = is_brief(rng);
    char text[16];

    draw_word(rng, text, 3, 7);
    word(t, brief ? "Sort '%1'" : wording[0], text, "");
    ask_for(rng, t, brief, wording[1]);
    t->scorer = "exact";
    work_letter_sorting(t, text);
}

static void draw_number_sorting(struct rng *rng, struct task *t)
{
    int a[5], n = between(rng, 3, 5);
    bool up = between(rng, 0, 1), brief = is_brief(rng), seen[100] = {false};
    char list[40];
    size_t at = 0;

    for (int i = 0; i < n; i++) {
        do
            a[i] = between(rng, 1, 99);
        while (seen[a[i]]);
        seen[a[i]] = true;
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%d", i ? ", " : "", a[i]);
    }
    if (brief)
        word(t, "Sort %1: %2", up ? "up" : "down", list);
    else
        word(t, "Sort these numbers from %1: %2.",
             up ? "smallest to largest" : "largest to smallest", list);
    ask_for(rng, t, brief, "Answer with the list only, separated by commas.");
    t->scorer = "list:ordered";
    work_number_sorting(t, a, n, up);
}

static void draw_weekday(struct rng *rng, struct task *t)
{
    static const char *const after[] = {"What day of the week comes %1 days after %2?",
                                        "If today is %2, what day will it be in %1 days?"};
    static const char *const before[] = {"What day of the week comes %1 days before %2?",
                                         "If today is %2, what day was it %1 days ago?"};
    int start = between(rng, 0, 6), n = between(rng, 2, between(rng, 0, 1) ? 40 : 9);
    bool back = between(rng, 0, 1), brief = is_brief(rng);
    char count[16];

    snprintf(count, sizeof(count), "%d", n);
    if (brief)
        word(t, back ? "%2 - %1 days" : "%2 + %1 days", count, work_days[start]);
    else
        word(t, back ? PICK(rng, before) : PICK(rng, after), count, work_days[start]);
    ask_for(rng, t, brief, "Answer with the day only.");
    t->scorer = "exact";
    work_weekday(t, start, n, back);
}

static void draw_month(struct rng *rng, struct task *t)
{
    static const char *const after[] = {"Which month comes %1 months after %2?",
                                        "It is %2 now. Which month will it be in %1 months?"};
    static const char *const before[] = {"Which month comes %1 months before %2?",
                                         "It is %2 now. Which month was it %1 months ago?"};
    int start = between(rng, 0, 11), n = between(rng, 2, between(rng, 0, 1) ? 20 : 11);
    bool back = between(rng, 0, 1), brief = is_brief(rng);
    char count[16];

    snprintf(count, sizeof(count), "%d", n);
    if (brief)
        word(t, back ? "%2 - %1 months" : "%2 + %1 months", count, work_months[start]);
    else
        word(t, back ? PICK(rng, before) : PICK(rng, after), count, work_months[start]);
    ask_for(rng, t, brief, "Answer with the month only.");
    t->scorer = "exact";
    work_month(t, start, n, back);
}

void task_draw(struct rng *rng, enum task_kind kind, enum task_side side, struct task *ret)
{
    static void (*const draws[TASK_KINDS])(struct rng *, struct task *) = {
        draw_addition,       draw_subtraction, draw_product,  draw_comparison,
        draw_parity,         draw_counting,    draw_reversal, draw_letter_sorting,
        draw_number_sorting, draw_weekday,     draw_month};

    do {
        *ret = (struct task){0};
        draws[kind](rng, ret);
        if (!task_key(ret->problem, ret->key)) {
            fprintf(stderr, "tasks: not understood: %s\n", ret->problem);
            abort();
        }
    } while (task_is_held_out(ret->key) != (side == TASK_HELD_OUT));
    if (!ret->text[0])
        snprintf(ret->text, sizeof(ret->text), "%s", ret->answer);
}

enum task_kind task_draw_kind(struct rng *rng)
{
    int total = 0, at;

    for (int k = 0; k < TASK_KINDS; k++)
        total += shares[k];
    at = between(rng, 0, total - 1);
    for (int k = 0; k < TASK_KINDS; k++) {
        if (at < shares[k])
            return (enum task_kind)k;
        at -= shares[k];
    }
    return TASK_ADDITION;
}
