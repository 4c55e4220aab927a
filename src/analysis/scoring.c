/*
 * Rows are written back in their order, but a judge answers in any. So every row takes a slot of a
 * ring; a slot is decided at once or waits; and what stands at the head decided is passed on.
 */
#include "analysis/scoring.h"

#include "analysis/refresh.h"
#include "base/alloc.h"
#include "store/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    bool waiting; /* for the judge */
    bool changed; /* the row gets this evaluation */
    enum scoring_verdict verdict;
    int64_t attempts; /* before */
    char *spec;
    struct buf metadata;
    struct ring *ring;
};

struct ring {
    struct slot slots[SCORING_WINDOW];
    size_t head, n;
    size_t waiting;
    const struct answer_judge *judge; /* NULL = none, or none any more */
    const char *config_scorer;
    struct rewrite *writer; /* NULL = verdicts are not written back */
    struct scoring *out;
};

static void ring_free(struct ring *r)
{
    for (size_t i = 0; i < SCORING_WINDOW; i++) {
        buf_release(&r->slots[i].metadata);
        free(r->slots[i].spec);
    }
    rewrite_close(r->writer);
    free(r);
}
DEFINE_AUTO_PTR(ring, ring_free);

static struct ring *ring_new(struct scoring *out)
{
    struct ring *r = xcalloc(1, sizeof(*r));

    r->out = out;
    for (size_t i = 0; i < SCORING_WINDOW; i++) {
        buf_init(&r->slots[i].metadata, BUF_MAX_OWN);
        r->slots[i].ring = r;
    }
    return r;
}

void scoring_release(struct scoring *s)
{
    free(s->verdicts);
    *s = (struct scoring){0};
}

bool evaluation_failed(const char *metadata, int64_t *ret_attempts)
{
    AUTO(json_doc) struct json_doc doc = {0};

    *ret_attempts = 0;
    if (!metadata || !strstr(metadata, "evaluation_failed") ||
        json_doc_parse(&doc, metadata, strlen(metadata), NULL) < 0)
        return false;
    if (!json_bool(json_get(doc.root, "evaluation_failed"), false))
        return false;
    *ret_attempts = json_int(json_get(doc.root, "evaluation_attempts"), 1);
    return true;
}

static void keep_words(char words[ERR_TEXT_MAX], const char *text)
{
    if (!words[0])
        snprintf(words, ERR_TEXT_MAX, "%s", text);
}

static void decide(struct slot *s, const struct score *score)
{
    buf_clear(&s->metadata);
    score_write(score, &s->metadata);
    s->verdict = score->verdict == VERDICT_CORRECT ? SCORING_CORRECT
                 : score->verdict == VERDICT_WRONG ? SCORING_WRONG
                                                   : SCORING_UNSCORABLE;
    s->changed = true;
}

static void decide_failed(struct slot *s, const char *error)
{
    struct json_writer w = json_writer(&s->metadata, JSON_LINE);

    buf_clear(&s->metadata);
    jw_begin_object(&w, NULL);
    jw_bool(&w, "evaluation_failed", true);
    jw_int(&w, "evaluation_attempts", s->attempts + 1);
    jw_text(&w, "scorer", s->spec);
    jw_text(&w, "error", error);
    jw_end_object(&w);
    s->verdict = SCORING_FAILED;
    s->changed = true;
}

void scoring_judged(void *user, const struct score *score, bool counts, const char *error)
{
    struct slot *s = user;

    if (!s->waiting)
        return;
    s->waiting = false;
    s->ring->waiting--;
    if (score) {
        decide(s, score);
    } else if (counts) {
        decide_failed(s, error);
    } else {
        s->ring->out->no_judge++;
        keep_words(s->ring->out->judge_words, error);
    }
}

static int correct_of(enum scoring_verdict v)
{
    return v == SCORING_CORRECT ? 1 : v == SCORING_WRONG ? 0 : -1;
}

/* Where verdicts cannot be stored they are still counted. */
static void stop_writing(struct ring *r, const struct err *err)
{
    keep_words(r->out->unwritten, err->text);
    rewrite_close(STEAL(r->writer));
}

/* Passes the row at the head on. */
static void emit(struct ring *r)
{
    struct slot *s = &r->slots[r->head];
    struct scoring *out = r->out;
    struct evaluation e = {
        .correct = correct_of(s->verdict),
        /* a scorer that gave no verdict is not one that found the answer unscorable */
        .scorer = s->verdict == SCORING_FAILED ? NULL : s->spec,
        .metadata = buf_str(&s->metadata),
    };
    struct err err = {0};

    GROW(out->verdicts, out->n, out->cap);
    out->verdicts[out->n++] = (uint8_t)s->verdict;
    out->scored += s->verdict != SCORING_KEPT && s->verdict != SCORING_FAILED;
    if (r->writer && rewrite_row(r->writer, s->changed ? &e : NULL, &err) < 0)
        stop_writing(r, &err);
    r->head = (r->head + 1) % SCORING_WINDOW;
    r->n--;
}

/* Those that still wait stay as they were. */
static void abandon(struct ring *r, const char *words)
{
    for (size_t i = 0; i < SCORING_WINDOW; i++)
        if (r->slots[i].waiting)
            scoring_judged(&r->slots[i], NULL, false, words);
    r->judge = NULL;
}

/* Lets the judge work until `left` rows are in the ring. */
static void drain(struct ring *r, size_t left)
{
    struct err err = {0};

    while (r->n > 0 && !r->slots[r->head].waiting)
        emit(r);
    while (r->n > left) {
        size_t pending = r->waiting > left ? left : r->waiting - 1;

        if (r->judge->run(r->judge->ctx, pending, &err) < 0)
            abandon(r, err.text);
        else if (r->waiting > pending)
            abandon(r, "the judge gave no result");
        while (r->n > 0 && !r->slots[r->head].waiting)
            emit(r);
    }
}

static const char *spec_of(const struct ring *r, const struct analysis_options *o,
                           const struct record *record)
{
    const char *own = json_text(json_get(record->metadata, "scorer"), NULL);

    if (o->scorer)
        return o->scorer;
    if (own && *own)
        return own;
    return record->evaluation.scorer ? record->evaluation.scorer : r->config_scorer;
}

static bool is_due(const struct record *record, const struct analysis_options *o,
                   int64_t *ret_attempts)
{
    bool failed = evaluation_failed(record->evaluation.metadata, ret_attempts);

    if (!record_ok(record))
        return false;
    if (o->rescore)
        return true;
    if (record->correct >= 0)
        return false;
    return failed ? *ret_attempts < SCORING_ATTEMPTS_MAX : !record->evaluation.metadata;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void ask_judge(struct ring *r, struct slot *s, const struct item *item, const char *answer,
                      const struct err *why)
{
    struct err err = *why;

    if (r->judge) {
        s->waiting = true;
        r->waiting++;
        if (r->judge->add(r->judge->ctx, s->spec, item, answer, s, &err) == 0)
            return;
        s->waiting = false;
        r->waiting--;
    }
    r->out->no_judge++;
    keep_words(r->out->judge_words, err.text);
}

static void score_row(struct ring *r, struct slot *s, const char *spec, const struct record *record)
{
    struct item item = {
        .index = record->request.index,
        .problem = record->problem ? record->problem : "",
        .answer = record->answer ? record->answer : "",
        .subject = record->subject ? record->subject : "general",
        .scorer = spec,
        .metadata = record->metadata,
    };
    struct score score = {0};
    struct err err = {0};
    int result = score_answer(spec, &item, record->response, &score, &err);

    s->spec = xstrdup(spec);
    if (result == -ENOTSUP) {
        ask_judge(r, s, &item, record->response, &err);
    } else if (result < 0) {
        r->out->refused++;
        keep_words(r->out->refused_words, err.text);
    } else {
        decide(s, &score);
        s->changed = record->correct != correct_of(s->verdict) ||
                     !same(record->evaluation.scorer, spec) ||
                     !same(record->evaluation.metadata, buf_str(&s->metadata));
        if (!s->changed)
            s->verdict = SCORING_KEPT;
    }
}

static void take_row(struct ring *r, const struct analysis_options *o, const struct record *record)
{
    struct slot *s = &r->slots[(r->head + r->n++) % SCORING_WINDOW];
    const char *spec = spec_of(r, o, record);

    free(STEAL(s->spec));
    s->waiting = s->changed = false;
    s->verdict = SCORING_KEPT;
    if (!is_due(record, o, &s->attempts))
        return;
    if (spec)
        score_row(r, s, spec, record);
    else
        r->out->no_scorer += record->correct < 0;
}

int scoring_check(const char *spec, struct err *err)
{
    const struct item item = {.problem = "x", .answer = "x", .subject = ""};
    struct score score;
    int r = score_answer(spec, &item, "x", &score, err);

    return r == -ENOTSUP ? 0 : r;
}

/* summary.json has figures that follow from the scores. */
static int refresh_summary(const struct run *run, const struct scoring *s, struct err *err)
{
    struct tally t;
    int r = s->scored > 0 ? run_refresh(run_dir(run), &t, err) : 0;

    if (r == 0 && s->scored > 0)
        tally_release(&t);
    return r;
}

int scoring_run(struct run *run, const struct analysis_options *o, struct scoring *ret,
                struct err *err)
{
    AUTO_PTR(ring) struct ring *r = ring_new(ret);
    const struct record *record;
    struct err why = {0};
    int result;

    r->judge = o->judge;
    r->config_scorer = json_text(json_path(run_summary(run), "profiler_config", "scorer"), NULL);
    result = rewrite_open(run_dir(run), run_model(run), &r->writer, &why);
    if (result == -EBUSY)
        return err_set(err, EBUSY, "%s", why.text);
    if (result < 0)
        stop_writing(r, &why);
    result = run_rewind(run, err);
    while (result >= 0 && (result = run_next(run, &record, err)) > 0) {
        take_row(r, o, record);
        drain(r, SCORING_WINDOW - 1);
    }
    if (result < 0)
        return result;
    drain(r, 0);
    if (r->writer && (rewrite_commit(r->writer, &why) < 0 || refresh_summary(run, ret, &why) < 0))
        stop_writing(r, &why);
    if (ret->scored == 0) /* there was nothing to write */
        ret->unwritten[0] = '\0';
    return 0;
}
