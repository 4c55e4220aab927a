/* All samples are read at the start: a recording is small, and its timing must not wait for disk.
 */
#include "replay.h"

#include "exchange.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/num.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_MAX = 64 << 20, SAMPLES_MAX = 1000 };

struct replay {
    struct replay_sample *samples; /* by name */
    size_t n, cap;
};

static void sample_release(struct replay_sample *s)
{
    free(s->name);
    free(s->pieces);
    buf_release(&s->req);
    buf_release(&s->raw);
}

void replay_free(struct replay *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        sample_release(&p->samples[i]);
    free(p->samples);
    free(p);
}

/* "delay bytes\n" again and again; whatever the times leave over goes with the last. */
static int parse_times(struct replay_sample *s, char *text, struct err *err)
{
    size_t cap = 0, offset = 0;

    for (char *line; (line = strsep(&text, "\n"));) {
        char *bytes = strchr(line, ' ');
        struct replay_piece p = {.offset = offset};
        int64_t n;

        if (!*line)
            continue;
        if (!bytes)
            return err_set(err, EINVAL, "a line of its times has no size");
        *bytes++ = '\0';
        if (parse_i64(line, &p.delay_ns, err) < 0 || parse_i64(bytes, &n, err) < 0)
            return -EINVAL;
        if (p.delay_ns < 0 || n <= 0 || (size_t)n > s->raw.len - offset)
            return err_set(err, EINVAL, "its times do not fit its bytes");
        p.len = (size_t)n;
        offset += p.len;
        GROW(s->pieces, s->n_pieces, cap);
        s->pieces[s->n_pieces++] = p;
    }
    if (s->n_pieces == 0)
        return err_set(err, EINVAL, "it has no times");
    s->pieces[s->n_pieces - 1].len += s->raw.len - offset;
    return 0;
}

static int read_part(int dirfd, const char *name, const char *ext, struct buf *out, struct err *err)
{
    AUTO_FREE char *path = xasprintf("%s.%s", name, ext);

    return fs_read_all(dirfd, path, out, err);
}

static int sample_open(int dirfd, const char *name, struct replay_sample *s, struct err *err)
{
    AUTO(buf) struct buf times = BUF_INIT(SAMPLE_MAX);
    int r;

    s->name = xstrdup(name);
    buf_init(&s->req, SAMPLE_MAX);
    buf_init(&s->raw, SAMPLE_MAX);
    r = read_part(dirfd, name, "req", &s->req, err);
    if (r == 0)
        r = read_part(dirfd, name, "raw", &s->raw, err);
    if (r == 0)
        r = read_part(dirfd, name, "times", &times, err);
    if (r == 0 && request_parse(buf_str(&s->req), s->req.len, &s->request) != 0)
        r = err_set(err, EINVAL, "its .req is no HTTP request");
    if (r == 0 && (size_t)s->request.body_bytes != s->req.len - s->request.head_bytes)
        r = err_set(err, EINVAL, "its .req has another length than it says");
    if (r == 0 && times.len == 0)
        r = err_set(err, EINVAL, "it has no times");
    return r < 0 ? r : parse_times(s, times.data, err);
}

static int by_name(const void *a, const void *b)
{
    const struct replay_sample *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int read_samples(struct replay *p, DIR *dir, struct err *err)
{
    for (struct dirent *e; (e = readdir(dir));) {
        const char *dot = strrchr(e->d_name, '.');
        AUTO_FREE char *name = NULL;
        int r;

        if (!dot || strcmp(dot, ".raw") != 0)
            continue;
        if (p->n == SAMPLES_MAX)
            return err_set(err, EINVAL, "more than %d samples", SAMPLES_MAX);
        name = xstrndup(e->d_name, (size_t)(dot - e->d_name));
        GROW(p->samples, p->n, p->cap);
        p->samples[p->n] = (struct replay_sample){0};
        r = sample_open(dirfd(dir), name, &p->samples[p->n++], err);
        if (r < 0)
            return err_prefix(err, "%s", name);
    }
    return p->n ? 0 : err_set(err, ENOENT, "no samples in it");
}

int replay_open(const char *dir, struct replay **ret, struct err *err)
{
    struct replay *p;
    DIR *d = opendir(dir);
    int r;

    if (!d)
        return err_sys(err, errno, "%s", dir);
    p = xcalloc(1, sizeof(*p));
    r = read_samples(p, d, err);
    closedir(d);
    if (r < 0) {
        replay_free(p);
        return err_prefix(err, "%s", dir);
    }
    qsort(p->samples, p->n, sizeof(*p->samples), by_name);
    *ret = p;
    return 0;
}

/* The name in the path or query, and the path without it. */
static const char *sample_wanted(const struct request *r, char name[256], const char **ret_path)
{
    static const char prefix[] = "/sample/", key[] = "sample=";
    const char *slash;

    *ret_path = r->path;
    name[0] = '\0';
    if (strncmp(r->path, prefix, strlen(prefix)) == 0) {
        const char *start = r->path + strlen(prefix);

        slash = strchr(start, '/');
        if (slash && slash - start < 256) {
            snprintf(name, 256, "%.*s", (int)(slash - start), start);
            *ret_path = slash;
        }
    } else if (strncmp(r->query, key, strlen(key)) == 0) {
        snprintf(name, 256, "%s", r->query + strlen(key));
    }
    return name;
}

const struct replay_sample *replay_find(const struct replay *p, const struct request *r,
                                        const char *body)
{
    const struct replay_sample *first = NULL, *same_body = NULL;
    char name[256];
    const char *path, *wanted = sample_wanted(r, name, &path);

    for (size_t i = 0; i < p->n; i++) {
        const struct replay_sample *s = &p->samples[i];

        if (strcmp(s->request.method, r->method) != 0 || strcmp(s->request.path, path) != 0)
            continue;
        if (strcmp(s->name, wanted) == 0)
            return s;
        first = first ? first : s;
        if (!same_body && s->request.body_bytes == r->body_bytes &&
            memcmp(s->req.data + s->request.head_bytes, body, (size_t)r->body_bytes) == 0)
            same_body = s;
    }
    return same_body ? same_body : first;
}

double replay_delay_ns(const struct server *s, const struct replay_piece *p)
{
    return s->config.speed > 0 ? (double)p->delay_ns / s->config.speed : 0;
}
