/*
 * A difference is worth as much as what is equal beside it. Two sides that do not say a thing are
 * taken to agree in it; one that does and one that does not are not.
 */
#include "analysis/compare.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FEW_QUESTIONS 10

static void warn(struct comparison *c, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void warn(struct comparison *c, const char *code, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    GROW(c->warnings, c->n_warnings, c->cap_warnings);
    c->warnings[c->n_warnings++] = (struct compare_warning){code, text};
}

static bool differ(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) != 0 : a != b;
}

static const char *or_unknown(const char *text)
{
    return text ? text : "not known";
}

static void warn_differ(struct comparison *c, const char *code, const char *what, const char *a,
                        const char *b, const char *so)
{
    if (differ(a, b))
        warn(c, code, "the %s differs: %s against %s%s", what, or_unknown(a), or_unknown(b), so);
}

static void questions(const struct contender *a, const struct contender *b, struct comparison *c)
{
    int64_t rests_on = c->common;

    if (!c->paired) {
        warn(c, "unpaired",
             "fewer than half the questions (%" PRId64
             ") are in both runs: compared as independent "
             "samples; the differences are those of the questions, too",
             c->common);
        rests_on = (int64_t)(a->n_questions < b->n_questions ? a->n_questions : b->n_questions);
    } else if (c->only_a > 0 || c->only_b > 0) {
        warn(c, "questions",
             "only the %" PRId64 " questions of both runs are compared; left out: %" PRId64
             " of the baseline, %" PRId64 " of the other run",
             c->common, c->only_a, c->only_b);
    }
    if (rests_on < FEW_QUESTIONS)
        warn(c, "few_questions",
             "only %" PRId64 " questions: the intervals are narrower than they should be",
             rests_on);
    if (a->n_left_out + b->n_left_out > 0)
        warn(c, "too_many_questions",
             "a run has more than %zu different questions: %" PRId64 " records are left out",
             CONTENDER_QUESTIONS_MAX, a->n_left_out + b->n_left_out);
}

void compare_load_text(const struct contender *c, char text[COMPARE_LOAD_SIZE])
{
    if (!c->load_mode)
        snprintf(text, COMPARE_LOAD_SIZE, "not known");
    else if (isnan(c->rate))
        snprintf(text, COMPARE_LOAD_SIZE, "%s loop with %" PRId64 " in flight", c->load_mode,
                 c->concurrency);
    else
        snprintf(text, COMPARE_LOAD_SIZE, "%s loop with %g requests a second", c->load_mode,
                 c->rate);
}

static void circumstances(const struct contender *a, const struct contender *b,
                          struct comparison *c)
{
    char load_a[COMPARE_LOAD_SIZE], load_b[COMPARE_LOAD_SIZE];

    warn_differ(c, "hardware", "hardware", a->hardware, b->hardware, "");
    warn_differ(c, "hardware", "GPU", a->gpu, b->gpu, "");
    warn_differ(c, "hardware", "CPU", a->cpu, b->cpu, "");
    compare_load_text(a, load_a);
    compare_load_text(b, load_b);
    warn_differ(c, "load", "load", load_a, load_b, "");
    warn_differ(c, "dataset", "dataset", a->dataset, b->dataset, "");
    warn_differ(c, "verdict", "verdict", a->verdict, b->verdict, " (ipw validate DIR says more)");
}

static void side_energy(const struct contender *run, const char *which, struct comparison *c)
{
    const char *energy = contender_energy(run);

    if (contender_invalid(run))
        warn(c, "invalid", "the %s is INVALID: the rows of energy, IPJ and IPW are not to be used",
             which);
    else if (run->invalid > 0)
        warn(c, "invalid_records",
             "the energy of %" PRId64 " records of the %s is invalid and left out", run->invalid,
             which);
    if (strcmp(energy, "estimated") == 0)
        warn(c, "estimated",
             "the energy of the %s is ESTIMATED from utilisation, not measured: a difference "
             "of energy may be one of the estimate",
             which);
    else if (strcmp(energy, "unstated") == 0)
        warn(c, "unstated", "the %s does not say whether its energy was measured or estimated",
             which);
    else if (strcmp(energy, "none") == 0)
        warn(c, "no_energy", "the %s has NO ENERGY that can be used", which);
}

static void energy(const struct contender *a, const struct contender *b, struct comparison *c)
{
    const char *from_a = contender_energy(a), *from_b = contender_energy(b);

    side_energy(a, "baseline", c);
    side_energy(b, "other run", c);
    if (strcmp(from_a, "none") == 0 || strcmp(from_b, "none") == 0)
        return;
    warn_differ(c, "energy_source", "source of the energy", from_a, from_b, "");
    if (a->basis && b->basis)
        warn_differ(c, "basis", "part of the machine whose energy counts", a->basis, b->basis,
                    ": the joules are not of the same things");
}

void compare_add_warnings(const struct contender *a, const struct contender *b,
                          struct comparison *ret)
{
    energy(a, b, ret);
    questions(a, b, ret);
    circumstances(a, b, ret);
    if (a->failed > 0 || b->failed > 0)
        warn(ret, "failed",
             "failed queries are in no figure: %" PRId64 " of %" PRId64 " of the baseline, %" PRId64
             " of %" PRId64 " of the other run",
             a->failed, a->records, b->failed, b->records);
}
