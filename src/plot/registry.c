#include "plot/plot.h"

#include "plot/chart.h"
#include "plot/figures.h"

#include <errno.h>

/* The size of a figure where nobody chose one. */
#define WIDTH_PX  800
#define HEIGHT_PX 500

static const struct plugin *const items[] = {
    &plot_ttft.plugin,
    &plot_latency.plugin,
    &plot_energy.plugin,
    &plot_power.plugin,
    &plot_output_kde.plugin,
    &plot_power_trace.plugin,
    &plot_latency_cdf.plugin,
    &plot_energy_per_token.plugin,
    &plot_accuracy_by_subject.plugin,
    &plot_efficiency_frontier.plugin,
    &plot_sweep.plugin,
    NULL,
};

const struct registry plots = {"plot", "plots", items};

const struct plot_ops *plot_find(const char *id, struct err *err)
{
    /* plugin is the first member of every ops struct */
    return (const struct plot_ops *)registry_find(&plots, id, err);
}

int plot_render(const struct plot_ops *p, struct run *const *runs, size_t n_runs,
                const struct plot_options *options, struct buf *ret, struct err *err)
{
    AUTO_PTR(chart)
    struct chart *c =
        chart_new(options->width_px > 0 ? options->width_px : WIDTH_PX,
                  options->height_px > 0 ? options->height_px : HEIGHT_PX, options->dark);
    int r;

    if (n_runs == 0 || (!p->several && n_runs != 1))
        return err_set(err, EINVAL, "figure %s is of %s", p->plugin.id,
                       p->several ? "at least one run" : "one run");
    if (options->height_px > 0)
        chart_keep_height(c);
    r = p->draw(c, runs, n_runs, err);
    return r < 0 ? r : chart_render(c, options->format, ret, err);
}
