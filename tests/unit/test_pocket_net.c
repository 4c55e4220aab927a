/*
 * The trainer's network: its gradients against differences of its loss, and its loss against what
 * the program's own step says about the same weights.
 */
#include "harness.h"

#include "gemm.h"
#include "net.h"
#include "optimizer.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/rng.h"
#include "client/pocket/model.h"

static const struct pocket_shape small = {40, 64, 32, 3, 2, 64};

DEFINE_AUTO_PTR(net, net_free);

/* A few sequences of different lengths; returns the tokens of the first. */
static struct net *make_net(int first[12])
{
    struct net *net = net_new(&small, 256);
    struct rng rng = rng_seed(5, 0);

    net_init(net, 3);
    for (int q = 0; q < 7; q++) {
        int tokens[32];
        size_t n = q ? 2 + rng_below(&rng, 24) : 12;

        for (size_t i = 0; i < n; i++)
            tokens[i] = (int)rng_below(&rng, small.vocabulary);
        if (q == 0)
            memcpy(first, tokens, 12 * sizeof(*first));
        assert_true(net_batch_add(net, tokens, n, q ? 1 + rng_below(&rng, n - 1) : 5));
    }
    return net;
}

/* The loss's slope along a direction that has values in parameters from..to only. */
static double slope(struct net *net, const float *direction, size_t from, size_t to)
{
    AUTO_FREE float *kept = xmemdup(net->parameters, net->count * sizeof(float));
    double length = 0, step, loss[2];

    for (size_t i = from; i < to; i++)
        length += (double)direction[i] * direction[i];
    step = 5e-3 / sqrt(length);
    for (int side = 0; side < 2; side++) {
        for (size_t i = from; i < to; i++)
            net->parameters[i] = kept[i] + (float)((side ? -step : step) * direction[i]);
        loss[side] = net_loss(net);
    }
    memcpy(net->parameters, kept, net->count * sizeof(float));
    return (loss[0] - loss[1]) / (2 * step);
}

static void check_part(struct net *net, const float *gradients, size_t from, size_t to)
{
    AUTO_FREE float *direction = xcalloc(net->count, sizeof(float));
    struct rng rng = rng_seed(from, 1);
    double wanted[2] = {0};

    /* Along the gradient, and then along a random direction that leans to it: noise in the loss
     * must stay small beside the slope. */
    for (int way = 0; way < 2; way++) {
        for (size_t i = from; i < to; i++) {
            direction[i] = gradients[i];
            if (way)
                direction[i] = gradients[i] * (float)rng_uniform(&rng) +
                               fabsf(gradients[i]) * (float)(rng_uniform(&rng) - 0.5);
            wanted[way] += (double)gradients[i] * direction[i];
        }
        assert_near(slope(net, direction, from, to) / wanted[way], 1, 0.01);
    }
}

static void gradients_are_slopes(void **state)
{
    int first[12];
    AUTO_PTR(net) struct net *net = make_net(first);
    AUTO_FREE float *gradients = NULL;

    (void)state;
    net_step(net);
    gradients = xmemdup(net->gradients, net->count * sizeof(float));
    for (int part = POCKET_EMBEDDING; part <= POCKET_LAST_NORM; part++) {
        bool once = part <= POCKET_BEFORE || part == POCKET_LAST_NORM;

        for (uint32_t l = 0; l < (once ? 1 : small.layers); l++) {
            size_t from = pocket_parameter_offset(&small, (enum pocket_part)part, l);
            size_t to = part == POCKET_LAST_NORM ? net->count
                        : part != POCKET_DOWN
                            ? pocket_parameter_offset(&small, (enum pocket_part)(part + 1), l)
                            : from + (size_t)small.width * small.hidden;

            check_part(net, gradients, from, to);
        }
    }
}

/* What is trained is what is run: the losses agree as far as halves allow. */
static void loss_is_that_of_the_program(void **state)
{
    int tokens[12];
    AUTO_PTR(net) struct net *net = make_net(tokens);
    AUTO(buf) struct buf file = BUF_INIT(1 << 24);
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};
    double loss = 0;

    (void)state;
    net_batch_clear(net);
    assert_true(net_batch_add(net, tokens, 12, 5));
    pocket_weights_write(&small, pocket_trained_tokens, net->parameters, &file);
    assert_ok(pocket_model_open(file.data, file.len, &m, &err), &err);
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);
    for (int t = 0; t < 11; t++) {
        const float *logits = pocket_step(s, tokens[t]);
        double sum = 0;

        for (uint32_t v = 0; v < small.vocabulary; v++)
            sum += exp((double)logits[v]);
        if (t >= 4)
            loss += (log(sum) - (double)logits[tokens[t + 1]]) / 7;
    }
    assert_near(net_loss(net), loss, 2e-3);
}

static void training_learns_a_batch_by_heart(void **state)
{
    int first[12];
    AUTO_PTR(net) struct net *net = make_net(first);
    struct optimizer *o = optimizer_new(net);
    double before = net_loss(net);

    (void)state;
    for (int i = 0; i < 80; i++) {
        net_step(net);
        optimizer_step(o, net, 1);
    }
    assert_true(before > 3);
    assert_true(net_loss(net) < 0.3);
    optimizer_free(o);
}

static void a_full_batch_says_so(void **state)
{
    struct net *net = net_new(&small, 20);
    int tokens[12] = {1, 2, 3};

    (void)state;
    assert_true(net_batch_add(net, tokens, 12, 3));
    assert_false(net_batch_add(net, tokens, 12, 3));
    assert_true(net_batch_add(net, tokens, 10, 9));
    assert_int_equal(net->rows, 20);
    assert_int_equal(net->targets, 10);
    net_free(net);
}

static void products_are_right(void **state)
{
    static const size_t sizes[][3] = {{1, 1, 1},   {6, 16, 4},    {7, 17, 300},
                                      {97, 5, 33}, {13, 530, 20}, {100, 48, 257}};
    static float a[100 * 300], b[300 * 530], c[100 * 530];

    (void)state;
    for (size_t i = 0; i < sizeof(a) / sizeof(*a); i++)
        a[i] = (float)(i * 31 % 17) - 8;
    for (size_t i = 0; i < sizeof(b) / sizeof(*b); i++)
        b[i] = (float)(i * 13 % 11) - 5;
    for (size_t i = 0; i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t m = sizes[i / 4][0], n = sizes[i / 4][1], k = sizes[i / 4][2];
        bool ta = i & 1, tb = i & 2;

        for (size_t j = 0; j < m * n; j++)
            c[j] = 1;
        gemm(m, n, k, (struct matrix){a, ta ? m : k, ta}, (struct matrix){b, tb ? k : n, tb}, c, n,
             true);
        for (size_t r = 0; r < m; r++)
            for (size_t j = 0; j < n; j++) {
                double sum = 1;

                for (size_t p = 0; p < k; p++)
                    sum += (double)a[ta ? p * m + r : r * k + p] * b[tb ? j * k + p : p * n + j];
                assert_near(c[r * n + j], sum, 0); /* small whole numbers: exact */
            }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gradients_are_slopes),
    cmocka_unit_test(loss_is_that_of_the_program),
    cmocka_unit_test(training_learns_a_batch_by_heart),
    cmocka_unit_test(a_full_batch_says_so),
    cmocka_unit_test(products_are_right),
};
TEST_MAIN(tests)
