/*
 * Opening turns the halves of the file into floats in the order in which a step reads them; after
 * that a step is a handful of matrix-vector products, each reading its weights once. Keys are
 * cached across (one row per dimension, one column per position) and values along, so that the
 * attention's inner loops run over neighbouring floats too.
 */
#include "client/pocket/model.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "client/pocket/kernels.h"
#include "client/pocket/weights.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ALIGNMENT 64

struct layer {
    const float *norm_1;
    const float *norm_2;
    const float *qkv; /* this and the following in panels */
    const float *out;
    const float *up;
    const float *down;
};

struct pocket_model {
    struct pocket_shape shape;
    const struct pocket_kernels *kernels;
    size_t head_size;
    size_t stride;          /* the context, rounded up to whole lanes */
    float *memory;          /* holds all of the following */
    const float *embedding; /* by token */
    const float *before;    /* by how far before, and token */
    const float *logits;    /* the same in panels */
    const float *last_norm;
    float *turns; /* cosine and sine of each pair, by position */
    struct layer *layers;
    char (*tokens)[5];
    int16_t by_byte[128]; /* the token of an ASCII character, -1 = none */
};

struct pocket_state {
    const struct pocket_model *model;
    int length;
    int recent[POCKET_BEFORE_COUNT]; /* the tokens before, the last one first */
    float *memory;                   /* holds all of the following */
    float *keys;                     /* by layer, dimension, position */
    float *values;                   /* by layer, position, dimension */
    float *x;                        /* the residual stream */
    float *normed;
    float *qkv;
    float *mixed; /* what attention gives */
    float *hidden;
    float *scores;
    float *logits;
};

/* Hands out aligned pieces of one block; without a block it only counts. */
struct pieces {
    float *block;
    size_t used;
};

static float *take(struct pieces *p, size_t n)
{
    float *piece = p->block ? p->block + p->used : NULL;

    p->used += (n + 15) / 16 * 16;
    return piece;
}

struct reader {
    const void *data;
    const struct pocket_shape *shape;
    float *scratch; /* room for the largest part */
};

static const float *read_part(const struct reader *r, enum pocket_part part, uint32_t layer,
                              size_t n, struct pieces *p)
{
    float *to = take(p, n);

    if (to)
        pocket_weights_read(r->data, r->shape, pocket_parameter_offset(r->shape, part, layer), n,
                            to);
    return to;
}

static const float *read_panels(const struct reader *r, enum pocket_part part, uint32_t layer,
                                size_t inputs, size_t outputs, struct pieces *p)
{
    float *to = take(p, pocket_panels_size(inputs, outputs));

    if (!to)
        return NULL;
    pocket_weights_read(r->data, r->shape, pocket_parameter_offset(r->shape, part, layer),
                        inputs * outputs, r->scratch);
    pocket_panels_pack(r->scratch, inputs, outputs, part == POCKET_EMBEDDING, to);
    return to;
}

static void read_layer(const struct reader *r, uint32_t l, struct layer *ret, struct pieces *p)
{
    size_t width = r->shape->width, hidden = r->shape->hidden;

    ret->norm_1 = read_part(r, POCKET_NORM_1, l, width, p);
    ret->qkv = read_panels(r, POCKET_QKV, l, width, 3 * width, p);
    ret->out = read_panels(r, POCKET_OUT, l, width, width, p);
    ret->norm_2 = read_part(r, POCKET_NORM_2, l, width, p);
    ret->up = read_panels(r, POCKET_UP, l, width, hidden, p);
    ret->down = read_panels(r, POCKET_DOWN, l, hidden, width, p);
}

static void read_parts(struct pocket_model *m, const struct reader *r, struct pieces *p)
{
    const struct pocket_shape *s = &m->shape;

    m->embedding = read_part(r, POCKET_EMBEDDING, 0, (size_t)s->vocabulary * s->width, p);
    m->before =
        read_part(r, POCKET_BEFORE, 0, (size_t)POCKET_BEFORE_COUNT * s->vocabulary * s->width, p);
    for (uint32_t l = 0; l < s->layers; l++)
        read_layer(r, l, &m->layers[l], p);
    m->last_norm = read_part(r, POCKET_LAST_NORM, 0, s->width, p);
    m->logits = read_panels(r, POCKET_EMBEDDING, 0, s->width, s->vocabulary, p);
    m->turns = take(p, (size_t)s->context * m->head_size);
}

static void fill_turns(struct pocket_model *m)
{
    size_t half = m->head_size / 2;
    float *to = m->turns;

    assert(to);
    for (uint32_t t = 0; t < m->shape.context; t++) {
        for (size_t j = 0; j < half; j++) {
            double angle = t * pow(POCKET_ROPE_BASE, -(double)j / (double)half);

            *to++ = (float)cos(angle);
            *to++ = (float)sin(angle);
        }
    }
}

static void read_tokens(struct pocket_model *m, const void *data)
{
    memset(m->by_byte, -1, sizeof(m->by_byte));
    for (uint32_t t = 0; t < m->shape.vocabulary; t++) {
        memcpy(m->tokens[t], pocket_weights_token(data, t), 4);
        if (m->tokens[t][0] > 0)
            m->by_byte[(unsigned char)m->tokens[t][0]] = (int16_t)t;
    }
}

static size_t largest_part(const struct pocket_shape *s)
{
    size_t width = s->width, most = 3 * width * width;

    if (width * s->hidden > most)
        most = width * s->hidden;
    return width * s->vocabulary > most ? width * s->vocabulary : most;
}

int pocket_model_open(const void *data, size_t size, struct pocket_model **ret, struct err *err)
{
    struct pocket_shape shape;
    struct pocket_model *m;
    struct pieces pieces = {0};
    struct reader reader;
    int r = pocket_weights_check(data, size, &shape, err);

    if (r < 0)
        return r;
    m = xcalloc(1, sizeof(*m));
    m->shape = shape;
    m->kernels = pocket_kernels_best();
    m->head_size = shape.width / shape.heads;
    m->stride = (shape.context + 15) / 16 * 16;
    m->layers = xcalloc(shape.layers, sizeof(*m->layers));
    m->tokens = xcalloc(shape.vocabulary, sizeof(*m->tokens));
    reader = (struct reader){data, &m->shape, xcalloc(largest_part(&shape), sizeof(float))};
    read_parts(m, &reader, &pieces);
    m->memory = xcalloc_aligned(ALIGNMENT, pieces.used, sizeof(float));
    pieces = (struct pieces){.block = m->memory};
    read_parts(m, &reader, &pieces);
    free(reader.scratch);
    fill_turns(m);
    read_tokens(m, data);
    *ret = m;
    return 0;
}

void pocket_model_close(struct pocket_model *m)
{
    if (!m)
        return;
    free(m->memory);
    free(m->layers);
    free(m->tokens);
    free(m);
}

int pocket_vocabulary(const struct pocket_model *m)
{
    return (int)m->shape.vocabulary;
}

int pocket_context(const struct pocket_model *m)
{
    return (int)m->shape.context;
}

int64_t pocket_parameters(const struct pocket_model *m)
{
    return (int64_t)pocket_parameter_count(&m->shape);
}

static int find_token(const struct pocket_model *m, const char *character, size_t n)
{
    if (n == 1 && (unsigned char)*character < 128)
        return m->by_byte[(unsigned char)*character] < 0 ? POCKET_FIRST_TEXT
                                                         : m->by_byte[(unsigned char)*character];
    for (uint32_t t = POCKET_FIRST_TEXT; t < m->shape.vocabulary; t++)
        if (strlen(m->tokens[t]) == n && memcmp(m->tokens[t], character, n) == 0)
            return (int)t;
    return POCKET_FIRST_TEXT;
}

size_t pocket_encode(const struct pocket_model *m, const char *text, size_t n, int *ret, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < n; count++) {
        size_t length = utf8_char(text + i, n - i, NULL);

        length = length ? length : 1;
        if (count < max)
            ret[count] = find_token(m, text + i, length);
        i += length;
    }
    return count;
}

const char *pocket_decode(const struct pocket_model *m, int token)
{
    return token >= 0 && token < pocket_vocabulary(m) ? m->tokens[token] : "";
}

static void take_state(struct pocket_state *s, struct pieces *p)
{
    const struct pocket_shape *shape = &s->model->shape;
    size_t width = shape->width;

    s->x = take(p, width);
    s->normed = take(p, width);
    s->qkv = take(p, 3 * width);
    s->mixed = take(p, width);
    s->hidden = take(p, shape->hidden);
    s->scores = take(p, s->model->stride);
    s->logits = take(p, shape->vocabulary + POCKET_LANES);
    s->keys = take(p, shape->layers * width * s->model->stride);
    s->values = take(p, shape->layers * width * s->model->stride);
}

struct pocket_state *pocket_state_new(const struct pocket_model *m)
{
    struct pocket_state *s = xcalloc(1, sizeof(*s));
    struct pieces pieces = {0};

    s->model = m;
    take_state(s, &pieces);
    s->memory = xcalloc_aligned(ALIGNMENT, pieces.used, sizeof(float));
    pieces = (struct pieces){.block = s->memory};
    take_state(s, &pieces);
    return s;
}

void pocket_state_free(struct pocket_state *s)
{
    if (!s)
        return;
    free(s->memory);
    free(s);
}

void pocket_state_reset(struct pocket_state *s)
{
    s->length = 0;
}

int pocket_state_length(const struct pocket_state *s)
{
    return s->length;
}

static void normalise(const float *x, const float *gain, float *y, size_t n)
{
    float sum = 0, scale;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    scale = 1 / sqrtf(sum / (float)n + POCKET_NORM_EPS);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * scale * gain[i];
}

/* Turns each pair of each head of a query or key by its position. */
static void turn(const struct pocket_state *s, float *x)
{
    size_t size = s->model->head_size, half = size / 2;
    const float *turns = s->model->turns + (size_t)s->length * size;

    for (float *head = x; head < x + s->model->shape.width; head += size) {
        for (size_t j = 0; j < half; j++) {
            float c = turns[2 * j], d = turns[2 * j + 1], a = head[j], b = head[j + half];

            head[j] = a * c - b * d;
            head[j + half] = a * d + b * c;
        }
    }
}

static void soften(float *scores, size_t n)
{
    float most = scores[0], sum = 0;

    for (size_t t = 1; t < n; t++)
        most = scores[t] > most ? scores[t] : most;
    for (size_t t = 0; t < n; t++) {
        scores[t] = expf(scores[t] - most);
        sum += scores[t];
    }
    for (size_t t = 0; t < n; t++)
        scores[t] /= sum;
}

static void attend(struct pocket_state *s, uint32_t layer)
{
    const struct pocket_model *m = s->model;
    size_t width = m->shape.width, size = m->head_size, n = (size_t)s->length + 1;
    float *keys = s->keys + layer * width * m->stride, *key = s->qkv + width;
    float *values = s->values + layer * width * m->stride;
    float scale = 1 / sqrtf((float)size);

    turn(s, s->qkv);
    turn(s, key);
    for (size_t j = 0; j < width; j++)
        keys[j * m->stride + n - 1] = key[j];
    memcpy(values + (n - 1) * width, s->qkv + 2 * width, width * sizeof(*values));
    for (size_t h = 0; h < width; h += size) {
        m->kernels->match(s->qkv + h, keys + h * m->stride, m->stride, s->scores, n, size, scale);
        soften(s->scores, n);
        m->kernels->mix(s->scores, values + h, width, s->mixed + h, n, size);
    }
}

static void add_to(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void run_layer(struct pocket_state *s, uint32_t layer)
{
    const struct pocket_model *m = s->model;
    const struct layer *l = &m->layers[layer];
    size_t width = m->shape.width, hidden = m->shape.hidden;

    normalise(s->x, l->norm_1, s->normed, width);
    m->kernels->product(l->qkv, s->normed, s->qkv, width, 3 * width);
    attend(s, layer);
    m->kernels->product(l->out, s->mixed, s->normed, width, width);
    add_to(s->x, s->normed, width);
    normalise(s->x, l->norm_2, s->normed, width);
    m->kernels->product(l->up, s->normed, s->hidden, width, hidden);
    for (size_t i = 0; i < hidden; i++)
        s->hidden[i] = s->hidden[i] > 0 ? s->hidden[i] * s->hidden[i] : 0;
    m->kernels->product(l->down, s->hidden, s->normed, hidden, width);
    add_to(s->x, s->normed, width);
}

/* The token's embedding and what those before it add. */
static void embed(struct pocket_state *s, int token)
{
    const struct pocket_model *m = s->model;
    size_t width = m->shape.width, table = width * m->shape.vocabulary;

    memcpy(s->x, m->embedding + (size_t)token * width, width * sizeof(*s->x));
    for (int back = 0; back < POCKET_BEFORE_COUNT && back < s->length; back++)
        add_to(s->x, m->before + (size_t)back * table + (size_t)s->recent[back] * width, width);
    memmove(s->recent + 1, s->recent, sizeof(s->recent) - sizeof(s->recent[0]));
    s->recent[0] = token;
}

const float *pocket_step(struct pocket_state *s, int token)
{
    const struct pocket_model *m = s->model;
    size_t width = m->shape.width;

    assert(token >= 0 && token < pocket_vocabulary(m) && s->length < pocket_context(m));
    embed(s, token);
    for (uint32_t l = 0; l < m->shape.layers; l++)
        run_layer(s, l);
    normalise(s->x, m->last_norm, s->normed, width);
    m->kernels->product(m->logits, s->normed, s->logits, width, m->shape.vocabulary);
    s->length++;
    return s->logits;
}
