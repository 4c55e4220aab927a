#include "cli/closing.h"

#include "analysis/interval.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SUBJECTS_MAX 40

/* Four significant digits, without an exponent where that can be helped. */
static void print_number(FILE *out, double value)
{
    double size = fabs(value);

    if (isnan(value))
        fprintf(out, " %10s", "-");
    else if (size != 0 && (size < 1e-4 || size >= 1e7))
        fprintf(out, " %10.3e", value);
    else
        fprintf(out, " %10.*f",
                size >= 1000  ? 0
                : size >= 100 ? 1
                : size >= 10  ? 2
                : size >= 1   ? 3
                              : 5,
                value);
}

static void print_source(FILE *out, const struct tally *t)
{
    const char *source = tally_source(t);

    if (strcmp(source, "none") == 0)
        fprintf(out, "NO ENERGY WAS MEASURED: nothing here measures it (ipw doctor says why).\n\n");
    else if (strcmp(source, "estimated") == 0)
        fprintf(out, "ENERGY IS ESTIMATED from CPU utilisation, not measured: good for a rough "
                     "idea only.\n\n");
    else if (t->without_energy > 0)
        fprintf(out, "Energy: measured (%s); %" PRId64 " of %" PRId64 " queries are without.\n\n",
                t->basis, t->without_energy, t->records);
    else
        fprintf(out, "Energy: measured (%s).\n\n", t->basis);
}

static void print_table(FILE *out, struct tally *t)
{
    static const char *const heads[] = {"avg", "median", "p95", "min", "max", "std"};

    fprintf(out, "%-28s", "");
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        fprintf(out, " %10s", heads[i]);
    fputc('\n', out);
    for (size_t i = 0; i < TALLY_FIGURES; i++) {
        struct figure *f = &t->figures[i];

        if (f->n == 0)
            continue;
        fprintf(out, "%-20s %-7s", tally_names[i].title, tally_names[i].unit);
        print_number(out, figure_mean(f));
        print_number(out, figure_percentile(f, 50));
        print_number(out, figure_percentile(f, 95));
        print_number(out, figure_min(f));
        print_number(out, figure_max(f));
        print_number(out, figure_std(f));
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void print_line(FILE *out, const char *title, double value, const char *unit)
{
    if (isnan(value))
        return;
    fprintf(out, "%-28s", title);
    print_number(out, value);
    fprintf(out, " %s\n", unit);
}

static void print_efficiency(FILE *out, const struct tally *t)
{
    struct tally_efficiency e;

    tally_efficiency(t, &e);
    if (!isnan(e.accuracy))
        fprintf(out, "%-28s %9.1f%% (%" PRId64 " of %" PRId64 " scored)\n", "Accuracy",
                100 * e.accuracy, t->correct, t->scored);
    if (t->unscorable > 0)
        fprintf(out, "%-28s %10" PRId64 "\n", "Unscorable", t->unscorable);
    if (t->scored > 0 && t->unscored > 0)
        fprintf(out, "%-28s %10" PRId64 " (see ipw analyze)\n", "Not scored", t->unscored);
    print_line(out, "IPW, accuracy per watt", e.ipw, "1/W");
    print_line(out, "IPJ, accuracy per joule", e.ipj, "1/J");
    print_line(out, "Energy per correct answer", e.j_per_correct, "J");
    print_line(out, "Energy per output token", e.j_per_output_token, "J");
    fputc('\n', out);
}

static void print_subject(FILE *out, const struct breakdown_part *p)
{
    int64_t correct = p->counts[OUTCOME_CORRECT], scored = correct + p->counts[OUTCOME_WRONG];
    struct interval i = interval_wilson(correct, scored);

    fprintf(out, "%-28.28s", p->name);
    if (scored > 0)
        fprintf(out, " %9.1f%% %5" PRId64 " of %-5" PRId64 "  %5.1f to %5.1f%%", 100 * i.value,
                correct, scored, 100 * i.low, 100 * i.high);
    else
        fprintf(out, " %10s %30s", "-", "");
    print_number(out, p->n_joules > 0 ? p->joules / (double)p->n_joules : NAN);
    fputc('\n', out);
}

/* Where there is more than one. */
static void print_subjects(FILE *out, const struct tally *t)
{
    const struct breakdown *b = &t->by_subject;

    if (b->n < 2 || t->scored == 0)
        return;
    fprintf(out, "%-28s %10s %14s  %15s %10s\n", "", "accuracy", "", "95 % interval", "J/query");
    for (size_t i = 0; i < b->n && i < SUBJECTS_MAX; i++)
        print_subject(out, &b->parts[i]);
    if (b->n > SUBJECTS_MAX)
        fprintf(out, "and %zu subjects more (ipw analyze has all)\n", b->n - SUBJECTS_MAX);
    fputc('\n', out);
}

static void print_verdict(FILE *out, const struct run_verdict *v)
{
    fprintf(out, "Verdict: %s\n", validity_name(verdict_of(v)));
    for (size_t i = 0; i < REASON_COUNT; i++) {
        if (v->counts[i] > 0)
            fprintf(out, "  %-20s %s (%" PRId64 " of %" PRId64 " queries)\n", reason_table[i].name,
                    reason_table[i].text, v->counts[i], v->records);
        else if (v->noted[i])
            fprintf(out, "  %-20s %s\n", reason_table[i].name, reason_table[i].text);
    }
}

void closing_print(FILE *out, struct profile_outcome *o)
{
    fputc('\n', out);
    print_source(out, &o->tally);
    fprintf(out, "%" PRId64 " queries of %s", o->tally.records, o->model);
    if (o->tally.failed > 0)
        fprintf(out, ", %" PRId64 " FAILED", o->tally.failed);
    if (o->cancelled > 0)
        fprintf(out, ", %" PRId64 " cancelled", o->cancelled);
    fprintf(out, "\n\n");
    print_table(out, &o->tally);
    print_subjects(out, &o->tally);
    print_efficiency(out, &o->tally);
    print_verdict(out, &o->verdict);
    fprintf(out, "Records: %s\n", o->path);
}
