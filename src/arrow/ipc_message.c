/*
 * Framing. A message is [FF FF FF FF] length, metadata, body; the first word is missing in files
 * from before Arrow 0.15. A length of 0 ends the stream, and so does the end of the file: a program
 * that was killed leaves a file without the marker, and everything in it is good.
 */
#include "arrow/ipc.h"

#include "arrow/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CONTINUATION UINT32_C(0xFFFFFFFF)
/* Metadata versions as numbered in the format. */
#define VERSION_4 3
#define VERSION_5 4
/* More than this of a name would leave no room for the words. */
#define NAME_SHOWN_MAX 100

int ipc_fail(const struct ipc_stream *s, size_t where, struct err *err, const char *fmt, ...)
{
    size_t n = strlen(s->name);
    const char *shown = n > NAME_SHOWN_MAX ? s->name + n - NAME_SHOWN_MAX : s->name;
    char words[ERR_TEXT_MAX];
    va_list ap;

    /* cut in front, at a character: the end of a path tells more */
    while (shown > s->name && ((unsigned char)*shown & 0xC0) == 0x80)
        shown++;
    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    return err_set(err, EBADMSG, "%s%s: byte %zu: %s", shown > s->name ? "..." : "", shown, where,
                   words);
}

int ipc_fail_fb(const struct ipc_stream *s, const struct ipc_message *m, struct err *err)
{
    return ipc_fail(s, m->meta + m->fb.where, err, "%s", m->fb.problem);
}

/* Sets meta and fb. Returns 0 at an end marker, else 1. */
static int read_frame(const struct ipc_stream *s, size_t pos, struct ipc_message *ret,
                      struct err *err)
{
    size_t left = s->size - pos, prefix = 4;
    uint32_t length;

    if (left < 4)
        return ipc_fail(s, pos, err, "the file ends inside the length of a message");
    length = load_u32(s->data + pos);
    if (length == CONTINUATION) {
        prefix = 8;
        if (left < 8)
            return ipc_fail(s, pos, err, "the file ends inside the length of a message");
        length = load_u32(s->data + pos + 4);
    }
    if (length == 0)
        return 0;
    if (length > INT32_MAX)
        return ipc_fail(s, pos, err, "a message has a negative length");
    if (length > left - prefix)
        return ipc_fail(s, pos, err, "the file ends inside a message of %u bytes", length);
    ret->start = pos;
    ret->meta = pos + prefix;
    ret->fb = (struct fb){.data = s->data + ret->meta, .size = length};
    return 1;
}

static int read_header(const struct ipc_stream *s, struct ipc_message *ret, struct err *err)
{
    struct fb_table message = fb_root(&ret->fb);
    int64_t version = fb_int(&message, 0, 2, 0), type = fb_int(&message, 1, 1, 0);
    int64_t body_size = fb_int(&message, 3, 8, 0);

    ret->header = fb_table(&message, 2);
    if (ret->fb.problem)
        return ipc_fail_fb(s, ret, err);
    if (version != VERSION_4 && version != VERSION_5)
        return ipc_fail(s, ret->meta, err, "metadata version V%lld is not read, only V4 and V5",
                        (long long)version + 1);
    if (type < IPC_SCHEMA || type > IPC_RECORD_BATCH || !ret->header.fb)
        return ipc_fail(s, ret->meta, err,
                        "a message of type %lld is not read, only schemas, dictionaries and "
                        "record batches",
                        (long long)type);
    ret->type = (enum ipc_header)type;
    ret->body = ret->meta + ret->fb.size;
    if (body_size < 0 || (uint64_t)body_size > s->size - ret->body)
        return ipc_fail(s, ret->body, err, "the file ends inside a body of %lld bytes",
                        (long long)body_size);
    ret->body_size = (size_t)body_size;
    ret->end = ret->body + ret->body_size;
    return 0;
}

int ipc_message_read(const struct ipc_stream *s, size_t pos, struct ipc_message *ret,
                     struct err *err)
{
    int r;

    if (pos >= s->size)
        return 0;
    r = read_frame(s, pos, ret, err);
    if (r <= 0)
        return r;
    r = read_header(s, ret, err);
    return r < 0 ? r : 1;
}
