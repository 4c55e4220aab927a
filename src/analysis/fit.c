/*
 * Welford's recurrence for means and co-moments; the line follows from them at the end.
 */
#include "analysis/fit.h"

#include <math.h>

void fit_add(struct fit *f, double x, double y)
{
    double dx, dy;

    f->n_all++;
    f->mean_all_y += (y - f->mean_all_y) / (double)f->n_all;
    if (!isfinite(x) || !isfinite(y) || (f->log_x && x <= 0))
        return;
    if (f->log_x)
        x = log(x);
    f->n++;
    dx = x - f->mean_x;
    dy = y - f->mean_y;
    f->mean_x += dx / (double)f->n;
    f->mean_y += dy / (double)f->n;
    f->sxx += dx * (x - f->mean_x);
    f->sxy += dx * (y - f->mean_y);
    f->syy += dy * (y - f->mean_y);
}

static void add_errors(const struct fit *f, double residual, struct fit_line *line)
{
    double n = (double)f->n, variance = residual / (n - 2);

    line->slope_se = sqrt(variance / f->sxx);
    line->intercept_se = sqrt(variance * (1 / n + f->mean_x * f->mean_x / f->sxx));
}

struct fit_line fit_line(const struct fit *f)
{
    struct fit_line line = {
        .count = f->n_all < 2 ? f->n_all : f->n,
        .slope = NAN,
        .intercept = NAN,
        .r2 = NAN,
        .slope_se = NAN,
        .intercept_se = NAN,
        .avg_y = f->n_all ? f->mean_all_y : NAN,
    };
    double residual;

    if (f->n < 2 || !(f->sxx > 0))
        return line;
    line.slope = f->sxy / f->sxx;
    line.intercept = f->mean_y - line.slope * f->mean_x;
    residual = fmax(f->syy - line.slope * f->sxy, 0); /* rounding may leave less than nothing */
    line.r2 = f->syy > 0 ? 1 - residual / f->syy : 1;
    if (f->n >= 3)
        add_errors(f, residual, &line);
    return line;
}
