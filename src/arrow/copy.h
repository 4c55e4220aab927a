/*
 * copy: rows that were read, or are being built, are written again.
 */
#ifndef IPW_ARROW_COPY_H
#define IPW_ARROW_COPY_H

#include "arrow/array.h"
#include "arrow/builder.h"

#include <stdint.h>

/* Puts value i of the array into the column, with all that is below it. The field types must be
 * equal and ones that the builder writes. */
void arrow_put_value(struct arrow_column *c, const struct arrow_array *a, int64_t i);

/* Puts row i of a batch into the top-level columns; the schemas must be equal. The row is then to
 * be ended. */
void arrow_put_row(struct arrow_builder *b, const struct arrow_array *batch, int64_t i);

/* Puts row i of a builder into another of the same schema. The row is then to be ended. */
void arrow_put_built_row(struct arrow_builder *to, const struct arrow_builder *from, int64_t i);

#endif
