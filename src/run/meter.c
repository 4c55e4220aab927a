#include "run/meter.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MAX_NS (1200 * NS_PER_MS)
#define WAIT_MAX_NS   (5 * NS_PER_S)

struct meter {
    struct sampler *sampler;
    struct collector_report *reports;
    size_t n_reports, cap_reports;
    bool *counted;        /* per channel */
    struct series series; /* scratch */
    struct system_info system;
};

static void report(struct meter *m, const char *id, enum collector_state state,
                   const struct err *err)
{
    struct collector_report *r;

    GROW(m->reports, m->n_reports, m->cap_reports);
    r = &m->reports[m->n_reports++];
    *r = (struct collector_report){.id = id, .state = state};
    if (err)
        plugin_explain(err, r->reason, r->remedy);
}

/* The parameters of one collector, without its prefix. */
static void params_of(const struct kv_list *all, const char *id, struct kv_list *ret)
{
    size_t len = strlen(id);

    for (size_t i = 0; all && i < all->n; i++)
        if (strncmp(all->items[i].key, id, len) == 0 && all->items[i].key[len] == '.')
            kv_add(ret, all->items[i].key + len + 1, all->items[i].value);
}

static int add_collector(struct meter *m, const struct collector_ops *ops,
                         const struct meter_options *options, struct err *err)
{
    struct telemetry_env env = telemetry_env_default();
    AUTO(kv_list) struct kv_list params = {0};
    int r;

    params_of(options->params, ops->plugin.id, &params);
    env.params = &params;
    *err = (struct err){0};
    r = sampler_add(m->sampler, ops, &env, err);
    if (r == 0)
        report(m, ops->plugin.id, COLLECTOR_USED, NULL);
    else
        report(m, ops->plugin.id, r == -ENODEV ? COLLECTOR_ABSENT : COLLECTOR_FAILED, err);
    return r;
}

static bool measures_cpu(const struct meter *m)
{
    const struct channel *channels;
    size_t n = sampler_channels(m->sampler, &channels);

    for (size_t i = 0; i < n; i++)
        if ((channels[i].rail == RAIL_CPU || channels[i].rail == RAIL_SOC) && channels[i].summed)
            return true;
    return false;
}

static void add_all(struct meter *m, const struct meter_options *options)
{
    struct err err;

    for (int estimates = 0; estimates < 2; estimates++) { /* measuring ones first */
        for (const struct plugin *const *p = collectors.items; *p; p++) {
            const struct collector_ops *ops = collector_find((*p)->id, &err);

            if (ops->estimates != (estimates == 1))
                continue;
            if (estimates && measures_cpu(m)) {
                err_set(&err, ECANCELED, "the CPU is measured");
                report(m, ops->plugin.id, COLLECTOR_NOT_WANTED, &err);
            } else {
                add_collector(m, ops, options, &err);
            }
        }
    }
}

static int add_named(struct meter *m, const struct meter_options *options, struct err *err)
{
    AUTO_FREE char *list = xstrdup(options->collectors);
    char *rest = list, *name;
    int r = 0;

    while (r == 0 && (name = strsep(&rest, ","))) {
        const struct collector_ops *ops = collector_find(name, err);

        r = ops ? add_collector(m, ops, options, err) : -ENOENT;
        if (ops && r < 0)
            err_prefix(err, "collector %s", ops->plugin.id);
    }
    return r;
}

static int check_params(const struct kv_list *params, struct err *err)
{
    for (size_t i = 0; params && i < params->n; i++) {
        const char *dot = strchr(params->items[i].key, '.');
        AUTO_FREE char *id =
            dot ? xstrndup(params->items[i].key, (size_t)(dot - params->items[i].key)) : NULL;

        if (!id)
            return err_set(err, EINVAL, "'%.60s': a parameter is named collector.key",
                           params->items[i].key);
        if (!collector_find(id, err))
            return -ENOENT;
    }
    return 0;
}

/* Whether an earlier channel counts for the same thing. */
static bool seen_before(const struct meter *m, const struct channel *channels,
                        const struct device *devices, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        bool other = sampler_collector(m->sampler, k) != sampler_collector(m->sampler, i);

        if (!m->counted[k] || channels[k].rail != channels[i].rail || !other)
            continue;
        if (channels[i].rail != RAIL_GPU)
            return true;
        if (devices[channels[k].device].uuid[0] &&
            strcmp(devices[channels[k].device].uuid, devices[channels[i].device].uuid) == 0)
            return true;
    }
    return false;
}

static void choose_channels(struct meter *m)
{
    const struct channel *channels;
    const struct device *devices;
    size_t n = sampler_channels(m->sampler, &channels);

    sampler_devices(m->sampler, &devices);
    m->counted = xcalloc(n, sizeof(*m->counted));
    for (size_t i = 0; i < n; i++)
        m->counted[i] = channels[i].summed &&
                        (channels[i].quantity == QUANTITY_ENERGY_J ||
                         channels[i].quantity == QUANTITY_POWER_W) &&
                        !seen_before(m, channels, devices, i);
}

int meter_open(const struct meter_options *options, struct meter **ret, struct err *err)
{
    struct meter *m = xcalloc(1, sizeof(*m));
    struct telemetry_env env = telemetry_env_default();
    int r = check_params(options->params, err);

    system_info_read(&env, &m->system);
    m->sampler = sampler_new(&(struct sampler_options){.period_ns = options->period_ns,
                                                       .fixed_period = options->fixed_period});
    if (r == 0 && strcmp(options->collectors, "auto") == 0)
        add_all(m, options);
    else if (r == 0 && strcmp(options->collectors, "none") != 0)
        r = add_named(m, options, err);
    if (r == 0) {
        choose_channels(m);
        r = sampler_start(m->sampler, err);
    }
    if (r < 0) {
        meter_close(m);
        return r;
    }
    *ret = m;
    return 0;
}

void meter_close(struct meter *m)
{
    if (!m)
        return;
    sampler_free(m->sampler);
    series_release(&m->series);
    free(m->reports);
    free(m->counted);
    free(m);
}

struct sampler *meter_sampler(struct meter *m)
{
    return m->sampler;
}

size_t meter_reports(const struct meter *m, const struct collector_report **ret)
{
    *ret = m->reports;
    return m->n_reports;
}

bool meter_counts(const struct meter *m, size_t channel)
{
    return m->counted[channel];
}

static bool settled(struct meter *m)
{
    const struct channel *channels;
    size_t n = sampler_channels(m->sampler, &channels);

    for (size_t i = 0; i < n; i++) {
        struct sampler_channel_stats stats;

        if (!m->counted[i])
            continue;
        sampler_stats(m->sampler, i, &stats);
        if (!stats.dropped && stats.ticks < 3)
            return false;
    }
    return true;
}

void meter_settle(struct meter *m)
{
    mono_ns deadline = mono_now() + SETTLE_MAX_NS;

    while (!settled(m) && mono_now() < deadline)
        mono_sleep_until(mono_now() + 5 * NS_PER_MS);
}

void meter_wait(struct meter *m, mono_ns t)
{
    sampler_wait(m->sampler, t, mono_now() + WAIT_MAX_NS);
}

static void add_to_rail(struct rail_energy *rail, const struct channel *c, struct energy e,
                        struct stat4 power)
{
    if (!rail->present) {
        *rail = (struct rail_energy){
            .present = true, .estimated = c->estimated, .energy = e, .power_w = power};
        return;
    }
    rail->estimated = rail->estimated || c->estimated;
    rail->energy = energy_add(rail->energy, e);
    /* the peaks of two devices need not fall together, so their sum bounds the sum's peak */
    rail->power_w.avg += power.avg;
    rail->power_w.max += power.max;
    rail->power_w.median += power.median;
    rail->power_w.min += power.min;
}

void meter_rails(struct meter *m, mono_ns a, mono_ns b, struct rail_energy *ret)
{
    const struct channel *channels;
    size_t n = sampler_channels(m->sampler, &channels);

    memset(ret, 0, RAIL_COUNT * sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        if (!m->counted[i])
            continue;
        sampler_copy(m->sampler, i, a, b, &m->series);
        add_to_rail(&ret[channels[i].rail], &channels[i],
                    energy_of_window(&channels[i], &m->series, a, b),
                    stats_of_window(&channels[i], &m->series, a, b));
    }
}

static const struct energy unknown = {.joules = NAN, .low_j = NAN, .high_j = NAN};

static void add_phase(struct energy *sum, bool first, const struct channel *c,
                      const struct series *s, mono_ns a, mono_ns b)
{
    struct energy e = a < b ? energy_of_window(c, s, a, b) : unknown;

    *sum = first ? e : energy_add(*sum, e);
}

void meter_phases(struct meter *m, mono_ns a, mono_ns first, mono_ns b, struct rail_phases *ret)
{
    const struct channel *channels;
    size_t n = sampler_channels(m->sampler, &channels);
    bool split = first != MONO_ABSENT && first > a && first <= b;

    memset(ret, 0, RAIL_COUNT * sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        const struct channel *c = &channels[i];
        struct rail_phases *rail = &ret[c->rail];
        bool fresh = !rail->whole.present;

        if (!m->counted[i])
            continue;
        sampler_copy(m->sampler, i, a, b, &m->series);
        add_to_rail(&rail->whole, c, energy_of_window(c, &m->series, a, b),
                    stats_of_window(c, &m->series, a, b));
        add_phase(&rail->prefill, fresh, c, &m->series, a, split ? first : a);
        add_phase(&rail->decode, fresh, c, &m->series, split ? first : b, b);
    }
}

const struct device *meter_gpu(const struct meter *m, int *ret_n)
{
    const struct device *devices, *first = NULL;
    size_t n = sampler_devices(m->sampler, &devices);
    int gpus = 0;

    for (size_t i = 0; i < n; i++) {
        if (devices[i].kind != DEVICE_GPU)
            continue;
        first = first ? first : &devices[i];
        gpus++;
    }
    if (ret_n)
        *ret_n = gpus;
    return first;
}

const struct system_info *meter_system(const struct meter *m)
{
    return &m->system;
}

const char *meter_source(const struct rail_energy *rails)
{
    const char *source = "none";

    for (int r = 0; r < RAIL_COUNT; r++) {
        if (!rails[r].present || isnan(rails[r].energy.joules))
            continue;
        if (!rails[r].estimated)
            return "measured";
        source = "estimated";
    }
    return source;
}

static double agreement_of(struct meter *m, size_t device, mono_ns a, mono_ns b)
{
    const struct channel *channels;
    size_t n = sampler_channels(m->sampler, &channels);
    double joules[2] = {NAN, NAN};

    for (size_t i = 0; i < n; i++) {
        const struct channel *c = &channels[i];
        int kind = c->quantity == QUANTITY_ENERGY_J ? 0 : c->quantity == QUANTITY_POWER_W ? 1 : -1;

        if (kind < 0 || c->device != device || c->rail == RAIL_NONE || !isnan(joules[kind]))
            continue;
        sampler_copy(m->sampler, i, a, b, &m->series);
        joules[kind] = energy_of_window(c, &m->series, a, b).joules;
    }
    return joules[0] / joules[1];
}

void meter_agreement(struct meter *m, mono_ns a, mono_ns b, double *ret)
{
    const struct device *devices;
    size_t n = sampler_devices(m->sampler, &devices);

    for (size_t i = 0; i < n; i++)
        ret[i] = agreement_of(m, i, a, b);
}

void meter_describe_agreement(struct meter *m, const double *ratios, struct json_writer *w)
{
    const struct device *devices;
    size_t n = sampler_devices(m->sampler, &devices);

    jw_begin_array(w, "agreement");
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(ratios[i]))
            continue;
        jw_begin_object(w, NULL);
        jw_text(w, "device", devices[i].name);
        jw_real(w, "counter_over_power", ratios[i]);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static const char *state_name(enum collector_state state)
{
    static const char *const names[] = {"used", "absent", "failed", "not wanted"};

    return names[state];
}

static void describe_channel(struct meter *m, size_t i, struct json_writer *w)
{
    const struct channel *channels;
    const struct device *devices;
    struct sampler_channel_stats stats;

    sampler_channels(m->sampler, &channels);
    sampler_devices(m->sampler, &devices);
    sampler_stats(m->sampler, i, &stats);
    jw_begin_object(w, NULL);
    jw_text(w, "collector", sampler_collector(m->sampler, i));
    jw_text(w, "device", devices[channels[i].device].name);
    jw_int(w, "device_number", devices[channels[i].device].number);
    jw_text(w, "channel", channels[i].name);
    jw_text(w, "rail", rail_name(channels[i].rail));
    jw_text(w, "quantity", quantity_name(channels[i].quantity));
    jw_bool(w, "counted", m->counted[i]);
    jw_bool(w, "estimated", channels[i].estimated);
    jw_real(w, "resolution", channels[i].quantum);
    jw_real(w, "wraps_at", channels[i].range);
    jw_real(w, "refresh_s", stats.refresh_ns ? ns_to_s(stats.refresh_ns) : NAN);
    jw_real(w, "period_s", ns_to_s(stats.period_ns));
    jw_real(w, "read_s", ns_to_s(stats.read_ns));
    jw_int(w, "reads", stats.reads);
    jw_int(w, "failed_reads", stats.failed_reads);
    jw_int(w, "ticks", stats.ticks);
    jw_int(w, "resets", stats.resets);
    jw_bool(w, "dropped", stats.dropped);
    jw_real(w, "last", stats.last);
    jw_end_object(w);
}

void meter_describe(struct meter *m, struct json_writer *w)
{
    const struct channel *channels;
    size_t n = sampler_channels(m->sampler, &channels);

    jw_begin_array(w, "collectors");
    for (size_t i = 0; i < m->n_reports; i++) {
        const struct collector_report *r = &m->reports[i];

        jw_begin_object(w, NULL);
        jw_text(w, "id", r->id);
        jw_text(w, "state", state_name(r->state));
        jw_text(w, "reason", r->reason[0] ? r->reason : NULL);
        jw_text(w, "remedy", r->remedy[0] ? r->remedy : NULL);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_begin_array(w, "channels");
    for (size_t i = 0; i < n; i++)
        describe_channel(m, i, w);
    jw_end_array(w);
}
