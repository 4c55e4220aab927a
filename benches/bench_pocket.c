/*
 * The embedded model, one stream: its tokens per second against the bare matrix-vector products of
 * the same sizes, in turns within one run; the time from nothing to the first token; the memory.
 */
#include "bench_row.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "client/pocket/kernels.h"
#include "client/pocket/model.h"
#include "client/pocket/weights.h"

#include <string.h>
#include <sys/resource.h>

#define ROUNDS 25
#define TOKENS 120 /* prompt and answer of a usual question */

static const char prompt[] = "How much is left when 385 is taken away from 721? Answer with the "
                             "number only.";

/* Panels of random numbers, one after the other as a step reads them. */
struct products {
    struct pocket_shape shape;
    const struct pocket_kernels *kernels;
    float *panels;
    float *x;
    float *y;
};

static void run_products(const struct products *p)
{
    size_t width = p->shape.width, hidden = p->shape.hidden;
    const float *at = p->panels;

    for (uint32_t l = 0; l < p->shape.layers; l++) {
        p->kernels->product(at, p->x, p->y, width, 3 * width);
        at += 3 * width * width;
        p->kernels->product(at, p->x, p->y, width, width);
        at += width * width;
        p->kernels->product(at, p->x, p->y, width, hidden);
        at += width * hidden;
        p->kernels->product(at, p->x, p->y, hidden, width);
        at += width * hidden;
    }
    p->kernels->product(at, p->x, p->y, width, p->shape.vocabulary);
}

static void products_init(struct products *p)
{
    size_t width = p->shape.width, hidden = p->shape.hidden;
    size_t longest = hidden > 3 * width ? hidden : 3 * width;
    size_t n = p->shape.layers * (4 * width * width + 2 * width * hidden) +
               pocket_panels_size(width, p->shape.vocabulary);

    p->kernels = pocket_kernels_best();
    p->panels = xcalloc_aligned(64, n, sizeof(float));
    p->x = xcalloc_aligned(64, longest, sizeof(float));
    p->y = xcalloc_aligned(64, longest + POCKET_LANES, sizeof(float));
    for (size_t i = 0; i < n; i++)
        p->panels[i] = (float)(i * 37 % 101) / 101 - 0.5f;
    for (size_t i = 0; i < longest; i++)
        p->x[i] = (float)(i * 7 % 13) / 13;
}

static void products_release(struct products *p)
{
    free(p->panels);
    free(p->x);
    free(p->y);
}

static double first_token_ms(void)
{
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    mono_ns start = mono_now();
    int tokens[128];
    size_t n;

    if (pocket_model_open(pocket_weights, pocket_weights_size, &m, NULL) < 0)
        exit(1);
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);
    n = pocket_encode(m, prompt, strlen(prompt), tokens, 128);
    pocket_step(s, POCKET_BEGIN);
    for (size_t i = 0; i < n; i++)
        pocket_step(s, tokens[i]);
    pocket_step(s, POCKET_ANSWER);
    return (double)(mono_now() - start) / 1e6;
}

static double tokens_per_s(mono_ns start)
{
    return TOKENS / ns_to_s(mono_now() - start);
}

static void bench_speed(const struct pocket_model *m)
{
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);
    AUTO(products) struct products p = {0};
    static double model[ROUNDS], bare[ROUNDS];
    double measured, limit;

    if (pocket_weights_check(pocket_weights, pocket_weights_size, &p.shape, NULL) < 0)
        exit(1);
    products_init(&p);
    for (int round = 0; round < ROUNDS; round++) {
        mono_ns start = mono_now();

        pocket_state_reset(s);
        for (int i = 0; i < TOKENS; i++)
            pocket_step(s, POCKET_FIRST_TEXT + i % 90);
        model[round] = tokens_per_s(start);
        start = mono_now();
        for (int i = 0; i < TOKENS; i++)
            run_products(&p);
        bare[round] = tokens_per_s(start);
    }
    measured = bench_quantile(model, ROUNDS, 0.5);
    limit = bench_quantile(bare, ROUNDS, 0.5);
    bench_print(&(struct bench_row){"pocket, one stream", "its bare matrix-vector products", limit,
                                    measured, "tokens/s", measured / limit, "x", ">= 0.5x",
                                    measured >= 0.5 * limit});
}

int main(void)
{
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    static double first[ROUNDS];
    struct rusage usage;
    double mib;

    for (int round = 0; round < ROUNDS; round++)
        first[round] = first_token_ms();
    getrusage(RUSAGE_SELF, &usage); /* before the memory of the bare products */
    mib = (double)usage.ru_maxrss / 1024;
    if (pocket_model_open(pocket_weights, pocket_weights_size, &m, NULL) < 0)
        return 1;
    bench_speed(m);
    first[0] = bench_quantile(first, ROUNDS, 0.5);
    bench_print(&(struct bench_row){"pocket, opened to first token", "goal", 50, first[0], "ms",
                                    first[0], " ms", "< 50 ms", first[0] < 50});
    bench_print(&(struct bench_row){"pocket, peak memory of the process", "goal", 32, mib, "MiB",
                                    mib, " MiB", "< 32 MiB", mib < 32});
    return 0;
}
