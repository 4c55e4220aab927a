/*
 * infer: JSON rows without a schema become typed Arrow columns.
 *
 * Two passes: the first finds the types over all rows, the second puts the values.
 *
 *     arrow_schema_init(&schema);
 *     for each row: arrow_infer_add(&schema.root, row, &err);
 *     arrow_builder_new(&schema, &b, &err);
 *     for each row: arrow_put_json_row(b, row); arrow_builder_end_row(b, &err);
 *
 * The types, as HuggingFace's Dataset.from_list has them wherever it accepts the values:
 *
 *     only null            null            string    utf8             boolean   bool
 *     whole number         int64           with a fraction, or beyond int64, or mixed   float64
 *     object               struct: the union of all keys in the order first seen; a missing key is
 *                          a null there; {} alone is a struct without fields
 *     array                list<item>, the type over all elements of all rows; [] alone has null
 *     null next to any     that type, with a null
 *
 * Where that library gives up (a string and a number, a boolean and a number, an object or array
 * next to anything else in one place), the place becomes utf8: a string as it is, any other value
 * as its JSON text in one line. So the types found always hold every value seen. The same is done
 * for objects and arrays deeper than ARROW_INFER_DEPTH_MAX, and for an object whose new key would
 * bring more than ARROW_INFER_FIELDS_MAX fields below the parent (a map with ever new keys).
 *
 * Whole numbers beyond 2^53 are rounded to the nearest double in a float64 column. Of two equal
 * keys in one object the last counts. A key ends at its first NUL character.
 */
#ifndef IPW_ARROW_INFER_H
#define IPW_ARROW_INFER_H

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>

#define ARROW_INFER_DEPTH_MAX  32
#define ARROW_INFER_FIELDS_MAX 1024

/* Widens the children of a struct (or of a schema's root) so that they hold this object's members.
 * -EINVAL when it is no object, -E2BIG when it has too many keys for the struct itself; fields
 * found so far stay. */
int arrow_infer_add(struct arrow_field *parent, const struct json *object, struct err *err);

/* Puts one value, with all that is below it; v NULL = null. Returns whether it was kept whole: what
 * the column's type cannot hold becomes null, and members without a field are left out. */
bool arrow_put_json(struct arrow_column *c, const struct json *v);
/* Puts an object's members into the top-level columns; the row is then to be ended. What is no
 * object gives a row of nulls, and false. */
bool arrow_put_json_row(struct arrow_builder *b, const struct json *object);

#endif
