/*
 * A picture as PNG. Cairo can write one too, but tries five filters on every line of a picture that
 * is mostly flat, and takes three times as long for a larger file.
 */
#include "plot/chart_private.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <zlib.h>

#define LEVEL 3

static void add_u32(struct buf *out, uint32_t value)
{
    uint32_t bytes = htonl(value);

    buf_add(out, &bytes, sizeof(bytes));
}

/* Length, name and data, and the checksum of the latter two. */
static void add_chunk(struct buf *out, const char *name, const void *data, size_t n)
{
    uLong crc = crc32(crc32(0, (const Bytef *)name, 4), data, (uInt)n);

    add_u32(out, (uint32_t)n);
    buf_add(out, name, 4);
    buf_add(out, data, n);
    add_u32(out, (uint32_t)crc);
}

/* Lines of red, green, blue; each begins with its filter, 0 = none. */
static unsigned char *pixels_of(cairo_surface_t *s, size_t width, size_t height, size_t *ret_n)
{
    const unsigned char *data = cairo_image_surface_get_data(s);
    size_t stride = (size_t)cairo_image_surface_get_stride(s);
    unsigned char *pixels = xmalloc(height * (3 * width + 1)), *p = pixels;

    for (size_t y = 0; y < height; y++) {
        const uint32_t *line = (const uint32_t *)(const void *)(data + y * stride);

        *p++ = 0;
        for (size_t x = 0; x < width; x++) {
            *p++ = (unsigned char)(line[x] >> 16);
            *p++ = (unsigned char)(line[x] >> 8);
            *p++ = (unsigned char)line[x];
        }
    }
    *ret_n = (size_t)(p - pixels);
    return pixels;
}

int png_write(cairo_surface_t *s, struct buf *ret, struct err *err)
{
    uint32_t width = (uint32_t)cairo_image_surface_get_width(s);
    uint32_t height = (uint32_t)cairo_image_surface_get_height(s);
    AUTO(buf) struct buf head = BUF_INIT(64);
    AUTO_FREE unsigned char *pixels = NULL, *packed = NULL;
    uLongf n_packed;
    size_t n;

    cairo_surface_flush(s);
    pixels = pixels_of(s, width, height, &n);
    n_packed = compressBound(n);
    packed = xmalloc(n_packed);
    if (compress2(packed, &n_packed, pixels, n, LEVEL) != Z_OK)
        return err_set(err, EIO, "zlib cannot compress the picture");
    add_u32(&head, width);
    add_u32(&head, height);
    buf_add(&head, "\x08\x02\x00\x00\x00", 5); /* 8 bits of red, green, blue */
    buf_add(ret, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(ret, "IHDR", head.data, head.len);
    add_chunk(ret, "IDAT", packed, n_packed);
    add_chunk(ret, "IEND", "", 0);
    return ret->failed ? err_set(err, EMSGSIZE, "the figure is too large") : 0;
}
