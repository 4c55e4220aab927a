/*
 * The bundled questions: made here from a fixed seed, with those of facts.jsonl, which are written
 * by hand.
 *
 *     generate FACTS > ipw.jsonl
 *     generate --check FACTS IPW     says whether the second file is what the first call would
 * write
 *
 * Subjects are spread evenly over the file, so that any first part of it asks something of each.
 */
#include "generate.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SEED      20260
#define ITEMS_MAX 2000
#define TRIES_MAX 10000
#define LINE_MAX_ 4096

struct question {
    char subject[32];
    int number; /* within its subject, from 0 */
    char *line; /* without the id */
    char *text; /* the problem; NULL for a fact */
    int of;     /* how many its subject has */
    int drawn;  /* when it was made: keeps the order stable */
};

static struct question questions[ITEMS_MAX];
static int n_questions;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "generate: %s: %s\n", what, which);
    exit(1);
}

int draw_between(struct rng *rng, int low, int high)
{
    return low + (int)rng_below(rng, (uint64_t)(high - low + 1));
}

void ask(struct draft *d, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(d->problem, sizeof(d->problem), format, ap);
    va_end(ap);
}

void ask_more(struct draft *d, const char *format, ...)
{
    size_t n = strlen(d->problem);
    va_list ap;

    va_start(ap, format);
    vsnprintf(d->problem + n, sizeof(d->problem) - n, format, ap);
    va_end(ap);
}

void answer(struct draft *d, const char *scorer, const char *format, ...)
{
    va_list ap;

    d->scorer = scorer;
    va_start(ap, format);
    vsnprintf(d->answer, sizeof(d->answer), format, ap);
    va_end(ap);
}

void answer_number(struct draft *d, int value)
{
    answer(d, "numeric", "%d", value);
}

/* Does the answer stand in the question as a word? */
static bool gives_away(const struct draft *d)
{
    size_t n = strlen(d->answer);

    for (const char *p = d->problem; *p; p++)
        if (strncasecmp(p, d->answer, n) == 0 &&
            (p == d->problem || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[n]))
            return true;
    return false;
}

static bool is_known(const struct draft *d)
{
    for (int i = 0; i < n_questions; i++)
        if (questions[i].text && strcmp(questions[i].text, d->problem) == 0)
            return true;
    return false;
}

static void put_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static char *line_of(const struct draft *d, const char *subject)
{
    static const char *const words[] = {"easy", "medium", "hard"};
    char *line = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&line, &size);

    if (!out)
        die("no memory", subject);
    fputs("\"problem\":", out);
    put_json(out, d->problem);
    fputs(",\"answer\":", out);
    put_json(out, d->answer);
    fprintf(out, ",\"subject\":\"%s\",\"difficulty\":\"%s\",\"scorer\":\"%s\"}", subject,
            words[d->difficulty], d->scorer);
    fclose(out);
    return line;
}

static void add_question(const char *subject, char *line, char *text)
{
    struct question *q = &questions[n_questions];
    int number = 0;

    if (n_questions == ITEMS_MAX)
        die("too many questions", subject);
    for (int i = 0; i < n_questions; i++)
        number += strcmp(questions[i].subject, subject) == 0;
    *q = (struct question){.number = number, .line = line, .text = text, .drawn = n_questions++};
    snprintf(q->subject, sizeof(q->subject), "%s", subject);
}

static void run_generator(const struct generator *g, struct rng *rng)
{
    for (int made = 0, tries = 0; made < g->count; tries++) {
        struct draft d = {.scorer = "numeric"};

        if (tries == TRIES_MAX)
            die("cannot find enough questions", g->subject);
        g->draw(rng, made, &d);
        if (d.useless || is_known(&d) || (!g->shows_answer && gives_away(&d)))
            continue;
        add_question(g->subject, line_of(&d, g->subject), strdup(d.problem));
        made++;
    }
}

/* A generator draws from a stream of its own: a change to one leaves the others as they are. */
static void run_generators(const struct generator *generators, uint64_t first_stream)
{
    for (uint64_t i = 0; generators[i].subject; i++) {
        struct rng rng;

        rng = rng_seed(SEED, first_stream + i);
        run_generator(&generators[i], &rng);
    }
}

/* The lines are kept as they are; only the subject is looked at. */
static void read_facts(const char *path)
{
    static const char key[] = "\"subject\":\"";
    FILE *in = fopen(path, "r");
    char line[LINE_MAX_], subject[32];

    if (!in)
        die("cannot open", path);
    while (fgets(line, sizeof(line), in)) {
        const char *at = strstr(line, key);

        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '{' || !at)
            die("not a question", line);
        at += sizeof(key) - 1;
        snprintf(subject, sizeof(subject), "%.*s", (int)strcspn(at, "\""), at);
        add_question(subject, strdup(line + 1), NULL);
    }
    fclose(in);
}

/* By (number + 1/2) / of, without dividing. */
static int by_place(const void *a, const void *b)
{
    const struct question *x = a, *y = b;
    long left = (2L * x->number + 1) * y->of, right = (2L * y->number + 1) * x->of;

    return left != right ? (left > right) - (left < right) : x->drawn - y->drawn;
}

static void spread(void)
{
    for (int i = 0; i < n_questions; i++)
        for (int k = 0; k < n_questions; k++)
            questions[i].of += strcmp(questions[i].subject, questions[k].subject) == 0;
    qsort(questions, (size_t)n_questions, sizeof(*questions), by_place);
}

static void write_all(FILE *out)
{
    for (int i = 0; i < n_questions; i++)
        fprintf(out, "{\"id\":\"%s-%03d\",%s\n", questions[i].subject, questions[i].number + 1,
                questions[i].line);
}

static void release_all(void)
{
    for (int i = 0; i < n_questions; i++) {
        free(questions[i].line);
        free(questions[i].text);
    }
}

static int compare_with(const char *path)
{
    char *text = NULL;
    size_t size = 0, at = 0;
    FILE *made = open_memstream(&text, &size), *kept = fopen(path, "r");
    int c = EOF;

    if (!made || !kept)
        die("cannot open", path);
    write_all(made);
    fclose(made);
    while ((c = fgetc(kept)) != EOF && at < size && (char)c == text[at])
        at++;
    fclose(kept);
    free(text);
    if (c == EOF && at == size)
        return 0;
    fprintf(stderr, "generate: %s differs from what is made here at byte %zu\n", path, at);
    return 1;
}

int main(int argc, char **argv)
{
    bool check = argc == 4 && strcmp(argv[1], "--check") == 0;
    int r = 0;

    if (argc != 2 && !check) {
        fprintf(stderr, "usage: generate FACTS > IPW\n       generate --check FACTS IPW\n");
        return 2;
    }
    run_generators(basic_generators, 0);
    run_generators(mathematics_generators, 100);
    run_generators(reasoning_generators, 200);
    read_facts(argv[check ? 2 : 1]);
    spread();
    if (check)
        r = compare_with(argv[3]);
    else
        write_all(stdout);
    release_all();
    return r;
}
