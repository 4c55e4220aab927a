/*
 * contender: a stored run as a comparison sees it: what was measured of each question, and under
 * which circumstances.
 *
 *     AUTO_PTR(contender) struct contender *c = NULL;
 *     r = contender_read("runs/profile_x", false, &c, &err);
 *     x = question_mean(&c->questions[0], VALUE_JOULES);
 *
 * A question is known by its text. Asked more than once (a run by duration, repeated runs), it
 * counts once, with the mean of its answers: runs that asked it a different number of times can be
 * compared, and repeats do not pass for new evidence. Records without a question's text are each a
 * question of their own.
 *
 * Failed queries are counted and give no values. The energy of a record that is invalid is not
 * used, unless the whole run is: then the figures are given for what they are worth, and whoever
 * shows them must say so.
 *
 * Memory: about 110 bytes per question, for at most CONTENDER_QUESTIONS_MAX; further questions are
 * left out (n_left_out). For one thread at a time.
 */
#ifndef IPW_ANALYSIS_CONTENDER_H
#define IPW_ANALYSIS_CONTENDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENDER_QUESTIONS_MAX ((size_t)1 << 20)
/* Repeats of a run that are looked for. */
#define CONTENDER_REPEATS_MAX 1000

enum contender_value {
    VALUE_CORRECT, /* 0 or 1, where scored */
    VALUE_JOULES,
    VALUE_TOKEN_JOULES, /* the joules where output tokens are known too */
    VALUE_TOKENS,       /* output tokens where joules are known too */
    VALUE_SECONDS,
    VALUE_TTFT_S,
    VALUE_TOKENS_PER_S,
    VALUE_WATTS,
    VALUE_COUNT
};

struct question {
    uint64_t id;
    bool named; /* has a text, so that another run can have the same */
    uint32_t counts[VALUE_COUNT];
    double sums[VALUE_COUNT];
};

struct contender {
    char *dir;
    /* Words are cut to a line's length; NULL, -1 or NAN = not known */
    char *model, *dataset, *hardware, *gpu, *cpu;
    char *load_mode; /* closed, open */
    int64_t concurrency;
    double rate;
    char *verdict; /* valid, degraded, invalid: of pooled runs the worst */
    char *basis;   /* the rails its joules are of; "mixed" when records differ */

    size_t n_runs; /* pooled */
    int64_t records, failed, unscored;
    int64_t measured, estimated, unstated; /* records with joules, by their source */
    int64_t invalid;                       /* records whose energy is invalid */
    int64_t n_left_out;                    /* records of questions beyond the maximum */

    struct question *questions; /* in the order in which they first occur */
    size_t n_questions, cap_questions;

    uint32_t *slots; /* a hash table: 1 + an index in questions, 0 = free */
    size_t n_slots;  /* a power of two */
    uint64_t slot_key;
};

struct contender *contender_new(const char *dir);
void contender_free(struct contender *c);
DEFINE_AUTO_PTR(contender, contender_free);

/* What a run's summary.json (or NULL) says of it. Before its records. */
void contender_describe(struct contender *c, const char *model, const struct json *summary);
void contender_add(struct contender *c, const struct record *r);

/* A whole run; with `repeats` also those beside it, <dir>_r2, <dir>_r3, ... as long as they are
 * there. As run_open; -ENODATA when there are no records. */
int contender_read(const char *dir, bool repeats, struct contender **ret, struct err *err);

/* The question that has this id, or NULL. */
const struct question *contender_find(const struct contender *c, uint64_t id);
/* NAN when nothing is known. */
double question_mean(const struct question *q, enum contender_value v);

/* Where its joules come from: measured, estimated (any of them), unstated, none. */
const char *contender_energy(const struct contender *c);
bool contender_invalid(const struct contender *c);

#endif
