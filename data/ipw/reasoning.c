/*
 * Questions that take a few steps: dates, deduction, programs, tables, word problems.
 */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct date {
    int year, month, day; /* month and day from 1 */
};

static const char *const month_names[] = {"",        "January",  "February", "March",  "April",
                                          "May",     "June",     "July",     "August", "September",
                                          "October", "November", "December"};
static const char *const weekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days since the start of year 1, by formula; 0001-01-01 is 0 and a Monday. */
static int day_number(struct date t)
{
    static const int before[] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int y = t.year - 1;

    return 365 * y + y / 4 - y / 100 + y / 400 + before[t.month] +
           (t.month > 2 && is_leap(t.year)) + t.day - 1;
}

static struct date date_of(int number)
{
    struct date t = {number / 366 + 1, 1, 1};

    while (day_number((struct date){t.year + 1, 1, 1}) <= number)
        t.year++;
    for (t.month = 12; day_number(t) > number;)
        t.month--;
    t.day = number - day_number(t) + 1;
    return t;
}

static struct date draw_date(struct rng *rng)
{
    return date_of(day_number((struct date){1950, 1, 1}) + draw_between(rng, 0, 27000));
}

static const char *long_date(struct date t, char text[48])
{
    snprintf(text, 48, "%d %s %d", t.day, month_names[t.month], t.year);
    return text;
}

static void draw_dates(struct rng *rng, int variant, struct draft *d)
{
    struct date a = draw_date(rng), b;
    int n = draw_between(rng, 8, 200), span = draw_between(rng, 20, 60), leaps = 0;
    char from[48], to[48];

    b = date_of(day_number(a) + n);
    long_date(a, from);
    long_date(b, to);
    d->difficulty = HARD;
    switch (variant % 4) {
    case 0:
        ask(d, "What date is %d days after %s? Answer in the form YYYY-MM-DD.", n, from);
        answer(d, "exact", "%04d-%02d-%02d", b.year, b.month, b.day);
        break;
    case 1:
        ask(d, "How many days are there from %s to %s, not counting the first day? " NUMBER_ONLY,
            from, to);
        answer_number(d, n);
        break;
    case 2:
        ask(d, "%s was a %s. What day of the week was %s? Answer with the day only.", from,
            weekdays[day_number(a) % 7], to);
        answer(d, "exact", "%s", weekdays[day_number(b) % 7]);
        break;
    default:
        for (int y = a.year; y <= a.year + span; y++)
            leaps += is_leap(y);
        ask(d, "How many leap years are there from %d to %d, both included? " NUMBER_ONLY, a.year,
            a.year + span);
        answer_number(d, leaps);
        d->difficulty = MEDIUM;
        break;
    }
}

static void draw_clock(struct rng *rng, int variant, struct draft *d)
{
    int start = draw_between(rng, 0, 24 * 60 - 1), n = draw_between(rng, 25, 400);
    int end = (start + n) % (24 * 60);

    d->useless = start + n >= 24 * 60;
    d->difficulty = MEDIUM;
    if (variant % 2 == 0) {
        ask(d,
            "A film starts at %02d:%02d and lasts %d minutes. When does it end? Answer in the "
            "form HH:MM.",
            start / 60, start % 60, n);
        answer(d, "exact", "%02d:%02d", end / 60, end % 60);
    } else {
        ask(d,
            "A train leaves at %02d:%02d and arrives at %02d:%02d on the same day. How many "
            "minutes does the journey take? " NUMBER_ONLY,
            start / 60, start % 60, end / 60, end % 60);
        answer_number(d, n);
    }
}

static const char *const names[] = {"Anna",  "Boris", "Clara", "David", "Elena", "Farid",
                                    "Greta", "Hugo",  "Irene", "Jonas", "Karin", "Leo"};

static void shuffle(struct rng *rng, int *list, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = draw_between(rng, 0, i), other = list[k];

        list[k] = list[i];
        list[i] = other;
    }
}

/* A row of people, told by neighbours in any order. */
static void draw_order(struct rng *rng, int variant, struct draft *d)
{
    static const char *const more[] = {"taller", "older", "faster"};
    static const char *const most[] = {"tallest", "oldest", "fastest"};
    static const char *const less[] = {"shorter", "younger", "slower"};
    static const char *const least[] = {"shortest", "youngest", "slowest"};
    int people[12], facts[4], n = 4 + variant % 2, kind = variant % 3, asked = variant / 2 % 3;

    for (int i = 0; i < 12; i++)
        people[i] = i;
    shuffle(rng, people, 12);
    for (int i = 0; i < n - 1; i++)
        facts[i] = i;
    shuffle(rng, facts, n - 1);
    for (int i = 0; i < n - 1; i++) {
        const char *high = names[people[facts[i]]], *low = names[people[facts[i] + 1]];

        if (draw_between(rng, 0, 1))
            ask_more(d, "%s is %s than %s. ", high, more[kind], low);
        else
            ask_more(d, "%s is %s than %s. ", low, less[kind], high);
    }
    if (asked == 2)
        ask_more(d, "Who comes second, counted from the %s? Answer with the name only.",
                 most[kind]);
    else
        ask_more(d, "Who is the %s? Answer with the name only.",
                 asked == 0 ? most[kind] : least[kind]);
    answer(d, "exact", "%s", names[people[asked == 0 ? 0 : asked == 1 ? n - 1 : 1]]);
    d->difficulty = n > 4 ? HARD : MEDIUM;
}

static void draw_boolean(struct rng *rng, int variant, struct draft *d)
{
    static const char *const truth[] = {"false", "true"};
    int a = draw_between(rng, 0, 1), b = draw_between(rng, 0, 1), c = draw_between(rng, 0, 1);
    int value;

    d->difficulty = MEDIUM;
    switch (variant % 4) {
    case 0:
        ask(d, "What is the value of (%s and %s) or %s?", truth[a], truth[b], truth[c]);
        value = (a && b) || c;
        break;
    case 1:
        ask(d, "What is the value of not (%s or %s) and %s?", truth[a], truth[b], truth[c]);
        value = !(a || b) && c;
        break;
    case 2:
        ask(d, "What is the value of (%s or %s) and not %s?", truth[a], truth[b], truth[c]);
        value = (a || b) && !c;
        break;
    default:
        ask(d, "What is the value of not (%s and not %s) or %s?", truth[a], truth[b], truth[c]);
        value = !(a && !b) || c;
        break;
    }
    ask_more(d, " Answer with true or false.");
    answer(d, "exact", "%s", truth[value]);
}

/* All A are B: with "all B are C" every A is a C; with "no B are C" (or "no C are B") none is. No A
 * are B: with "all C are B" none is. All else leaves it open. */
static const char *conclusion(bool no_ab, bool no_bc, bool turned)
{
    if (!no_ab && !no_bc && !turned)
        return "A";
    return (!no_ab && no_bc) || (no_ab && !no_bc && turned) ? "B" : "C";
}

static void draw_syllogism(struct rng *rng, int variant, struct draft *d)
{
    static const char *const things[] = {"blips", "grons",  "tazzes", "morbs", "wints",
                                         "yuffs", "drells", "kovs",   "plims", "snarks"};
    bool no_ab = draw_between(rng, 0, 1), no_bc = draw_between(rng, 0, 1);
    bool turned = draw_between(rng, 0, 1);
    const char *a, *b, *c;
    int t[10];

    for (int i = 0; i < 10; i++)
        t[i] = i;
    shuffle(rng, t, 10);
    a = things[t[0]];
    b = things[t[1]];
    c = things[t[2]];
    ask(d, "There are %s, %s and %s, at least one of each. %s %s are %s. %s %s are %s. ", a, b, c,
        no_ab ? "No" : "All", a, b, no_bc ? "No" : "All", turned ? c : b, turned ? b : c);
    if (variant % 2)
        ask_more(d, "Is every one of the %s also one of the %s?", a, c);
    else
        ask_more(d, "Are all %s also %s?", a, c);
    ask_more(d, "\nA. Yes, certainly.\nB. No, certainly not.\nC. It cannot be said.\n"
                "Answer with the letter only.");
    answer(d, "choice", "%s", conclusion(no_ab, no_bc, turned));
    d->difficulty = HARD;
}

static void draw_loop_program(struct rng *rng, int variant, struct draft *d)
{
    int a = draw_between(rng, 1, 9), b = draw_between(rng, 2, 5), c = draw_between(rng, 2, 4);
    int end = b + draw_between(rng, 3, 5), total = a;

    d->difficulty = MEDIUM;
    ask(d, "What does this Python program print? Answer with the output only.\n\n");
    switch (variant % 3) {
    case 0:
        ask_more(d, "total = %d\nfor i in range(%d, %d):\n    total = total + i * %d\nprint(total)",
                 a, b, end, c);
        for (int i = b; i < end; i++)
            total += i * c;
        break;
    case 1:
        ask_more(d,
                 "n = %d\nsteps = 0\nwhile n > 1:\n    if n %% 2 == 0:\n        n = n // 2\n"
                 "    else:\n        n = 3 * n + 1\n    steps = steps + 1\nprint(steps)",
                 a + 2);
        total = 0;
        for (int n = a + 2; n > 1; n = n % 2 ? 3 * n + 1 : n / 2)
            total++;
        d->difficulty = HARD;
        break;
    default:
        ask_more(d, "x = %d\ny = %d\nwhile y > 0:\n    x = x + y\n    y = y - %d\nprint(x)", a * 3,
                 end + 4, c);
        total = a * 3;
        for (int y = end + 4; y > 0; y -= c)
            total += y;
        break;
    }
    answer_number(d, total);
}

static void draw_list_program(struct rng *rng, int variant, struct draft *d)
{
    int a[5], at = draw_between(rng, 0, 4), limit = draw_between(rng, 10, 30), total = 0;

    for (int i = 0; i < 5; i++)
        a[i] = draw_between(rng, 2, 40);
    d->difficulty = MEDIUM;
    ask(d,
        "What does this Python program print? Answer with the output only.\n\n"
        "a = [%d, %d, %d, %d, %d]\n",
        a[0], a[1], a[2], a[3], a[4]);
    switch (variant % 3) {
    case 0:
        ask_more(d,
                 "total = 0\nfor x in a:\n    if x > %d:\n        total = total + x\n"
                 "print(total)",
                 limit);
        for (int i = 0; i < 5; i++)
            total += a[i] > limit ? a[i] : 0;
        break;
    case 1:
        ask_more(d, "a.append(a[0] + a[%d])\na[1] = a[5] - a[2]\nprint(a[1] * 2)", at);
        total = 2 * (a[0] + a[at] - a[2]);
        break;
    default:
        ask_more(d,
                 "best = a[0]\nfor x in a:\n    if x %% %d > best %% %d:\n        best = x\n"
                 "print(best + %d)",
                 7, 7, limit);
        total = a[0];
        for (int i = 0; i < 5; i++)
            total = a[i] % 7 > total % 7 ? a[i] : total;
        total += limit;
        d->difficulty = HARD;
        break;
    }
    answer_number(d, total);
}

static void draw_string_program(struct rng *rng, int variant, struct draft *d)
{
    static const char *const texts[] = {"lamp",  "stone", "river", "cloud", "bread",
                                        "tiger", "north", "salt",  "music", "green"};
    const char *s = DRAW(rng, texts);
    int n = (int)strlen(s), k = draw_between(rng, 1, 3);
    char result[64] = "";

    d->difficulty = MEDIUM;
    ask(d, "What does this Python program print? Answer with the output only.\n\ns = \"%s\"\n", s);
    if (variant % 2 == 0) {
        ask_more(d, "t = \"\"\nfor c in s:\n    t = c + t\nprint(t + s[%d])", k);
        for (int i = 0; i < n; i++)
            result[i] = s[n - 1 - i];
        result[n] = s[k];
    } else {
        ask_more(d, "t = \"\"\nfor i in range(0, %d):\n    t = t + s[i] * %d\nprint(t)", k + 1,
                 k + 1);
        for (int i = 0, at = 0; i <= k; i++)
            for (int r = 0; r <= k; r++)
                result[at++] = s[i];
    }
    answer(d, "exact", "%s", result);
}

static const char *const goods[] = {"apples", "pears", "plums", "lemons", "melons", "grapes"};
static const char *const short_days[] = {"Mon", "Tue", "Wed"};

static void draw_table(struct rng *rng, int variant, struct draft *d)
{
    int rows[6], sold[4][3], row = draw_between(rng, 0, 3), col = draw_between(rng, 0, 2);
    int total = 0, best = 0;

    for (int i = 0; i < 6; i++)
        rows[i] = i;
    shuffle(rng, rows, 6);
    ask(d, "The table shows how many pieces of fruit a shop sold.\n\n"
           "| fruit | Mon | Tue | Wed |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++)
            sold[i][k] = draw_between(rng, 5, 60);
        ask_more(d, "| %s | %d | %d | %d |\n", goods[rows[i]], sold[i][0], sold[i][1], sold[i][2]);
    }
    d->difficulty = MEDIUM;
    switch (variant % 4) {
    case 0:
        ask_more(d, "\nHow many %s were sold on %s? " NUMBER_ONLY, goods[rows[row]],
                 short_days[col]);
        answer_number(d, sold[row][col]);
        d->difficulty = EASY;
        break;
    case 1:
        ask_more(d, "\nHow many %s were sold in all three days? " NUMBER_ONLY, goods[rows[row]]);
        answer_number(d, sold[row][0] + sold[row][1] + sold[row][2]);
        break;
    case 2:
        for (int i = 0; i < 4; i++)
            total += sold[i][col];
        ask_more(d, "\nHow many pieces of fruit were sold on %s? " NUMBER_ONLY, short_days[col]);
        answer_number(d, total);
        break;
    default:
        for (int i = 1; i < 4; i++)
            best = sold[i][col] > sold[best][col] ? i : best;
        for (int i = 0; i < 4; i++)
            d->useless = d->useless || (i != best && sold[i][col] == sold[best][col]);
        ask_more(d, "\nWhich fruit was sold most on %s? Answer with its name only.",
                 short_days[col]);
        answer(d, "exact", "%s", goods[rows[best]]);
        break;
    }
}

static void draw_shopping(struct rng *rng, int variant, struct draft *d)
{
    int n = draw_between(rng, 3, 9), price = draw_between(rng, 2, 15), paid;
    int m = draw_between(rng, 2, 6), other = draw_between(rng, 3, 12);
    const char *who = DRAW(rng, names);

    paid = (n * price + m * other + 19) / 20 * 20;
    d->difficulty = MEDIUM;
    switch (variant % 3) {
    case 0:
        ask(d,
            "%s buys %d notebooks at %d euros each and %d pens at %d euros each, and pays with "
            "%d euros. How many euros does %s get back? " NUMBER_ONLY,
            who, n, price, m, other, paid, who);
        answer_number(d, paid - n * price - m * other);
        break;
    case 1:
        price *= 20;
        ask(d,
            "A coat costs %d euros. In the sale it is %d percent cheaper. What does it cost "
            "now, in euros? " NUMBER_ONLY,
            price, 5 * n);
        answer_number(d, price - price * 5 * n / 100);
        break;
    default:
        ask(d,
            "%s saves %d euros every week and already has %d euros. After how many weeks does "
            "%s have %d euros? " NUMBER_ONLY,
            who, price, other, who, other + price * (n + m));
        answer_number(d, n + m);
        break;
    }
}

static void draw_motion(struct rng *rng, int variant, struct draft *d)
{
    int v = draw_between(rng, 4, 12) * 10, h = draw_between(rng, 2, 6), w = draw_between(rng, 3, 8);

    d->difficulty = MEDIUM;
    switch (variant % 3) {
    case 0:
        ask(d,
            "A bus drives at %d kilometres per hour for %d hours and %d minutes. How many "
            "kilometres does it cover? " NUMBER_ONLY,
            v, h, 30);
        answer_number(d, v * h + v / 2);
        break;
    case 1:
        ask(d,
            "Two cyclists start %d kilometres apart and ride towards each other, one at %d and "
            "one at %d kilometres per hour. After how many hours do they meet? " NUMBER_ONLY,
            (v / 5 + v / 5 + w) * h, v / 5, v / 5 + w);
        answer_number(d, h);
        d->difficulty = HARD;
        break;
    default:
        ask(d,
            "One pump fills a pool in %d hours, another in %d hours. How many hours do both "
            "take together? " NUMBER_ONLY,
            3 * w, 6 * w);
        answer_number(d, 2 * w);
        d->difficulty = HARD;
        break;
    }
}

static void draw_sharing(struct rng *rng, int variant, struct draft *d)
{
    int n = draw_between(rng, 4, 9), each = draw_between(rng, 5, 15),
        rest = draw_between(rng, 1, 3);
    int age = draw_between(rng, 6, 14), later = draw_between(rng, 3, 12);
    const char *who = DRAW(rng, names);

    d->difficulty = MEDIUM;
    switch (variant % 4) {
    case 0:
        ask(d,
            "%d sweets are shared equally among %d children, as many as possible. How many are "
            "left over? " NUMBER_ONLY,
            n * each + rest, n);
        answer_number(d, rest);
        d->difficulty = EASY;
        break;
    case 1:
        ask(d,
            "%s is %d years old. %s's mother is %d times as old. How old will the mother be in "
            "%d years? " NUMBER_ONLY,
            who, age, who, 3, later);
        answer_number(d, 3 * age + later);
        break;
    case 2:
        ask(d, "A box holds %d eggs. How many boxes are needed for %d eggs? " NUMBER_ONLY, n + 2,
            (n + 2) * each + rest);
        answer_number(d, each + 1);
        break;
    default:
        ask(d,
            "The mean of four numbers is %d. Three of them are %d, %d and %d. What is the "
            "fourth? " NUMBER_ONLY,
            each + 10, each + rest, each + n, age);
        answer_number(d, 4 * (each + 10) - (each + rest) - (each + n) - age);
        d->difficulty = HARD;
        break;
    }
}

const struct generator reasoning_generators[] = {
    {"dates", 24, draw_dates, false},
    {"dates", 12, draw_clock, false},
    {"logic", 18, draw_order, true},
    {"logic", 12, draw_boolean, true},
    {"logic", 12, draw_syllogism, true},
    {"code", 18, draw_loop_program, false},
    {"code", 15, draw_list_program, false},
    {"code", 12, draw_string_program, false},
    {"tables", 36, draw_table, true},
    {"word-problems", 18, draw_shopping, false},
    {"word-problems", 15, draw_motion, false},
    {"word-problems", 17, draw_sharing, false},
    {0},
};
