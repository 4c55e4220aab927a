#include "analysis/breakdown.h"

#include "analysis/interval.h"
#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void breakdown_release(struct breakdown *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->parts[i].name);
    free(b->parts);
    *b = (struct breakdown){0};
}

/* Where the name is, or belongs. */
static size_t position(const struct breakdown *b, const char *name)
{
    size_t low = 0, high = b->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(b->parts[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct breakdown_part *part_of(struct breakdown *b, const char *name)
{
    size_t at = position(b, name);

    if (at < b->n && strcmp(b->parts[at].name, name) == 0)
        return &b->parts[at];
    if (b->n >= BREAKDOWN_MAX && strcmp(name, BREAKDOWN_OTHERS) != 0)
        return part_of(b, BREAKDOWN_OTHERS);
    GROW(b->parts, b->n, b->cap);
    memmove(&b->parts[at + 1], &b->parts[at], (b->n - at) * sizeof(*b->parts));
    b->parts[at] = (struct breakdown_part){.name = xstrdup(name)};
    b->n++;
    return &b->parts[at];
}

void breakdown_add(struct breakdown *b, const char *name, enum outcome outcome, double joules)
{
    struct breakdown_part *p = part_of(b, name);

    p->counts[outcome]++;
    if (outcome == OUTCOME_FAILED || isnan(joules))
        return;
    p->joules += joules;
    p->n_joules++;
}

static void write_part(const struct breakdown_part *p, struct json_writer *w)
{
    int64_t scored = p->counts[OUTCOME_CORRECT] + p->counts[OUTCOME_WRONG];
    struct interval accuracy = interval_wilson(p->counts[OUTCOME_CORRECT], scored);
    double mean_j = p->n_joules ? p->joules / (double)p->n_joules : NAN;

    jw_begin_object(w, p->name);
    jw_int(w, "correct", p->counts[OUTCOME_CORRECT]);
    jw_int(w, "incorrect", p->counts[OUTCOME_WRONG]);
    jw_int(w, "unevaluated", p->counts[OUTCOME_UNSCORABLE] + p->counts[OUTCOME_UNSCORED]);
    jw_int(w, "failed", p->counts[OUTCOME_FAILED] + p->counts[OUTCOME_FAILED_EVALUATION]);
    jw_int(w, "total_scored", scored);
    jw_real(w, "accuracy", accuracy.value);
    jw_real(w, "accuracy_low", accuracy.low);
    jw_real(w, "accuracy_high", accuracy.high);
    jw_real(w, "avg_per_query_energy_joules", mean_j);
    jw_real(w, "intelligence_per_joule", mean_j > 0 ? accuracy.value / mean_j : NAN);
    jw_end_object(w);
}

void breakdown_write(const struct breakdown *b, struct json_writer *w, const char *key)
{
    jw_begin_object(w, key);
    for (size_t i = 0; i < b->n; i++)
        write_part(&b->parts[i], w);
    jw_end_object(w);
}
