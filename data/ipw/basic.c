/*
 * The subjects a very small model can learn: sums, comparisons, parity, letters, the calendar.
 */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int draw_digits(struct rng *rng, int digits)
{
    static const int low[] = {0, 2, 10, 100}, high[] = {0, 9, 99, 999};

    return draw_between(rng, low[digits], high[digits]);
}

/* What stands before, between and behind two numbers. */
struct wording {
    const char *before;
    const char *between;
    const char *behind;
};

static void ask_two(struct draft *d, const struct wording *w, int a, int b)
{
    ask(d, "%s%d%s%d%s " NUMBER_ONLY, w->before, a, w->between, b, w->behind);
}

static void draw_addition(struct rng *rng, int variant, struct draft *d)
{
    static const struct wording wordings[] = {{"What is ", " + ", "?"},
                                              {"Add ", " and ", "."},
                                              {"Calculate the sum of ", " and ", "."},
                                              {"", " plus ", " equals what?"}};
    int digits = 1 + variant % 3;
    int a = draw_digits(rng, digits), b = draw_digits(rng, draw_between(rng, 1, digits));

    d->difficulty = digits == 3 ? MEDIUM : EASY;
    ask_two(d, &wordings[variant % 4], a, b);
    answer_number(d, a + b);
}

static void draw_subtraction(struct rng *rng, int variant, struct draft *d)
{
    int digits = 1 + variant % 3;
    int a = draw_digits(rng, digits), b = draw_digits(rng, draw_between(rng, 1, digits));

    d->useless = b >= a;
    d->difficulty = digits == 3 ? MEDIUM : EASY;
    switch (variant % 4) {
    case 0:
        ask(d, "What is %d - %d? " NUMBER_ONLY, a, b);
        break;
    case 1:
        ask(d, "Subtract %d from %d. " NUMBER_ONLY, b, a);
        break;
    case 2:
        ask(d, "%d minus %d equals what? " NUMBER_ONLY, a, b);
        break;
    default:
        ask(d, "How much is left when %d is taken away from %d? " NUMBER_ONLY, b, a);
        break;
    }
    answer_number(d, a - b);
}

static void draw_product(struct rng *rng, int variant, struct draft *d)
{
    static const struct wording wordings[] = {{"What is ", " * ", "?"},
                                              {"Multiply ", " by ", "."},
                                              {"Calculate the product of ", " and ", "."},
                                              {"", " times ", " equals what?"}};
    int a = draw_between(rng, 11, 99), b = draw_between(rng, 2, 9);

    d->difficulty = a * b > 300 ? MEDIUM : EASY;
    ask_two(d, &wordings[variant % 4], a, b);
    answer_number(d, a * b);
}

static void draw_comparison(struct rng *rng, int variant, struct draft *d)
{
    int digits = 2 + variant / 6 % 2;
    int a = draw_digits(rng, digits), b = draw_digits(rng, digits), c = draw_digits(rng, digits);
    int low = a < b ? a : b, high = a < b ? b : a;

    d->useless = a == b || a == c || b == c;
    switch (variant % 6) {
    case 0:
        ask(d, "Which number is larger: %d or %d? " NUMBER_ONLY, a, b);
        answer_number(d, high);
        break;
    case 1:
        ask(d, "Which number is smaller: %d or %d? " NUMBER_ONLY, a, b);
        answer_number(d, low);
        break;
    case 2:
        ask(d, "Pick the greater of the two numbers %d and %d. " NUMBER_ONLY, a, b);
        answer_number(d, high);
        break;
    case 3:
        ask(d, "Pick the lesser of the two numbers %d and %d. " NUMBER_ONLY, a, b);
        answer_number(d, low);
        break;
    case 4:
        ask(d, "Which is the largest of the numbers %d, %d and %d? " NUMBER_ONLY, a, b, c);
        answer_number(d, high > c ? high : c);
        break;
    default:
        ask(d, "Which is the smallest of the numbers %d, %d and %d? " NUMBER_ONLY, a, b, c);
        answer_number(d, low < c ? low : c);
        break;
    }
}

static void draw_parity(struct rng *rng, int variant, struct draft *d)
{
    int a = draw_digits(rng, 1 + variant % 3), b = draw_digits(rng, 2);
    int value = a;

    switch (variant % 4) {
    case 0:
        ask(d, "Is %d even or odd? Answer with one word.", a);
        break;
    case 1:
        ask(d, "Is the number %d odd or even? Answer with one word.", a);
        break;
    case 2:
        ask(d, "Tell whether %d is an even or an odd number. Answer with one word, even or odd.",
            a);
        break;
    default:
        ask(d, "Is the sum of %d and %d even or odd? Answer with one word.", a, b);
        d->difficulty = MEDIUM;
        value = a + b;
        break;
    }
    answer(d, "exact", "%s", value % 2 ? "odd" : "even");
}

static const char *const words[] = {
    "apple",      "banana",      "cherry",     "orange",      "pepper",    "tomato",   "potato",
    "carrot",     "window",      "garden",     "kitchen",     "mirror",    "ladder",   "bottle",
    "candle",     "button",      "feather",    "hammer",      "pillow",    "ribbon",   "saddle",
    "basket",     "blanket",     "cabbage",    "giraffe",     "penguin",   "squirrel", "butterfly",
    "dragon",     "lantern",     "mountain",   "river",       "island",    "volcano",  "meadow",
    "harbour",    "station",     "railway",    "bicycle",     "engine",    "teacher",  "baker",
    "painter",    "sailor",      "doctor",     "library",     "chapter",   "letter",   "sentence",
    "parrot",     "rabbit",      "turtle",     "cheese",      "coffee",    "sugar",    "bamboo",
    "cotton",     "marble",      "copper",     "silver",      "thunder",   "blossom",  "committee",
    "strawberry", "grasshopper", "watermelon", "caterpillar", "raspberry", "umbrella", "elephant",
};

static int count_letter(const char *word, char letter)
{
    int n = 0;

    for (; *word; word++)
        n += *word == letter;
    return n;
}

static void draw_counting(struct rng *rng, int variant, struct draft *d)
{
    const char *word = DRAW(rng, words);
    char letter = word[draw_between(rng, 0, (int)strlen(word) - 1)];
    int vowels = 0;

    for (const char *v = "aeiou"; *v; v++)
        vowels += count_letter(word, *v);
    /* Most letters occur once: keep a third of those. */
    d->useless = variant % 5 < 3 && count_letter(word, letter) == 1 && draw_between(rng, 0, 2);
    switch (variant % 5) {
    case 0:
        ask(d, "How many times does the letter '%c' appear in the word '%s'? " NUMBER_ONLY, letter,
            word);
        answer_number(d, count_letter(word, letter));
        break;
    case 1:
        ask(d, "Count the letter '%c' in '%s'. " NUMBER_ONLY, letter, word);
        answer_number(d, count_letter(word, letter));
        break;
    case 2:
        ask(d, "How often is '%c' used when you spell '%s'? " NUMBER_ONLY, letter, word);
        answer_number(d, count_letter(word, letter));
        break;
    case 3:
        ask(d, "How many letters does the word '%s' have? " NUMBER_ONLY, word);
        answer_number(d, (int)strlen(word));
        break;
    default:
        ask(d, "How many vowels (a, e, i, o, u) are in the word '%s'? " NUMBER_ONLY, word);
        answer_number(d, vowels);
        d->difficulty = MEDIUM;
        break;
    }
}

/* A short word, or letters that make none. */
static void draw_string(struct rng *rng, bool real, char text[16])
{
    int n = draw_between(rng, 4, 6);

    if (real) {
        do
            snprintf(text, 16, "%s", DRAW(rng, words));
        while (strlen(text) > 7);
        return;
    }
    for (int i = 0; i < n; i++)
        text[i] = (char)draw_between(rng, 'a', 'z');
    text[n] = '\0';
}

static void draw_reversal(struct rng *rng, int variant, struct draft *d)
{
    char text[16], reversed[16] = "";
    size_t n;

    draw_string(rng, variant % 2 == 0, text);
    n = strlen(text);
    for (size_t i = 0; i < n; i++)
        reversed[i] = text[n - 1 - i];
    d->useless = strcmp(text, reversed) == 0;
    d->difficulty = n > 5 ? MEDIUM : EASY;
    switch (variant % 4) {
    case 0:
        ask(d, "Write the word '%s' backwards. Answer with the reversed word only.", text);
        break;
    case 1:
        ask(d, "Reverse the string '%s'. Answer with the reversed string only.", text);
        break;
    case 2:
        ask(d,
            "Spell '%s' from its last letter to its first. Answer with the letters only, "
            "without spaces.",
            text);
        break;
    default:
        ask(d, "Turn the letters of '%s' around. Answer with the result only.", text);
        break;
    }
    answer(d, "exact", "%s", reversed);
}

static int by_char(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static int by_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void draw_letter_sorting(struct rng *rng, int variant, struct draft *d)
{
    char text[16], sorted[16] = "";

    draw_string(rng, variant % 2 == 0, text);
    snprintf(sorted, sizeof(sorted), "%s", text);
    qsort(sorted, strlen(sorted), 1, by_char);
    d->useless = strcmp(text, sorted) == 0;
    d->difficulty = MEDIUM;
    switch (variant % 3) {
    case 0:
        ask(d,
            "Put the letters of '%s' in alphabetical order. Answer with the sorted letters only, "
            "without spaces.",
            text);
        break;
    case 1:
        ask(d,
            "Sort the characters of the string '%s' from a to z. Answer with the sorted string "
            "only.",
            text);
        break;
    default:
        ask(d,
            "Arrange the letters of '%s' alphabetically. Answer with the result only, without "
            "spaces.",
            text);
        break;
    }
    answer(d, "exact", "%s", sorted);
}

static void draw_number_sorting(struct rng *rng, int variant, struct draft *d)
{
    bool up = variant % 2 == 0;
    int a[5] = {0}, n = 3 + variant % 3;
    char list[64] = "", sorted[64] = "";
    size_t at = 0;

    for (int i = 0; i < n; i++)
        a[i] = draw_between(rng, 1, 99);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%d", i ? ", " : "", a[i]);
    qsort(a, (size_t)n, sizeof(*a), by_int);
    at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(sorted + at, sizeof(sorted) - at, "%s%d", i ? ", " : "",
                               a[up ? i : n - 1 - i]);
    for (int i = 1; i < n; i++)
        d->useless = d->useless || a[i] == a[i - 1];
    ask(d, "Sort these numbers from %s: %s. Answer with the list only, separated by commas.",
        up ? "smallest to largest" : "largest to smallest", list);
    answer(d, "list:ordered", "%s", sorted);
}

static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                   "Friday", "Saturday", "Sunday"};
static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static void draw_weekday(struct rng *rng, int variant, struct draft *d)
{
    int start = draw_between(rng, 0, 6), n = draw_between(rng, 2, variant % 2 ? 6 : 40);
    bool back = variant % 4 >= 2;

    d->difficulty = n > 7 ? MEDIUM : EASY;
    switch (variant % 4) {
    case 0:
        ask(d, "What day of the week comes %d days after %s? Answer with the day only.", n,
            days[start]);
        break;
    case 1:
        ask(d, "If today is %s, what day will it be in %d days? Answer with the day only.",
            days[start], n);
        break;
    case 2:
        ask(d, "What day of the week comes %d days before %s? Answer with the day only.", n,
            days[start]);
        break;
    default:
        ask(d, "If today is %s, what day was it %d days ago? Answer with the day only.",
            days[start], n);
        break;
    }
    answer(d, "exact", "%s", days[((start + (back ? -n : n)) % 7 + 7) % 7]);
}

static void draw_month(struct rng *rng, int variant, struct draft *d)
{
    int start = draw_between(rng, 0, 11), n = draw_between(rng, 2, variant % 2 ? 11 : 20);
    bool back = variant % 4 >= 2;

    d->difficulty = n > 11 ? MEDIUM : EASY;
    switch (variant % 4) {
    case 0:
        ask(d, "Which month comes %d months after %s? Answer with the month only.", n,
            months[start]);
        break;
    case 1:
        ask(d, "It is %s now. Which month will it be in %d months? Answer with the month only.",
            months[start], n);
        break;
    case 2:
        ask(d, "Which month comes %d months before %s? Answer with the month only.", n,
            months[start]);
        break;
    default:
        ask(d, "It is %s now. Which month was it %d months ago? Answer with the month only.",
            months[start], n);
        break;
    }
    answer(d, "exact", "%s", months[((start + (back ? -n : n)) % 12 + 12) % 12]);
}

const struct generator basic_generators[] = {
    {"arithmetic", 45, draw_addition, false},    {"arithmetic", 40, draw_subtraction, false},
    {"arithmetic", 35, draw_product, false},     {"comparison", 42, draw_comparison, true},
    {"parity", 32, draw_parity, true},           {"counting", 40, draw_counting, false},
    {"reversal", 40, draw_reversal, false},      {"sorting", 30, draw_letter_sorting, false},
    {"sorting", 12, draw_number_sorting, false}, {"calendar", 28, draw_weekday, false},
    {"calendar", 24, draw_month, false},         {0},
};
