#include "plot/figure.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "plot/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void figure_values_add(struct figure_values *values, double value)
{
    GROW(values->v, values->n, values->cap);
    values->v[values->n++] = value;
}

void figure_values_release(struct figure_values *values)
{
    free(values->v);
    *values = (struct figure_values){0};
}

int figure_each(struct run *run, void (*each)(void *arg, const struct record *r), void *arg,
                struct err *err)
{
    const struct record *record;
    int more = run_rewind(run, err);

    while (more >= 0 && (more = run_next(run, &record, err)) > 0)
        each(arg, record);
    return more;
}

static bool is_name(const char *text)
{
    return text && *text;
}

/* The names in summary.json, or in the first record where there is no summary. */
char *figure_hardware(struct run *run)
{
    const struct json *summary = run_summary(run);
    const char *gpu = json_text(json_get(json_get(summary, "gpu_info"), "name"), NULL);
    const char *cpu = json_text(json_get(json_get(summary, "system_info"), "cpu_brand"), NULL);
    const struct record *first;

    if (!is_name(gpu) && !is_name(cpu) && run_rewind(run, NULL) == 0 &&
        run_next(run, &first, NULL) > 0) {
        gpu = first->gpu ? first->gpu->name : NULL;
        cpu = first->system ? first->system->cpu_brand : NULL;
    }
    if (is_name(gpu))
        return xstrdup(gpu);
    return xstrdup(is_name(cpu) && strcmp(cpu, "Unknown CPU") != 0 ? cpu : "Unknown");
}

void figure_head(struct chart *c, const char *title, struct run *run)
{
    AUTO_FREE char *hardware = figure_hardware(run);
    const char *model = run_model(run);
    AUTO_FREE char *subtitle =
        xasprintf("Model: %s  |  Hardware: %s", is_name(model) ? model : "unknown", hardware);

    chart_title(c, title, subtitle);
}

char *figure_run_name(const struct run *run)
{
    const char *dir = run_dir(run);
    size_t end = strlen(dir), start;

    while (end > 1 && dir[end - 1] == '/')
        end--;
    for (start = end; start > 0 && dir[start - 1] != '/';)
        start--;
    return xstrndup(dir + start, end - start);
}

bool figure_is_estimated(const struct record *r)
{
    const char *source = r->measurement.energy_source;

    return source && strcmp(source, "estimated") == 0;
}

size_t figure_cdf(const double *sorted, size_t n, double *x, double *y)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        /* values that are the same are one step */
        if (i == 0 || sorted[i] != sorted[i - 1]) {
            x[k] = sorted[i];
            y[k++] = (double)i / (double)n;
            x[k] = sorted[i];
            k++;
        }
        y[k - 1] = (double)(i + 1) / (double)n;
    }
    return k;
}

void figure_quantity(double value, const char *unit, char text[FIGURE_TEXT_MAX])
{
    int exponent = tick_exponent(value);

    if (exponent > 0 && strcmp(unit, "s") == 0)
        exponent = 0;
    snprintf(text, FIGURE_TEXT_MAX, "%.3g %s%s", value / pow(10, exponent), tick_prefix(exponent),
             unit);
}

/* The expansion of the t distribution's quantile about the normal one's; off by 0.1 % at three
 * degrees of freedom and by less above. */
double figure_t95(int64_t degrees)
{
    static const double series[] = {1.959963985, 2.372271, 2.822499, 2.555850, 1.589534};
    double t = 0;

    if (degrees <= 0)
        return NAN;
    if (degrees <= 2)
        return degrees == 1 ? 12.7062 : 4.30265;
    for (size_t i = sizeof(series) / sizeof(*series); i-- > 0;)
        t = t / (double)degrees + series[i];
    return t;
}

bool figure_wants_log(double lo, double hi)
{
    return lo > 0 && hi > 30 * lo;
}
