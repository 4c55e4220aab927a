/*
 * One thread does everything here: it sends, receives, closes accounts and writes. What could make
 * it late (the disk, a slow sensor) has threads of its own; what it does between two polls takes
 * microseconds, so the times of tokens are those of their arrival.
 */
#include "run/profile_private.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "score/scorer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT_NS  (10 * NS_PER_MS)
#define DRAIN_NS    (200 * NS_PER_MS)
#define PROGRESS_NS (250 * NS_PER_MS)
#define PATIENCE_NS (6 * NS_PER_S) /* for the sensors after the last query */

/* A score becomes part of the record; its words live in `text`. */
static void score_record(struct session *s, const struct item *item, struct buf *text,
                         struct record *r)
{
    const char *spec = s->options->scorer ? s->options->scorer
                       : item->scorer     ? item->scorer
                                          : s->scorer;
    struct score score = {0};

    if (s->options->no_score || !spec || !record_ok(r) ||
        score_answer(spec, item, r->response, &score, NULL) < 0)
        return;
    score_write(&score, text);
    r->evaluation.scorer = spec;
    r->evaluation.metadata = buf_str(text);
    if (score.verdict != VERDICT_UNSCORABLE)
        r->correct = score.verdict == VERDICT_CORRECT;
}

static void count_record(struct session *s, const struct record *r)
{
    double joules = record_joules(r);

    s->live.done++;
    s->live.failed += !record_ok(r);
    s->outcome->asked++;
    if (r->tokens.output > 0)
        s->live.output_tokens += r->tokens.output;
    if (isnan(joules))
        return;
    s->live.joules += joules;
    if (r->tokens.output > 0) {
        s->live.joules_with_tokens += joules;
        s->live.tokens_with_joules += r->tokens.output;
    }
}

static void build_query(struct session *s, const struct query *q, const struct attributed *a,
                        struct record *ret)
{
    const struct response *resp = &q->response;
    struct build_input in;

    build_input_init(&in);
    in.item = &q->question->item;
    in.response = resp;
    in.attributed = a;
    in.model = s->model;
    in.price_per_kwh_usd = s->options->price_per_kwh_usd;
    in.carbon_g_per_kwh = s->options->carbon_g_per_kwh;
    in.index = q->question->number;
    in.attempts = q->attempts;
    in.run_start = s->run_start;
    in.planned = q->planned;
    account_fill(s->account, resp, &in);
    if (resp->sent != MONO_ABSENT)
        gauges_of_window(s->gauges, resp->sent, resp->end, &in.gauges);
    build_record(&in, ret);
    if (resp->sent != MONO_ABSENT)
        gauges_judge(s->gauges, resp->sent, resp->end, ret);
    if (q->slept)
        verdict_add(ret, REASON_SUSPENDED);
}

/* Takes the query over. One that we cancelled ourselves leaves no record: it may be asked again. */
static int finish_query(struct session *s, struct query *q, const struct attributed *a,
                        struct err *err)
{
    AUTO(buf) struct buf words = BUF_INIT(BUF_MAX_OWN);
    struct record record;
    int r = 0;

    if (q->response.failure == FAILURE_CANCELLED) {
        s->outcome->cancelled++;
    } else {
        build_query(s, q, a, &record);
        score_record(s, &q->question->item, &words, &record);
        r = sink_record(s->sink, &record, err);
        if (r == 0)
            count_record(s, &record);
    }
    query_free(q);
    return r;
}

/* Everything whose energy is known by now becomes a record. After an error the rest is let go. */
static int settle_accounts(struct session *s, mono_ns safe, struct err *err)
{
    struct attributed a;
    struct query *q;
    int r = 0;

    account_advance(s->account, safe);
    while ((q = load_take(s->load))) {
        if (r < 0)
            query_free(q);
        else
            r = finish_query(s, q, NULL, err);
    }
    while (account_take(s->account, &a)) {
        if (r < 0)
            query_free(a.query);
        else
            r = finish_query(s, a.query, &a, err);
    }
    return r;
}

static void print_messages(struct session *s)
{
    char text[ERR_TEXT_MAX];

    while (sampler_message(meter_sampler(s->meter), text, sizeof(text)))
        log_warning("%s", text);
}

/* Watts of the basis over the last second that is known. */
static double watts_now(struct session *s, bool *ret_estimated)
{
    mono_ns b = sampler_progress(meter_sampler(s->meter)), now = mono_now();
    bool board = account_has(s->account, RAIL_SOC);
    double watts = NAN;

    b = b < now ? b : now;
    meter_rails(s->meter, b - NS_PER_S, b, s->now);
    for (int i = 0; i < RAIL_COUNT; i++) {
        if (!s->now[i].present || !basis_counts(account_basis(s->account), (enum rail)i, board))
            continue;
        watts = (isnan(watts) ? 0 : watts) + s->now[i].energy.joules; /* of one second */
        *ret_estimated |= s->now[i].estimated;
    }
    return watts;
}

static double eta_s(const struct session *s, const struct profile_progress *p)
{
    if (!isnan(p->duration_s))
        return fmax(p->duration_s - p->seconds, 0);
    if (p->total < 0 || s->outcome->asked == 0)
        return NAN;
    return (double)(p->total - p->done) * p->seconds / (double)s->outcome->asked;
}

static void show_progress(struct session *s, mono_ns now)
{
    struct profile_progress p = {
        .done = s->live.done,
        .total = deck_total(&s->deck),
        .failed = s->live.failed,
        .in_flight = load_state(s->load).in_flight,
        .seconds = ns_to_s(now - s->first_query),
        .duration_s = s->options->duration_ns < 0 ? NAN : ns_to_s(s->options->duration_ns),
        .joules_per_token = s->live.tokens_with_joules > 0
                                ? s->live.joules_with_tokens / (double)s->live.tokens_with_joules
                                : NAN,
    };

    s->live.shown = now;
    if (!s->hooks->progress)
        return;
    if (p.seconds > 0) {
        p.queries_per_s = (double)s->outcome->asked / p.seconds;
        p.tokens_per_s = (double)s->live.output_tokens / p.seconds;
    }
    p.watts = watts_now(s, &p.estimated);
    p.eta_s = eta_s(s, &p);
    s->hooks->progress(s->hooks->arg, &p);
}

/* What has to be done now and then, whatever the queries do. */
static int chores(struct session *s, mono_ns safe, struct err *err)
{
    mono_ns now = mono_now();
    int r = 0;

    if (now - s->live.accounted >= ACCOUNT_NS) {
        s->live.accounted = now;
        r = settle_accounts(s, safe, err);
    }
    if (r == 0 && now - s->live.drained >= DRAIN_NS) {
        s->live.drained = now;
        print_messages(s);
        r = sink_samples(s->sink, meter_sampler(s->meter), err);
    }
    if (r == 0)
        r = sink_tick(s->sink, now, err);
    if (r == 0 && now - s->live.shown >= PROGRESS_NS)
        show_progress(s, now);
    return r;
}

static mono_ns next_chore(const struct session *s)
{
    mono_ns now = mono_now(), due = now + PROGRESS_NS, disk = sink_due(s->sink);

    if (account_pending(s->account) > (size_t)load_state(s->load).in_flight)
        due = now + ACCOUNT_NS;
    return disk < due ? disk : due;
}

/* The sensors are waited for; one that hangs is not waited for long. */
static int settle_rest(struct session *s, struct err *err)
{
    mono_ns deadline = mono_now() + PATIENCE_NS;
    int r;

    while ((r = chores(s, s->last_end, err)) == 0 && account_pending(s->account) > 0) {
        if (mono_now() > deadline)
            account_last_call(s->account);
        mono_sleep_until(mono_now() + ACCOUNT_NS);
    }
    account_last_call(s->account);
    settle_accounts(s, s->last_end, r < 0 ? NULL : err);
    return r;
}

static int drive(struct session *s, struct err *err)
{
    int r = 0;

    while (r == 0 && !load_finished(s->load)) {
        r = load_step(s->load, next_chore(s), s->interrupt->fd, err);
        if (r == 0)
            r = chores(s, load_safe(s->load), err);
        if (interrupt_seen(s->interrupt) && !s->outcome->interrupted) {
            s->outcome->interrupted = true;
            log_info("interrupted: saving what there is (again: leave at once)");
            load_stop(s->load);
        }
    }
    return r;
}

/* After an error the queries in flight are ended, so that everything before it can be saved. */
static void wind_down(struct session *s)
{
    load_stop(s->load);
    for (int i = 0; i < 100 && !load_finished(s->load); i++)
        load_step(s->load, mono_now() + 50 * NS_PER_MS, -1, NULL);
}

int session_loop(struct session *s, struct err *err)
{
    int r = drive(s, err), rest;

    if (r < 0)
        wind_down(s);
    s->last_end = mono_now();
    s->outcome->gave_up = load_state(s->load).gave_up;
    s->outcome->load = load_stats(s->load);
    rest = settle_rest(s, r < 0 ? NULL : err);
    show_progress(s, mono_now());
    print_messages(s);
    return r < 0 ? r : rest;
}
