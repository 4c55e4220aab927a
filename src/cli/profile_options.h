/*
 * The options that `ipw profile` and `ipw sweep` have in common, as rows for a command's table.
 */
#ifndef IPW_CLI_PROFILE_OPTIONS_H
#define IPW_CLI_PROFILE_OPTIONS_H

#include "cli/options.h"
#include "run/profile.h"

#define PROFILE_AT(args, member, field) \
    (offsetof(args, member) + offsetof(struct profile_options, field))

/* clang-format off */
/* All but model, concurrency and request-rate, of which a sweep takes lists. */
#define PROFILE_OPTIONS_COMMON(args, m)                                                           \
    {"client", OPT_TEXT, PROFILE_AT(args, m, client),                                             \
     "inference client: see ipw list clients", "ID", PROFILE_CLIENT},                             \
    {"client-base-url", OPT_TEXT, PROFILE_AT(args, m, base_url),                                  \
     "address of the server (default: the client's)", "URL"},                                     \
    {"client-param", OPT_KV, PROFILE_AT(args, m, client_params),                                  \
     "parameter of the client, such as endpoint=completions; repeatable", "k=v"},                 \
    {"param", OPT_KV, PROFILE_AT(args, m, generation),                                            \
     "generation parameter, sent with each request, such as max_tokens=128; repeatable", "k=v"},  \
    {"dataset", OPT_TEXT, PROFILE_AT(args, m, dataset),                                           \
     "registered id, a .jsonl or .csv file, or a HuggingFace directory", "ID|PATH", "ipw"},       \
    {"dataset-param", OPT_KV, PROFILE_AT(args, m, dataset_params),                                \
     "parameter of the dataset, such as subject=algebra or shuffle=true; repeatable", "k=v"},     \
    {"max-queries", OPT_INT, PROFILE_AT(args, m, max_queries),                                    \
     "ask at most so many (default: all)", "N", .min = 1, .max = 1e12},                           \
    {"warmup-queries", OPT_INT, PROFILE_AT(args, m, warmup),                                      \
     "sent first and not recorded", "N", "3", .min = 0, .max = 1e6},                              \
    {"burstiness", OPT_REAL, PROFILE_AT(args, m, burstiness),                                     \
     "with --request-rate: 1 is Poisson, less comes in bursts, more is regular",                  \
     "B", "1", .min = 0.001, .max = 1e6},                                                         \
    {"duration", OPT_DURATION, PROFILE_AT(args, m, duration_ns),                                  \
     "repeat the dataset until this time has passed", "T"},                                       \
    {"timeout", OPT_DURATION, PROFILE_AT(args, m, timeout_ns),                                    \
     "limit of a query", "T", "600s"},                                                            \
    {"retries", OPT_INT, PROFILE_AT(args, m, retries),                                            \
     "send a query that failed for a passing reason again, so many times",                        \
     "N", "0", .min = 0, .max = 100},                                                             \
    {"stop-after", OPT_INT, PROFILE_AT(args, m, failures_max),                                    \
     "give up after so many failures in a row; 0 = never", "N", "10", .min = 0, .max = 1e9},      \
    {"output-dir", OPT_TEXT, PROFILE_AT(args, m, output_dir),                                     \
     "where the run's directory goes", "DIR", "./runs"},                                          \
    {"overwrite", OPT_FLAG, PROFILE_AT(args, m, overwrite),                                       \
     "replace an existing run"},                                                                  \
    {"resume", OPT_FLAG, PROFILE_AT(args, m, resume),                                             \
     "go on with an existing run"},                                                               \
    {"telemetry", OPT_TEXT, PROFILE_AT(args, m, telemetry),                                       \
     "collectors: auto, none, or names separated by commas", "LIST", "auto"},                     \
    {"sample-interval", OPT_DURATION, PROFILE_AT(args, m, sample_interval_ns),                    \
     "time between reads of the sensors", "T", "20ms"},                                           \
    {"collector-param", OPT_KV, PROFILE_AT(args, m, collector_params),                            \
     "parameter of a collector, such as estimate.tdp_watts=65; repeatable", "k=v"},               \
    {"idle", OPT_DURATION, PROFILE_AT(args, m, idle_ns),                                          \
     "measure idle power so long before the first query; 0 skips it", "T", "3s"},                 \
    {"no-score", OPT_FLAG, PROFILE_AT(args, m, no_score),                                         \
     "do not score the answers"},                                                                 \
    {"scorer", OPT_TEXT, PROFILE_AT(args, m, scorer),                                             \
     "score all answers by this (see ipw list scorers), whatever the dataset says", "SPEC"},      \
    {"price-kwh", OPT_REAL, PROFILE_AT(args, m, price_per_kwh_usd),                               \
     "price of a kilowatt hour in US dollars, for the cost of a query",                           \
     "USD", .min = 0, .max = 1e6},                                                                \
    {"carbon-intensity", OPT_REAL, PROFILE_AT(args, m, carbon_g_per_kwh),                         \
     "grams of CO2 per kilowatt hour", "G", .min = 0, .max = 1e6},                                \
    {"seed", OPT_INT, PROFILE_AT(args, m, seed),                                                  \
     "of schedule, shuffling and sampling", "N", "0", .min = 0, .max = 9007199254740992.0}

#define PROFILE_OPTIONS(args, m)                                                                  \
    PROFILE_OPTIONS_COMMON(args, m),                                                              \
    {"model", OPT_TEXT, PROFILE_AT(args, m, model),                                               \
     "model's name as the server knows it (default: its only one)", "NAME", .letter = 'm'},       \
    {"concurrency", OPT_INT, PROFILE_AT(args, m, concurrency),                                    \
     "queries in flight (default 1; with --request-rate: any number)",                            \
     "N", .min = 1, .max = 1000000},                                                              \
    {"request-rate", OPT_REAL, PROFILE_AT(args, m, rate_per_s),                                   \
     "open loop: send so many per second, whatever the server does", "R", .min = 1e-6, .max = 1e6}
/* clang-format on */

/* The default of --client. */
#define PROFILE_CLIENT "pocket"

/* What the table cannot check; prints what is wrong. */
int profile_options_check(const struct profile_options *o);

/* Runs it, with progress and messages; returns the exit status. The outcome is to be released. */
int profile_once(const struct profile_options *o, struct interrupt *interrupt,
                 struct profile_outcome *ret);

/* A pause between two runs; an interrupt ends it. */
void profile_cool_down(int64_t ns, struct interrupt *i);

#endif
