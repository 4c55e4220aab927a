/*
 * sampling: what tests of the sampler over simulated sources share.
 */
#ifndef IPW_TESTS_SAMPLING_H
#define IPW_TESTS_SAMPLING_H

#include "harness.h"
#include "simsource.h"
#include "telemetry/sampler.h"

#define MS NS_PER_MS

static const struct telemetry_env env = {.sysfs_root = "/nonexistent"};

static inline struct sampler *sampler_of(struct simsource *a, struct simsource *b,
                                         mono_ns period_ns)
{
    struct sampler *s = sampler_new(&(struct sampler_options){.period_ns = period_ns});
    struct err err = {0};

    simsource_next(a);
    assert_ok(sampler_add(s, &simsource_ops, &env, &err), &err);
    if (b) {
        simsource_next(b);
        assert_ok(sampler_add(s, &simsource_ops, &env, &err), &err);
    }
    return s;
}

static inline void start(struct sampler *s)
{
    struct err err = {0};

    assert_ok(sampler_start(s, &err), &err);
}

static inline void sleep_ms(int64_t ms)
{
    mono_ns until = mono_now() + ms * MS;

    while (mono_now() < until)
        mono_sleep_until(until);
}

static inline struct sampler_channel_stats stats_of(struct sampler *s, size_t channel)
{
    struct sampler_channel_stats r;

    sampler_stats(s, channel, &r);
    return r;
}

/* Waits until a message contains `part`; fails after 20 s. */
static inline void expect_message(struct sampler *s, const char *part)
{
    mono_ns deadline = mono_now() + 20 * NS_PER_S;
    char text[512];

    while (mono_now() < deadline) {
        while (sampler_message(s, text, sizeof(text)))
            if (strstr(text, part))
                return;
        sleep_ms(2);
    }
    fail_msg("no message about \"%s\"", part);
}

#endif
