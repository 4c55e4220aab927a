/*
 * Muon as published by K. Jordan and others (2024): five Newton-Schulz iterations with the
 * coefficients given there drive the singular values of the momentum towards one.
 */
#include "optimizer.h"

#include "gemm.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MUON_RATE     0.02
#define MUON_MOMENTUM 0.95f
#define MUON_DECAY    0.1 /* of the weights, times the rate */
#define ADAM_RATE     0.004
#define ADAM_BETA_1   0.9f
#define ADAM_BETA_2   0.95f
#define CLIP          1.0 /* the longest gradient */

struct optimizer {
    float *first; /* momentum of either */
    float *second;
    int64_t steps;
    float *x, *square, *polynomial, *next; /* for the iterations */
};

struct optimizer *optimizer_new(const struct net *net)
{
    struct optimizer *o = xcalloc(1, sizeof(*o));
    size_t width = net->shape.width, longer = net->shape.hidden > width ? net->shape.hidden : width;

    o->first = xcalloc(net->count, sizeof(float));
    o->second = xcalloc(net->count, sizeof(float));
    o->x = xcalloc(width * longer, sizeof(float));
    o->next = xcalloc(width * longer, sizeof(float));
    o->square = xcalloc(width * width, sizeof(float));
    o->polynomial = xcalloc(width * width, sizeof(float));
    return o;
}

void optimizer_free(struct optimizer *o)
{
    if (!o)
        return;
    free(o->first);
    free(o->second);
    free(o->x);
    free(o->next);
    free(o->square);
    free(o->polynomial);
    free(o);
}

/* x (width x n): singular values towards one. */
static void make_orthogonal(struct optimizer *o, size_t width, size_t n)
{
    static const float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    double sum = 0;
    float scale;

    for (size_t i = 0; i < width * n; i++)
        sum += (double)o->x[i] * o->x[i];
    scale = (float)(1 / (sqrt(sum) + 1e-12));
    for (size_t i = 0; i < width * n; i++)
        o->x[i] *= scale;
    for (int round = 0; round < 5; round++) {
        float *swap = o->x;

        gemm(width, width, n, PLAIN(o->x, n), TRANSPOSED(o->x, n), o->square, width, false);
        gemm(width, width, width, PLAIN(o->square, width), PLAIN(o->square, width), o->polynomial,
             width, false);
        for (size_t i = 0; i < width * width; i++)
            o->polynomial[i] = b * o->square[i] + c * o->polynomial[i];
        for (size_t i = 0; i < width; i++)
            o->polynomial[i * width + i] += a;
        gemm(width, n, width, PLAIN(o->polynomial, width), PLAIN(o->x, n), o->next, n, false);
        o->x = o->next;
        o->next = swap;
    }
}

/* A width x n part of a matrix (its transpose if `transposed`), from `offset` on. */
static void muon(struct optimizer *o, struct net *net, size_t offset, size_t stride, size_t n,
                 bool transposed, double rate)
{
    size_t width = net->shape.width;
    double ratio = transposed ? (double)n / (double)width : 1;
    float step = (float)(MUON_RATE * rate * sqrt(ratio > 1 ? ratio : 1));
    float keep = (float)(1 - MUON_RATE * MUON_DECAY * rate);

    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < n; j++) {
            size_t k = offset + (transposed ? j * stride + i : i * stride + j);

            o->first[k] = MUON_MOMENTUM * o->first[k] + net->gradients[k];
            o->x[i * n + j] = net->gradients[k] + MUON_MOMENTUM * o->first[k];
        }
    make_orthogonal(o, width, n);
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < n; j++) {
            size_t k = offset + (transposed ? j * stride + i : i * stride + j);

            net->parameters[k] = keep * net->parameters[k] - step * o->x[i * n + j];
        }
}

static void adam(struct optimizer *o, struct net *net, size_t offset, size_t n, double rate)
{
    double fix_1 = 1 - pow(ADAM_BETA_1, (double)o->steps);
    double fix_2 = 1 - pow(ADAM_BETA_2, (double)o->steps);
    float step = (float)(ADAM_RATE * rate / fix_1), fix = (float)(1 / fix_2);

    for (size_t k = offset; k < offset + n; k++) {
        float g = net->gradients[k];

        o->first[k] = ADAM_BETA_1 * o->first[k] + (1 - ADAM_BETA_1) * g;
        o->second[k] = ADAM_BETA_2 * o->second[k] + (1 - ADAM_BETA_2) * g * g;
        net->parameters[k] -= step * o->first[k] / (sqrtf(o->second[k] * fix) + 1e-10f);
    }
}

static void clip(struct net *net)
{
    double sum = 0;
    float scale;

    for (size_t i = 0; i < net->count; i++)
        sum += (double)net->gradients[i] * net->gradients[i];
    if (sum <= CLIP * CLIP)
        return;
    scale = (float)(CLIP / sqrt(sum));
    for (size_t i = 0; i < net->count; i++)
        net->gradients[i] *= scale;
}

void optimizer_step(struct optimizer *o, struct net *net, double rate)
{
    const struct pocket_shape *s = &net->shape;
    size_t width = s->width;

    o->steps++;
    clip(net);
    adam(o, net, 0, (1 + POCKET_BEFORE_COUNT) * s->vocabulary * width, rate);
    adam(o, net, pocket_parameter_offset(s, POCKET_LAST_NORM, 0), width, rate);
    for (uint32_t l = 0; l < s->layers; l++) {
        size_t qkv = pocket_parameter_offset(s, POCKET_QKV, l);

        adam(o, net, pocket_parameter_offset(s, POCKET_NORM_1, l), width, rate);
        adam(o, net, pocket_parameter_offset(s, POCKET_NORM_2, l), width, rate);
        for (size_t third = 0; third < 3; third++)
            muon(o, net, qkv + third * width, 3 * width, width, false, rate);
        muon(o, net, pocket_parameter_offset(s, POCKET_OUT, l), width, width, false, rate);
        muon(o, net, pocket_parameter_offset(s, POCKET_UP, l), s->hidden, s->hidden, false, rate);
        muon(o, net, pocket_parameter_offset(s, POCKET_DOWN, l), width, s->hidden, true, rate);
    }
}
