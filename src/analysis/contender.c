/*
 * Questions are found again by a 64-bit sum over their text, in a hash table with open addressing.
 * The table is keyed at random, so that nobody can write a run whose questions all fall into one
 * slot; nothing depends on the key, because questions are kept in the order in which they occur.
 */
#include "analysis/contender.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/checksum.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

#define WORDS_MAX 120 /* bytes kept of a name */

struct contender *contender_new(const char *dir)
{
    struct contender *c = xcalloc(1, sizeof(*c));

    c->dir = xstrdup(dir);
    c->concurrency = -1;
    c->rate = NAN;
    c->n_slots = 1024;
    c->slots = xcalloc(c->n_slots, sizeof(*c->slots));
    if (getrandom(&c->slot_key, sizeof(c->slot_key), GRND_NONBLOCK) < 0)
        c->slot_key = (uintptr_t)c; /* better than nothing */
    c->slot_key |= 1;
    return c;
}

void contender_free(struct contender *c)
{
    if (!c)
        return;
    free(c->dir);
    free(c->model);
    free(c->dataset);
    free(c->hardware);
    free(c->gpu);
    free(c->cpu);
    free(c->load_mode);
    free(c->verdict);
    free(c->basis);
    free(c->questions);
    free(c->slots);
    free(c);
}

/* A copy of words from a file, cut to a line's length between two characters. */
static char *copy_words(const char *text)
{
    size_t n = strnlen(text, WORDS_MAX);

    if (n == WORDS_MAX)
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    return xstrndup(text, n);
}

/* Keeps what was said first. */
static void keep_text(char **member, const char *text)
{
    if (!*member && text && *text)
        *member = copy_words(text);
}

static int badness(const char *verdict)
{
    if (!verdict)
        return -1;
    return strcmp(verdict, "invalid") == 0 ? 2 : strcmp(verdict, "degraded") == 0;
}

static void keep_worst(char **member, const char *verdict)
{
    if (badness(verdict) <= badness(*member))
        return;
    free(*member);
    *member = copy_words(verdict);
}

/* Its id and its title: every dataset from a file has the same id. */
static void keep_dataset(struct contender *c, const char *id, const char *title)
{
    if (!c->dataset && id && title && strcmp(id, title) != 0) {
        AUTO_FREE char *short_id = copy_words(id), *short_title = copy_words(title);

        c->dataset = xasprintf("%s (%s)", short_id, short_title);
    }
    keep_text(&c->dataset, id);
    keep_text(&c->dataset, title);
}

void contender_describe(struct contender *c, const char *model, const struct json *summary)
{
    const struct json *load = json_get(summary, "load");

    c->n_runs++;
    keep_text(&c->model, model);
    keep_dataset(c, json_text(json_get(summary, "dataset"), NULL),
                 json_text(json_get(summary, "dataset_name"), NULL));
    keep_text(&c->hardware, json_text(json_get(summary, "hardware_label"), NULL));
    keep_text(&c->gpu, json_text(json_get(json_get(summary, "gpu_info"), "name"), NULL));
    keep_text(&c->cpu, json_text(json_get(json_get(summary, "system_info"), "cpu_brand"), NULL));
    keep_worst(&c->verdict, json_text(json_get(json_get(summary, "validity"), "verdict"), NULL));
    if (c->load_mode)
        return;
    keep_text(&c->load_mode, json_text(json_get(load, "mode"), NULL));
    c->concurrency = json_int(json_get(load, "concurrency"), -1);
    c->rate = json_real(json_get(load, "requested_rate"), NAN);
}

static size_t slot_of(const struct contender *c, uint64_t id)
{
    size_t slot = (size_t)((id * c->slot_key) >> 32) & (c->n_slots - 1);

    while (c->slots[slot] && c->questions[c->slots[slot] - 1].id != id)
        slot = (slot + 1) & (c->n_slots - 1);
    return slot;
}

const struct question *contender_find(const struct contender *c, uint64_t id)
{
    uint32_t at = c->slots[slot_of(c, id)];

    return at ? &c->questions[at - 1] : NULL;
}

static void grow_slots(struct contender *c)
{
    free(c->slots);
    c->n_slots *= 2;
    c->slots = xcalloc(c->n_slots, sizeof(*c->slots));
    for (size_t i = 0; i < c->n_questions; i++)
        if (c->questions[i].named)
            c->slots[slot_of(c, c->questions[i].id)] = (uint32_t)(i + 1);
}

static struct question *new_question(struct contender *c)
{
    if (c->n_questions == CONTENDER_QUESTIONS_MAX)
        return NULL;
    GROW(c->questions, c->n_questions, c->cap_questions);
    c->questions[c->n_questions] = (struct question){0};
    return &c->questions[c->n_questions++];
}

/* The question of this text, perhaps a new one; NULL when there are too many. */
static struct question *question_of(struct contender *c, const char *text)
{
    struct question *q;
    uint64_t id;
    size_t slot;

    if (!text || !*text)
        return new_question(c);
    id = checksum64(text, strlen(text));
    slot = slot_of(c, id);
    if (c->slots[slot])
        return &c->questions[c->slots[slot] - 1];
    q = new_question(c);
    if (!q)
        return NULL;
    q->id = id;
    q->named = true;
    c->slots[slot] = (uint32_t)c->n_questions;
    if (2 * c->n_questions > c->n_slots)
        grow_slots(c);
    return q;
}

static void add_value(struct question *q, enum contender_value v, double x)
{
    if (!isfinite(x) || q->counts[v] == UINT32_MAX)
        return;
    q->sums[v] += x;
    q->counts[v]++;
}

static void keep_basis(struct contender *c, const char *basis)
{
    if (!basis || !*basis || (c->basis && strcmp(c->basis, basis) == 0))
        return;
    if (c->basis) {
        free(c->basis);
        basis = "mixed";
    }
    c->basis = copy_words(basis);
}

static void add_energy(struct contender *c, struct question *q, const struct record *r)
{
    const char *source = r->measurement.energy_source;
    double joules = record_joules(r);

    if (r->measurement.validity == VALIDITY_INVALID) {
        c->invalid++;
        if (!contender_invalid(c))
            return;
    }
    if (!isfinite(joules))
        return;
    keep_basis(c, r->energy.basis);
    if (!source)
        c->unstated++;
    else if (strcmp(source, "measured") == 0)
        c->measured++;
    else
        c->estimated++;
    add_value(q, VALUE_JOULES, joules);
    add_value(q, VALUE_WATTS, record_watts(r));
    if (r->tokens.output > 0) {
        add_value(q, VALUE_TOKEN_JOULES, joules);
        add_value(q, VALUE_TOKENS, (double)r->tokens.output);
    }
}

void contender_add(struct contender *c, const struct record *r)
{
    struct question *q = question_of(c, r->problem);

    c->records++;
    if (r->gpu)
        keep_text(&c->gpu, r->gpu->name);
    if (r->system)
        keep_text(&c->cpu, r->system->cpu_brand);
    if (!record_ok(r)) {
        c->failed++;
        return;
    }
    c->unscored += r->correct < 0;
    if (!q) {
        c->n_left_out++;
        return;
    }
    if (r->correct >= 0)
        add_value(q, VALUE_CORRECT, r->correct);
    add_value(q, VALUE_SECONDS, r->latency.total_s);
    add_value(q, VALUE_TTFT_S, r->latency.ttft_s);
    add_value(q, VALUE_TOKENS_PER_S, r->latency.throughput_tps);
    add_energy(c, q, r);
}

static int add_run(struct contender *c, const char *dir, struct err *err)
{
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *record;
    int more = run_open(dir, &run, err);

    if (more < 0)
        return more;
    contender_describe(c, run_model(run), run_summary(run));
    while ((more = run_next(run, &record, err)) > 0)
        contender_add(c, record);
    return more < 0 ? err_prefix(err, "%s", dir) : 0;
}

/* Pools <dir>_r2, <dir>_r3, ... */
static int add_repeats(struct contender *c, const char *dir, struct err *err)
{
    size_t n = strlen(dir);
    int r = 0;

    while (n > 1 && dir[n - 1] == '/')
        n--;
    for (int k = 2; r == 0 && k <= CONTENDER_REPEATS_MAX; k++) {
        AUTO_FREE char *repeat = xasprintf("%.*s_r%d", (int)n, dir, k);

        if (!fs_exists(AT_FDCWD, repeat))
            break;
        r = add_run(c, repeat, err);
    }
    return r;
}

int contender_read(const char *dir, bool repeats, struct contender **ret, struct err *err)
{
    AUTO_PTR(contender) struct contender *c = contender_new(dir);
    int r = add_run(c, dir, err);

    if (r == 0 && repeats)
        r = add_repeats(c, dir, err);
    if (r < 0)
        return r;
    if (c->records == 0)
        return err_set(err, ENODATA, "%s has no records", dir);
    *ret = STEAL(c);
    return 0;
}

double question_mean(const struct question *q, enum contender_value v)
{
    return q->counts[v] ? q->sums[v] / q->counts[v] : NAN;
}

const char *contender_energy(const struct contender *c)
{
    if (c->estimated > 0)
        return "estimated";
    if (c->measured > 0)
        return "measured";
    return c->unstated > 0 ? "unstated" : "none";
}

bool contender_invalid(const struct contender *c)
{
    return badness(c->verdict) == 2;
}
