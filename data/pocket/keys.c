/*
 * A question's content, read from its text: which of the known tasks it is by a word that its
 * wordings share, and then the numbers, quoted words and names in it. The order of two summands,
 * of factors, and of what is compared or sorted does not matter, nor which letter is counted: a
 * question that differs in that only is held out too.
 */
#include "tasks.h"

#include "work.h"

#include "base/cleanup.h"
#include "dataset/dataset.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX 1024

static char held[HELD_MAX][64];
static size_t n_held;

struct content {
    int numbers[8];
    int n;
    char word[64]; /* the last in quotes */
};

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static void read_content(const char *text, struct content *c)
{
    const char *quote = NULL;

    *c = (struct content){0};
    for (const char *p = text; *p;) {
        if (isdigit((unsigned char)*p) && c->n < 8) {
            char *end;

            c->numbers[c->n++] = (int)strtol(p, &end, 10);
            p = end;
            continue;
        }
        if (*p == '\'') {
            if (quote)
                snprintf(c->word, sizeof(c->word), "%.*s", (int)(p - quote - 1), quote + 1);
            quote = quote ? NULL : p;
        }
        p++;
    }
}

static int by_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool say(char key[64], const char *name, struct content *c, bool sorted)
{
    int at = snprintf(key, 64, "%s", name);

    if (sorted)
        qsort(c->numbers, (size_t)c->n, sizeof(c->numbers[0]), by_int);
    for (int i = 0; i < c->n; i++)
        at += snprintf(key + at, (size_t)(64 - at), " %d", c->numbers[i]);
    return c->n > 0;
}

static bool say_word(char key[64], const char *name, const struct content *c)
{
    snprintf(key, 64, "%s %.40s", name, c->word);
    return c->word[0] != '\0';
}

static bool say_calendar(const char *problem, char key[64], const struct content *c,
                         const char *const *names, int n, const char *name)
{
    bool back = has(problem, "before") || has(problem, "ago") || has(problem, " - ");

    for (int i = 0; i < n; i++) {
        if (has(problem, names[i])) {
            snprintf(key, 64, "%s %d %c %d", name, i + 1, back ? '-' : '+', c->numbers[0]);
            return c->n == 1;
        }
    }
    return false;
}

static bool word_key(const char *p, char key[64], const struct content *c)
{
    if (has(p, "vowels"))
        return say_word(key, "vowels", c);
    if (has(p, "How many letters") || has(p, "Length"))
        return say_word(key, "letters", c);
    if (has(p, "Count") || has(p, "How many times") || has(p, "How often"))
        return say_word(key, "count", c);
    if (has(p, "backwards") || has(p, "Reverse") || has(p, "last letter") || has(p, "around"))
        return say_word(key, "reverse", c);
    return say_word(key, "sort", c);
}

bool task_key(const char *p, char key[64])
{
    struct content c;

    read_content(p, &c);
    if (c.word[0])
        return word_key(p, key, &c);
    if (has(p, "month"))
        return say_calendar(p, key, &c, work_months, 12, "month");
    if (has(p, " day"))
        return say_calendar(p, key, &c, work_days, 7, "day");
    if (has(p, "Sort "))
        return say(key, "order", &c, true);
    if (has(p, " even ") || has(p, " odd "))
        return say(key, "parity", &c, true);
    if (c.n > 1 && (has(p, "arge") || has(p, "mall") || has(p, "greater") || has(p, "lesser")))
        return say(key, "compare", &c, true);
    if (c.n != 2)
        return false;
    if (has(p, "+") || has(p, "Add") || has(p, "plus") || has(p, "sum"))
        return say(key, "add", &c, true);
    if (has(p, "*") || has(p, "Multiply") || has(p, "times") || has(p, "product"))
        return say(key, "multiply", &c, true);
    if (has(p, " from ")) { /* "subtract 3 from 5", "3 is taken away from 5" */
        int second = c.numbers[0];

        c.numbers[0] = c.numbers[1];
        c.numbers[1] = second;
    } else if (!has(p, " - ") && !has(p, "minus")) {
        return false;
    }
    return say(key, "subtract", &c, false);
}

bool task_knows_subject(const char *subject)
{
    for (int k = 0; k < TASK_KINDS; k++)
        if (strcmp(subject, task_subjects[k]) == 0)
            return true;
    return false;
}

int task_hold_out_bundled(struct err *err)
{
    AUTO_PTR(dataset) struct dataset *d = NULL;
    struct kv_list none = {0};
    struct item item;
    int r = dataset_open("ipw", &none, 0, &d, err);

    if (r < 0)
        return r;
    while ((r = dataset_next(d, &item, err)) > 0) {
        if (!task_knows_subject(item.subject))
            continue;
        if (n_held == HELD_MAX || !task_key(item.problem, held[n_held]))
            return err_set(err, EBADMSG, "not understood: %s", item.problem);
        n_held++;
    }
    return r < 0 ? r : (int)n_held;
}

/* FNV-1a and a final mix, so that the last characters count as much as the first. */
static uint64_t hash(const char *key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

bool task_is_held_out(const char *key)
{
    if (hash(key) % 10 == 0)
        return true;
    for (size_t i = 0; i < n_held; i++)
        if (strcmp(held[i], key) == 0)
            return true;
    return false;
}
