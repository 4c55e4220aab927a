/*
 * ipw doctor: which sensors work here, how good they are, and how to enable the rest. Reads
 * everything at full speed for a few seconds and reports what was seen, not what is documented.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "cli/commands.h"
#include "run/meter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct doctor_args {
    const char *telemetry;
    int64_t duration_ns;
    int64_t interval_ns;
    struct kv_list params;
    bool json;
};

static const struct option options[] = {
    {"telemetry", OPT_TEXT, offsetof(struct doctor_args, telemetry),
     "collectors to look at: auto, or names separated by commas", "LIST", "auto"},
    {"duration", OPT_DURATION, offsetof(struct doctor_args, duration_ns), "how long to watch", "T",
     "3s"},
    {"sample-interval", OPT_DURATION, offsetof(struct doctor_args, interval_ns),
     "time between reads", "T", "2ms"},
    {"collector-param", OPT_KV, offsetof(struct doctor_args, params),
     "parameter of a collector, such as estimate.tdp_watts=65; repeatable", "k=v"},
    {"json", OPT_FLAG, offsetof(struct doctor_args, json), "one JSON document on stdout"},
    {0},
};

static void print_collectors(struct meter *m)
{
    const struct collector_report *reports;
    size_t n = meter_reports(m, &reports);
    static const char *const words[] = {"works", "not here", "NOT READABLE", "not needed"};

    printf("Collectors\n");
    for (size_t i = 0; i < n; i++) {
        printf("  %-14s %-13s %s\n", reports[i].id, words[reports[i].state], reports[i].reason);
        if (reports[i].remedy[0])
            printf("  %-14s %-13s remedy: %s\n", "", "", reports[i].remedy);
    }
}

static void print_channel(struct meter *m, size_t i)
{
    const struct channel *channels;
    struct sampler_channel_stats stats;
    char refresh[32] = "-", read[32], step[32] = "-";

    sampler_channels(meter_sampler(m), &channels);
    sampler_stats(meter_sampler(m), i, &stats);
    if (stats.refresh_ns)
        format_duration(stats.refresh_ns, refresh, sizeof(refresh));
    format_duration(stats.read_ns, read, sizeof(read));
    if (!isnan(channels[i].quantum))
        snprintf(step, sizeof(step), "%.3g", channels[i].quantum);
    printf("  %-12s %-24s %-7s %-22s %10s %10s %10s %12.6g%s%s\n",
           sampler_collector(meter_sampler(m), i), channels[i].name, rail_name(channels[i].rail),
           quantity_name(channels[i].quantity), step, refresh, read, stats.last,
           channels[i].estimated ? "  ESTIMATED" : "", stats.dropped ? "  DROPPED" : "");
}

static void print_channels(struct meter *m)
{
    const struct channel *channels;
    size_t n = sampler_channels(meter_sampler(m), &channels);

    if (n == 0)
        return;
    printf("\n  %-12s %-24s %-7s %-22s %10s %10s %10s %12s\n", "collector", "channel", "rail",
           "quantity", "step", "refresh", "read cost", "last");
    for (size_t i = 0; i < n; i++)
        print_channel(m, i);
}

static void print_agreement(struct meter *m, mono_ns a, mono_ns b)
{
    const struct device *devices;
    size_t n = sampler_devices(meter_sampler(m), &devices);
    AUTO_FREE double *ratios = xcalloc(n, sizeof(*ratios));

    meter_agreement(m, a, b, ratios);
    for (size_t i = 0; i < n; i++)
        if (isfinite(ratios[i]))
            printf("  %s: counter / integrated power = %.3f%s\n", devices[i].name, ratios[i],
                   fabs(ratios[i] - 1) > 0.05 ? "  (they disagree: trust the counter, and ask why)"
                                              : "");
}

static void print_power(const struct rail_energy *rails)
{
    bool any = false;

    printf("\nPower now (nothing of ours running)\n");
    for (int r = 0; r < RAIL_COUNT; r++) {
        if (!rails[r].present || isnan(rails[r].power_w.avg))
            continue;
        any = true;
        printf("  %-7s %8.2f W%s\n", rail_name((enum rail)r), rails[r].power_w.avg,
               rails[r].estimated ? "  ESTIMATED from utilisation, not measured" : "");
    }
    if (!any)
        printf("  nothing here measures power: energy will be absent from every record\n");
}

static void print_json(struct meter *m, const struct rail_energy *rails, mono_ns a, mono_ns b)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&out, JSON_PRETTY);
    const struct device *devices;
    AUTO_FREE double *ratios =
        xcalloc(sampler_devices(meter_sampler(m), &devices), sizeof(*ratios));

    jw_begin_object(&w, NULL);
    meter_describe(m, &w);
    meter_agreement(m, a, b, ratios);
    meter_describe_agreement(m, ratios, &w);
    jw_begin_object(&w, "idle_watts");
    for (int r = 0; r < RAIL_COUNT; r++)
        if (rails[r].present)
            jw_real(&w, rail_name((enum rail)r), rails[r].power_w.avg);
    jw_end_object(&w);
    jw_text(&w, "energy_source", meter_source(rails));
    jw_end_object(&w);
    puts(out.data);
}

static int doctor_run(const void *args, const struct operands *operands)
{
    const struct doctor_args *a = args;
    struct meter_options wanted = {.collectors = a->telemetry,
                                   .period_ns = a->interval_ns,
                                   .fixed_period = true,
                                   .params = &a->params};
    struct rail_energy rails[RAIL_COUNT];
    struct meter *m = NULL;
    struct err err = {0};
    char message[ERR_TEXT_MAX];
    mono_ns from, to;

    (void)operands;
    if (meter_open(&wanted, &m, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    meter_settle(m);
    from = mono_now();
    mono_sleep_until(from + a->duration_ns);
    to = mono_now();
    meter_wait(m, to);
    meter_rails(m, from, to, rails);
    while (sampler_message(meter_sampler(m), message, sizeof(message)))
        log_warning("%s", message);
    if (a->json) {
        print_json(m, rails, from, to);
    } else {
        print_collectors(m);
        print_channels(m);
        print_agreement(m, from, to);
        print_power(rails);
    }
    meter_close(m);
    return EXIT_DONE;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .help = "which sensors work, how good they are, how to enable the rest",
    .options = options,
    .args_size = sizeof(struct doctor_args),
    .details =
        "`step` is the smallest change a sensor can show, `refresh` how often it was seen to\n"
        "change, `read cost` the time of one read. Units are in the quantity's name.",
    .run = doctor_run,
};
