/*
 * run_private: what run.c and run_samples.c share.
 */
#ifndef IPW_ANALYSIS_RUN_PRIVATE_H
#define IPW_ANALYSIS_RUN_PRIVATE_H

#include "analysis/run.h"

#include "arrow/hfdir.h"

/* A column and the member it fills. */
struct binding {
    enum field_kind kind;
    const struct arrow_array *column;
    void *member;
    size_t size;        /* FIELD_CHARS */
    bool is_evaluation; /* FIELD_TRI: what it says counts, not only that it is true */
    size_t next;        /* FIELD_BEGIN_AT: the first binding behind its members */
};

struct run {
    char *dir;
    char *model;
    struct json_doc summary;

    struct hfdir *rows;
    const struct arrow_array *batch; /* NULL = none is open */
    int64_t next_row;                /* of the batch */
    struct binding *bindings;        /* for the batch; n_record_fields fit */
    size_t n_bindings;

    /* the record handed out, and what it points to */
    struct record record;
    struct device gpu;
    struct system_info system;
    struct arena texts;
    struct json_doc metadata;
    struct buf metadata_text;

    struct sampled_channel *channels;
    size_t n_channels, cap_channels;
    struct arena channel_texts;
};

#endif
