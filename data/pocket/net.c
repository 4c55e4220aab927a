/*
 * Everything is a matrix of one row per token, so that nearly all time goes into gemm. Only
 * attention runs sequence by sequence and head by head.
 *
 * What a prompt's tokens become in the last layer is of no use but as keys and values: behind its
 * attention only the rows that have a target are kept ("active" rows below), which saves an eighth
 * of the time.
 */
#include "net.h"

#include "gemm.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the forward pass keeps of a layer for the backward one. */
struct net_layer {
    float *x;       /* what comes in */
    float *scale_1; /* of each row's norm */
    float *normed_1;
    float *qkv;
    float *shares; /* attention's, by sequence, head, query, key */
    float *mixed;
    float *middle; /* x behind attention; from here on active rows */
    float *scale_2;
    float *normed_2;
    float *up;
    float *squared;
};

struct net_scratch {
    float *last; /* x behind the last layer, active rows */
    float *last_scale;
    float *last_normed;
    float *logits;
    float *d_x;
    float *d_width; /* rows x width */
    float *d_qkv;
    float *d_hidden;
    float *d_shares; /* of one head */
    float *turns;    /* cosine and sine by position and pair */
};

static size_t shares_max(const struct net *net)
{
    return net->rows_max * NET_SEQUENCE_MAX * net->shape.heads;
}

static float *floats(size_t n)
{
    return xcalloc_aligned(64, n, sizeof(float));
}

static void layer_init(const struct net *net, struct net_layer *l)
{
    size_t rows = net->rows_max, width = net->shape.width, hidden = net->shape.hidden;

    l->x = floats(rows * width);
    l->scale_1 = floats(rows);
    l->normed_1 = floats(rows * width);
    l->qkv = floats(rows * 3 * width);
    l->shares = xmalloc(shares_max(net) * sizeof(float)); /* most of it is never touched */
    l->mixed = floats(rows * width);
    l->middle = floats(rows * width);
    l->scale_2 = floats(rows);
    l->normed_2 = floats(rows * width);
    l->up = floats(rows * hidden);
    l->squared = floats(rows * hidden);
}

static void layer_release(struct net_layer *l)
{
    float *all[] = {l->x,      l->scale_1, l->normed_1, l->qkv, l->shares, l->mixed,
                    l->middle, l->scale_2, l->normed_2, l->up,  l->squared};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

static void scratch_init(const struct net *net, struct net_scratch *s)
{
    size_t rows = net->rows_max, width = net->shape.width, half = width / net->shape.heads / 2;

    s->last = floats(rows * width);
    s->last_scale = floats(rows);
    s->last_normed = floats(rows * width);
    s->logits = floats(rows * net->shape.vocabulary);
    s->d_x = floats(rows * width);
    s->d_width = floats(rows * width);
    s->d_qkv = floats(rows * 3 * width);
    s->d_hidden = floats(rows * net->shape.hidden);
    s->d_shares = floats((size_t)NET_SEQUENCE_MAX * NET_SEQUENCE_MAX);
    s->turns = floats(NET_SEQUENCE_MAX * 2 * half);
    for (size_t t = 0; t < NET_SEQUENCE_MAX; t++)
        for (size_t j = 0; j < half; j++) {
            double angle = (double)t * pow(POCKET_ROPE_BASE, -(double)j / (double)half);

            s->turns[(t * half + j) * 2] = (float)cos(angle);
            s->turns[(t * half + j) * 2 + 1] = (float)sin(angle);
        }
}

static void scratch_release(struct net_scratch *s)
{
    float *all[] = {s->last,    s->last_scale, s->last_normed, s->logits,   s->d_x,
                    s->d_width, s->d_qkv,      s->d_hidden,    s->d_shares, s->turns};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

struct net *net_new(const struct pocket_shape *shape, size_t rows_max)
{
    struct net *net = xcalloc(1, sizeof(*net));

    net->shape = *shape;
    net->count = pocket_parameter_count(shape);
    net->parameters = floats(net->count);
    net->gradients = floats(net->count);
    net->rows_max = rows_max;
    net->tokens = xcalloc(rows_max, sizeof(*net->tokens));
    net->wanted = xcalloc(rows_max, sizeof(*net->wanted));
    net->layers = xcalloc(shape->layers, sizeof(*net->layers));
    for (uint32_t l = 0; l < shape->layers; l++)
        layer_init(net, &net->layers[l]);
    net->scratch = xcalloc(1, sizeof(*net->scratch));
    scratch_init(net, net->scratch);
    return net;
}

void net_free(struct net *net)
{
    if (!net)
        return;
    for (uint32_t l = 0; l < net->shape.layers; l++)
        layer_release(&net->layers[l]);
    scratch_release(net->scratch);
    free(net->layers);
    free(net->scratch);
    free(net->parameters);
    free(net->gradients);
    free(net->tokens);
    free(net->wanted);
    free(net);
}

static void fill(float *p, size_t n, struct rng *rng, double deviation)
{
    for (size_t i = 0; i < n; i++)
        p[i] = deviation > 0 ? (float)(rng_normal(rng) * deviation) : 1.0f;
}

/* What adds to the residual stream begins small, so that the layers do not drown each other. */
void net_init(struct net *net, uint64_t seed)
{
    const struct pocket_shape *s = &net->shape;
    size_t width = s->width;
    struct rng rng = rng_seed(seed, 0);
    double in = 1 / sqrt((double)width), residual = in / sqrt(2.0 * s->layers);
    float *p = net->parameters;

    fill(p, (1 + POCKET_BEFORE_COUNT) * s->vocabulary * width, &rng, in);
    for (uint32_t l = 0; l < s->layers; l++) {
        fill(p + pocket_parameter_offset(s, POCKET_NORM_1, l), width, &rng, 0);
        fill(p + pocket_parameter_offset(s, POCKET_QKV, l), 3 * width * width, &rng, in);
        fill(p + pocket_parameter_offset(s, POCKET_OUT, l), width * width, &rng, residual);
        fill(p + pocket_parameter_offset(s, POCKET_NORM_2, l), width, &rng, 0);
        fill(p + pocket_parameter_offset(s, POCKET_UP, l), width * s->hidden, &rng, in);
        fill(p + pocket_parameter_offset(s, POCKET_DOWN, l), width * s->hidden, &rng, residual / 2);
    }
    fill(p + pocket_parameter_offset(s, POCKET_LAST_NORM, 0), width, &rng, 0);
}

void net_batch_clear(struct net *net)
{
    net->rows = net->targets = net->n_sequences = 0;
}

bool net_batch_add(struct net *net, const int *tokens, size_t n, size_t first_target)
{
    struct net_sequence *q = &net->sequences[net->n_sequences];

    assert(n >= 2 && n <= NET_SEQUENCE_MAX && first_target >= 1 && first_target < n);
    if (net->n_sequences == NET_BATCH_MAX || net->rows + n - 1 > net->rows_max)
        return false;
    *q = (struct net_sequence){net->rows, n - 1, first_target - 1, net->targets};
    memcpy(net->tokens + net->rows, tokens, (n - 1) * sizeof(*tokens));
    memcpy(net->wanted + net->targets, tokens + first_target, (n - first_target) * sizeof(*tokens));
    net->rows += n - 1;
    net->targets += n - first_target;
    net->n_sequences++;
    return true;
}

static const float *part(const struct net *net, enum pocket_part which, uint32_t layer)
{
    return net->parameters + pocket_parameter_offset(&net->shape, which, layer);
}

static float *gradient(struct net *net, enum pocket_part which, uint32_t layer)
{
    return net->gradients + pocket_parameter_offset(&net->shape, which, layer);
}

static void norm_forward(const float *x, const float *gain, float *y, float *scale, size_t rows,
                         size_t width)
{
    for (size_t r = 0; r < rows; r++, x += width, y += width) {
        float sum = 0;

        for (size_t i = 0; i < width; i++)
            sum += x[i] * x[i];
        scale[r] = 1 / sqrtf(sum / (float)width + POCKET_NORM_EPS);
        for (size_t i = 0; i < width; i++)
            y[i] = x[i] * scale[r] * gain[i];
    }
}

/* Adds to d_x, and to the gain's gradient. */
static void norm_backward(const float *x, const float *gain, const float *scale, const float *d_y,
                          float *d_x, float *d_gain, size_t rows, size_t width)
{
    for (size_t r = 0; r < rows; r++, x += width, d_y += width, d_x += width) {
        float sum = 0, factor;

        for (size_t i = 0; i < width; i++) {
            d_gain[i] += d_y[i] * x[i] * scale[r];
            sum += d_y[i] * gain[i] * x[i];
        }
        factor = sum * scale[r] * scale[r] * scale[r] / (float)width;
        for (size_t i = 0; i < width; i++)
            d_x[i] += d_y[i] * gain[i] * scale[r] - x[i] * factor;
    }
}

/* Turns queries and keys of all rows by their positions, or back. */
static void turn(const struct net *net, float *qkv, float direction)
{
    size_t width = net->shape.width, size = width / net->shape.heads, half = size / 2;

    for (size_t q = 0; q < net->n_sequences; q++) {
        for (size_t t = 0; t < net->sequences[q].n; t++) {
            float *row = qkv + (net->sequences[q].start + t) * 3 * width;
            const float *turns = net->scratch->turns + t * size;

            for (float *head = row; head < row + 2 * width; head += size)
                for (size_t j = 0; j < half; j++) {
                    float c = turns[2 * j], s = turns[2 * j + 1] * direction;
                    float a = head[j], b = head[j + half];

                    head[j] = a * c - b * s;
                    head[j + half] = a * s + b * c;
                }
        }
    }
}

/* One head of one sequence: where its parts lie. */
struct attention {
    size_t n;       /* keys */
    size_t first;   /* the first query */
    size_t queries; /* how many */
    size_t size;
    size_t stride; /* of queries, keys, values */
    size_t width;  /* the stride of mixed */
    size_t at;     /* offset of its first query in qkv; its keys and values are behind */
    size_t keys;
    size_t values;
    size_t mixed;
    float scale;
};

static struct attention attention_of(const struct net *net, const struct net_sequence *q, size_t h,
                                     bool last)
{
    size_t width = net->shape.width, size = width / net->shape.heads;
    size_t first = last ? q->first_target : 0, row = q->start * 3 * width + h * size;

    return (struct attention){.n = q->n,
                              .first = first,
                              .queries = q->n - first,
                              .size = size,
                              .stride = 3 * width,
                              .width = width,
                              .at = row + first * 3 * width,
                              .keys = row + width,
                              .values = row + 2 * width,
                              .mixed = (last ? q->target_start : q->start) * width + h * size,
                              .scale = 1 / sqrtf((float)size)};
}

/* A causal softmax over each row. */
static void soften(const struct attention *a, float *shares)
{
    for (size_t i = 0; i < a->queries; i++, shares += a->n) {
        size_t seen = a->first + i + 1;
        float most = shares[0], sum = 0;

        for (size_t t = 1; t < seen; t++)
            most = shares[t] > most ? shares[t] : most;
        for (size_t t = 0; t < seen; t++) {
            shares[t] = expf((shares[t] - most) * a->scale);
            sum += shares[t];
        }
        for (size_t t = 0; t < seen; t++)
            shares[t] /= sum;
        for (size_t t = seen; t < a->n; t++)
            shares[t] = 0;
    }
}

static void attend_forward(const struct net *net, struct net_layer *l, bool last)
{
    float *shares = l->shares;

    for (size_t q = 0; q < net->n_sequences; q++)
        for (size_t h = 0; h < net->shape.heads; h++) {
            struct attention a = attention_of(net, &net->sequences[q], h, last);

            gemm(a.queries, a.n, a.size, PLAIN(l->qkv + a.at, a.stride),
                 TRANSPOSED(l->qkv + a.keys, a.stride), shares, a.n, false);
            soften(&a, shares);
            gemm(a.queries, a.size, a.n, PLAIN(shares, a.n), PLAIN(l->qkv + a.values, a.stride),
                 l->mixed + a.mixed, a.width, false);
            shares += a.queries * a.n;
        }
}

/* From the shares' gradients to those of the scores before the softmax, in place. */
static void unsoften(const struct attention *a, const float *shares, float *d)
{
    for (size_t i = 0; i < a->queries; i++, shares += a->n, d += a->n) {
        float sum = 0;

        for (size_t t = 0; t < a->n; t++)
            sum += shares[t] * d[t];
        for (size_t t = 0; t < a->n; t++)
            d[t] = shares[t] * (d[t] - sum) * a->scale;
    }
}

/* d_qkv must be zero where a row is no query. */
static void attend_backward(const struct net *net, const struct net_layer *l, const float *d_mixed,
                            float *d_qkv, bool last)
{
    const float *shares = l->shares;
    float *d = net->scratch->d_shares;

    for (size_t q = 0; q < net->n_sequences; q++)
        for (size_t h = 0; h < net->shape.heads; h++) {
            struct attention a = attention_of(net, &net->sequences[q], h, last);

            gemm(a.queries, a.n, a.size, PLAIN(d_mixed + a.mixed, a.width),
                 TRANSPOSED(l->qkv + a.values, a.stride), d, a.n, false);
            gemm(a.n, a.size, a.queries, TRANSPOSED(shares, a.n), PLAIN(d_mixed + a.mixed, a.width),
                 d_qkv + a.values, a.stride, false);
            unsoften(&a, shares, d);
            gemm(a.queries, a.size, a.n, PLAIN(d, a.n), PLAIN(l->qkv + a.keys, a.stride),
                 d_qkv + a.at, a.stride, false);
            gemm(a.n, a.size, a.queries, TRANSPOSED(d, a.n), PLAIN(l->qkv + a.at, a.stride),
                 d_qkv + a.keys, a.stride, false);
            shares += a.queries * a.n;
        }
}

/* Rows that have a target, between all rows and those alone. */
static void gather(const struct net *net, const float *all, float *active)
{
    size_t width = net->shape.width;

    for (size_t q = 0; q < net->n_sequences; q++) {
        const struct net_sequence *s = &net->sequences[q];

        memcpy(active + s->target_start * width, all + (s->start + s->first_target) * width,
               (s->n - s->first_target) * width * sizeof(*all));
    }
}

/* All other rows become zero. From the end, since both may be the same memory. */
static void scatter(const struct net *net, float *rows)
{
    size_t width = net->shape.width;

    for (size_t q = net->n_sequences; q-- > 0;) {
        const struct net_sequence *s = &net->sequences[q];

        memmove(rows + (s->start + s->first_target) * width, rows + s->target_start * width,
                (s->n - s->first_target) * width * sizeof(*rows));
    }
    for (size_t q = 0; q < net->n_sequences; q++)
        memset(rows + net->sequences[q].start * width, 0,
               net->sequences[q].first_target * width * sizeof(*rows));
}

static void layer_forward(const struct net *net, uint32_t layer, float *next)
{
    struct net_layer *l = &net->layers[layer];
    size_t width = net->shape.width, hidden = net->shape.hidden;
    bool last = layer + 1 == net->shape.layers;
    size_t rows = last ? net->targets : net->rows;

    norm_forward(l->x, part(net, POCKET_NORM_1, layer), l->normed_1, l->scale_1, net->rows, width);
    gemm(net->rows, 3 * width, width, PLAIN(l->normed_1, width),
         PLAIN(part(net, POCKET_QKV, layer), 3 * width), l->qkv, 3 * width, false);
    turn(net, l->qkv, 1);
    attend_forward(net, l, last);
    if (last)
        gather(net, l->x, l->middle);
    else
        memcpy(l->middle, l->x, rows * width * sizeof(float));
    gemm(rows, width, width, PLAIN(l->mixed, width), PLAIN(part(net, POCKET_OUT, layer), width),
         l->middle, width, true);
    norm_forward(l->middle, part(net, POCKET_NORM_2, layer), l->normed_2, l->scale_2, rows, width);
    gemm(rows, hidden, width, PLAIN(l->normed_2, width), PLAIN(part(net, POCKET_UP, layer), hidden),
         l->up, hidden, false);
    for (size_t i = 0; i < rows * hidden; i++) {
        l->up[i] = l->up[i] > 0 ? l->up[i] : 0;
        l->squared[i] = l->up[i] * l->up[i];
    }
    memcpy(next, l->middle, rows * width * sizeof(float));
    gemm(rows, width, hidden, PLAIN(l->squared, hidden),
         PLAIN(part(net, POCKET_DOWN, layer), width), next, width, true);
}

/* d_x: the gradient of what the layer gives, becomes that of what it got. */
static void layer_backward(struct net *net, uint32_t layer)
{
    const struct net_layer *l = &net->layers[layer];
    struct net_scratch *s = net->scratch;
    size_t width = net->shape.width, hidden = net->shape.hidden;
    bool last = layer + 1 == net->shape.layers;
    size_t rows = last ? net->targets : net->rows;

    gemm(hidden, width, rows, TRANSPOSED(l->squared, hidden), PLAIN(s->d_x, width),
         gradient(net, POCKET_DOWN, layer), width, true);
    gemm(rows, hidden, width, PLAIN(s->d_x, width),
         TRANSPOSED(part(net, POCKET_DOWN, layer), width), s->d_hidden, hidden, false);
    for (size_t i = 0; i < rows * hidden; i++)
        s->d_hidden[i] *= 2 * l->up[i];
    gemm(width, hidden, rows, TRANSPOSED(l->normed_2, width), PLAIN(s->d_hidden, hidden),
         gradient(net, POCKET_UP, layer), hidden, true);
    gemm(rows, width, hidden, PLAIN(s->d_hidden, hidden),
         TRANSPOSED(part(net, POCKET_UP, layer), hidden), s->d_width, width, false);
    norm_backward(l->middle, part(net, POCKET_NORM_2, layer), l->scale_2, s->d_width, s->d_x,
                  gradient(net, POCKET_NORM_2, layer), rows, width);

    gemm(width, width, rows, TRANSPOSED(l->mixed, width), PLAIN(s->d_x, width),
         gradient(net, POCKET_OUT, layer), width, true);
    gemm(rows, width, width, PLAIN(s->d_x, width), TRANSPOSED(part(net, POCKET_OUT, layer), width),
         s->d_width, width, false);
    if (last) {
        scatter(net, s->d_x);
        memset(s->d_qkv, 0, net->rows * 3 * width * sizeof(float));
    }
    attend_backward(net, l, s->d_width, s->d_qkv, last);
    turn(net, s->d_qkv, -1);
    gemm(width, 3 * width, net->rows, TRANSPOSED(l->normed_1, width), PLAIN(s->d_qkv, 3 * width),
         gradient(net, POCKET_QKV, layer), 3 * width, true);
    gemm(net->rows, width, 3 * width, PLAIN(s->d_qkv, 3 * width),
         TRANSPOSED(part(net, POCKET_QKV, layer), 3 * width), s->d_width, width, false);
    norm_backward(l->x, part(net, POCKET_NORM_1, layer), l->scale_1, s->d_width, s->d_x,
                  gradient(net, POCKET_NORM_1, layer), net->rows, width);
}

/* Where the embedding lies that a row gets from its own token (back 0) or one before it: the tables
 * follow each other. */
static size_t embedding_at(const struct net *net, const struct net_sequence *q, size_t t,
                           size_t back)
{
    size_t token = (size_t)net->tokens[q->start + t - back];

    return (back * net->shape.vocabulary + token) * net->shape.width;
}

static void embed_forward(const struct net *net, float *x)
{
    size_t width = net->shape.width;

    for (const struct net_sequence *q = net->sequences; q < net->sequences + net->n_sequences; q++)
        for (size_t t = 0; t < q->n; t++, x += width) {
            memcpy(x, net->parameters + embedding_at(net, q, t, 0), width * sizeof(*x));
            for (size_t back = 1; back <= POCKET_BEFORE_COUNT && back <= t; back++) {
                const float *from = net->parameters + embedding_at(net, q, t, back);

                for (size_t i = 0; i < width; i++)
                    x[i] += from[i];
            }
        }
}

static void embed_backward(struct net *net, const float *d_x)
{
    size_t width = net->shape.width;

    for (const struct net_sequence *q = net->sequences; q < net->sequences + net->n_sequences; q++)
        for (size_t t = 0; t < q->n; t++, d_x += width)
            for (size_t back = 0; back <= POCKET_BEFORE_COUNT && back <= t; back++) {
                float *to = net->gradients + embedding_at(net, q, t, back);

                for (size_t i = 0; i < width; i++)
                    to[i] += d_x[i];
            }
}

static void forward(struct net *net)
{
    struct net_scratch *s = net->scratch;
    size_t width = net->shape.width, vocabulary = net->shape.vocabulary;
    uint32_t layers = net->shape.layers;

    embed_forward(net, net->layers[0].x);
    for (uint32_t l = 0; l < layers; l++)
        layer_forward(net, l, l + 1 < layers ? net->layers[l + 1].x : s->last);
    norm_forward(s->last, part(net, POCKET_LAST_NORM, 0), s->last_normed, s->last_scale,
                 net->targets, width);
    gemm(net->targets, vocabulary, width, PLAIN(s->last_normed, width),
         TRANSPOSED(part(net, POCKET_EMBEDDING, 0), width), s->logits, vocabulary, false);
}

/* The mean loss; the logits become its gradient. */
static double cross_entropy(struct net *net)
{
    size_t vocabulary = net->shape.vocabulary;
    float *p = net->scratch->logits, weight = 1 / (float)net->targets;
    double loss = 0;

    for (size_t r = 0; r < net->targets; r++, p += vocabulary) {
        float most = p[0], sum = 0;

        for (size_t i = 1; i < vocabulary; i++)
            most = p[i] > most ? p[i] : most;
        for (size_t i = 0; i < vocabulary; i++) {
            p[i] = expf(p[i] - most);
            sum += p[i];
        }
        loss -= log((double)p[net->wanted[r]] / sum + 1e-30);
        for (size_t i = 0; i < vocabulary; i++)
            p[i] *= weight / sum;
        p[net->wanted[r]] -= weight;
    }
    return loss / (double)net->targets;
}

static void backward(struct net *net)
{
    struct net_scratch *s = net->scratch;
    size_t width = net->shape.width, vocabulary = net->shape.vocabulary;
    float *d_embedding = gradient(net, POCKET_EMBEDDING, 0);

    memset(net->gradients, 0, net->count * sizeof(float));
    gemm(vocabulary, width, net->targets, TRANSPOSED(s->logits, vocabulary),
         PLAIN(s->last_normed, width), d_embedding, width, true);
    gemm(net->targets, width, vocabulary, PLAIN(s->logits, vocabulary),
         PLAIN(part(net, POCKET_EMBEDDING, 0), width), s->d_width, width, false);
    memset(s->d_x, 0, net->targets * width * sizeof(float));
    norm_backward(s->last, part(net, POCKET_LAST_NORM, 0), s->last_scale, s->d_width, s->d_x,
                  gradient(net, POCKET_LAST_NORM, 0), net->targets, width);
    for (uint32_t l = net->shape.layers; l-- > 0;)
        layer_backward(net, l);
    embed_backward(net, s->d_x);
}

double net_loss(struct net *net)
{
    forward(net);
    return cross_entropy(net);
}

double net_step(struct net *net)
{
    double loss = net_loss(net);

    backward(net);
    return loss;
}
