/*
 * summary: summary.json, what a run was and what came of it.
 *
 * The Python tool's keys come first, in its order; what the run knows beyond them is added by the
 * caller in a callback, as further members of the same object:
 *
 *     struct summary s = {.model = "llama3.2:1b", .total_queries = 12, ...};
 *     r = summary_write(dirfd, &s, add_totals, &totals, &err);
 *
 * The file is replaced atomically. Absent text is null.
 */
#ifndef IPW_STORE_SUMMARY_H
#define IPW_STORE_SUMMARY_H

#include "base/err.h"
#include "base/json.h"
#include "core/channel.h"

#include <stdint.h>

#define SUMMARY_SCHEMA_VERSION 1

struct summary {
    const char *model;
    const char *config;       /* JSON text: an object */
    const char *dataset;      /* its id */
    const char *dataset_name; /* its title */
    const char *hardware_label;
    int64_t generated_wall_ns;
    int64_t total_queries;            /* records */
    const struct system_info *system; /* NULL = not known */
    const struct device *gpu;         /* NULL = none */
    const char *output_dir;
    const char *command_line;
    int64_t started_wall_ns;
    const char *started_at; /* the date itself, of a run that is resumed; NULL = the one before */
    int64_t finished_wall_ns;
};

/* `more` may be NULL. */
int summary_write(int dirfd, const struct summary *s,
                  void (*more)(void *arg, struct json_writer *w), void *arg, struct err *err);

#endif
