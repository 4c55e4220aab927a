/*
 * schema: how a record and a telemetry sample look as rows.
 *
 * Types are fixed (float64, int64, utf8, bool), so that two runs always concatenate; only
 * dataset_metadata is a struct of the dataset's own shape, and model_answers and model_metrics have
 * one field named after the model.
 */
#ifndef IPW_STORE_SCHEMA_H
#define IPW_STORE_SCHEMA_H

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "core/channel.h"
#include "core/record.h"
#include "core/series.h"

/* `metadata` is a struct field whose children were inferred over the dataset (arrow/infer.h); NULL
 * = the dataset has none. The caller releases ret. */
void record_schema(const char *model, const struct arrow_field *metadata, struct arrow_schema *ret);
/* Puts a record as a row into a builder of such a schema: a hfwriter_put_fn, `record` being a const
 * struct record *. */
void record_put(void *record, struct arrow_builder *b);

/* One row of telemetry/: a tick of a channel. */
struct telemetry_row {
    const struct channel *channel;
    const struct device *device;
    const char *collector;
    struct tick tick;
    mono_ns run_start; /* times are seconds since then */
};
void telemetry_schema(struct arrow_schema *ret);
void telemetry_put(void *row, struct arrow_builder *b);

#endif
