#include "run/profile.h"

#include "arrow/infer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/log.h"
#include "run/config.h"
#include "run/profile_private.h"
#include "store/label.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUMMARY_MAX     ((size_t)64 << 20)
#define LOADING_WAIT_NS (300 * NS_PER_S)
/* After warm-up, before idle power is measured: clocks and fans are on their way down. */
#define CALM_NS (300 * NS_PER_MS)

static int status(void *arg, const char *words)
{
    struct session *s = arg;

    if (s->hooks->status)
        s->hooks->status(s->hooks->arg, words);
    return interrupt_seen(s->interrupt);
}

static int interrupted(struct session *s, struct err *err)
{
    s->outcome->interrupted = true;
    return err_set(err, ECANCELED, "interrupted before the first query");
}

/* Waits, unless interrupted. */
static int wait_ns(struct session *s, mono_ns ns, struct err *err)
{
    struct pollfd fd = {.fd = s->interrupt->fd, .events = POLLIN};
    struct timespec t = mono_timespec(ns);

    ppoll(&fd, 1, &t, NULL);
    return interrupt_seen(s->interrupt) ? interrupted(s, err) : 0;
}

/* ---- dataset ---- */

static int infer_metadata(struct session *s, struct err *err)
{
    struct item item;
    int r;

    arrow_schema_init(&s->metadata);
    while ((r = dataset_next(s->dataset, &item, err)) > 0) {
        if (item.metadata)
            r = arrow_infer_add(&s->metadata.root, item.metadata, err);
        if (r < 0)
            return r;
    }
    return r < 0 ? r : dataset_rewind(s->dataset, err);
}

/* A repetition asks in another order. A generated dataset has no order to change. */
static int open_shuffled(struct session *s, uint64_t seed, struct err *err)
{
    const struct profile_options *o = s->options;
    AUTO(kv_list) struct kv_list params = {0};

    for (size_t i = 0; i < o->dataset_params.n; i++)
        kv_add(&params, o->dataset_params.items[i].key, o->dataset_params.items[i].value);
    kv_add(&params, "shuffle", "true");
    if (dataset_open(o->dataset, &params, seed, &s->dataset, NULL) == 0)
        return 0;
    return dataset_open(o->dataset, &o->dataset_params, seed, &s->dataset, err);
}

static int open_dataset(struct session *s, struct err *err)
{
    const struct profile_options *o = s->options;
    uint64_t seed = (uint64_t)(o->seed + o->repetition - 1);
    struct dataset_rejects rejects;
    int r = o->repetition > 1
                ? open_shuffled(s, seed, err)
                : dataset_open(o->dataset, &o->dataset_params, seed, &s->dataset, err);

    if (r < 0)
        return r;
    dataset_rejects(s->dataset, &rejects);
    if (rejects.count > 0)
        log_warning("%lld rows of the dataset were left out; the first: %s",
                    (long long)rejects.count, rejects.first);
    s->scorer = o->scorer ? o->scorer : s->dataset->ops->scorer;
    s->deck =
        (struct deck){.dataset = s->dataset, .limit = o->max_queries, .again = o->duration_ns >= 0};
    return infer_metadata(s, err);
}

/* ---- client ---- */

static struct client_config client_config(const struct session *s)
{
    const struct profile_options *o = s->options;

    return (struct client_config){.base_url = o->base_url,
                                  .model = s->model,
                                  .params = &o->client_params,
                                  .generation = &o->generation,
                                  .timeout_ns = o->timeout_ns};
}

/* Asks for the models until a server that is loading answers. */
static int ask_models(struct session *s, struct model_list *ret, struct err *err)
{
    mono_ns deadline = mono_now() + LOADING_WAIT_NS;
    int r;

    while ((r = s->client->models(s->ctx, ret, err)) == -EAGAIN && mono_now() < deadline) {
        char words[64];

        snprintf(words, sizeof(words), "waiting for the server, %d s left",
                 (int)ns_to_s(deadline - mono_now()));
        if (status(s, words))
            return interrupted(s, err);
        r = wait_ns(s, NS_PER_S, err);
        if (r < 0)
            return r;
    }
    return r;
}

static int only_model(const struct model_list *l, char **ret, struct err *err)
{
    AUTO(buf) struct buf names = BUF_INIT(ERR_TEXT_MAX);

    if (l->n == 1) {
        *ret = xstrdup(l->names[0]);
        return 0;
    }
    if (l->n == 0)
        return err_set(err, ENOENT, "the server names no model: say which with --model");
    for (size_t i = 0; i < l->n; i++)
        buf_addf(&names, "%s%s", i ? ", " : "", l->names[i]);
    return err_set(err, EINVAL, "which model? the server has %zu: --model %.180s", l->n,
                   buf_str(&names));
}

/* The server's only model, where none was named. The client is then opened anew with it. */
static int find_model(struct session *s, struct err *err)
{
    AUTO(model_list) struct model_list models = {0};
    struct client_config config = client_config(s);
    int r = s->client->open(&config, &s->ctx, err);

    if (r == 0)
        r = ask_models(s, &models, err);
    if (r == 0)
        r = only_model(&models, &s->model, err);
    s->client->close(s->ctx);
    s->ctx = NULL;
    return r;
}

static int open_client(struct session *s, struct err *err)
{
    struct client_config config;
    int r = 0;

    s->client = client_find(s->options->client, err);
    if (!s->client)
        return -EINVAL;
    s->model = s->options->model ? xstrdup(s->options->model) : NULL;
    if (!s->model)
        r = find_model(s, err);
    if (r < 0)
        return r;
    config = client_config(s);
    r = s->client->open(&config, &s->ctx, err);
    if (r == 0 && s->client->prepare)
        r = s->client->prepare(s->ctx, status, s, err);
    if (r == -ECANCELED)
        r = interrupted(s, err);
    s->outcome->model = r == 0 ? xstrdup(s->model) : NULL;
    return r;
}

/* ---- sensors and directory ---- */

static char *label_of(struct session *s)
{
    int n_gpus;
    const struct device *gpu = meter_gpu(s->meter, &n_gpus);
    AUTO_FREE char *name = gpu ? xasprintf("%s x%d", gpu->name, n_gpus) : NULL;

    return hardware_label(name, meter_system(s->meter)->cpu_brand);
}

/* Nobody should have to find out at the end. */
static void warn_of_source(const struct session *s)
{
    const struct channel *channels;
    size_t n = sampler_channels(meter_sampler(s->meter), &channels);
    bool measured = false, any = false;

    for (size_t i = 0; i < n; i++) {
        any = any || meter_counts(s->meter, i);
        measured = measured || (meter_counts(s->meter, i) && !channels[i].estimated);
    }
    if (!any)
        log_warning("NO ENERGY WILL BE MEASURED: no sensor is used (ipw doctor says why)");
    else if (!measured)
        log_warning("ENERGY WILL BE ESTIMATED from CPU utilisation: nothing here measures it (ipw "
                    "doctor says why)");
}

static int open_meter(struct session *s, struct err *err)
{
    struct meter_options wanted = {.collectors = s->options->telemetry,
                                   .period_ns = s->options->sample_interval_ns,
                                   .params = &s->options->collector_params};
    int r = meter_open(&wanted, &s->meter, err);

    if (r < 0)
        return r;
    s->hardware = label_of(s);
    warn_of_source(s);
    return 0;
}

static void seen_before(void *arg, int64_t index, double end_s)
{
    struct session *s = arg;

    deck_skip(&s->deck, index);
    if (end_s > s->seen_until_s)
        s->seen_until_s = end_s;
}

static char *run_path(const struct session *s)
{
    AUTO_FREE char *name = run_name(s->hardware, s->model, s->dataset->title);
    AUTO_FREE char *repetition =
        s->options->repetition > 1 ? xasprintf("_r%lld", (long long)s->options->repetition) : NULL;

    return xasprintf("%s/%s%s%s", s->options->output_dir, name,
                     s->options->suffix ? s->options->suffix : "", repetition ? repetition : "");
}

/* summary.json of the part before, whose totals go on. */
static void read_before(struct session *s)
{
    AUTO(buf) struct buf text = BUF_INIT(SUMMARY_MAX);

    if (s->deck.n_skipped > 0 && fs_read_all(sink_fd(s->sink), "summary.json", &text, NULL) == 0)
        json_doc_parse(&s->before, text.data, text.len, NULL);
}

static int open_sink(struct session *s, struct err *err)
{
    AUTO_FREE char *path = run_path(s);
    AUTO_FREE char *config = config_json(s->options, s->model, s->scorer, false);
    struct sink_options o = {.path = path,
                             .config = config,
                             .model = s->model,
                             .metadata = &s->metadata.root,
                             .overwrite = s->options->overwrite,
                             .resume = s->options->resume,
                             .seen = seen_before,
                             .arg = s};
    int r = sink_open(&o, &s->sink, err);

    if (r == -EEXIST && s->hooks->may_overwrite) {
        o.overwrite = s->hooks->may_overwrite(s->hooks->arg, path);
        if (!o.overwrite)
            return err_set(err, EEXIST, "not overwritten: %s", path);
        r = sink_open(&o, &s->sink, err);
    }
    if (r < 0)
        return r;
    s->live.done = s->deck.n_skipped;
    s->run_start = mono_now();
    if (s->deck.n_skipped > 0) /* times go on a second after the last one there is */
        s->run_start -= s_to_ns(s->seen_until_s + 1);
    sink_set_start(s->sink, s->run_start);
    read_before(s);
    return sink_samples(s->sink, meter_sampler(s->meter), err);
}

/* ---- before the first query ---- */

static int warm_up(struct session *s, struct err *err)
{
    struct deck deck = {.dataset = s->dataset, .limit = s->options->warmup, .again = true};
    struct load_options o = {
        .client = s->client,
        .ctx = s->ctx,
        .deck = &deck,
        .schedule = {.concurrency = s->options->concurrency > 0 ? s->options->concurrency : 1,
                     .total = s->options->warmup,
                     .start = mono_now()}};
    struct query *q;
    int r;

    if (s->options->warmup == 0)
        return 0;
    status(s, "warming up");
    r = load_open(&o, &s->load, err);
    while (r == 0 && !load_finished(s->load)) {
        r = load_step(s->load, mono_now() + NS_PER_S, s->interrupt->fd, err);
        if (interrupt_seen(s->interrupt))
            load_stop(s->load);
        while ((q = load_take(s->load))) {
            if (q->response.failure != FAILURE_NONE && !interrupt_seen(s->interrupt))
                log_warning("a warm-up query failed: %s", q->response.error);
            query_free(q);
        }
    }
    if (r == 0 && interrupt_seen(s->interrupt))
        r = interrupted(s, err);
    if (r == 0) {
        load_close(s->load);
        s->load = NULL;
    }
    deck_release(&deck);
    return r < 0 ? r : dataset_rewind(s->dataset, err);
}

static int measure_idle(struct session *s, struct err *err)
{
    struct rail_energy rails[RAIL_COUNT];
    const struct device *devices;
    mono_ns a, b;
    int r;

    for (int i = 0; i < RAIL_COUNT; i++)
        s->idle_w[i] = NAN;
    if (s->options->idle_ns == 0)
        return 0;
    status(s, "measuring idle power");
    r = wait_ns(s, CALM_NS, err);
    a = mono_now();
    if (r == 0)
        r = wait_ns(s, s->options->idle_ns, err);
    if (r < 0)
        return r;
    b = mono_now();
    meter_wait(s->meter, b);
    meter_rails(s->meter, a, b, rails);
    for (int i = 0; i < RAIL_COUNT; i++)
        if (rails[i].present)
            s->idle_w[i] = rails[i].energy.joules / ns_to_s(b - a);
    s->agreement =
        xcalloc(sampler_devices(meter_sampler(s->meter), &devices), sizeof(*s->agreement));
    meter_agreement(s->meter, a, b, s->agreement);
    return 0;
}

static int begin_queries(struct session *s, struct err *err)
{
    const struct profile_options *o = s->options;
    int64_t total = deck_total(&s->deck);
    mono_ns now = mono_now(), duration = o->duration_ns;
    struct load_options load = {.client = s->client,
                                .ctx = s->ctx,
                                .deck = &s->deck,
                                .retries = o->retries,
                                .failures_max = o->failures_max};

    if (duration >= 0 && s->deck.n_skipped > 0) {
        duration -= s_to_ns(s->seen_until_s);
        duration = duration > 0 ? duration : 1;
    }
    load.schedule =
        (struct schedule_options){.concurrency = o->concurrency > 0     ? o->concurrency
                                                 : isnan(o->rate_per_s) ? 1
                                                                        : 0,
                                  .rate_per_s = isnan(o->rate_per_s) ? 0 : o->rate_per_s,
                                  .burstiness = o->burstiness,
                                  .total = total < 0 ? -1 : total - s->deck.n_skipped,
                                  .duration_ns = duration < 0 ? 0 : duration,
                                  .seed = (uint64_t)o->seed,
                                  .start = now};
    s->first_query = now;
    s->gauges = gauges_new(meter_sampler(s->meter), now - NS_PER_S, now);
    s->account = load.account = account_open(s->meter, s->idle_w, now);
    return load_open(&load, &s->load, err);
}

/* ---- all of it ---- */

static int prepare(struct session *s, struct err *err)
{
    int r = open_dataset(s, err);

    if (r == 0)
        r = open_client(s, err);
    if (r == 0)
        r = open_meter(s, err);
    return r < 0 ? r : open_sink(s, err);
}

static bool nothing_left(const struct session *s)
{
    int64_t total = deck_total(&s->deck);

    return total >= 0 && s->deck.n_skipped >= total;
}

static int ask_everything(struct session *s, struct err *err)
{
    int r;

    if (nothing_left(s)) {
        log_info("the run is complete: nothing is left to ask");
        s->first_query = s->last_end = mono_now();
        return 0;
    }
    meter_settle(s->meter);
    r = warm_up(s, err);
    if (r == 0)
        r = measure_idle(s, err);
    if (r == 0)
        r = begin_queries(s, err);
    return r < 0 ? r : session_loop(s, err);
}

/* Whatever happened, what was recorded becomes a dataset that can be opened. */
static int save(struct session *s, struct err *err)
{
    int r;

    if (sink_records(s->sink) == 0)
        return 0;
    sampler_stop(meter_sampler(s->meter));
    r = sink_samples(s->sink, meter_sampler(s->meter), err);
    if (r == 0)
        r = sink_finish(s->sink, err);
    s->outcome->path = xstrdup(sink_path(s->sink));
    return r < 0 ? r : session_summary(s, err);
}

static void release(struct session *s)
{
    if (s->ctx)
        s->client->close(s->ctx);
    load_close(s->load);
    account_close(s->account);
    gauges_free(s->gauges);
    sink_close(s->sink);
    meter_close(s->meter);
    deck_release(&s->deck);
    arrow_schema_release(&s->metadata);
    json_doc_release(&s->before);
    dataset_free(s->dataset);
    free(s->hardware);
    free(s->agreement);
    free(s->model);
}

int profile_run(const struct profile_options *options, const struct profile_hooks *hooks,
                struct interrupt *interrupt, struct profile_outcome *ret, struct err *err)
{
    struct session s = {.options = options,
                        .hooks = hooks,
                        .interrupt = interrupt,
                        .outcome = ret,
                        .started = clock_anchor_now()};
    int r, saved;

    *ret = (struct profile_outcome){0};
    r = prepare(&s, err);
    if (r == 0) {
        r = ask_everything(&s, err);
        saved = save(&s, r < 0 ? NULL : err);
        r = r < 0 ? r : saved;
    }
    release(&s);
    return r;
}

void profile_outcome_release(struct profile_outcome *o)
{
    free(o->path);
    free(o->summary);
    free(o->model);
    tally_release(&o->tally);
    *o = (struct profile_outcome){0};
}
