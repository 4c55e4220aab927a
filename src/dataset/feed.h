/*
 * feed: the bytes of a file, or of memory, piece by piece and with their place.
 *
 * What the .jsonl and .csv readers stand on. A file of any size takes one piece of memory
 * (FEED_PIECE bytes).
 *
 *     r = feed_open(path, &feed, &err);
 *     while ((r = feed_read(feed, &piece, &n, &err)) > 0) ...
 *     feed_seek(feed, offset);          the next piece begins at this byte
 *     feed_free(feed);
 *
 * One thread at a time.
 */
#ifndef IPW_DATASET_FEED_H
#define IPW_DATASET_FEED_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define FEED_PIECE ((size_t)64 << 10)

struct feed;

/* A regular file: everything is read twice, which a pipe cannot give. */
int feed_open(const char *path, struct feed **ret, struct err *err);
/* Lends the bytes: they must outlive the feed. */
struct feed *feed_memory(const char *data, size_t n);
void feed_free(struct feed *f);

/* 1 and the next piece (valid until the next call), 0 at the end, or a negative errno. */
int feed_read(struct feed *f, const char **ret, size_t *ret_n, struct err *err);
void feed_seek(struct feed *f, int64_t offset);

DEFINE_AUTO_PTR(feed, feed_free);

#endif
