/*
 * array_check: are the buffers of an array what its type promises?
 *
 * Pure functions, used by the reader when it loads a batch, so that no accessor ever needs to
 * check. Each looks at a buffer a bounded number of times, whatever is in it.
 */
#ifndef IPW_ARROW_ARRAY_CHECK_H
#define IPW_ARROW_ARRAY_CHECK_H

#include "arrow/array.h"

#include <stdint.h>

/* n + 1 offsets of `width` (4 or 8) bytes must start at 0 or later and never fall. Returns the
 * index of the first that does not, -1 when all is well. */
int64_t check_offsets(const uint8_t *offsets, int64_t n, unsigned width);

/* Every value that is not null of an ARROW_UTF8 or ARROW_LARGE_UTF8 array whose offsets are good
 * must be valid UTF-8. Returns the first that is not, -1 when all are. */
int64_t check_utf8(const struct arrow_array *a);

/* Every index that is not null must lie in 0..n_values - 1. a->dictionary is not set yet. Returns
 * the first value that does not, -1 when all do. */
int64_t check_indexes(const struct arrow_array *a, int64_t n_values);

/* Every view that is not null must have a length and, when that is over 12, one of n_buffers. Sets
 * ret_needs[k] to the bytes that buffer k must have. Returns the first bad one, -1 = none. */
int64_t check_views(const struct arrow_array *a, size_t n_buffers, size_t *ret_needs);

/* Every view that is not null must be valid UTF-8; a->view_buffers, n_buffers of them, are set and
 * hold what check_views asked for. Views may overlap, so looking at each could take forever: bytes
 * looked at more than once are taken from *allowance. Returns the first bad one, -1 = none, -2 =
 * the allowance was used up. */
int64_t check_view_utf8(const struct arrow_array *a, size_t n_buffers, int64_t *allowance);

#endif
