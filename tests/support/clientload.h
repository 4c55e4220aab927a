/*
 * clientload: queries sent to a server by a client, when a schedule says so.
 *
 *     struct clientload load = {.client = "openai", .url = server.url, .model = "fake-model"};
 *     clientload_init(&load, 64);                 64 queries; give each its prompt
 *     snprintf(load.queries[i].prompt, ...);
 *     r = clientload_run(&load, &schedule, &err);
 *     load.queries[i].response ...
 *     clientload_release(&load);
 *
 * One thread.
 */
#ifndef IPW_TESTS_CLIENTLOAD_H
#define IPW_TESTS_CLIENTLOAD_H

#include "client/client.h"
#include "run/schedule.h"

struct clientload_query {
    struct client_query query;
    struct response response;
    char prompt[128];
    mono_ns planned;
    int ends;   /* CLIENT_END events: 1 when all is well */
    int strays; /* events after the end */
};

struct clientload {
    /* the caller's, before the run */
    const char *client, *url, *model;
    struct kv_list params, generation; /* released with the load */
    mono_ns timeout_ns, idle_timeout_ns;
    /* the results */
    struct clientload_query *queries;
    size_t n;
    struct schedule_stats stats;
    /* within */
    struct schedule *schedule;
};

void clientload_init(struct clientload *l, size_t n);
void clientload_release(struct clientload *l);
/* Opens the client, sends the n queries in order, waits for their ends, and closes. What the
 * schedule's total and start are is decided here. A query that fails is no failure of the run. */
int clientload_run(struct clientload *l, struct schedule_options schedule, struct err *err);

/* As many open files as the system allows; children inherit it. -EMFILE when those are fewer than
 * wanted. */
int clientload_want_files(size_t wanted, struct err *err);

#endif
