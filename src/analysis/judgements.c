/*
 * In memory the judgements are a hash table with open addressing; the key is a hash already. The
 * file is opened for appending at the first addition, so that looking leaves no trace.
 */
#include "analysis/judgements.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/checksum.h"
#include "base/fs.h"
#include "base/json.h"
#include "score/judgement.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)1 << 30)
#define LINE_MAX_BYTES ((size_t)64 << 10)

struct judgement {
    uint64_t key;
    bool used;
    struct score score;
};

struct judgements {
    char *dir;
    int fd;    /* -1 = nothing was added */
    bool torn; /* the file does not end with a line */
    struct judgement *at;
    size_t n_at, used; /* places, a power of two, and those of them in use */
};

static const char *const verdicts[] = {
    [VERDICT_WRONG] = "wrong",
    [VERDICT_CORRECT] = "correct",
    [VERDICT_UNSCORABLE] = "unscorable",
};
enum { N_VERDICTS = sizeof(verdicts) / sizeof(verdicts[0]) };

/* The place of this key, or the free one where it would be. There is always a free one. */
static struct judgement *place(struct judgement *at, size_t n_at, uint64_t key)
{
    size_t i = (size_t)key & (n_at - 1);

    while (at[i].used && at[i].key != key)
        i = (i + 1) & (n_at - 1);
    return &at[i];
}

static void grow(struct judgements *j)
{
    size_t n = j->n_at * 2;
    struct judgement *bigger = xcalloc(n, sizeof(*bigger));

    for (size_t i = 0; i < j->n_at; i++)
        if (j->at[i].used)
            *place(bigger, n, j->at[i].key) = j->at[i];
    free(j->at);
    j->at = bigger;
    j->n_at = n;
}

static void remember(struct judgements *j, uint64_t key, const struct score *score)
{
    struct judgement *v = place(j->at, j->n_at, key);

    j->used += !v->used;
    *v = (struct judgement){.key = key, .used = true, .score = *score};
    if (j->used * 2 > j->n_at)
        grow(j);
}

static bool read_key(const char *text, uint64_t *ret)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *ret = strtoull(text, NULL, 16);
    return true;
}

static void read_line(struct judgements *j, const struct json *line)
{
    const char *verdict = json_text(json_get(line, "verdict"), "");
    struct score s = {0};
    uint64_t key;

    if (!read_key(json_text(json_get(line, "key"), ""), &key))
        return;
    for (int i = 0; i < N_VERDICTS; i++) {
        if (strcmp(verdict, verdicts[i]) != 0)
            continue;
        score_set(&s, (enum verdict)i, span_of(json_text(json_get(line, "said"), "")),
                  json_text(json_get(line, "reason"), ""));
        remember(j, key, &s);
    }
}

static int read_file(struct judgements *j, const char *path, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    AUTO(json_doc) struct json_doc doc = {0};
    const char *line, *end, *newline;
    int r = fs_read_all(AT_FDCWD, path, &text, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    end = buf_str(&text) + text.len;
    for (line = buf_str(&text); line < end; line = newline + 1) {
        newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) {
            j->torn = true;
            break;
        }
        if ((size_t)(newline - line) <= LINE_MAX_BYTES &&
            json_doc_parse(&doc, line, (size_t)(newline - line), NULL) == 0)
            read_line(j, doc.root);
    }
    return 0;
}

int judgements_open(const char *dir, struct judgements **ret, struct err *err)
{
    AUTO_PTR(judgements) struct judgements *j = xcalloc(1, sizeof(*j));
    AUTO_FREE char *path = xasprintf("%s/" JUDGEMENTS_FILE, dir);
    int r;

    j->fd = -1;
    j->dir = xstrdup(dir);
    j->n_at = 64;
    j->at = xcalloc(j->n_at, sizeof(*j->at));
    r = read_file(j, path, err);
    if (r < 0)
        return r;
    *ret = STEAL(j);
    return 0;
}

void judgements_close(struct judgements *j)
{
    if (!j)
        return;
    if (j->fd >= 0) {
        fdatasync(j->fd); /* best effort: what the kernel has survives a kill in any case */
        close(j->fd);
    }
    free(j->at);
    free(j->dir);
    free(j);
}

/* A text and where it ends, so that no two lists of texts are the same bytes. */
static void add_text(struct checksum *sum, const char *text)
{
    uint64_t n = strlen(text);

    checksum_add(sum, &n, sizeof(n));
    checksum_add(sum, text, (size_t)n);
}

uint64_t judgements_key(const char *spec, const char *model, const struct item *item,
                        const char *answer)
{
    struct checksum sum = {0};

    add_text(&sum, JUDGEMENT_WORDING);
    add_text(&sum, spec);
    add_text(&sum, model);
    add_text(&sum, item->problem);
    add_text(&sum, item->answer ? item->answer : "");
    add_text(&sum, answer ? answer : "");
    return checksum_value(&sum);
}

const struct score *judgements_find(const struct judgements *j, uint64_t key)
{
    const struct judgement *v = place(j->at, j->n_at, key);

    return v->used ? &v->score : NULL;
}

static int open_for_appending(struct judgements *j, struct err *err)
{
    AUTO_FREE char *folder = xasprintf("%s/analysis", j->dir);
    AUTO_FREE char *path = xasprintf("%s/" JUDGEMENTS_FILE, j->dir);
    int r;

    if (j->fd >= 0)
        return 0;
    r = fs_mkdirs(folder, err);
    if (r < 0)
        return r;
    j->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return err_sys(err, errno, "cannot write %s", path);
    return 0;
}

static void write_line(const struct judgements *j, uint64_t key, int64_t row, const char *spec,
                       const char *model, const struct score *score, struct buf *out)
{
    struct json_writer w;
    char text[17];

    if (j->torn)
        buf_addc(out, '\n');
    w = json_writer(out, JSON_LINE);
    snprintf(text, sizeof(text), "%016" PRIx64, key);
    jw_begin_object(&w, NULL);
    jw_int(&w, "row", row);
    jw_text(&w, "key", text);
    jw_text(&w, "scorer", spec);
    jw_text(&w, "model", model);
    jw_text(&w, "verdict", verdicts[score->verdict]);
    jw_text(&w, "said", score->extracted);
    jw_text(&w, "reason", score->reason);
    jw_end_object(&w);
    buf_addc(out, '\n');
}

int judgements_add(struct judgements *j, uint64_t key, int64_t row, const char *spec,
                   const char *model, const struct score *score, struct err *err)
{
    AUTO(buf) struct buf line = BUF_INIT(BUF_MAX_OWN);
    int r = open_for_appending(j, err);

    if (r < 0)
        return r;
    write_line(j, key, row, spec, model, score, &line);
    r = fs_write_full(j->fd, line.data, line.len, err);
    if (r < 0)
        return err_prefix(err, "%s/" JUDGEMENTS_FILE, j->dir);
    j->torn = false;
    remember(j, key, score);
    return 0;
}
