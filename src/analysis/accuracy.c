/*
 * First the answers are scored (scoring.h), which may rewrite the run; then it is read once more
 * and everything is added up, so that what is said follows from what is stored. Figures of energy
 * and power are over the queries that did not fail, as in summary.json (tally.h): a test compares
 * the two.
 */
#include "analysis/accuracy_private.h"

#include "analysis/analyses.h"
#include "analysis/basis.h"
#include "core/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The columns of the bootstrap. */
enum { CORRECT, SCORED, JOULES, N_JOULES, WATTS, N_WATTS, ALL_JOULES, COLUMNS };

static void accuracy_release(struct accuracy *a)
{
    scoring_release(&a->scoring);
    breakdown_release(&a->by_subject);
    breakdown_release(&a->by_difficulty);
    figure_release(&a->energy_j);
    figure_release(&a->power_w);
    clusters_release(&a->clusters);
    bootstrap_sample_release(&a->sample);
    buf_release(&a->listed);
}

static enum outcome stored_outcome(const struct record *r)
{
    int64_t attempts;

    if (r->correct >= 0)
        return r->correct ? OUTCOME_CORRECT : OUTCOME_WRONG;
    if (evaluation_failed(r->evaluation.metadata, &attempts))
        return OUTCOME_FAILED_EVALUATION;
    return r->evaluation.metadata ? OUTCOME_UNSCORABLE : OUTCOME_UNSCORED;
}

/* By the verdict of this analysis, else by the stored one. */
static enum outcome outcome_of(const struct accuracy *a, int64_t row, const struct record *r)
{
    static const enum outcome outcomes[] = {
        [SCORING_WRONG] = OUTCOME_WRONG,
        [SCORING_CORRECT] = OUTCOME_CORRECT,
        [SCORING_UNSCORABLE] = OUTCOME_UNSCORABLE,
        [SCORING_FAILED] = OUTCOME_FAILED_EVALUATION,
    };
    enum scoring_verdict v =
        (size_t)row < a->scoring.n ? a->scoring.verdicts[row] : (unsigned)SCORING_KEPT;

    if (!record_ok(r))
        return OUTCOME_FAILED;
    return v == SCORING_KEPT ? stored_outcome(r) : outcomes[v];
}

/* What the dataset calls difficulty, or level; NULL = nothing. `room` is for a number. */
static const char *difficulty_of(const struct record *r, char room[32])
{
    const struct json *v = json_get(r->metadata, "difficulty");

    if (!v || v->type == JSON_NULL)
        v = json_get(r->metadata, "level");
    if (json_is(v, JSON_STRING))
        return v->text;
    if (json_is(v, JSON_INT))
        snprintf(room, 32, "%" PRId64, v->integer);
    else if (json_is(v, JSON_REAL))
        snprintf(room, 32, "%g", v->real);
    else
        return NULL;
    return room;
}

static void add_basis(struct accuracy *a, const struct basis *b)
{
    if (!b->name)
        return;
    if (!a->basis[0])
        snprintf(a->basis, sizeof(a->basis), "%s", b->name);
    else if (strcmp(a->basis, b->name) != 0)
        snprintf(a->basis, sizeof(a->basis), "mixed");
}

/* Energy and power of a query that did not fail. */
static void add_figures(struct accuracy *a, const struct record *r, const struct basis *b)
{
    const char *source = r->measurement.energy_source;

    figure_add(&a->energy_j, b->energy_j);
    figure_add(&a->power_w, b->power_w);
    a->zero_energy += b->zero_energy;
    a->zero_power += b->zero_power;
    a->derived_power += !isnan(b->power_w) && !b->sensor_counts;
    a->sensor_power += b->sensor_counts;
    if (b->imputed) {
        a->imputed++;
        a->imputed_j += b->energy_j;
    }
    a->unstated += !source && !isnan(b->energy_j);
    a->estimated += source && strcmp(source, "estimated") == 0 && !isnan(b->energy_j);
    a->short_energy += !source && !b->imputed && b->sensor_w > BASIS_ZERO &&
                       b->energy_j < b->sensor_w * r->latency.total_s / 2;
    add_basis(a, b);
}

static void add_sample(struct accuracy *a, const struct record *r, enum outcome outcome,
                       const struct basis *b)
{
    bool ok = outcome != OUTCOME_FAILED;
    double row[COLUMNS] = {
        [CORRECT] = outcome == OUTCOME_CORRECT,
        [SCORED] = outcome == OUTCOME_CORRECT || outcome == OUTCOME_WRONG,
        [ALL_JOULES] = isnan(b->energy_j) ? 0 : b->energy_j,
    };

    bootstrap_put(row + JOULES, ok ? b->energy_j : NAN);
    bootstrap_put(row + WATTS, ok ? b->power_w : NAN);
    bootstrap_add_to(&a->sample, cluster_of(&a->clusters, r->problem), row);
}

/* The Python tool lists every record; here the first, so that the document stays readable. */
static void list_record(struct accuracy *a, const struct record *r, enum outcome outcome)
{
    struct json_writer w = json_writer(&a->listed, JSON_LINE);

    if (a->n_listed >= ACCURACY_LISTED_MAX || a->listed.len >= ACCURACY_LISTED_BYTES)
        return;
    if (a->n_listed++)
        buf_addc(&a->listed, ',');
    jw_begin_object(&w, NULL);
    jw_text(&w, "problem", r->problem);
    jw_text(&w, "reference_answer", r->answer);
    jw_text(&w, "model_answer", r->response);
    jw_begin_object(&w, "evaluation");
    if (outcome == OUTCOME_CORRECT || outcome == OUTCOME_WRONG)
        jw_bool(&w, "is_correct", outcome == OUTCOME_CORRECT);
    else
        jw_null(&w, "is_correct");
    jw_text(&w, "metadata", r->evaluation.metadata);
    jw_text(&w, "scorer", r->evaluation.scorer);
    jw_end_object(&w);
    jw_end_object(&w);
}

static void add_record(struct accuracy *a, const struct record *r)
{
    enum outcome outcome = outcome_of(a, a->records, r);
    const char *subject = r->subject && *r->subject ? r->subject : "general", *difficulty;
    struct basis b;
    char room[32];

    basis_of(r, &b);
    a->records++;
    a->counts[outcome]++;
    if (!isnan(b.energy_j)) {
        a->joules += b.energy_j;
        a->joules_failed += outcome == OUTCOME_FAILED ? b.energy_j : 0;
        a->n_joules++;
    }
    if (outcome != OUTCOME_FAILED)
        add_figures(a, r, &b);
    add_sample(a, r, outcome, &b);
    breakdown_add(&a->by_subject, subject, outcome, b.energy_j);
    difficulty = difficulty_of(r, room);
    if (difficulty)
        breakdown_add(&a->by_difficulty, difficulty, outcome, b.energy_j);
    list_record(a, r, outcome);
}

/* A bootstrap_figures. */
static void compute(void *arg, const double *sums, double *ret)
{
    double accuracy = stats_ratio(sums[CORRECT], sums[SCORED]);
    double mean_j = stats_ratio(sums[JOULES], sums[N_JOULES]);
    double mean_w = stats_ratio(sums[WATTS], sums[N_WATTS]);

    (void)arg;
    ret[ACCURACY_IPJ] = stats_ratio(accuracy, mean_j);
    ret[ACCURACY_IPW] = stats_ratio(accuracy, mean_w);
    /* no correct answer at all costs more than any number of joules */
    ret[ACCURACY_J_PER_CORRECT] =
        sums[SCORED] > 0 && sums[ALL_JOULES] > 0 ? sums[ALL_JOULES] / sums[CORRECT] : NAN;
    ret[ACCURACY_MEAN_J] = mean_j;
    ret[ACCURACY_MEAN_W] = mean_w;
}

static int accuracy_run(struct run *run, const struct analysis_options *o, struct json_writer *w,
                        struct err *err)
{
    AUTO(accuracy)
    struct accuracy a = {.model = run_model(run),
                         .judge = o->judge,
                         .sample = bootstrap_sample(COLUMNS),
                         .listed = BUF_INIT(BUF_MAX_OWN)};
    const struct record *record;
    int r = scoring_run(run, o, &a.scoring, err);

    if (r == 0)
        r = run_rewind(run, err);
    while (r >= 0 && (r = run_next(run, &record, err)) > 0)
        add_record(&a, record);
    if (r < 0)
        return r;
    bootstrap(&a.sample, 1, &(struct bootstrap_options){.seed = 0}, compute, NULL, a.figures,
              ACCURACY_FIGURES);
    return accuracy_write(&a, w, err);
}

const struct analysis_ops analysis_accuracy_ops = {
    .plugin = {.id = "accuracy",
               .help = "scores the answers; accuracy, IPJ, IPW, joules per correct answer"},
    .run = accuracy_run,
};
