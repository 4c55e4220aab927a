/*
 * What the files of profile share: one run from its options to its outcome.
 */
#ifndef IPW_RUN_PROFILE_PRIVATE_H
#define IPW_RUN_PROFILE_PRIVATE_H

#include "arrow/schema.h"
#include "client/client.h"
#include "dataset/dataset.h"
#include "run/account.h"
#include "run/deck.h"
#include "run/gauges.h"
#include "run/load.h"
#include "run/meter.h"
#include "run/profile.h"
#include "run/sink.h"

struct session {
    const struct profile_options *options;
    const struct profile_hooks *hooks;
    struct interrupt *interrupt;
    struct profile_outcome *outcome;

    struct dataset *dataset;
    struct arrow_schema metadata; /* its root: the fields of dataset_metadata */
    struct deck deck;
    const struct client_ops *client;
    void *ctx;
    char *model;
    struct meter *meter;
    struct sink *sink;
    struct account *account;
    struct gauges *gauges;
    struct load *load;

    const char *scorer; /* for items that name none; NULL = not scored */
    char *hardware;
    struct clock_anchor started;
    mono_ns run_start;   /* zero of the times in records and samples */
    mono_ns first_query; /* when the queries began */
    mono_ns last_end;    /* when the last one had ended */
    double seen_until_s; /* end of the last record of the run that is resumed, 0 = none */
    double idle_w[RAIL_COUNT];
    double *agreement;      /* of counters and power, by device, over the idle time; NULL = none */
    struct json_doc before; /* summary.json of the run that is resumed */
    struct rail_energy now[RAIL_COUNT];

    struct live {
        int64_t done, failed, output_tokens;
        double joules, joules_with_tokens;
        int64_t tokens_with_joules;
        mono_ns shown, accounted, drained;
    } live;
};

/* The queries: from the first to the last sample of the last one. */
int session_loop(struct session *s, struct err *err);
/* Reads the finished run back, adds it up, writes summary.json. */
int session_summary(struct session *s, struct err *err);

#endif
