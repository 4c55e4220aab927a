/*
 * profile: the whole of `ipw profile`: ask, measure, record.
 *
 *     struct profile_options o = {...};
 *     r = profile_run(&o, &hooks, &outcome, &err);
 *     ... outcome.path, outcome.tally ...
 *     profile_outcome_release(&outcome);
 *
 * The order: dataset, client and its model, sensors, the directory (so that nothing is asked before
 * it is certain where the answers go), warm-up, idle power, the queries, the last samples, the
 * datasets made whole, summary.json. Whatever ends it, what was recorded is saved and the client is
 * closed.
 */
#ifndef IPW_RUN_PROFILE_H
#define IPW_RUN_PROFILE_H

#include "analysis/tally.h"
#include "base/clock.h"
#include "base/err.h"
#include "core/kv.h"
#include "record/verdict.h"
#include "run/interrupt.h"
#include "run/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct profile_options {
    const char *client;   /* id */
    const char *model;    /* NULL = the server's only one */
    const char *base_url; /* NULL = the client's */
    struct kv_list client_params, generation;
    const char *dataset; /* id or path */
    struct kv_list dataset_params;
    int64_t max_queries; /* -1 = all */
    int64_t warmup;
    int64_t concurrency; /* 0 = 1 in closed loop, any in open loop */
    double rate_per_s;   /* NAN = closed loop */
    double burstiness;
    int64_t duration_ns; /* -1 = none */
    int64_t timeout_ns;
    int64_t retries;
    int64_t failures_max;
    const char *output_dir;
    bool overwrite, resume;
    const char *telemetry;
    int64_t sample_interval_ns;
    struct kv_list collector_params;
    int64_t idle_ns;
    bool no_score;
    const char *scorer; /* NULL = the item's, else the dataset's */
    int64_t seed;
    double price_per_kwh_usd, carbon_g_per_kwh; /* NAN = not told */

    /* not from the command line as they stand */
    const char *command_line; /* for summary.json, without secrets */
    const char *suffix;       /* of the directory's name, for a point of a sweep; NULL = none */
    int64_t repetition;       /* 1, or k of --repeat: then in a directory of its own, shuffled */
};

/* What can be shown while it runs. */
struct profile_progress {
    int64_t done, total; /* total -1 = not known: --duration */
    int64_t failed, in_flight;
    double seconds;    /* since the first query */
    double duration_s; /* of --duration, NAN = none */
    double queries_per_s, tokens_per_s;
    double watts; /* now, of the basis; NAN = not known */
    double joules_per_token;
    double eta_s; /* NAN = not known */
    bool estimated;
};

/* Any of them may be NULL. */
struct profile_hooks {
    /* There is a run at path: may it be replaced? */
    bool (*may_overwrite)(void *arg, const char *path);
    /* What is being done before the queries: "waiting for the server, 12 s left". */
    void (*status)(void *arg, const char *words);
    /* About four times a second, and after the last query. */
    void (*progress)(void *arg, const struct profile_progress *p);
    void *arg;
};

struct profile_outcome {
    char *path;    /* of the run; NULL = it came to none */
    char *summary; /* the text of summary.json, NULL = none was written */
    char *model;
    struct tally tally;
    struct run_verdict verdict;
    struct schedule_stats load;
    double seconds;    /* of the queries, earlier parts of a resumed run included */
    int64_t asked;     /* queries of this session, finished */
    int64_t cancelled; /* in flight when it was interrupted */
    bool interrupted;  /* by Ctrl-C or SIGTERM */
    bool gave_up;      /* too many failures in a row */
};

/* 0 when it ran, even if queries failed, it was interrupted or gave up: the outcome says so. An
 * error means that it did not begin, or could not go on (a full disk, a dataset that broke off);
 * outcome.path tells whether something was saved. The outcome is to be released either way.
 * `interrupt` was begun by the caller. */
int profile_run(const struct profile_options *options, const struct profile_hooks *hooks,
                struct interrupt *interrupt, struct profile_outcome *ret, struct err *err);
void profile_outcome_release(struct profile_outcome *o);

#endif
