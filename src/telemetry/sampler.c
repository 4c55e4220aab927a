/*
 * One table of channels over many sources. A channel is found by its number in `places`; everything
 * that moves is inside the sources and behind their locks, so the sampler itself has none.
 */
#include "telemetry/sampler.h"

#include "base/alloc.h"
#include "telemetry/source.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ticks copied under one lock: some microseconds. */
#define COPY_CHUNK 1024

#define PERIOD_MIN_NS (100 * NS_PER_US)

/* Where a channel lives. */
struct place {
    struct source *source;
    size_t channel; /* within the source */
};

struct sampler {
    struct sampler_options options;
    struct source **sources;
    size_t n_sources, cap_sources;
    struct channel *channels;
    struct place *places; /* one per channel */
    size_t n_channels, cap_channels, cap_places;
    struct device *devices;
    size_t n_devices, cap_devices;
    struct system_info system;
};

struct sampler *sampler_new(const struct sampler_options *options)
{
    struct sampler *s = xcalloc(1, sizeof(*s));

    s->options = *options;
    if (s->options.period_ns < PERIOD_MIN_NS)
        s->options.period_ns = PERIOD_MIN_NS;
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    sampler_stop(s);
    for (size_t i = 0; i < s->n_sources; i++)
        source_close(s->sources[i]);
    free(s->sources);
    free(s->channels);
    free(s->places);
    free(s->devices);
    free(s);
}

static void take_over(struct sampler *s, struct source *source, const struct collector_setup *setup)
{
    size_t first_device = s->n_devices;

    GROW(s->sources, s->n_sources, s->cap_sources);
    s->sources[s->n_sources++] = source;
    for (size_t i = 0; i < setup->n_devices; i++) {
        GROW(s->devices, s->n_devices, s->cap_devices);
        s->devices[s->n_devices++] = setup->devices[i];
    }
    for (size_t i = 0; i < setup->n_channels; i++) {
        GROW(s->channels, s->n_channels, s->cap_channels);
        GROW(s->places, s->n_channels, s->cap_places);
        s->channels[s->n_channels] = setup->channels[i];
        s->channels[s->n_channels].device += first_device;
        s->places[s->n_channels++] = (struct place){source, i};
    }
    if (setup->system.os_name[0] || setup->system.cpu_count > 0)
        s->system = setup->system;
}

int sampler_add(struct sampler *s, const struct collector_ops *ops, const struct telemetry_env *env,
                struct err *err)
{
    struct collector_setup setup = {.env = env};
    struct source *source;
    int r;

    r = source_open(ops, &setup, s->options.period_ns, s->options.fixed_period, &source, err);
    if (r == 0)
        take_over(s, source, &setup);
    collector_setup_release(&setup);
    return r;
}

int sampler_start(struct sampler *s, struct err *err)
{
    for (size_t i = 0; i < s->n_sources; i++) {
        int r = source_start(s->sources[i], err);

        if (r < 0) {
            sampler_stop(s);
            return r;
        }
    }
    return 0;
}

void sampler_stop(struct sampler *s)
{
    mono_ns deadline = mono_now() + SAMPLER_STOP_NS;

    for (size_t i = 0; i < s->n_sources; i++)
        source_stop_begin(s->sources[i]);
    for (size_t i = 0; i < s->n_sources; i++)
        source_stop_end(s->sources[i], deadline);
}

size_t sampler_channels(const struct sampler *s, const struct channel **ret)
{
    *ret = s->channels;
    return s->n_channels;
}

size_t sampler_devices(const struct sampler *s, const struct device **ret)
{
    *ret = s->devices;
    return s->n_devices;
}

const struct system_info *sampler_system(const struct sampler *s)
{
    return &s->system;
}

const char *sampler_collector(const struct sampler *s, size_t channel)
{
    return s->places[channel].source->ops->plugin.id;
}

static bool carries_energy(const struct channel *c)
{
    return c->quantity == QUANTITY_ENERGY_J || c->quantity == QUANTITY_POWER_W;
}

/* Waits for one channel; the others go on meanwhile, so waiting for one after the other is waiting
 * for all. */
static int wait_channel(struct source *source, size_t channel, mono_ns t, mono_ns deadline)
{
    int r = 0;

    pthread_mutex_lock(&source->lock);
    for (;;) {
        mono_ns now = mono_now(), until = deadline;
        struct timespec ts;

        source_check_hang(source, now);
        if (source_passed(source, channel) >= t)
            break;
        if (now >= deadline) {
            r = -ETIMEDOUT;
            break;
        }
        if (source->busy && source->busy_since + SAMPLER_HANG_NS < until)
            until = source->busy_since + SAMPLER_HANG_NS;
        ts = mono_timespec(until);
        pthread_cond_timedwait(&source->progress, &source->lock, &ts);
    }
    pthread_mutex_unlock(&source->lock);
    return r;
}

int sampler_wait(struct sampler *s, mono_ns t, mono_ns deadline)
{
    int result = 0;

    for (size_t i = 0; i < s->n_channels; i++) {
        int r;

        if (!carries_energy(&s->channels[i]))
            continue;
        r = wait_channel(s->places[i].source, s->places[i].channel, t, deadline);
        if (r < 0)
            result = r;
    }
    return result;
}

mono_ns sampler_progress(struct sampler *s)
{
    mono_ns now = mono_now(), least = MONO_NEVER;

    for (size_t i = 0; i < s->n_channels; i++) {
        struct source *source = s->places[i].source;
        mono_ns passed;

        if (!carries_energy(&s->channels[i]))
            continue;
        pthread_mutex_lock(&source->lock);
        source_check_hang(source, now);
        passed = source_passed(source, s->places[i].channel);
        pthread_mutex_unlock(&source->lock);
        if (passed < least)
            least = passed;
    }
    return least;
}

static void copy_gaps(const struct history *h, mono_ns from, mono_ns to, struct series *ret)
{
    for (size_t i = 0; i < h->n_gaps; i++)
        if (h->gaps[i].to >= from && h->gaps[i].from <= to)
            series_add_gap(ret, h->gaps[i]);
}

void sampler_copy(struct sampler *s, size_t channel, mono_ns a, mono_ns b, struct series *ret)
{
    struct source *source = s->places[channel].source;
    const struct history *h = &source->histories[s->places[channel].channel];
    uint64_t number, end;

    series_clear(ret);
    pthread_mutex_lock(&source->lock);
    history_range(h, a, b, &number, &end);
    ret->read_from = h->read_from;
    ret->read_until = h->read_until;
    ret->period_ns = source->pace.spacing_ns;
    copy_gaps(h, a, b, ret);
    pthread_mutex_unlock(&source->lock);

    series_reserve(ret, (size_t)(end - number));
    while (number < end) {
        uint64_t chunk = end - number < COPY_CHUNK ? end : number + COPY_CHUNK;

        pthread_mutex_lock(&source->lock);
        /* What was forgotten in between was not wanted. */
        if (number < h->first)
            number = h->first;
        for (; number < chunk; number++)
            series_add(ret, *history_tick(h, number));
        pthread_mutex_unlock(&source->lock);
        if (number < end)
            sched_yield(); /* the lock is not fair: let the sampling thread have it */
    }
}

void sampler_forget(struct sampler *s, mono_ns t)
{
    for (size_t i = 0; i < s->n_channels; i++) {
        struct source *source = s->places[i].source;

        pthread_mutex_lock(&source->lock);
        history_forget(&source->histories[s->places[i].channel], t);
        pthread_mutex_unlock(&source->lock);
    }
}

size_t sampler_take(struct sampler *s, size_t channel, struct tick *ret, size_t max)
{
    struct source *source = s->places[channel].source;
    struct history *h = &source->histories[s->places[channel].channel];
    uint64_t end;
    size_t n = 0;

    pthread_mutex_lock(&source->lock);
    h->taking = true;
    if (h->taken < h->first)
        h->taken = h->first;
    end = source->dropped || source->finished ? h->end : history_takable(h);
    while (n < max && h->taken < end)
        ret[n++] = *history_tick(h, h->taken++);
    pthread_mutex_unlock(&source->lock);
    return n;
}

void sampler_stats(struct sampler *s, size_t channel, struct sampler_channel_stats *ret)
{
    struct source *source = s->places[channel].source;
    const struct history *h = &source->histories[s->places[channel].channel];

    pthread_mutex_lock(&source->lock);
    source_check_hang(source, mono_now());
    *ret = (struct sampler_channel_stats){
        .period_ns = source->pace.spacing_ns,
        .refresh_ns = history_refresh(h),
        .read_ns = history_read_ns(h),
        .reads = h->reads,
        .failed_reads = h->failed_reads,
        .ticks = (int64_t)h->end,
        .resets = h->resets,
        .dropped = source->dropped,
        .last = h->last,
    };
    pthread_mutex_unlock(&source->lock);
}

bool sampler_message(struct sampler *s, char *text, size_t size)
{
    for (size_t i = 0; i < s->n_sources; i++) {
        struct source *source = s->sources[i];
        char *message = NULL;

        pthread_mutex_lock(&source->lock);
        source_check_hang(source, mono_now());
        if (source->n_messages > 0) {
            message = source->messages[0];
            source->n_messages--;
            memmove(source->messages, source->messages + 1,
                    source->n_messages * sizeof(*source->messages));
        }
        pthread_mutex_unlock(&source->lock);
        if (message) {
            snprintf(text, size, "%s", message);
            free(message);
            return true;
        }
    }
    return false;
}

static mono_ns source_cpu_ns(struct source *source)
{
    mono_ns cpu_ns = 0;
    clockid_t id;

    pthread_mutex_lock(&source->lock);
    /* While the lock is held an unfinished thread cannot end. */
    if (source->finished) {
        cpu_ns = source->cpu_ns;
    } else if (source->started && pthread_getcpuclockid(source->thread, &id) == 0) {
        struct timespec ts;

        if (clock_gettime(id, &ts) == 0)
            cpu_ns = ts.tv_sec * NS_PER_S + ts.tv_nsec;
    }
    pthread_mutex_unlock(&source->lock);
    return cpu_ns;
}

mono_ns sampler_cpu_ns(struct sampler *s)
{
    mono_ns total_ns = 0;

    for (size_t i = 0; i < s->n_sources; i++)
        total_ns += source_cpu_ns(s->sources[i]);
    return total_ns;
}
