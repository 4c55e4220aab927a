/*
 * decompress: one compressed buffer of a record batch.
 *
 * On disk such a buffer is an int64 (the length before compression; -1 = what follows is stored
 * raw) and one LZ4 or ZSTD frame. The caller says how many bytes it needs, which it knows from the
 * batch's lengths and offsets; only so many are produced, and memory grows with what really comes
 * out, so that a few bytes that promise a gigabyte cost nothing.
 *
 *     AUTO(decompressor) struct decompressor d = {0};
 *     AUTO(buf) struct buf out = BUF_INIT(need);
 *     r = decompress(&d, ARROW_ZSTD, bytes, n, need, &out, &err);
 *
 * A decompressor keeps the libraries' contexts for the next buffer; all zero is a new one. One
 * thread at a time.
 */
#ifndef IPW_ARROW_DECOMPRESS_H
#define IPW_ARROW_DECOMPRESS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As numbered in the format. */
enum arrow_codec { ARROW_UNCOMPRESSED = -1, ARROW_LZ4 = 0, ARROW_ZSTD = 1 };

struct decompressor {
    struct LZ4F_dctx_s *lz4;
    struct ZSTD_DCtx_s *zstd;
};

void decompressor_release(struct decompressor *d);

/* Appends exactly `need` bytes (what a longer buffer holds beyond them is left alone). A buffer
 * that needs all of its bytes is read to the end of its frame, so that a checksum there is checked.
 * -EBADMSG when there are fewer or the frame is damaged, with words but without a position. */
int decompress(struct decompressor *d, enum arrow_codec codec, const uint8_t *data, size_t n,
               size_t need, struct buf *out, struct err *err);

/* A buffer stored raw needs no copy: true when it is one, then *ret_data and *ret_n are its bytes.
 */
bool decompress_is_raw(const uint8_t *data, size_t n, const uint8_t **ret_data, size_t *ret_n);

#endif
