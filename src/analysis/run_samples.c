/*
 * Every sample names its channel in full. Channels take turns in a steady order, so that the search
 * for a sample's channel begins behind the one of the sample before and is mostly over at once. A
 * batch's names are compared as they lie there, with those of an earlier row of the same batch;
 * what they mean is looked up once a batch.
 */
#include "analysis/run.h"

#include "analysis/run_private.h"
#include "base/alloc.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

/* The columns of a batch; NULL = it has none of that name. */
struct columns {
    const struct arrow_array *time, *value, *collector, *device, *number, *channel;
    const struct arrow_array *rail, *quantity, *estimated, *is_break;
};

struct text {
    const char *data;
    size_t n;
};

/* What tells a sample's channel from the others. */
struct key {
    struct text collector, device, channel;
    int64_t number;
    enum rail rail;
    enum quantity quantity;
    bool estimated;
};

#define NAMES 5

/* The same as the row has it. */
struct names {
    struct text texts[NAMES]; /* channel, quantity, rail, device, collector */
    int64_t number;
    bool estimated;
};

/* What was looked up in this batch, in the order in which it came. */
#define SEEN_MAX 256
struct seen {
    struct {
        struct names names;
        size_t channel;
        bool unknown; /* a quantity this program does not know */
    } items[SEEN_MAX];
    size_t n, last;
};

static struct columns find_columns(const struct arrow_array *batch)
{
    return (struct columns){
        .time = arrow_child(batch, "time_s"),
        .value = arrow_child(batch, "value"),
        .collector = arrow_child(batch, "collector"),
        .device = arrow_child(batch, "device"),
        .number = arrow_child(batch, "device_number"),
        .channel = arrow_child(batch, "channel"),
        .rail = arrow_child(batch, "rail"),
        .quantity = arrow_child(batch, "quantity"),
        .estimated = arrow_child(batch, "estimated"),
        .is_break = arrow_child(batch, "break"),
    };
}

static struct text text_at(const struct arrow_array *column, int64_t row)
{
    struct text t = {"", 0};

    arrow_text(column, row, &t.data, &t.n);
    return t;
}

static bool text_is(struct text t, const char *s)
{
    return strlen(s) == t.n && memcmp(s, t.data, t.n) == 0;
}

static enum rail rail_of(struct text t)
{
    for (enum rail r = RAIL_NONE; r < RAIL_COUNT; r++)
        if (text_is(t, rail_name(r)))
            return r;
    return RAIL_OTHER;
}

static enum quantity quantity_of(struct text t)
{
    for (enum quantity q = 0; q < QUANTITY_COUNT; q++)
        if (text_is(t, quantity_name(q)))
            return q;
    return QUANTITY_COUNT;
}

static struct names names_at(const struct columns *c, int64_t row)
{
    return (struct names){
        .texts = {text_at(c->channel, row), text_at(c->quantity, row), text_at(c->rail, row),
                  text_at(c->device, row), text_at(c->collector, row)},
        .number = arrow_i64(c->number, row, -1),
        .estimated = arrow_bool(c->estimated, row, false),
    };
}

static bool same_names(const struct names *a, const struct names *b)
{
    if (a->number != b->number || a->estimated != b->estimated)
        return false;
    for (size_t i = 0; i < NAMES; i++)
        if (a->texts[i].n != b->texts[i].n ||
            memcmp(a->texts[i].data, b->texts[i].data, a->texts[i].n) != 0)
            return false;
    return true;
}

static struct key key_of(const struct names *n)
{
    return (struct key){
        .channel = n->texts[0],
        .quantity = quantity_of(n->texts[1]),
        .rail = rail_of(n->texts[2]),
        .device = n->texts[3],
        .collector = n->texts[4],
        .number = n->number,
        .estimated = n->estimated,
    };
}

static bool is_channel(const struct sampled_channel *c, const struct key *k)
{
    return c->quantity == k->quantity && c->rail == k->rail && c->device_number == k->number &&
           c->estimated == k->estimated && text_is(k->channel, c->name) &&
           text_is(k->device, c->device) && text_is(k->collector, c->collector);
}

static const char *keep(struct run *r, struct text t)
{
    return arena_strndup(&r->channel_texts, t.data, t.n);
}

/* The text up to its first NUL character. */
static struct text cut(struct text t)
{
    t.n = strnlen(t.data, t.n);
    return t;
}

/* The index of the key's channel, which may be new; `after` is where to begin to look. */
static int find_channel(struct run *r, struct key k, size_t after, size_t *ret, struct err *err)
{
    k.collector = cut(k.collector);
    k.device = cut(k.device);
    k.channel = cut(k.channel);
    for (size_t i = 0; i < r->n_channels; i++) {
        size_t at = (after + 1 + i) % r->n_channels;

        if (is_channel(&r->channels[at], &k)) {
            *ret = at;
            return 0;
        }
    }
    if (r->n_channels == RUN_CHANNELS_MAX)
        return err_set(err, E2BIG, "%s/telemetry: more than %d channels", r->dir, RUN_CHANNELS_MAX);
    GROW(r->channels, r->n_channels, r->cap_channels);
    *ret = r->n_channels;
    r->channels[r->n_channels++] = (struct sampled_channel){
        .collector = keep(r, k.collector),
        .device = keep(r, k.device),
        .name = keep(r, k.channel),
        .device_number = k.number,
        .rail = k.rail,
        .quantity = k.quantity,
        .estimated = k.estimated,
    };
    return 0;
}

/* The channel of the row; 1 = it is of no quantity we know. */
static int channel_of(struct run *r, const struct columns *c, int64_t row, struct seen *seen,
                      size_t *ret, struct err *err)
{
    struct names names = names_at(c, row);
    size_t at = 0, after = seen->n ? seen->items[seen->last].channel : 0;
    struct key k;
    int result;

    for (size_t i = 1; i <= seen->n; i++) {
        at = (seen->last + i) % seen->n;
        if (!same_names(&seen->items[at].names, &names))
            continue;
        seen->last = at;
        *ret = seen->items[at].channel;
        return seen->items[at].unknown;
    }
    k = key_of(&names);
    result = k.quantity == QUANTITY_COUNT ? 1 : find_channel(r, k, after, ret, err);
    if (result >= 0) {
        at = seen->n < SEEN_MAX ? seen->n++ : seen->last;
        seen->items[at].names = names;
        seen->items[at].channel = result ? 0 : *ret;
        seen->items[at].unknown = result;
        seen->last = at;
    }
    return result;
}

static int give_batch(struct run *r, const struct arrow_array *batch, struct seen *seen,
                      int (*each)(void *arg, const struct sample *s), void *arg, struct err *err)
{
    struct columns c = find_columns(batch);
    int result = 0;

    seen->n = seen->last = 0; /* the names lie in the batch before */

    for (int64_t row = 0; result == 0 && row < batch->length; row++) {
        struct sample s = {.time_s = arrow_f64(c.time, row), .value = arrow_f64(c.value, row)};

        if (!isfinite(s.time_s))
            continue;
        if (!isfinite(s.value))
            s.value = NAN;
        s.is_break = arrow_bool(c.is_break, row, false);
        result = channel_of(r, &c, row, seen, &s.channel, err);
        if (result == 0)
            result = each(arg, &s);
        else if (result > 0)
            result = 0;
    }
    return result;
}

int run_samples(struct run *r, int (*each)(void *arg, const struct sample *s), void *arg,
                struct err *err)
{
    AUTO_FREE char *dir = xasprintf("%s/telemetry", r->dir);
    AUTO_FREE char *state = xasprintf("%s/state.json", dir);
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    AUTO_FREE struct seen *seen = xcalloc(1, sizeof(*seen));
    int more, result = 0;

    if (!fs_exists(AT_FDCWD, state))
        return 0;
    more = hfdir_open(AT_FDCWD, dir, NULL, &h, err);
    while (more >= 0 && result == 0 && (more = hfdir_next(h, &batch, err)) > 0)
        result = give_batch(r, batch, seen, each, arg, err);
    return result ? result : more;
}

size_t run_channels(const struct run *r, const struct sampled_channel **ret)
{
    *ret = r->channels;
    return r->n_channels;
}
