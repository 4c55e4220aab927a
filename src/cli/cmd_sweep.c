/*
 * ipw sweep: the same questions at several loads or to several models, one run each, and one table
 * of what they cost.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/commands.h"
#include "cli/profile_options.h"
#include "core/stats.h"
#include "run/config.h"
#include "run/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 1000

struct sweep_args {
    struct profile_options run;
    const char *models, *concurrencies, *rates;
    int64_t cooldown_ns;
    bool json;
};

static const struct option options[] = {
    PROFILE_OPTIONS_COMMON(struct sweep_args, run),
    {"model", OPT_TEXT, offsetof(struct sweep_args, models), "models, separated by commas", "LIST",
     .letter = 'm'},
    {"concurrency", OPT_TEXT, offsetof(struct sweep_args, concurrencies),
     "queries in flight: numbers separated by commas", "LIST"},
    {"request-rate", OPT_TEXT, offsetof(struct sweep_args, rates),
     "queries per second: numbers separated by commas", "LIST"},
    {"cooldown", OPT_DURATION, offsetof(struct sweep_args, cooldown_ns), "pause between runs", "T",
     "5s"},
    {"json", OPT_FLAG, offsetof(struct sweep_args, json), "one JSON document on stdout"},
    {0},
};

/* One run of the sweep, and what it came to. */
struct point {
    const char *model; /* NULL = the server's only one */
    int64_t concurrency;
    double rate_per_s;
    char suffix[48];
    int status; /* exit status of its run; -1 = it was not begun */
    char *path, *found_model;
    int64_t queries, failed;
    double j_per_token, p95_s, tokens_per_s, accuracy, ipw;
    const char *source, *verdict;
    bool pareto;
};

struct sweep {
    struct point *points;
    size_t n, cap;
    char *lists[3]; /* the words that the points borrow */
};

static void sweep_release(struct sweep *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->points[i].path);
        free(s->points[i].found_model);
    }
    free(s->points);
    for (size_t i = 0; i < 3; i++)
        free(s->lists[i]);
}

struct words {
    const char **items;
    size_t n, cap;
};

/* The parts between commas; one that is NULL when there is no list. */
static struct words split(const char *list, char **ret_copy)
{
    struct words w = {0};
    char *rest, *word;

    GROW(w.items, w.n, w.cap);
    if (!list) {
        w.items[w.n++] = NULL;
        return w;
    }
    rest = *ret_copy = xstrdup(list);
    while ((word = strsep(&rest, ","))) {
        GROW(w.items, w.n, w.cap);
        w.items[w.n++] = word;
    }
    return w;
}

static int parse_point(const char *concurrency, const char *rate, struct point *ret,
                       struct err *err)
{
    int r = concurrency ? parse_i64(concurrency, &ret->concurrency, err) : 0;

    if (r == 0 && rate)
        r = parse_f64(rate, &ret->rate_per_s, err);
    if (r < 0)
        return r;
    if (concurrency && (ret->concurrency < 1 || ret->concurrency > 1000000))
        return err_set(err, EINVAL, "--concurrency %s: from 1 to 1000000", concurrency);
    if (rate && !(ret->rate_per_s >= 1e-6 && ret->rate_per_s <= 1e6))
        return err_set(err, EINVAL, "--request-rate %s: from 0.000001 to 1000000", rate);
    snprintf(ret->suffix, sizeof(ret->suffix), "%s%s%s%s", concurrency ? "_c" : "",
             concurrency ? concurrency : "", rate ? "_q" : "", rate ? rate : "");
    return 0;
}

static int plan(const struct sweep_args *a, struct sweep *s, struct err *err)
{
    struct words models = split(a->models, &s->lists[0]);
    struct words loads = split(a->concurrencies, &s->lists[1]);
    struct words rates = split(a->rates, &s->lists[2]);
    int r = 0;

    if (models.n * loads.n * rates.n > POINTS_MAX)
        r = err_set(err, EINVAL, "more than %d runs", POINTS_MAX);
    for (size_t i = 0; r == 0 && i < models.n * loads.n * rates.n; i++) {
        struct point p = {.status = -1, .rate_per_s = NAN};

        p.model = models.items[i / (loads.n * rates.n)];
        r = parse_point(loads.items[i / rates.n % loads.n], rates.items[i % rates.n], &p, err);
        if (r == 0 && p.model && !*p.model)
            r = err_set(err, EINVAL, "--model: a name is empty");
        GROW(s->points, s->n, s->cap);
        s->points[s->n++] = p;
    }
    free(models.items);
    free(loads.items);
    free(rates.items);
    return r;
}

static void keep_outcome(struct point *p, struct profile_outcome *o)
{
    struct tally_efficiency e;

    if (!o->path)
        return;
    tally_efficiency(&o->tally, &e);
    p->path = xstrdup(o->path);
    p->found_model = xstrdup(o->model);
    p->queries = o->tally.records;
    p->failed = o->tally.failed;
    p->j_per_token = e.j_per_output_token;
    p->p95_s = figure_percentile(&o->tally.figures[TALLY_TOTAL_S], 95);
    p->tokens_per_s =
        o->tally.has_tokens ? stats_ratio((double)o->tally.output_tokens, o->seconds) : NAN;
    p->accuracy = e.accuracy;
    p->ipw = e.ipw;
    p->source = tally_source(&o->tally);
    p->verdict = validity_name(verdict_of(&o->verdict));
}

static void run_point(const struct sweep_args *a, struct point *p, const char *command_line,
                      struct interrupt *interrupt)
{
    struct profile_options o = a->run;
    struct profile_outcome outcome;

    o.model = p->model;
    o.concurrency = p->concurrency;
    o.rate_per_s = p->rate_per_s;
    o.suffix = p->suffix;
    o.command_line = command_line;
    o.repetition = 1;
    p->status = profile_once(&o, interrupt, &outcome);
    keep_outcome(p, &outcome);
    profile_outcome_release(&outcome);
}

/* A point is on the front when no other costs less of both. */
static void mark_pareto(struct sweep *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct point *p = &s->points[i];

        p->pareto = p->path && !isnan(p->j_per_token) && !isnan(p->p95_s);
        for (size_t k = 0; p->pareto && k < s->n; k++) {
            const struct point *q = &s->points[k];

            if (q->path && q->j_per_token <= p->j_per_token && q->p95_s <= p->p95_s &&
                (q->j_per_token < p->j_per_token || q->p95_s < p->p95_s))
                p->pareto = false;
        }
    }
}

static const char *outcome_name(const struct point *p)
{
    switch (p->status) {
    case EXIT_DONE:
        return "done";
    case EXIT_SOME_FAILED:
        return "some failed";
    case EXIT_INTERRUPTED:
        return "interrupted";
    case -1:
        return "not begun";
    default:
        return "FAILED";
    }
}

static const char *model_of(const struct point *p)
{
    return p->found_model ? p->found_model : p->model ? p->model : "?";
}

static void add_point(struct json_writer *w, const struct point *p)
{
    jw_begin_object(w, NULL);
    jw_text(w, "model", model_of(p));
    if (p->concurrency > 0)
        jw_int(w, "concurrency", p->concurrency);
    else
        jw_null(w, "concurrency");
    jw_real(w, "request_rate", p->rate_per_s);
    jw_text(w, "outcome", outcome_name(p));
    jw_text(w, "path", p->path);
    jw_int(w, "queries", p->queries);
    jw_int(w, "failed", p->failed);
    jw_real(w, "joules_per_output_token", p->path ? p->j_per_token : NAN);
    jw_real(w, "p95_latency_seconds", p->path ? p->p95_s : NAN);
    jw_real(w, "output_tokens_per_second", p->path ? p->tokens_per_s : NAN);
    jw_real(w, "accuracy", p->path ? p->accuracy : NAN);
    jw_real(w, "ipw", p->path ? p->ipw : NAN);
    jw_text(w, "energy_source", p->source);
    jw_text(w, "verdict", p->verdict);
    jw_bool(w, "pareto", p->pareto);
    jw_end_object(w);
}

static void sweep_json(const struct sweep *s, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_PRETTY);

    jw_begin_object(&w, NULL);
    jw_begin_array(&w, "runs");
    for (size_t i = 0; i < s->n; i++)
        add_point(&w, &s->points[i]);
    jw_end_array(&w);
    jw_end_object(&w);
    buf_addc(out, '\n');
}

/* After every run, so that it is there whatever happens to the next. */
static void save_state(const struct sweep_args *a, const struct sweep *s)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO_FREE char *path = xasprintf("%s/sweep.json", a->run.output_dir);
    struct err err = {0};

    sweep_json(s, &text);
    if (fs_mkdirs(a->run.output_dir, &err) < 0 ||
        fs_replace(AT_FDCWD, path, text.data, text.len, &err) < 0)
        log_warning("%s", err.text);
}

/* `decimals` behind the point; -1 = four significant digits. */
static void print_cell(double value, int decimals, int width)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else if (decimals < 0)
        printf(" %*.4g", width, value);
    else
        printf(" %*.*f", width, decimals, value);
}

static void print_table(const struct sweep *s)
{
    bool estimated = false;

    printf("\n%-24s %6s %8s %8s %8s %10s %10s %9s %8s %10s  %s\n", "model", "load", "rate",
           "queries", "failed", "J/token", "p95 s", "tok/s", "correct%", "IPW 1/W", "verdict");
    for (size_t i = 0; i < s->n; i++) {
        const struct point *p = &s->points[i];

        printf("%-24.24s", model_of(p));
        print_cell(p->concurrency > 0 ? (double)p->concurrency : NAN, 0, 6);
        print_cell(p->rate_per_s, -1, 8);
        if (!p->path) {
            printf("  %s\n", outcome_name(p));
            continue;
        }
        print_cell((double)p->queries, 0, 8);
        print_cell((double)p->failed, 0, 8);
        print_cell(p->j_per_token, -1, 10);
        print_cell(p->p95_s, -1, 10);
        print_cell(p->tokens_per_s, 1, 9);
        print_cell(100 * p->accuracy, 1, 8);
        print_cell(p->ipw, -1, 10);
        printf("  %s%s\n", p->verdict, p->pareto ? "  *" : "");
        estimated = estimated || strcmp(p->source, "estimated") == 0;
    }
    printf("\n* no other run has both less energy per token and a lower p95 latency\n");
    if (estimated)
        printf("ENERGY IS ESTIMATED from CPU utilisation, not measured.\n");
}

static int worst_status(const struct sweep *s)
{
    int worst = EXIT_DONE;

    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].status == EXIT_INTERRUPTED)
            return EXIT_INTERRUPTED;
        if (s->points[i].status == EXIT_ERROR)
            worst = EXIT_ERROR;
        else if (s->points[i].status == EXIT_SOME_FAILED && worst == EXIT_DONE)
            worst = EXIT_SOME_FAILED;
    }
    return worst;
}

static void run_all(const struct sweep_args *a, struct sweep *s, const char *command_line)
{
    struct interrupt interrupt;

    interrupt_begin(&interrupt);
    for (size_t i = 0; i < s->n && !interrupt_seen(&interrupt); i++) {
        struct point *p = &s->points[i];

        if (i > 0)
            profile_cool_down(a->cooldown_ns, &interrupt);
        log_info("run %zu of %zu:%s%s%s", i + 1, s->n, p->model ? " " : "",
                 p->model ? p->model : "", p->suffix);
        run_point(a, p, command_line, &interrupt);
        save_state(a, s);
    }
    mark_pareto(s);
    save_state(a, s);
    interrupt_end(&interrupt);
}

static int sweep_command(const void *args, const struct operands *operands)
{
    const struct sweep_args *a = args;
    AUTO_FREE char *line = config_command_line("sweep", operands->argc, operands->argv);
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO(sweep) struct sweep s = {0};
    struct err err = {0};

    if (!a->models && !a->concurrencies && !a->rates) {
        log_error("a sweep needs a list: --concurrency 1,2,4, --request-rate 1,2 or --model a,b");
        return EXIT_USAGE;
    }
    if (profile_options_check(&a->run) < 0)
        return EXIT_USAGE;
    if (plan(a, &s, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_USAGE;
    }
    run_all(a, &s, line);
    if (a->json) {
        sweep_json(&s, &text);
        fputs(buf_str(&text), stdout);
    } else {
        print_table(&s);
    }
    return worst_status(&s);
}

const struct command cmd_sweep = {
    .name = "sweep",
    .help = "profile over several loads or models, one run each, and one table",
    .options = options,
    .args_size = sizeof(struct sweep_args),
    .details = "Example:\n"
               "  ipw sweep --client openai --concurrency 1,2,4,8 --max-queries 100\n"
               "\n"
               "A run that fails does not end the sweep. --resume goes on where it stopped. The\n"
               "table is also in OUTPUT-DIR/sweep.json.",
    .run = sweep_command,
};
