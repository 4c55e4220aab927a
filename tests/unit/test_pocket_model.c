/*
 * The embedded transformer: what it refuses to load, and that a step computes what the description
 * of the format says, by a second implementation that shares nothing with the first but the file.
 */
#include "harness.h"

#include "base/alloc.h"
#include "base/checksum.h"
#include "client/pocket/kernels.h"
#include "client/pocket/model.h"
#include "client/pocket/weights.h"

#include <errno.h>

static const struct pocket_shape small = {100, 48, 64, 3, 4, 96};

static struct buf make(const struct pocket_shape *shape, uint64_t seed)
{
    struct buf out = BUF_INIT(1 << 24);

    pocket_weights_random(shape, seed, &out);
    assert_false(out.failed);
    return out;
}

static void put_u32(struct buf *b, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        b->data[at + (size_t)i] = (char)(value >> 8 * i);
}

/* As the file's description has it, so that only the field under test is wrong. */
static void seal(struct buf *b)
{
    uint64_t sum = checksum64(b->data, 40) ^ checksum64(b->data + 48, b->len - 48);

    for (int i = 0; i < 8; i++)
        b->data[40 + i] = (char)(sum >> 8 * i);
}

static void refuses(const void *data, size_t size, const char *words)
{
    /* A block of exactly this size, so that the sanitizer sees a read one byte too far. */
    void *exact = xmemdup(data, size);
    struct pocket_model *m = NULL;
    struct err err = {0};

    assert_fails(pocket_model_open(exact, size, &m, &err), EBADMSG, &err, words);
    assert_null(m);
    free(exact);
}

static void opens_what_is_embedded(void **state)
{
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};

    (void)state;
    assert_true(pocket_weights_size <= 4000000);
    assert_ok(pocket_model_open(pocket_weights, pocket_weights_size, &m, &err), &err);
    assert_int_equal(pocket_vocabulary(m), POCKET_TRAINED_VOCABULARY);
    assert_true(pocket_context(m) >= 160);
}

static void refuses_every_truncation(void **state)
{
    AUTO(buf) struct buf b = make(&small, 1);

    (void)state;
    for (size_t n = 0; n < 600; n++)
        refuses(b.data, n, "weights: ");
    refuses(b.data, b.len - 1, "bytes where the header asks for");
    buf_addc(&b, 0);
    refuses(b.data, b.len, "bytes where the header asks for");
}

static void refuses_every_wrong_field(void **state)
{
    static const uint32_t values[] = {
        0,        1,        3,          31,         33,       1000,       4096,       65536,
        1u << 20, 1u << 24, 0x40000000, 0x7fffffff, 1u << 31, 0xffffffe0, 0xfffffffe, 0xffffffff};
    static const char *const names[] = {"version", "vocabulary", "context", "width",
                                        "layers",  "heads",      "hidden"};

    (void)state;
    for (size_t field = 0; field < 7; field++) {
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            AUTO(buf) struct buf b = make(&small, 1);
            const uint32_t kept[] = {POCKET_VERSION, small.vocabulary, small.context, small.width,
                                     small.layers,   small.heads,      small.hidden};
            struct pocket_shape shape;
            struct err err = {0};

            if (values[i] == kept[field])
                continue;
            put_u32(&b, 8 + 4 * field, values[i]);
            seal(&b);
            /* context and heads have no part in the size: other good values are no lie */
            if (field == 2 && values[i] >= 16 && values[i] <= 1024)
                continue;
            if (field == 5 && values[i] == 1)
                continue;
            if (pocket_weights_check(b.data, b.len, &shape, &err) == 0)
                fail_msg("%s = %u was taken", names[field], values[i]);
            refuses(b.data, b.len, "weights: ");
        }
    }
}

static void refuses_a_changed_byte(void **state)
{
    AUTO(buf) struct buf b = make(&small, 1);

    (void)state;
    for (size_t at = 0; at < b.len; at += at < 520 ? 1 : 977) {
        b.data[at] ^= 0x10;
        refuses(b.data, b.len, "weights: ");
        b.data[at] ^= 0x10;
    }
    b.data[b.len - 1] ^= 1;
    refuses(b.data, b.len, "checksum");
}

static void refuses_tokens_that_are_no_text(void **state)
{
    static const char wrong[][4] = {{0},           {'a', 'b'},
                                    {(char)0xC3},  {(char)0xFF},
                                    {'a', 0, 'b'}, {(char)0xED, (char)0xA0, (char)0x80}};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        AUTO(buf) struct buf b = make(&small, 1);

        memcpy(b.data + POCKET_HEADER_SIZE + 4 * 40, wrong[i], 4);
        seal(&b);
        refuses(b.data, b.len, "token 40 has no proper text");
    }
    {
        AUTO(buf) struct buf b = make(&small, 1);

        b.data[POCKET_HEADER_SIZE + 4 * POCKET_END] = 'x';
        seal(&b);
        refuses(b.data, b.len, "token 2 has no proper text");
    }
}

static void takes_any_number(void **state)
{
    AUTO(buf) struct buf b = make(&small, 1);
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};

    (void)state;
    for (size_t i = POCKET_HEADER_SIZE + 400; i < b.len; i++)
        b.data[i] = (char)0xff; /* NaN, were it taken as one */
    seal(&b);
    assert_ok(pocket_model_open(b.data, b.len, &m, &err), &err);
    {
        AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);

        for (int i = 0; i < pocket_context(m); i++)
            assert_non_null(pocket_step(s, i % pocket_vocabulary(m)));
    }
}

/* ---- a second implementation, in doubles and without a cache: the logits behind n tokens ---- */

struct reference {
    const unsigned char *p;
    const struct pocket_shape *s;
    double x[48][64]; /* position, dimension */
};

/* The i-th parameter, decoded here by its definition. */
static double parameter(const struct reference *r, size_t i)
{
    const unsigned char *at = r->p + 48 + 4 * (size_t)r->s->vocabulary + 2 * i;
    unsigned half = (unsigned)(at[0] | at[1] << 8), exponent = half >> 10 & 31;
    double value =
        exponent ? ldexp(1024 + (half & 1023), (int)exponent - 25) : ldexp(half & 1023, -24);

    return half & 0x8000 ? -value : value;
}

static void reference_norm(const struct reference *r, const double *x, size_t gain, double *y)
{
    double sum = 0;

    for (uint32_t i = 0; i < r->s->width; i++)
        sum += x[i] * x[i] / r->s->width;
    for (uint32_t i = 0; i < r->s->width; i++)
        y[i] = x[i] / sqrt(sum + 1e-5) * parameter(r, gain + i);
}

static double reference_sum(const struct reference *r, const double *x, size_t matrix,
                            size_t inputs, size_t outputs, size_t output)
{
    double sum = 0;

    for (size_t i = 0; i < inputs; i++)
        sum += x[i] * parameter(r, matrix + i * outputs + output);
    return sum;
}

/* Value i of a query or key vector, turned by its position. */
static double reference_turned(const struct reference *r, const double *v, size_t i, int position)
{
    size_t size = r->s->width / r->s->heads, half = size / 2, j = i % size % half;
    double angle = position * pow(1000, -2.0 * (double)j / (double)size);

    if (i % size < half)
        return v[i] * cos(angle) - v[i + half] * sin(angle);
    return v[i] * cos(angle) + v[i - half] * sin(angle);
}

static void reference_attention(struct reference *r, size_t base, int n)
{
    static double q[48][64], k[48][64], v[48][64];
    size_t width = r->s->width, size = width / r->s->heads;

    for (int t = 0; t < n; t++) {
        double h[64], raw[192];

        reference_norm(r, r->x[t], base, h);
        for (size_t o = 0; o < 3 * width; o++)
            raw[o] = reference_sum(r, h, base + width, width, 3 * width, o);
        for (size_t i = 0; i < width; i++) {
            q[t][i] = reference_turned(r, raw, i, t);
            k[t][i] = reference_turned(r, raw + width, i, t);
            v[t][i] = raw[2 * width + i];
        }
    }
    for (int t = 0; t < n; t++) {
        double mixed[64] = {0};

        for (size_t i = 0; i < width; i++) {
            size_t head = i / size * size;
            double total = 0;

            for (int u = 0; u <= t; u++) {
                double score = 0;

                for (size_t j = head; j < head + size; j++)
                    score += q[t][j] * k[u][j];
                score = exp(score / sqrt((double)size));
                total += score;
                mixed[i] += score * v[u][i];
            }
            mixed[i] /= total;
        }
        for (size_t o = 0; o < width; o++)
            r->x[t][o] +=
                reference_sum(r, mixed, base + width + 3 * width * width, width, width, o);
    }
}

static void reference_logits(const struct buf *file, const struct pocket_shape *s,
                             const int *tokens, int n, double *logits)
{
    struct reference r = {.p = (const unsigned char *)file->data, .s = s};
    size_t width = s->width, hidden = s->hidden, at = 4 * s->vocabulary * width;
    double h[64], up[96];

    for (int t = 0; t < n; t++)
        for (size_t i = 0; i < width; i++)
            for (int back = 0; back <= 3 && back <= t; back++)
                r.x[t][i] += parameter(
                    &r, ((size_t)back * s->vocabulary + (size_t)tokens[t - back]) * width + i);
    for (uint32_t l = 0; l < s->layers; l++) {
        size_t second = at + width + 4 * width * width;

        reference_attention(&r, at, n);
        for (int t = 0; t < n; t++) {
            reference_norm(&r, r.x[t], second, h);
            for (size_t o = 0; o < hidden; o++) {
                up[o] = fmax(0, reference_sum(&r, h, second + width, width, hidden, o));
                up[o] *= up[o];
            }
            for (size_t o = 0; o < width; o++)
                r.x[t][o] +=
                    reference_sum(&r, up, second + width + width * hidden, hidden, width, o);
        }
        at = second + width + 2 * width * hidden;
    }
    reference_norm(&r, r.x[n - 1], at, h);
    for (uint32_t t = 0; t < s->vocabulary; t++) {
        logits[t] = 0;
        for (size_t i = 0; i < width; i++)
            logits[t] += h[i] * parameter(&r, t * width + i);
    }
}

static void agrees_with_the_reference(void **state)
{
    /* Heads of 16, 2 and 64 dimensions; vocabularies that do not fill their last panel. */
    static const struct pocket_shape shapes[] = {
        {100, 48, 64, 3, 4, 96}, {37, 17, 32, 2, 16, 32}, {64, 33, 64, 1, 1, 32}};

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        AUTO(buf) struct buf file = make(&shapes[i], 11 + i);
        AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
        struct err err = {0};
        double wanted[128];
        int tokens[16];

        assert_ok(pocket_model_open(file.data, file.len, &m, &err), &err);
        assert_int_equal(pocket_parameters(m),
                         (int64_t)(file.len - 48 - 4 * shapes[i].vocabulary) / 2);
        {
            AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);

            for (int t = 0; t < 16; t++) {
                const float *logits;

                tokens[t] = (int)((unsigned)(t * t * 7 + 3) % shapes[i].vocabulary);
                logits = pocket_step(s, tokens[t]);
                reference_logits(&file, &shapes[i], tokens, t + 1, wanted);
                for (uint32_t v = 0; v < shapes[i].vocabulary; v++)
                    assert_near(logits[v], wanted[v], 1e-4);
            }
        }
    }
}

static void a_step_is_the_same_again(void **state)
{
    AUTO(buf) struct buf file = make(&small, 3);
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};
    float first[48][100];

    (void)state;
    assert_ok(pocket_model_open(file.data, file.len, &m, &err), &err);
    AUTO_PTR(pocket_state) struct pocket_state *a = pocket_state_new(m);
    AUTO_PTR(pocket_state) struct pocket_state *b = pocket_state_new(m);
    for (int t = 0; t < 48; t++) {
        memcpy(first[t], pocket_step(a, t * 31 % 100), sizeof(first[t]));
        assert_int_equal(pocket_state_length(a), t + 1);
    }
    /* Another state, that was used for something else before. */
    for (int t = 0; t < 40; t++)
        pocket_step(b, t);
    pocket_state_reset(b);
    assert_int_equal(pocket_state_length(b), 0);
    for (int t = 0; t < 48; t++)
        assert_memory_equal(first[t], pocket_step(b, t * 31 % 100), sizeof(first[t]));
}

static void encodes_and_decodes(void **state)
{
    static const char text[] = "a~ \n\xC3\xA9\xFFz";
    AUTO(buf) struct buf file = make(&small, 3);
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};
    int tokens[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

    (void)state;
    assert_ok(pocket_model_open(file.data, file.len, &m, &err), &err);
    assert_int_equal(pocket_encode(m, text, sizeof(text) - 1, tokens, 8), 7);
    assert_string_equal(pocket_decode(m, tokens[0]), "a");
    assert_string_equal(pocket_decode(m, tokens[1]), "~");
    assert_string_equal(pocket_decode(m, tokens[2]), " ");
    assert_string_equal(pocket_decode(m, tokens[3]), "\n");
    assert_int_equal(tokens[4], POCKET_FIRST_TEXT); /* unknown */
    assert_int_equal(tokens[5], POCKET_FIRST_TEXT);
    assert_string_equal(pocket_decode(m, tokens[6]), "z");
    assert_int_equal(tokens[7], -1);
    assert_string_equal(pocket_decode(m, POCKET_FIRST_TEXT), "\xEF\xBF\xBD");
    assert_string_equal(pocket_decode(m, POCKET_BEGIN), "");
    assert_string_equal(pocket_decode(m, POCKET_END), "");
    assert_string_equal(pocket_decode(m, -1), "");
    assert_string_equal(pocket_decode(m, 100), "");
    /* All of it is counted, but no more written than there is room for. */
    tokens[2] = -1;
    assert_int_equal(pocket_encode(m, "abcdef", 6, tokens, 2), 6);
    assert_int_equal(tokens[2], -1);
    assert_int_equal(pocket_encode(m, "", 0, NULL, 0), 0);
}

static void halves_are_rounded(void **state)
{
    static const struct {
        float value;
        uint16_t half;
    } cases[] = {{0, 0},
                 {1, 0x3c00},
                 {-2, 0xc000},
                 {65504, 0x7bff},
                 {1e9f, 0x7bff},
                 {-1e9f, 0xfbff},
                 {65519, 0x7bff},
                 {6.1035156e-5f, 0x400},
                 {5.9604645e-8f, 1},
                 {2e-8f, 0},
                 {1.00048828125f, 0x3c00}, /* a tie: to even */
                 {1.00146484375f, 0x3c02},
                 {0.333333343f, 0x3555}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(pocket_to_half(cases[i].value), cases[i].half);
    for (uint32_t h = 0; h < 0x7c00; h++) {
        assert_int_equal(pocket_to_half(pocket_from_half((uint16_t)h)), h);
        if (h)
            assert_int_equal(pocket_to_half(pocket_from_half((uint16_t)(h | 0x8000))), h | 0x8000);
    }
}

static void kernels_agree(void **state)
{
    enum { INPUTS = 37, OUTPUTS = 70 };
    static float matrix[INPUTS * OUTPUTS], panels[INPUTS * 96], x[INPUTS];
    const struct pocket_kernels *const sets[] = {&pocket_kernels_plain, pocket_kernels_best()};

    (void)state;
    for (int i = 0; i < INPUTS * OUTPUTS; i++)
        matrix[i] = (float)(i * 37 % 101 - 50) / 16;
    for (int i = 0; i < INPUTS; i++)
        x[i] = (float)(i * 7 % 11 - 5) / 8;
    assert_int_equal(pocket_panels_size(INPUTS, OUTPUTS), INPUTS * 96);
    pocket_panels_pack(matrix, INPUTS, OUTPUTS, 0, panels);
    for (size_t k = 0; k < 2; k++) {
        float y[96];

        sets[k]->product(panels, x, y, INPUTS, OUTPUTS);
        for (int o = 0; o < OUTPUTS; o++) {
            double sum = 0;

            for (int i = 0; i < INPUTS; i++)
                sum += x[i] * matrix[i * OUTPUTS + o];
            assert_near(y[o], sum, 1e-4);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(opens_what_is_embedded),
    cmocka_unit_test(refuses_every_truncation),
    cmocka_unit_test(refuses_every_wrong_field),
    cmocka_unit_test(refuses_a_changed_byte),
    cmocka_unit_test(refuses_tokens_that_are_no_text),
    cmocka_unit_test(takes_any_number),
    cmocka_unit_test(agrees_with_the_reference),
    cmocka_unit_test(a_step_is_the_same_again),
    cmocka_unit_test(encodes_and_decodes),
    cmocka_unit_test(halves_are_rounded),
    cmocka_unit_test(kernels_agree),
};
TEST_MAIN(tests)
