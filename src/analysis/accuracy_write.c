#include "analysis/accuracy_private.h"

#include "analysis/interval.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Below this an interval of a bootstrap is too narrow to be believed. */
#define FEW_QUESTIONS 8

static double mean_or_null(const struct figure *f)
{
    return f->n ? figure_mean(f) : NAN;
}

/* [low, high]; without an end: null. */
static void write_interval(struct json_writer *w, const char *key, const struct interval *i)
{
    if (isnan(i->low) || isnan(i->high)) {
        jw_null(w, key);
        return;
    }
    jw_begin_array(w, key);
    jw_real(w, NULL, i->low);
    jw_real(w, NULL, i->high);
    jw_end_array(w);
}

static const char *energy_source(const struct accuracy *a)
{
    if (a->energy_j.n == 0)
        return "none";
    return a->estimated ? "estimated" : a->unstated ? "unstated" : "measured";
}

/* The Python tool's keys. */
static void write_known(const struct accuracy *a, struct json_writer *w)
{
    double accuracy = interval_wilson(a->counts[OUTCOME_CORRECT], accuracy_scored(a)).value;

    jw_text(w, "model", a->model);
    jw_int(w, "correct", a->counts[OUTCOME_CORRECT]);
    jw_int(w, "incorrect", a->counts[OUTCOME_WRONG]);
    jw_int(w, "unevaluated", a->counts[OUTCOME_UNSCORABLE] + a->counts[OUTCOME_UNSCORED]);
    jw_int(w, "failed", a->counts[OUTCOME_FAILED] + a->counts[OUTCOME_FAILED_EVALUATION]);
    jw_int(w, "total_scored", accuracy_scored(a));
    jw_real(w, "accuracy", accuracy);
    jw_real(w, "intelligence_per_joule", a->figures[ACCURACY_IPJ].value);
    jw_real(w, "intelligence_per_watt", a->figures[ACCURACY_IPW].value);
    jw_real(w, "avg_per_query_energy_joules", mean_or_null(&a->energy_j));
    jw_real(w, "avg_per_query_power_watts", mean_or_null(&a->power_w));
    jw_int(w, "energy_sample_count", a->energy_j.n);
    jw_int(w, "power_sample_count", a->power_w.n);
    jw_text(w, "energy_basis", a->basis[0] ? a->basis : NULL);
}

static void write_summary(const struct accuracy *a, struct json_writer *w, const char *key)
{
    struct interval accuracy = interval_wilson(a->counts[OUTCOME_CORRECT], accuracy_scored(a));
    double per_correct = a->figures[ACCURACY_J_PER_CORRECT].value;

    jw_begin_object(w, key);
    write_known(a, w);
    jw_int(w, "total_queries", a->records);
    jw_int(w, "unscorable", a->counts[OUTCOME_UNSCORABLE]);
    jw_int(w, "unscored", a->counts[OUTCOME_UNSCORED]);
    jw_int(w, "failed_queries", a->counts[OUTCOME_FAILED]);
    jw_int(w, "failed_evaluations", a->counts[OUTCOME_FAILED_EVALUATION]);
    jw_int(w, "newly_scored", a->scoring.scored);
    write_interval(w, "accuracy_interval", &accuracy);
    write_interval(w, "intelligence_per_joule_interval", &a->figures[ACCURACY_IPJ]);
    write_interval(w, "intelligence_per_watt_interval", &a->figures[ACCURACY_IPW]);
    jw_real(w, "joules_per_correct", per_correct);
    write_interval(w, "joules_per_correct_interval", &a->figures[ACCURACY_J_PER_CORRECT]);
    write_interval(w, "avg_per_query_energy_joules_interval", &a->figures[ACCURACY_MEAN_J]);
    write_interval(w, "avg_per_query_power_watts_interval", &a->figures[ACCURACY_MEAN_W]);
    jw_real(w, "total_joules", a->n_joules ? a->joules : NAN);
    jw_real(w, "failed_query_joules", a->n_joules ? a->joules_failed : NAN);
    jw_text(w, "energy_source", energy_source(a));
    jw_end_object(w);
}

static void warn_scoring(const struct accuracy *a, struct warnings *w)
{
    const struct scoring *s = &a->scoring;
    int64_t unscorable = a->counts[OUTCOME_UNSCORABLE];

    if (s->no_scorer > 0)
        warnings_add(w, "%" PRId64 " answers are not scored: nothing says how (--scorer does)",
                     s->no_scorer);
    if (s->no_judge > 0)
        warnings_add(w, "%" PRId64 " answers are not scored: %s", s->no_judge, s->judge_words);
    if (s->refused > 0)
        warnings_add(w, "%" PRId64 " answers are not scored: %s", s->refused, s->refused_words);
    if (unscorable > 0)
        warnings_add(w,
                     "%" PRId64 " answers cannot be scored: they count neither as right nor as "
                     "wrong",
                     unscorable);
    if (a->counts[OUTCOME_FAILED_EVALUATION] > 0)
        warnings_add(w,
                     "%" PRId64 " evaluations failed: the next analysis tries again, up to %d "
                     "times",
                     a->counts[OUTCOME_FAILED_EVALUATION], SCORING_ATTEMPTS_MAX);
    if (a->counts[OUTCOME_FAILED] > 0)
        warnings_add(w,
                     "%" PRId64 " of %" PRId64 " queries failed: they are not scored and enter "
                     "no average; their energy counts in joules_per_correct",
                     a->counts[OUTCOME_FAILED], a->records);
    if (s->unwritten[0])
        warnings_add(w, "the scores could not be written back: %s", s->unwritten);
}

static void warn_energy(const struct accuracy *a, struct warnings *w)
{
    int64_t ok = a->records - a->counts[OUTCOME_FAILED];
    int64_t ignored = a->zero_energy - a->imputed;

    if (a->energy_j.n == 0)
        warnings_add(w, "No per-query energy measurements: there is no energy efficiency");
    else if (a->energy_j.n < ok)
        warnings_add(w, "Energy is known for only %" PRId64 " of %" PRId64 " queries",
                     a->energy_j.n, ok);
    if (a->estimated > 0)
        warnings_add(w, "Energy is estimated, not measured, for %" PRId64 " of %" PRId64 " queries",
                     a->estimated, ok);
    if (a->imputed > 0)
        warnings_add(w,
                     "Imputed energy of %" PRId64 " queries that reported 0 J, from power and "
                     "time",
                     a->imputed);
    if (ignored > 0)
        warnings_add(w, "Ignored %" PRId64 " energies of 0 J", ignored);
    if (a->power_w.n == 0)
        warnings_add(w, "No per-query power measurements: there is no IPW");
    if (a->zero_power > 0)
        warnings_add(w, "Ignored %" PRId64 " power readings of 0 W", a->zero_power);
    if (strcmp(a->basis, "mixed") == 0)
        warnings_add(w, "Queries are measured on different rails: their joules do not compare");
    if (a->short_energy > 0)
        warnings_add(w,
                     "%" PRId64 " queries have less than half the energy that their power and "
                     "time give: the telemetry may have been cut off",
                     a->short_energy);
}

static void warn_intervals(const struct accuracy *a, struct warnings *w)
{
    if (a->clusters.repeats > 0)
        warnings_add(w,
                     "%" PRId64 " queries repeat a question: accuracy_interval takes them as "
                     "new ones and is too narrow",
                     a->clusters.repeats);
    if (a->sample.n_rows < FEW_QUESTIONS)
        warnings_add(w, "%zu questions are few: the intervals are too narrow", a->sample.n_rows);
    if (a->by_subject.n > BREAKDOWN_MAX || a->by_difficulty.n > BREAKDOWN_MAX)
        warnings_add(w, "there are more than %d subjects or difficulties: the rest is under '%s'",
                     BREAKDOWN_MAX, BREAKDOWN_OTHERS);
}

static void write_figure(struct figure *f, struct json_writer *w)
{
    jw_int(w, "count", f->n);
    jw_real(w, "avg", mean_or_null(f));
    jw_real(w, "median", f->n ? figure_percentile(f, 50) : NAN);
    jw_real(w, "min", f->n ? figure_min(f) : NAN);
    jw_real(w, "max", f->n ? figure_max(f) : NAN);
}

static void write_efficiency(struct accuracy *a, struct json_writer *w)
{
    double accuracy = interval_wilson(a->counts[OUTCOME_CORRECT], accuracy_scored(a)).value;

    jw_begin_object(w, "efficiency");
    jw_begin_object(w, a->model);
    jw_real(w, "intelligence_per_joule", a->figures[ACCURACY_IPJ].value);
    jw_real(w, "intelligence_per_watt", a->figures[ACCURACY_IPW].value);
    jw_begin_object(w, "energy");
    write_figure(&a->energy_j, w);
    jw_real(w, "total", a->energy_j.n ? a->joules - a->joules_failed : NAN);
    jw_real(w, "accuracy", accuracy);
    jw_int(w, "zero_values", a->zero_energy);
    jw_real(w, "imputed_from_power", a->imputed ? a->imputed_j / (double)a->imputed : NAN);
    jw_int(w, "imputed_count", a->imputed);
    jw_end_object(w);
    jw_begin_object(w, "power");
    write_figure(&a->power_w, w);
    jw_real(w, "accuracy", accuracy);
    jw_int(w, "zero_values", a->zero_power);
    jw_int(w, "derived_power_samples", a->derived_power);
    jw_int(w, "power_metric_samples", a->sensor_power);
    jw_end_object(w);
    jw_end_object(w);
    jw_end_object(w);
}

/* What was listed as it came is put in as a value, to be laid out like the rest. */
static int write_records(struct accuracy *a, struct json_writer *w, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc doc = {0};
    int r;

    buf_addf(&text, "[%s]", buf_str(&a->listed));
    r = json_doc_parse(&doc, text.data, text.len, err);
    if (r < 0)
        return r;
    jw_begin_object(w, "records");
    jw_value(w, a->model, doc.root);
    jw_end_object(w);
    jw_int(w, "records_left_out", a->records - a->n_listed);
    return 0;
}

int accuracy_write(struct accuracy *a, struct json_writer *w, struct err *err)
{
    AUTO(warnings) struct warnings warnings = {0};
    int r;

    warn_scoring(a, &warnings);
    warn_energy(a, &warnings);
    warn_intervals(a, &warnings);
    write_summary(a, w, "summary");
    warnings_write(&warnings, w);
    jw_begin_object(w, "data");
    jw_begin_object(w, "per_model");
    write_summary(a, w, a->model);
    jw_end_object(w);
    write_efficiency(a, w);
    breakdown_write(&a->by_subject, w, "by_subject");
    breakdown_write(&a->by_difficulty, w, "by_difficulty");
    r = write_records(a, w, err);
    jw_end_object(w);
    if (a->judge && a->judge->write) {
        jw_begin_object(w, "judge");
        a->judge->write(a->judge->ctx, w);
        jw_end_object(w);
    }
    return r;
}
