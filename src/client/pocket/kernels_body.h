/*
 * The kernels for one width of registers: included by kernels.c once per set, with
 *     VECTOR         a type of LANES floats that may lie anywhere
 *     NAME(x)        how a function of this set is called
 *     FOR_TARGET     the function attribute that allows its instructions
 * No guard: each inclusion defines other functions. Each is described in kernels.h.
 */
#define LANES    (sizeof(VECTOR) / sizeof(float))
#define LOAD(p)  (*(const VECTOR *)(p))
#define STORE(p) (*(VECTOR *)(p))

FOR_TARGET static void NAME(product)(const float *panels, const float *x, float *y, size_t inputs,
                                     size_t outputs)
{
    for (size_t o = 0; o < outputs; o += 4 * LANES) {
        const float *w = panels + o / POCKET_LANES * POCKET_LANES * inputs + o % POCKET_LANES;
        VECTOR a = {0}, b = {0}, c = {0}, d = {0};

        for (size_t i = 0; i < inputs; i++, w += POCKET_LANES) {
            a += x[i] * LOAD(w);
            b += x[i] * LOAD(w + LANES);
            c += x[i] * LOAD(w + 2 * LANES);
            d += x[i] * LOAD(w + 3 * LANES);
        }
        STORE(y + o) = a;
        STORE(y + o + LANES) = b;
        STORE(y + o + 2 * LANES) = c;
        STORE(y + o + 3 * LANES) = d;
    }
}

FOR_TARGET static void NAME(match)(const float *query, const float *keys, size_t stride,
                                   float *scores, size_t n, size_t size, float scale)
{
    for (size_t t = 0; t < n; t += LANES) {
        VECTOR even = {0}, odd = {0};

        for (size_t j = 0; j < size; j += 2) {
            even += query[j] * LOAD(keys + j * stride + t);
            odd += query[j + 1] * LOAD(keys + (j + 1) * stride + t);
        }
        STORE(scores + t) = (even + odd) * scale;
    }
}

FOR_TARGET static void NAME(mix)(const float *shares, const float *values, size_t stride,
                                 float *out, size_t n, size_t size)
{
    size_t j = 0;

    for (; j + LANES <= size; j += LANES) {
        VECTOR even = {0}, odd = {0};
        size_t t = 0;

        for (; t + 1 < n; t += 2) {
            even += shares[t] * LOAD(values + t * stride + j);
            odd += shares[t + 1] * LOAD(values + (t + 1) * stride + j);
        }
        if (t < n)
            even += shares[t] * LOAD(values + t * stride + j);
        STORE(out + j) = even + odd;
    }
    for (; j < size; j++) {
        out[j] = 0;
        for (size_t t = 0; t < n; t++)
            out[j] += shares[t] * values[t * stride + j];
    }
}

const struct pocket_kernels NAME(pocket_kernels) = {NAME(product), NAME(match), NAME(mix)};

#undef LANES
#undef LOAD
#undef STORE
