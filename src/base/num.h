/*
 * num: text to numbers and back, without guessing.
 *
 * A parser takes the whole text or refuses it: no leading blanks, no trailing garbage, no overflow.
 * Refusals are -EINVAL (not such a thing) or -ERANGE (does not fit) with words that name the text.
 */
#ifndef IPW_BASE_NUM_H
#define IPW_BASE_NUM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

int parse_i64(const char *text, int64_t *ret, struct err *err);
int parse_u64(const char *text, uint64_t *ret, struct err *err);
/* Finite decimal only: no "inf", "nan", hexadecimal or locale forms. */
int parse_f64(const char *text, double *ret, struct err *err);

/* "20ms", "1.5s", "2m", "1h", "250us", "10ns"; a bare number is seconds. Not negative. */
int parse_duration(const char *text, int64_t *ret_ns, struct err *err);
/* "1.5GiB", "64k", "2MB", "512"; k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024; the final
 * B may be left out. Not negative. */
int parse_size(const char *text, int64_t *ret_bytes, struct err *err);

/* The shortest decimal that reads back as the same double ("0.1", "1e+300"; "nan", "inf" for what
 * JSON cannot say: callers decide). text needs 32 bytes. Returns its length. */
size_t format_f64(double value, char *text);
/* "20 ms", "1.5 s", "2.00 h": for people. */
void format_duration(int64_t ns, char *text, size_t size);

#endif
