/*
 * The answers of the subjects that take several steps: dates are counted day by day, orders and
 * syllogisms are tried in every possible world, tables are read, stories are played through.
 */
#include "ipw_items.h"

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const weekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};

struct day {
    int y, m, d; /* m from 0 */
};

static int month_length(int y, int m)
{
    if (m == 1)
        return y % 400 == 0 ? 29 : y % 100 == 0 ? 28 : y % 4 == 0 ? 29 : 28;
    return m == 3 || m == 5 || m == 8 || m == 10 ? 30 : 31;
}

static struct day tomorrow(struct day t)
{
    if (++t.d > month_length(t.y, t.m)) {
        t.d = 1;
        t.m++;
    }
    if (t.m == 12) {
        t.m = 0;
        t.y++;
    }
    return t;
}

/* The dates "5 March 1990" of a text, in order. */
static int days_in(const char *text, struct day *days, int max)
{
    int n = 0;

    for (const char *p = text; *p && n < max; p++) {
        char name[16];
        struct day t;

        if (!isdigit((unsigned char)*p) || (p > text && isalnum((unsigned char)p[-1])) ||
            sscanf(p, "%d %15s %d", &t.d, name, &t.y) != 3)
            continue;
        for (t.m = 0; t.m < 12 && strcmp(name, months[t.m]) != 0;)
            t.m++;
        if (t.m < 12)
            days[n++] = t;
    }
    return n;
}

static bool same_day(struct day a, struct day b)
{
    return a.y == b.y && a.m == b.m && a.d == b.d;
}

/* 1 January 1900 was a Monday. */
static int weekday_by_stepping(struct day t)
{
    int w = 0;

    for (struct day x = {1900, 0, 1}; !same_day(x, t); x = tomorrow(x))
        w = (w + 1) % 7;
    return w;
}

static bool solve_clock(const char *problem, char *answer)
{
    long n[5];
    long minutes = 0, h, m;

    if (numbers_in(problem, n, 5) < 3)
        return false;
    h = n[0];
    m = n[1];
    if (has(problem, "film")) {
        for (; n[2] > 0; n[2]--) {
            m = (m + 1) % 60;
            h += m == 0;
        }
        snprintf(answer, ANSWER_MAX, "%02ld:%02ld", h, m);
        return h < 24;
    }
    while (h != n[2] || m != n[3]) {
        m = (m + 1) % 60;
        h += m == 0;
        minutes++;
        if (h > 24)
            return false;
    }
    return say(answer, minutes);
}

static bool solve_dates(const char *problem, const char *given, char *answer)
{
    struct day t[2];
    int dates = days_in(problem, t, 2), w;
    long n[2], count = 0;

    (void)given;
    if (has(problem, ":"))
        return solve_clock(problem, answer);
    numbers_in(problem, n, 2);
    if (has(problem, "leap years")) {
        for (long y = n[0]; y <= n[1]; y++)
            count += month_length((int)y, 1) == 29;
        return say(answer, count);
    }
    if (has(problem, "days after") && dates == 1) {
        for (; n[0] > 0; n[0]--)
            t[0] = tomorrow(t[0]);
        snprintf(answer, ANSWER_MAX, "%04d-%02d-%02d", t[0].y, t[0].m + 1, t[0].d);
        return true;
    }
    if (dates != 2)
        return false;
    w = weekday_by_stepping(t[0]);
    if (has(problem, "day of the week") && !has(problem, weekdays[w]))
        return false;
    for (; !same_day(t[0], t[1]); t[0] = tomorrow(t[0]))
        count++;
    if (has(problem, "How many days"))
        return say(answer, count);
    snprintf(answer, ANSWER_MAX, "%s", weekdays[(w + count) % 7]);
    return has(problem, "day of the week");
}

/* Orders of people: who[place] is tried in every order that the facts allow. */
struct order {
    char names[6][16];
    int n;
    int high[8], low[8]; /* facts */
    int facts;
    int found; /* orders that fit */
    int best[6];
};

static int person(struct order *o, const char *name)
{
    int i = 0;

    while (i < o->n && strcmp(o->names[i], name) != 0)
        i++;
    if (i == o->n)
        snprintf(o->names[o->n++], sizeof(o->names[0]), "%s", name);
    return i;
}

static void try_orders(struct order *o, int *places, int at)
{
    if (at == o->n) {
        for (int f = 0; f < o->facts; f++) {
            int high = 0, low = 0;

            for (int i = 0; i < o->n; i++) {
                high = places[i] == o->high[f] ? i : high;
                low = places[i] == o->low[f] ? i : low;
            }
            if (high > low)
                return;
        }
        o->found++;
        memcpy(o->best, places, sizeof(o->best));
        return;
    }
    for (int i = at; i < o->n; i++) {
        int other = places[at];

        places[at] = places[i];
        places[i] = other;
        try_orders(o, places, at + 1);
        places[i] = places[at];
        places[at] = other;
    }
}

static bool solve_order(const char *problem, char *answer)
{
    struct order o = {0};
    char a[16], word[16], b[16];
    int places[6] = {0, 1, 2, 3, 4, 5}, asked;

    for (const char *p = problem; sscanf(p, "%15s is %15s than %15[A-Za-z]", a, word, b) == 3;
         p = strchr(p, '.') + 2) {
        bool more = has("taller older faster", word);

        o.high[o.facts] = person(&o, more ? a : b);
        o.low[o.facts++] = person(&o, more ? b : a);
    }
    try_orders(&o, places, 0);
    asked = has(problem, "second") ? 1
            : has(problem, "the tallest?") || has(problem, "the oldest?") ||
                    has(problem, "the fastest?")
                ? 0
                : o.n - 1;
    snprintf(answer, ANSWER_MAX, "%s", o.names[o.best[asked]]);
    return o.found == 1;
}

/* or, and, not, parentheses, true, false: as Python reads them. */
static bool truth_or(const char **p);

static bool word(const char **p, const char *w)
{
    *p += strspn(*p, " ");
    if (strncmp(*p, w, strlen(w)) != 0)
        return false;
    *p += strlen(w);
    return true;
}

static bool truth_not(const char **p)
{
    bool value;

    if (word(p, "not"))
        return !truth_not(p);
    if (word(p, "(")) {
        value = truth_or(p);
        word(p, ")");
        return value;
    }
    value = word(p, "true");
    if (!value)
        assert_true(word(p, "false"));
    return value;
}

static bool truth_and(const char **p)
{
    bool value = truth_not(p);

    while (word(p, "and"))
        value = truth_not(p) && value;
    return value;
}

static bool truth_or(const char **p)
{
    bool value = truth_and(p);

    while (word(p, "or"))
        value = truth_and(p) || value;
    return value;
}

/* Does "all X are Y" or "no X are Y" hold in a world? A world is a set of kinds of things, a kind a
 * set of properties. */
static bool holds(bool all, int x, int y, unsigned world)
{
    for (unsigned kind = 0; kind < 8; kind++)
        if ((world >> kind & 1) && (kind >> x & 1) && (kind >> y & 1) != all)
            return false;
    return true;
}

static bool exists(int x, unsigned world)
{
    for (unsigned kind = 0; kind < 8; kind++)
        if ((world >> kind & 1) && (kind >> x & 1))
            return true;
    return false;
}

static int index_of(const char *name, char names[3][16])
{
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    fail_msg("who is %s?", name);
    return -1;
}

static bool solve_syllogism(const char *problem, char *answer)
{
    char names[3][16], q[2][8], x[2][16], y[2][16], subject[16], predicate[16];
    const char *question = strstr(problem, "Is every one of the ");
    int yes = 0, no = 0;

    if (sscanf(problem,
               "There are %15[a-z], %15[a-z] and %15[a-z], at least one of each. %7s %15s are "
               "%15[a-z]. %7s %15s are %15[a-z].",
               names[0], names[1], names[2], q[0], x[0], y[0], q[1], x[1], y[1]) != 9)
        return false;
    if (question ? sscanf(question, "Is every one of the %15s also one of the %15[a-z]", subject,
                          predicate) != 2
                 : sscanf(strstr(problem, "Are all "), "Are all %15s also %15[a-z]", subject,
                          predicate) != 2)
        return false;
    for (unsigned world = 0; world < 256; world++) {
        bool fits = exists(0, world) && exists(1, world) && exists(2, world);

        for (int i = 0; i < 2; i++)
            fits = fits && holds(strcmp(q[i], "All") == 0, index_of(x[i], names),
                                 index_of(y[i], names), world);
        if (fits && holds(true, index_of(subject, names), index_of(predicate, names), world))
            yes++;
        else if (fits)
            no++;
    }
    snprintf(answer, ANSWER_MAX, "%s", yes && no ? "C" : yes ? "A" : "B");
    return yes || no;
}

static bool solve_logic(const char *problem, const char *given, char *answer)
{
    static const char lead[] = "What is the value of ";
    const char *p = problem + sizeof(lead) - 1;

    (void)given;
    if (has(problem, lead)) {
        snprintf(answer, ANSWER_MAX, "%s", truth_or(&p) ? "true" : "false");
        return *p == '?';
    }
    return has(problem, "There are") ? solve_syllogism(problem, answer)
                                     : solve_order(problem, answer);
}

static bool solve_table(const char *problem, const char *given, char *answer)
{
    const char *row = strstr(problem, "--- |\n") + 6;
    const char *question = strrchr(problem, '\n') + 1;
    int col = has(question, "Mon") ? 0 : has(question, "Tue") ? 1 : has(question, "Wed") ? 2 : -1;
    long sum = 0, most = -1;
    char name[16];
    long n[3];

    (void)given;
    while (sscanf(row, "| %15s | %ld | %ld | %ld |", name, &n[0], &n[1], &n[2]) == 4) {
        if (has(question, name))
            return say(answer, col >= 0 ? n[col] : n[0] + n[1] + n[2]);
        sum += col >= 0 ? n[col] : 0;
        if (col >= 0 && n[col] > most) {
            most = n[col];
            if (has(question, "most"))
                snprintf(answer, ANSWER_MAX, "%s", name);
        }
        row = strchr(row, '\n') + 1;
    }
    return has(question, "most") || (col >= 0 && say(answer, sum));
}

/* Money is counted piece by piece, week by week. */
static bool solve_shopping(const char *problem, const long *n, char *answer)
{
    long left, weeks = 0;

    if (has(problem, "notebooks")) {
        left = n[4];
        for (long i = 0; i < n[0]; i++)
            left -= n[1];
        for (long i = 0; i < n[2]; i++)
            left -= n[3];
        return left >= 0 && say(answer, left);
    }
    if (has(problem, "coat")) {
        /* The price of which this many percent are left */
        for (long price = 0; price <= n[0]; price++)
            if (price * 100 == n[0] * (100 - n[1]))
                return say(answer, price);
        return false;
    }
    if (!has(problem, "saves"))
        return false;
    for (left = n[1]; left < n[2]; left += n[0])
        weeks++;
    return left == n[2] && say(answer, weeks);
}

/* What moves, moves in small steps. */
static bool solve_motion(const char *problem, const long *n, char *answer)
{
    if (has(problem, "bus")) {
        double km = 0;

        for (long minute = 0; minute < n[1] * 60 + n[2]; minute++)
            km += (double)n[0] / 60;
        return say(answer, lround(km)) && fabs(km - round(km)) < 1e-6;
    }
    if (has(problem, "cyclists")) {
        long apart = n[0], hours = 0;

        for (; apart > 0; hours++)
            apart -= n[1] + n[2];
        return apart == 0 && say(answer, hours);
    }
    if (!has(problem, "pump"))
        return false;
    for (long hours = 1; hours <= n[0]; hours++)
        if (hours * n[1] + hours * n[0] == n[0] * n[1]) /* parts of one pool */
            return say(answer, hours);
    return false;
}

static bool solve_sharing(const char *problem, const long *n, char *answer)
{
    long left = n[0], boxes = 0;

    if (has(problem, "sweets")) {
        while (left >= n[1])
            left -= n[1];
        return say(answer, left);
    }
    if (has(problem, "mother"))
        return say(answer, n[0] + n[0] + n[0] + n[2]) && n[1] == 3;
    if (has(problem, "box")) {
        for (left = n[1]; left > 0; left -= n[0])
            boxes++;
        return say(answer, boxes);
    }
    for (long x = -100; x <= 200; x++)
        if (n[1] + n[2] + n[3] + x == n[0] + n[0] + n[0] + n[0])
            return say(answer, x) && has(problem, "mean of four numbers");
    return false;
}

static bool solve_story(const char *problem, const char *given, char *answer)
{
    long n[6] = {0};

    (void)given;
    return numbers_in(problem, n, 6) >= 2 &&
           (solve_shopping(problem, n, answer) || solve_motion(problem, n, answer) ||
            solve_sharing(problem, n, answer));
}

static void subjects_of_several_steps(void **state)
{
    (void)state;
    assert_int_equal(check_subject("dates", solve_dates), 36);
    assert_int_equal(check_subject("logic", solve_logic), 42);
    assert_int_equal(check_subject("tables", solve_table), 36);
    assert_int_equal(check_subject("word-problems", solve_story), 50);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(subjects_of_several_steps)};
TEST_MAIN(tests)
