#include "run/deck.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX (INT64_C(1) << 40)

static void copy_metadata(struct question *q, const struct json *metadata)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_LINE);

    jw_value(&w, NULL, metadata);
    json_doc_parse(&q->metadata, buf_str(&text), text.len, NULL);
    q->item.metadata = q->metadata.root;
}

struct question *question_copy(const struct item *item, int64_t number)
{
    struct question *q = xcalloc(1, sizeof(*q));

    q->item = *item;
    q->number = number;
    q->item.problem = xstrdup(item->problem);
    q->item.answer = xstrdup(item->answer);
    q->item.subject = xstrdup(item->subject);
    q->item.scorer = item->scorer ? xstrdup(item->scorer) : NULL;
    q->item.metadata = NULL;
    if (item->metadata)
        copy_metadata(q, item->metadata);
    return q;
}

void question_free(struct question *q)
{
    if (!q)
        return;
    free((void *)(uintptr_t)q->item.problem);
    free((void *)(uintptr_t)q->item.answer);
    free((void *)(uintptr_t)q->item.subject);
    free((void *)(uintptr_t)q->item.scorer);
    json_doc_release(&q->metadata);
    free(q);
}

void deck_release(struct deck *d)
{
    free(d->skipped);
    d->skipped = NULL;
}

static bool is_skipped(const struct deck *d, int64_t number)
{
    return number / 8 < d->cap_skipped && d->skipped[number / 8] >> (number % 8) & 1;
}

void deck_skip(struct deck *d, int64_t number)
{
    if (number < 0 || number >= NUMBER_MAX || is_skipped(d, number))
        return;
    if (number / 8 >= d->cap_skipped) {
        int64_t cap = number / 8 * 2 + 64;

        d->skipped = xreallocarray(d->skipped, (size_t)cap, 1);
        memset(d->skipped + d->cap_skipped, 0, (size_t)(cap - d->cap_skipped));
        d->cap_skipped = cap;
    }
    d->skipped[number / 8] |= (unsigned char)(1 << number % 8);
    d->n_skipped++;
}

int64_t deck_total(const struct deck *d)
{
    int64_t size = dataset_size(d->dataset);

    if (d->again)
        return d->limit;
    return d->limit >= 0 && d->limit < size ? d->limit : size;
}

/* The dataset's next item, from its beginning again if so wanted. */
static int next_item(struct deck *d, struct item *ret, struct err *err)
{
    int r = dataset_next(d->dataset, ret, err);

    if (r != 0 || !d->again)
        return r;
    r = dataset_rewind(d->dataset, err);
    return r < 0 ? r : dataset_next(d->dataset, ret, err);
}

int deck_next(struct deck *d, struct question **ret, struct err *err)
{
    struct item item;
    int r;

    do {
        if (d->limit >= 0 && d->next >= d->limit)
            return 0;
        r = next_item(d, &item, err);
        if (r <= 0)
            return r;
    } while (is_skipped(d, d->next++));
    *ret = question_copy(&item, d->next - 1);
    return 1;
}
