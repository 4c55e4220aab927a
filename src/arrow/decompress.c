/*
 * Both libraries are used in their streaming form: room is made in steps that double, starting
 * small, and the frame fills it. Neither takes its own memory from what the frame says without a
 * bound: an LZ4 block has at most 4 MiB, and a ZSTD window is limited to what the buffer needs or
 * plausibly has (at least 8 MiB, which is what the common levels use when they do not know the
 * size).
 */
#include "arrow/decompress.h"

#include "arrow/bytes.h"

#include <errno.h>
#include <lz4frame.h>
#include <zstd.h>

#define FIRST_STEP_BYTES    ((size_t)64 << 10)
#define WINDOW_LOG_AT_LEAST 23
#define WINDOW_LOG_AT_MOST  27
#define PLAUSIBLE_RATIO     256

void decompressor_release(struct decompressor *d)
{
    LZ4F_freeDecompressionContext(d->lz4);
    ZSTD_freeDCtx(d->zstd);
    *d = (struct decompressor){0};
}

/* One step of a frame: bytes go from *src to *dst as far as they last. */
struct step {
    const uint8_t *src;
    size_t src_n;
    char *dst;
    size_t dst_n;
    bool frame_done; /* out */
};

static int step_lz4(struct decompressor *d, struct step *s, struct err *err)
{
    size_t produced = s->dst_n, consumed = s->src_n;
    size_t hint = LZ4F_decompress(d->lz4, s->dst, &produced, s->src, &consumed, NULL);

    if (LZ4F_isError(hint))
        return err_set(err, EBADMSG, "LZ4: %s", LZ4F_getErrorName(hint));
    s->src += consumed;
    s->src_n -= consumed;
    s->dst += produced;
    s->dst_n -= produced;
    s->frame_done = hint == 0;
    return 0;
}

static int step_zstd(struct decompressor *d, struct step *s, struct err *err)
{
    ZSTD_inBuffer in = {s->src, s->src_n, 0};
    ZSTD_outBuffer out = {s->dst, s->dst_n, 0};
    size_t hint = ZSTD_decompressStream(d->zstd, &out, &in);

    if (ZSTD_isError(hint))
        return err_set(err, EBADMSG, "ZSTD: %s", ZSTD_getErrorName(hint));
    s->src += in.pos;
    s->src_n -= in.pos;
    s->dst += out.pos;
    s->dst_n -= out.pos;
    s->frame_done = hint == 0;
    return 0;
}

static int start_frame(struct decompressor *d, enum arrow_codec codec, size_t window,
                       struct err *err)
{
    int window_log = WINDOW_LOG_AT_LEAST;

    if (codec == ARROW_LZ4) {
        if (!d->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&d->lz4, LZ4F_VERSION)))
            return err_set(err, ENOMEM, "LZ4: no memory");
        LZ4F_resetDecompressionContext(d->lz4);
        return 0;
    }
    if (!d->zstd && !(d->zstd = ZSTD_createDCtx()))
        return err_set(err, ENOMEM, "ZSTD: no memory");
    while (window_log < WINDOW_LOG_AT_MOST && (size_t)1 << window_log < window)
        window_log++;
    ZSTD_DCtx_reset(d->zstd, ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, window_log);
    return 0;
}

/* Runs the frame until `need` bytes are in out, and to its end when it has no more than those. */
static int run_frame(struct decompressor *d, enum arrow_codec codec, struct step *s, size_t need,
                     bool to_end, struct buf *out, struct err *err)
{
    size_t start = out->len;

    while (out->len - start < need || (to_end && !s->frame_done)) {
        size_t done = out->len - start, room = done < FIRST_STEP_BYTES ? FIRST_STEP_BYTES : done;
        size_t src_before = s->src_n;
        int r;

        if (room > need - done)
            room = need - done;
        r = buf_reserve(out, room);
        if (r < 0)
            return err_set(err, -r, "more than %zu bytes", out->max);
        s->dst = out->data + out->len;
        s->dst_n = room;
        r = codec == ARROW_LZ4 ? step_lz4(d, s, err) : step_zstd(d, s, err);
        if (r < 0)
            return r;
        out->len += room - s->dst_n;
        out->data[out->len] = '\0';
        if (s->dst_n == room && s->src_n == src_before)
            return err_set(err, EBADMSG, "compressed data %s %zu bytes",
                           s->src_n ? "goes on after" : "ends before", need);
    }
    return 0;
}

bool decompress_is_raw(const uint8_t *data, size_t n, const uint8_t **ret_data, size_t *ret_n)
{
    if (n < 8 || load_i64(data) != -1)
        return false;
    *ret_data = data + 8;
    *ret_n = n - 8;
    return true;
}

int decompress(struct decompressor *d, enum arrow_codec codec, const uint8_t *data, size_t n,
               size_t need, struct buf *out, struct err *err)
{
    struct step s;
    int64_t declared;
    bool is_plausible;
    int r;

    if (n < 8)
        return err_set(err, EBADMSG, "compressed buffer of %zu bytes has no length", n);
    if (decompress_is_raw(data, n, &data, &n)) {
        if (n < need)
            return err_set(err, EBADMSG, "buffer has %zu bytes, %zu are needed", n, need);
        r = buf_add(out, data, need);
        return r < 0 ? err_set(err, -r, "more than %zu bytes", out->max) : 0;
    }
    declared = load_i64(data);
    if (declared < 0 || (uint64_t)declared < need)
        return err_set(err, EBADMSG, "buffer says it has %lld bytes, %zu are needed",
                       (long long)declared, need);
    is_plausible = (size_t)declared / PLAUSIBLE_RATIO <= n;
    r = start_frame(d, codec, is_plausible ? (size_t)declared : need, err);
    if (r < 0)
        return r;
    r = buf_reserve(out, 0);
    if (r < 0)
        return err_set(err, -r, "more than %zu bytes", out->max);
    s = (struct step){.src = data + 8, .src_n = n - 8};
    return run_frame(d, codec, &s, need, (uint64_t)declared == need, out, err);
}
