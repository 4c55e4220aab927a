/*
 * ipw plot: figures of runs as PNG, SVG or PDF files.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands.h"
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct plot_args {
    const char *plot;
    const char *output;
    const char *format;
    bool dark;
    bool json;
};

static const char *const formats[] = {"png", "svg", "pdf", NULL};

static const struct option options[] = {
    {"plot", OPT_TEXT, offsetof(struct plot_args, plot),
     "only these figures: ids separated by commas; regression is ttft, latency, energy and power",
     "ID", .alias = "visualization", .letter = 'v'},
    {"output", OPT_TEXT, offsetof(struct plot_args, output),
     "write here instead of to the run's plots/", "DIR", .letter = 'o'},
    {"format", OPT_CHOICE, offsetof(struct plot_args, format), "of the files", "FORMAT", "png",
     formats},
    {"dark", OPT_FLAG, offsetof(struct plot_args, dark), "light on dark"},
    {"json", OPT_FLAG, offsetof(struct plot_args, json), "one JSON document on stdout"},
    {0},
};

/* The Python tool's default figure is these four in one. */
static const char regression[] = "ttft,latency,energy,power";

#define PLOTS_MAX 64

struct session {
    const struct plot_args *args;
    struct plot_options options;
    struct run **runs;
    size_t n_runs;
    const struct plot_ops *plots[PLOTS_MAX];
    size_t n_plots;
    struct buf out; /* of --json */
    struct json_writer w;
    size_t written;
    struct {
        const struct plot_ops *plot;
        const char *dir; /* NULL = of all the runs */
        char *reason;
    } * skipped;
    size_t n_skipped, cap_skipped;
};

static void session_release(struct session *s)
{
    for (size_t i = 0; i < s->n_runs; i++)
        run_close(s->runs[i]);
    free(s->runs);
    for (size_t i = 0; i < s->n_skipped; i++)
        free(s->skipped[i].reason);
    free(s->skipped);
    buf_release(&s->out);
}

static int add_plots(struct session *s, const char *ids, struct err *err)
{
    for (const char *p = ids; *p;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *id = xstrndup(p, n);
        const struct plot_ops *ops;
        int r = 0;

        p += n + (p[n] == ',');
        if (!*id)
            continue;
        if (strcmp(id, "regression") == 0) {
            r = add_plots(s, regression, err);
        } else {
            ops = plot_find(id, err);
            if (!ops)
                return -ENOENT;
            if (s->n_plots == PLOTS_MAX)
                return err_set(err, EINVAL, "too many figures");
            s->plots[s->n_plots++] = ops;
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static int choose_plots(struct session *s, struct err *err)
{
    int r = 0;

    if (s->args->plot)
        r = add_plots(s, s->args->plot, err);
    else
        for (const struct plugin *const *p = plots.items; *p && r == 0; p++)
            r = add_plots(s, (*p)->id, err);
    if (r == 0 && !s->n_plots)
        r = err_set(err, EINVAL, "--plot names no figure");
    return r;
}

static int open_runs(struct session *s, const struct operands *dirs, struct err *err)
{
    s->runs = xcalloc(dirs->n, sizeof(*s->runs));
    for (size_t i = 0; i < dirs->n; i++) {
        int r = run_open(dirs->items[i], &s->runs[i], err);

        if (r < 0)
            return r;
        s->n_runs++;
    }
    return 0;
}

/* The last part of a directory's path; parts that say nothing become "run". */
static char *base_name(const char *dir)
{
    size_t end = strlen(dir), start;

    while (end > 0 && dir[end - 1] == '/')
        end--;
    for (start = end; start > 0 && dir[start - 1] != '/';)
        start--;
    if (start == end || (end - start <= 2 && strncmp(dir + start, "..", end - start) == 0))
        return xstrdup("run");
    return xstrndup(dir + start, end - start);
}

/* Of several runs each has a folder of its own below --output; where two are called the same, by
 * their number. */
static char *folder_of(const struct session *s, size_t run)
{
    const char *dir = run_dir(s->runs[run]);
    AUTO_FREE char *name = base_name(dir);
    bool twice = false;

    if (!s->args->output)
        return xasprintf("%s/plots", dir);
    if (s->n_runs == 1)
        return xstrdup(s->args->output);
    for (size_t i = 0; i < s->n_runs; i++) {
        AUTO_FREE char *other = base_name(run_dir(s->runs[i]));

        twice |= i != run && strcmp(name, other) == 0;
    }
    return twice ? xasprintf("%s/%s-%zu", s->args->output, name, run + 1)
                 : xasprintf("%s/%s", s->args->output, name);
}

static char *common_folder(const struct session *s)
{
    return s->args->output ? xstrdup(s->args->output) : folder_of(s, 0);
}

static void tell_written(struct session *s, const struct plot_ops *p, struct run *const *runs,
                         size_t n, const char *path)
{
    s->written++;
    if (!s->args->json) {
        printf("%s\n", path);
        return;
    }
    jw_begin_object(&s->w, NULL);
    jw_text(&s->w, "plot", p->plugin.id);
    jw_text(&s->w, "path", path);
    jw_begin_array(&s->w, "runs");
    for (size_t i = 0; i < n; i++)
        jw_text(&s->w, NULL, run_dir(runs[i]));
    jw_end_array(&s->w);
    jw_end_object(&s->w);
}

static void note_skipped(struct session *s, const struct plot_ops *p, const char *dir,
                         const char *reason)
{
    GROW(s->skipped, s->n_skipped, s->cap_skipped);
    s->skipped[s->n_skipped].plot = p;
    s->skipped[s->n_skipped].dir = dir;
    s->skipped[s->n_skipped++].reason = xstrdup(reason);
    /* a figure that was asked for by name is missed; of all figures some never fit */
    if (s->args->plot)
        log_warning("no figure %s%s%s: %s", p->plugin.id, dir ? " of " : "", dir ? dir : "",
                    reason);
    else
        log_info("no figure %s%s%s: %s", p->plugin.id, dir ? " of " : "", dir ? dir : "", reason);
}

static int plot_to(struct session *s, const struct plot_ops *p, struct run *const *runs, size_t n,
                   const char *folder, struct err *err)
{
    AUTO_FREE char *path = xasprintf("%s/%s.%s", folder, p->plugin.id, s->args->format);
    AUTO(buf) struct buf file = BUF_INIT(BUF_MAX_OWN);
    int r = plot_render(p, runs, n, &s->options, &file, err);

    if (r == -ENODATA) {
        note_skipped(s, p, p->several ? NULL : run_dir(runs[0]), err->text);
        return 0;
    }
    if (r < 0)
        return err_prefix(err, "figure %s", p->plugin.id);
    r = fs_mkdirs(folder, err);
    if (r == 0)
        r = fs_replace(AT_FDCWD, path, file.data, file.len, err);
    if (r == 0)
        tell_written(s, p, runs, n, path);
    return r;
}

static int plot_all(struct session *s, struct err *err)
{
    int r = 0;

    for (size_t run = 0; run < s->n_runs; run++) {
        AUTO_FREE char *folder = folder_of(s, run);

        for (size_t i = 0; i < s->n_plots && r == 0; i++)
            if (!s->plots[i]->several)
                r = plot_to(s, s->plots[i], &s->runs[run], 1, folder, err);
    }
    for (size_t i = 0; i < s->n_plots && r == 0; i++)
        if (s->plots[i]->several) {
            AUTO_FREE char *folder = common_folder(s);

            r = plot_to(s, s->plots[i], s->runs, s->n_runs, folder, err);
        }
    return r;
}

static int plot_json(struct session *s, struct err *err)
{
    struct json_writer *w = &s->w;
    int r;

    buf_init(&s->out, BUF_MAX_OWN);
    *w = json_writer(&s->out, JSON_PRETTY);
    jw_begin_object(w, NULL);
    jw_begin_array(w, "figures");
    r = plot_all(s, err);
    jw_end_array(w);
    jw_begin_array(w, "skipped");
    for (size_t i = 0; i < s->n_skipped; i++) {
        jw_begin_object(w, NULL);
        jw_text(w, "plot", s->skipped[i].plot->plugin.id);
        jw_text(w, "run", s->skipped[i].dir);
        jw_text(w, "reason", s->skipped[i].reason);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
    if (r == 0)
        puts(buf_str(&s->out));
    return r;
}

static enum plot_format format_of(const char *name)
{
    return strcmp(name, "svg") == 0 ? PLOT_SVG : strcmp(name, "pdf") == 0 ? PLOT_PDF : PLOT_PNG;
}

static int plot_run(const void *args, const struct operands *operands)
{
    const struct plot_args *a = args;
    AUTO(session)
    struct session s = {.args = a, .options = {.format = format_of(a->format), .dark = a->dark}};
    struct err err = {0};
    int r = choose_plots(&s, &err);

    if (r < 0) {
        log_error("%s", err.text);
        return EXIT_USAGE;
    }
    r = open_runs(&s, operands, &err);
    if (r == 0)
        r = a->json ? plot_json(&s, &err) : plot_all(&s, &err);
    if (r < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    if (!s.written) {
        log_error("there was nothing to draw");
        return EXIT_ERROR;
    }
    return EXIT_DONE;
}

const struct command cmd_plot = {
    .name = "plot",
    .help = "figures of runs as PNG, SVG or PDF",
    .operands = "DIR...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = options,
    .args_size = sizeof(struct plot_args),
    .details =
        "Without --plot every figure that the runs have data for; the others are named with\n"
        "the reason. A figure of one run goes to DIR/plots, one of several runs to plots/ of\n"
        "the first. With --output and several runs each has a folder of its own there.\n"
        "ipw list plots names the figures.",
    .run = plot_run,
};
