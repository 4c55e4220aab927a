#include "report/survey.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A mean of what is known. */
struct mean {
    double sum;
    int64_t n;
};

static void mean_add(struct mean *m, double value)
{
    if (!isfinite(value))
        return;
    m->sum += value;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : NAN;
}

struct means {
    struct mean low, high, net, coverage;
};

/* Keeps the one word, or "mixed" once there are two. */
static void note_word(char *word, size_t size, const char *other)
{
    if (!other || !*other)
        return;
    if (!*word)
        snprintf(word, size, "%s", other);
    else if (strncmp(word, other, size - 1) != 0)
        snprintf(word, size, "mixed");
}

static void note_reasons(struct survey *s, const struct record *r)
{
    for (size_t i = 0; i < r->measurement.n_reasons; i++) {
        const char *code = r->measurement.reasons[i];
        size_t k = 0;

        while (k < s->n_reasons &&
               strncmp(s->reasons[k].code, code, sizeof(s->reasons[k].code) - 1) != 0)
            k++;
        if (k == SURVEY_REASONS_MAX)
            continue;
        if (k == s->n_reasons)
            snprintf(s->reasons[s->n_reasons++].code, sizeof(s->reasons[k].code), "%s", code);
        s->reasons[k].records++;
    }
}

static void note(struct survey *s, const struct record *r, struct means *m)
{
    double coverage = r->measurement.coverage;

    tally_add(&s->tally, r);
    s->by_validity[r->measurement.validity]++;
    note_reasons(s, r);
    note_word(s->attribution, sizeof(s->attribution), r->measurement.attribution);
    mean_add(&m->coverage, coverage);
    if (isfinite(coverage) && !(coverage >= s->min_coverage))
        s->min_coverage = coverage;
    if (!record_ok(r) || isnan(record_joules(r)))
        return;
    note_word(s->basis, sizeof(s->basis), r->energy.basis);
    mean_add(&m->low, r->measurement.low_j);
    mean_add(&m->high, r->measurement.high_j);
    mean_add(&m->net, r->measurement.net_j);
}

static struct metric_stats stats_of(struct figure *f)
{
    return (struct metric_stats){
        .count = f->n,
        .avg = figure_mean(f),
        .median = figure_percentile(f, 50),
        .min = figure_min(f),
        .max = figure_max(f),
        .std = figure_std(f),
        .p90 = figure_percentile(f, 90),
        .p95 = figure_percentile(f, 95),
        .p99 = figure_percentile(f, 99),
    };
}

static void conclude(struct survey *s, const struct means *m)
{
    int64_t with_energy = s->tally.figures[TALLY_ENERGY_J].n;

    tally_efficiency(&s->tally, &s->efficiency);
    for (size_t i = 0; i < TALLY_FIGURES; i++)
        s->metrics[i] = stats_of(&s->tally.figures[i]);
    if (m->low.n == with_energy && m->high.n == with_energy) {
        s->mean_low_j = mean_of(&m->low);
        s->mean_high_j = mean_of(&m->high);
    }
    if (m->net.n == with_energy)
        s->mean_net_j = mean_of(&m->net);
    s->mean_coverage = mean_of(&m->coverage);
}

int survey_take(struct run *run, struct survey *ret, struct err *err)
{
    AUTO(survey)
    struct survey s = {
        .mean_low_j = NAN, .mean_high_j = NAN, .mean_net_j = NAN, .min_coverage = NAN};
    struct means means = {0};
    const struct record *record;
    int more = run_rewind(run, err);

    while (more >= 0 && (more = run_next(run, &record, err)) > 0)
        note(&s, record, &means);
    if (more < 0)
        return more;
    conclude(&s, &means);
    *ret = s;
    s.tally = (struct tally){0};
    return 0;
}

void survey_release(struct survey *s)
{
    tally_release(&s->tally);
}
