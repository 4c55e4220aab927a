/*
 * With so few terms every set of terms that may be above 0 is tried: the best of those whose
 * ordinary solution is not negative is the answer, with no iteration that could stall. Columns are
 * scaled to length 1 first, so that tokens and seconds weigh alike in the condition number.
 */
#include "analysis/nnls.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define K NNLS_TERMS_MAX

/* The sums with every column scaled to length 1. */
struct scaled {
    size_t k;
    double a[K][K]; /* cosines between the columns */
    double b[K];    /* products with y */
    double length[K];
};

void nnls_add(struct nnls *s, const double *x, double y)
{
    double d = y - s->mean_y;

    s->n++;
    s->mean_y += d / (double)s->n;
    s->spread_y += d * (y - s->mean_y);
    s->yy += y * y;
    for (size_t i = 0; i < s->n_terms; i++) {
        s->xy[i] += x[i] * y;
        for (size_t j = 0; j < s->n_terms; j++)
            s->xx[i][j] += x[i] * x[j];
    }
}

static int scale(const struct nnls *s, const char *const *names, struct scaled *ret,
                 struct err *err)
{
    *ret = (struct scaled){.k = s->n_terms};
    for (size_t i = 0; i < s->n_terms; i++) {
        ret->length[i] = sqrt(s->xx[i][i]);
        if (!(ret->length[i] > 0) || !isfinite(ret->length[i]))
            return err_set(err, EDOM, "%s is 0 in every query: its share cannot be found",
                           names[i]);
    }
    for (size_t i = 0; i < s->n_terms; i++) {
        ret->b[i] = s->xy[i] / ret->length[i];
        for (size_t j = 0; j < s->n_terms; j++)
            ret->a[i][j] = i == j ? 1 : s->xx[i][j] / ret->length[i] / ret->length[j];
    }
    return 0;
}

/* One rotation that makes a[p][q] 0; v collects the eigenvectors as columns. */
static void rotate(double a[K][K], double v[K][K], size_t k, size_t p, size_t q)
{
    double theta, t, c, s;

    if (a[p][q] == 0)
        return;
    theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    c = 1 / sqrt(t * t + 1);
    s = t * c;
    for (size_t i = 0; i < k; i++) {
        double x = a[i][p], y = a[i][q];

        a[i][p] = c * x - s * y;
        a[i][q] = s * x + c * y;
    }
    for (size_t i = 0; i < k; i++) {
        double x = a[p][i], y = a[q][i];

        a[p][i] = c * x - s * y;
        a[q][i] = s * x + c * y;
        x = v[i][p];
        y = v[i][q];
        v[i][p] = c * x - s * y;
        v[i][q] = s * x + c * y;
    }
}

/* The condition number, and the direction in which the columns hardly differ. */
static double condition(const struct scaled *s, double weakest[K])
{
    double a[K][K], v[K][K] = {{0}}, most = 0, least = INFINITY;
    size_t at = 0;

    memcpy(a, s->a, sizeof(a));
    for (size_t i = 0; i < s->k; i++)
        v[i][i] = 1;
    for (int sweep = 0; sweep < 30; sweep++) /* Jacobi's method is done after about six */
        for (size_t p = 0; p < s->k; p++)
            for (size_t q = p + 1; q < s->k; q++)
                rotate(a, v, s->k, p, q);
    for (size_t i = 0; i < s->k; i++) {
        most = fmax(most, a[i][i]);
        if (a[i][i] < least) {
            least = a[i][i];
            at = i;
        }
    }
    for (size_t i = 0; i < s->k; i++)
        weakest[i] = v[i][at];
    return least > 0 ? sqrt(most / least) : INFINITY;
}

/* Names the terms that make up the weak direction. */
static int refuse(const struct scaled *s, const char *const *names, const double *weakest,
                  double cond, struct err *err)
{
    char list[128] = "";

    for (size_t i = 0; i < s->k; i++) {
        size_t n = strlen(list);

        if (fabs(weakest[i]) > 0.2)
            snprintf(list + n, sizeof(list) - n, "%s%s", n ? " and " : "", names[i]);
    }
    return err_set(err, EDOM,
                   "%s rise and fall together, so their shares cannot be told apart (condition "
                   "number %.3g, at most %g); ask prompts and answers of different lengths",
                   list, cond, NNLS_CONDITION_MAX);
}

/* Solves the equations of the terms in `set`; inverse is that of their matrix. false when they have
 * no solution. Gauss-Jordan; the matrix is symmetric and positive definite. */
static bool solve_set(const struct scaled *s, unsigned set, double inverse[K][K], double x[K])
{
    double m[K][K];

    memcpy(m, s->a, sizeof(m));
    for (size_t i = 0; i < K; i++) {
        x[i] = 0;
        for (size_t j = 0; j < K; j++)
            inverse[i][j] = i == j;
    }
    for (size_t p = 0; p < s->k; p++) {
        double pivot = m[p][p];

        if (!(set >> p & 1))
            continue;
        if (!(pivot > 0))
            return false;
        for (size_t j = 0; j < s->k; j++) {
            m[p][j] /= pivot;
            inverse[p][j] /= pivot;
        }
        for (size_t i = 0; i < s->k; i++) {
            double factor = m[i][p];

            if (i == p || !(set >> i & 1))
                continue;
            for (size_t j = 0; j < s->k; j++) {
                m[i][j] -= factor * m[p][j];
                inverse[i][j] -= factor * inverse[p][j];
            }
        }
    }
    for (size_t i = 0; i < s->k; i++)
        for (size_t j = 0; j < s->k && (set >> i & 1); j++)
            x[i] += set >> j & 1 ? inverse[i][j] * s->b[j] : 0;
    return true;
}

/* What the terms of the set leave of y, as a sum of squares. */
static double residual(const struct nnls *s, const struct scaled *c, unsigned set,
                       const double x[K])
{
    double explained = 0;

    for (size_t i = 0; i < c->k; i++)
        explained += set >> i & 1 ? x[i] * c->b[i] : 0;
    return fmax(s->yy - explained, 0);
}

/* The set of terms whose solution is not negative and leaves least. */
static unsigned best_set(const struct nnls *s, const struct scaled *c, double *ret_left)
{
    unsigned best = 0;

    *ret_left = s->yy;
    for (unsigned set = 1; set < 1u << c->k; set++) {
        double inverse[K][K], x[K], left;
        bool allowed = solve_set(c, set, inverse, x);

        for (size_t i = 0; allowed && i < c->k; i++)
            allowed = x[i] >= 0;
        left = allowed ? residual(s, c, set, x) : INFINITY;
        if (left < *ret_left) {
            *ret_left = left;
            best = set;
        }
    }
    return best;
}

int nnls_solve(const struct nnls *s, const char *const *names, struct nnls_fit *ret,
               struct err *err)
{
    double weakest[K], inverse[K][K], x[K], left, variance;
    struct nnls_fit fit = {0};
    struct scaled c;
    unsigned set;
    int r;

    if (s->n < 2 * (int64_t)s->n_terms + 2)
        return err_set(err, EDOM, "%lld queries are too few to find %zu shares: %zu are needed",
                       (long long)s->n, s->n_terms, 2 * s->n_terms + 2);
    r = scale(s, names, &c, err);
    if (r < 0)
        return r;
    fit.condition = condition(&c, weakest);
    if (!(fit.condition <= NNLS_CONDITION_MAX))
        return refuse(&c, names, weakest, fit.condition, err);
    set = best_set(s, &c, &left);
    solve_set(&c, set, inverse, x);
    variance = left / (double)(s->n - __builtin_popcount(set));
    for (size_t i = 0; i < s->n_terms; i++) {
        bool held = !(set >> i & 1);

        fit.coefficient[i] = held ? 0 : x[i] / c.length[i];
        fit.se[i] = held ? NAN : sqrt(variance * inverse[i][i]) / c.length[i];
    }
    fit.r2 = s->spread_y > 0 ? 1 - left / s->spread_y : NAN;
    fit.residual_sd = sqrt(variance);
    *ret = fit;
    return 0;
}
